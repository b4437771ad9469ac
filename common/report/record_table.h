/* record_table.h - every log record of a learner, stated once.
 *
 * How to add a record: one row in SL_RECORDS, and a writer that begins it with sl_record_init and fills in
 * its fields. A field that no record has yet: one row in SL_RECORD_FIELDS. The daemon, the control socket,
 * the launcher and the in-process runner read these tables. What starling_timeline makes of an event is its
 * own table, TAKE in rounds.py.
 *
 * Rows of one event stand together, and the first has the name of the event: that is the kind of record that
 * reading gives for all of them.
 *
 * A sentence names fields in braces; a real number may be followed by its decimals: {margin.4}. Where the row
 * has the field `reason` and the sentence a '|', what follows the '|' is the reason.
 */
#pragma once

#include "common/config/envelope.h"

/* X(field, name in JSON, type), with its meaning and unit. "a.b" is the key b of the object a. WHOLE: a whole
 * number, REAL: a real number or null, FLAG: true or false, TEXT, IDS: a set of learners, an array of ids,
 * SPREADS: an array of arrays of three numbers, OBJECT, LIST: an object, an array as it is. Durations, in
 * fields that end in _s, are seconds. */
#define SL_RECORD_FIELDS(X)                                                                                  \
	SL_ENVELOPE_FIELDS(X)                                                                                \
	/* the round */                                                                                      \
	X(round, "round", WHOLE)      /* the round */                                                        \
	X(attempt, "attempt", WHOLE)  /* attempt of the round */                                             \
	X(phase, "phase", TEXT)	      /* phase of the round; starling-metrics(7) lists them */               \
	X(peer, "peer", WHOLE)	      /* id of the learner that the record is about */                       \
	X(reason, "reason", TEXT)     /* the cause, a sentence */                                            \
	X(cause, "cause", TEXT)	      /* why a learner is left out: model or values differ, or the roster */ \
	X(waits_for, "for", TEXT)     /* what the awaited learners are to do, or what is awaited */          \
	X(awaited, "awaited", IDS)    /* learners that are awaited */                                        \
	X(set, "peers", IDS)	      /* learners that the record is about */                                \
	X(overdue, "overdue", FLAG)   /* the wait is longer than the phase allows */                         \
	X(waited_s, "waited_s", REAL) /* duration of the wait: so far; of waited, in all */                  \
	X(learners, "learners", WHOLE)	     /* learners in the view */                                      \
	X(view, "view", TEXT)		     /* hash of the view, the first 16 hexadecimal digits */         \
	X(participants, "participants", IDS) /* learners in the view */                                      \
	X(neighbours, "neighbours", IDS)     /* neighbours of this learner in the view */                    \
	X(tolerance, "tolerance", WHOLE)     /* participants that may be lost for good once all are Ready */ \
	X(edges, "edges", WHOLE)	     /* links between participants */                                \
	X(mixing, "mixing", TEXT)	     /* engine of the view */                                        \
	X(steps, "steps", WHOLE)	     /* exchanges of the engine */                                   \
	X(mu, "mu", REAL) /* second largest eigenvalue modulus; null unless the engine is metropolis */      \
	X(spread, "spread", SPREADS) /* how the states converged: arrays of the exchanges done, the largest  \
					difference between the sums that this learner and a neighbour would  \
					take from their states then, and its bound */                        \
	X(p, "p", WHOLE)	     /* modulus */                                                           \
	X(forecast_bytes, "forecast_bytes", WHOLE) /* bytes to send in this view */                          \
	X(forecast_s, "forecast_s", REAL) /* seconds that sending them takes; 0: no link is measured yet */  \
	X(forecast_at_most, "forecast_at_most", FLAG) /* forecast_s is an upper bound */                     \
	X(margin, "margin", REAL)      /* distance of the sum from the integers it was rounded to */         \
	X(values, "values", TEXT)      /* what was averaged: model, update, exact */                         \
	X(decimals, "decimals", WHOLE) /* decimals that were agreed on, of models */                         \
	X(clipping_range, "clipping_range", REAL)      /* clipping range that was agreed on */               \
	X(digest, "digest", TEXT)		       /* of the committed model, hexadecimal */             \
	X(checkpoint, "checkpoint", TEXT)	       /* file name of the checkpoint */                     \
	X(aggregate_s, "aggregate_s", REAL)	       /* seconds from the trained model to the commit */    \
	X(train_s, "train_s", REAL)		       /* seconds of training */                             \
	X(round_bytes_sent, "round_bytes_sent", WHOLE) /* bytes sent since the last commit */                \
	X(round_bytes_received, "round_bytes_received", WHOLE) /* bytes received since the last commit */    \
	X(round_flood_bytes, "round_flood_bytes", WHOLE) /* bytes sent of link states, Readys and Aborts */  \
	X(phases, "phases", OBJECT) /* seconds in TRAIN and each phase of this attempt: "mix_s" */           \
	X(links, "links", LIST)	    /* bytes since the last commit: {"peer", "sent", "received"} */          \
	X(round_cpu_s, "costs.round_cpu_s", REAL) /* seconds of processor time since the last commit */      \
	X(peak_bytes, "costs.peak_bytes", WHOLE)  /* largest memory of the process */                        \
	X(quantum, "step", REAL)		  /* distance between two values that can be encoded */      \
	X(rounding, "rounding", REAL)		  /* largest error of a value by rounding */                 \
	X(bits, "bits", WHOLE)			  /* of the first limb of a value; 0 with decimals */        \
	X(vanished, "vanished", WHOLE)		  /* values that were rounded to 0 */                        \
	X(frozen, "frozen", WHOLE)		 /* tensors that changed and were rounded to 0 as a whole */ \
	X(tensor, "tensor", TEXT)		 /* the first of them */                                     \
	X(count, "count", WHOLE)		 /* number of parameters that were clamped */                \
	X(released, "released", FLAG)		 /* this learner had released its deposit key */             \
	X(fetched, "fetched", WHOLE)		 /* deposits received from peers */                          \
	X(operator_aborted, "by_operator", FLAG) /* the operator aborted the attempt */                      \
	X(signers, "signers", WHOLE)		 /* learners that signed the digest */                       \
	X(atom, "atom", WHOLE)			 /* learners of the smallest atom: see privacy */            \
	X(gone, "gone", WHOLE)			 /* of small atoms, not in the roster */                     \
	X(unsaid, "unsaid", WHOLE)		 /* records like this one that were left out before it */    \
	/* differential privacy */                                                                           \
	X(epsilon, "epsilon", REAL) /* spent so far, with dp_sampling as it is declared; null: no bound */   \
	X(epsilon_unsampled, "epsilon_unsampled", REAL) /* .. without sampling */                            \
	X(delta, "delta", REAL)				/* dp_delta */                                       \
	X(budget, "budget", REAL)			/* dp_epsilon; null: none */                         \
	X(from, "from", WHOLE)				/* first round of the gap */                         \
	X(to, "to", WHOLE)				/* .. its last one */                                \
	X(guessed, "guessed", WHOLE)			/* attempts that are charged without a record */     \
	/* the learner */                                                                                    \
	X(rounds, "rounds", WHOLE)	     /* rounds of the run */                                         \
	X(changes, "changes", WHOLE)	     /* members of the roster that differ */                         \
	X(roster, "roster", TEXT)	     /* hash of the roster, hexadecimal */                           \
	X(committed, "committed", WHOLE)     /* last round that this learner committed */                    \
	X(mse, "mse", REAL)		     /* held-out mean squared error; null: the trainer has none */   \
	X(loss, "loss", REAL)		     /* mean training loss of the last epoch */                      \
	X(metrics, "metrics", OBJECT)	     /* numbers of an application by name; absent: none */           \
	X(address, "address", TEXT)	     /* HOST:PORT */                                                 \
	X(key, "key", TEXT)		     /* pin of the key that was shown */                             \
	X(incarnation, "incarnation", WHOLE) /* number of this start */                                      \
	/* in sentences only */                                                                              \
	X(error, "", TEXT)	 /* a rounding error: 0.002 % of the largest update */                       \
	X(first, "", REAL)	 /* spread of the states before the first exchange */                        \
	X(last, "", REAL)	 /* .. before the last one */                                                \
	X(who, "", TEXT)	 /* the peer: ana (2) */                                                     \
	X(whom, "", TEXT)	 /* names of a set, as "ana (2), bo (5)"  */                                 \
	X(engine, "", TEXT)	 /* the engine: exact, 7 exchanges */                                        \
	X(forecast, "", TEXT)	 /* what is to be sent */                                                    \
	X(model, "", TEXT)	 /* first digits of a digest, or where the model is from */                  \
	X(theirs, "", TEXT)	 /* first digits of the peer's digest */                                     \
	X(counter, "", TEXT)	 /* incarnation or round */                                                  \
	X(shown, "", WHOLE)	 /* value of the counter, or round, that the peer shows */                   \
	X(known, "", WHOLE)	 /* its last known value */                                                  \
	X(since, "since", WHOLE) /* round of the first sum that is remembered */                             \
	X(limit, "", WHOLE)	 /* number that the rule requires */                                         \
	X(control, "", TEXT)	 /* path of the control socket, quoted for a shell */                        \
	X(conflict, "", TEXT)	 /* what a peer signed: evidence against it */                               \
	X(file, "", TEXT)	 /* name of a file, or why it cannot be written */

#define SL_COMMITTED_FIELDS                                                                                  \
	"round attempt learners edges mixing steps mu margin values decimals clipping_range "                \
	"bits digest checkpoint "                                                                            \
	"aggregate_s train_s phases round_bytes_sent round_bytes_received round_flood_bytes links "          \
	"round_cpu_s peak_bytes"

#define SL_WAITING_FIELDS "round attempt phase waits_for awaited waited_s"

/* X(kind, event, level, fields, sentence) */
#define SL_RECORDS(X)                                                                                        \
	/* rounds: from reports of the core */                                                               \
	X(PHASE, "phase", SL_INFO, "round attempt phase", "round {round}: {phase}")                          \
	X(VIEW, "view", SL_INFO,                                                                             \
	  "round attempt view participants neighbours tolerance atom learners edges mixing steps mu p "      \
	  "forecast_bytes forecast_s forecast_at_most",                                                      \
	  "round {round} attempt {attempt}: {learners} learners, {edges} edges, {engine}, p {p}; "           \
	  "{forecast}")                                                                                      \
	X(LEFT_OUT, "left_out", SL_WARN, "round attempt peer cause reason",                                  \
	  "round {round} attempt {attempt} leaves learners out: {reason}")                                   \
	X(EXPOSED, "exposed", SL_WARN, "round attempt reason",                                               \
	  "round {round} attempt {attempt} goes on, since privacy_check: warn is set: {reason}")             \
	X(ENCODED, "encoded", SL_INFO, "round attempt quantum rounding vanished",                            \
	  "round {round}: quantization step {quantum}; largest rounding error {error}")                      \
	X(ENCODED_RANGED, "encoded", SL_INFO, "round attempt rounding vanished",                             \
	  "round {round}: largest rounding error {error}, which goes into the next update")                  \
	X(ENCODED_COARSE, "encoded", SL_WARN, "round attempt quantum rounding vanished",                     \
	  "round {round}: the quantization step {quantum} is coarse: largest rounding error {error}; "       \
	  "either training has converged, or decimals is too low: then raise it")                            \
	X(ENCODED_VANISHED, "encoded", SL_WARN, "round attempt quantum rounding vanished",                   \
	  "round {round}: {vanished} values of the model that were not 0 are 0 at the quantization step "    \
	  "{quantum}: raise decimals")                                                                       \
	X(ENCODED_FROZEN, "encoded", SL_WARN, "round attempt quantum rounding vanished frozen tensor",       \
	  "round {round}: the trained tensor {tensor} is 0 as a whole at the quantization step {quantum} "   \
	  "(such tensors: {frozen}): raise decimals")                                                        \
	X(ENCODED_FROZEN_EXACT, "encoded", SL_WARN, "round attempt rounding vanished frozen tensor",         \
	  "round {round}: all values of the tensor {tensor} are too small for an exact round and are 0 in "  \
	  "it (such tensors: {frozen}): scale them up")                                                      \
	X(ENCODED_VANISHED_EXACT, "encoded", SL_WARN, "round attempt rounding vanished",                     \
	  "round {round}: {vanished} values of the model are too small for an exact round and are 0 in it: " \
	  "scale them up")                                                                                   \
	X(ENCODED_EXACT, "encoded", SL_INFO, "round attempt rounding vanished",                              \
	  "round {round}: exact; largest rounding error {error}")                                            \
	X(CLAMPED, "clamped", SL_WARN, "round count",                                                        \
	  "{count} parameters were clamped to clipping_range {clipping_range}")                              \
	X(CLAMPED_UPDATE, "clamped", SL_WARN, "round count",                                                 \
	  "round {round}: {count} values of the update are beyond the ranges of their tensors and are cut: " \
	  "this learner changes more than the others (train it less in a round, or set values: model), or "  \
	  "all more than before; then the ranges follow")                                                    \
	X(SCALED, "scaled", SL_INFO, "round", "the vector is longer than dp_clip, and is scaled down to it") \
	X(FEW_BITS, "few_bits", SL_WARN, "round bits reason",                                                \
	  "round {round}: updates keep {bits} bits below the ranges of their tensors: {reason}")             \
	X(MIXED, "mixed", SL_INFO, "round attempt steps spread",                                             \
	  "round {round} attempt {attempt}: mixed; spread of the states {first} before exchange 1 and "      \
	  "{last} before exchange {steps}, the last")                                                        \
	X(COMMITTED, "committed", SL_INFO, SL_COMMITTED_FIELDS,                                              \
	  "round {round} committed: {learners} learners, {engine}, margin {margin.4}, {aggregate_s.2} s, "   \
	  "model {model}")                                                                                   \
	X(ATTEMPT_FAILED, "attempt_failed", SL_WARN, "round attempt phase reason",                           \
	  "round {round} attempt {attempt} ended in {phase}: {reason}")                                      \
	X(ATTEMPT_FAILED_ELSEWHERE, "attempt_failed", SL_INFO, "round attempt phase reason",                 \
	  "round {round} attempt {attempt} ended in {phase}: {reason}")                                      \
	X(WAITING, "waiting", SL_WARN, SL_WAITING_FIELDS " overdue",                                         \
	  "round {round}: waiting for {whom} {waits_for}")                                                   \
	X(WAITING_NONE, "waiting", SL_WARN, SL_WAITING_FIELDS " overdue",                                    \
	  "round {round}: waiting for {waits_for}")                                                          \
	X(WAITING_FOR_CHANGE, "waiting", SL_WARN, SL_WAITING_FIELDS " overdue reason",                       \
	  "round {round}: waiting for {whom} {waits_for}: {reason}")                                         \
	X(WAITING_CHANGE, "waiting", SL_WARN, SL_WAITING_FIELDS " overdue reason",                           \
	  "round {round}: waiting for {waits_for}: {reason}")                                                \
	X(WAITING_STATES, "waiting", SL_WARN, SL_WAITING_FIELDS " overdue",                                  \
	  "round {round}: collecting deposits and deposit keys")                                             \
	X(WAITING_LOST, "waiting", SL_WARN, SL_WAITING_FIELDS " overdue",                                    \
	  "round {round} attempt {attempt}: no linked learner has the deposit or the deposit key of "        \
	  "{whom}; "                                                                                         \
	  "the attempt goes on when one that has it connects. If none ever will: starling abort --round "    \
	  "{round} --control {control}")                                                                     \
	X(WAITED, "waited", SL_DEBUG, SL_WAITING_FIELDS,                                                     \
	  "round {round}: waited {waited_s.1} s for {whom} {waits_for}")                                     \
	X(WAITED_NONE, "waited", SL_DEBUG, SL_WAITING_FIELDS,                                                \
	  "round {round}: waited {waited_s.1} s for {waits_for}")                                            \
	X(RECOVERING, "recovering", SL_WARN, "round attempt reason learners",                                \
	  "round {round} attempt {attempt} goes on without mixing: {reason}; the deposits of all "           \
	  "{learners} "                                                                                      \
	  "learners and their keys are collected")                                                           \
	X(RECOVERED, "recovered", SL_INFO, "round attempt learners fetched",                                 \
	  "round {round} attempt {attempt}: the deposits of all {learners} learners are added up, "          \
	  "{fetched} of them received from peers")                                                           \
	X(ATTEMPT_RESUMED, "attempt_resumed", SL_INFO, "round attempt released",                             \
	  "round {round} attempt {attempt} goes on after a restart: this learner had signed Ready and "      \
	  "released nothing")                                                                                \
	X(ATTEMPT_RESUMED_RELEASED, "attempt_resumed", SL_INFO, "round attempt released",                    \
	  "round {round} attempt {attempt} goes on after a restart: this learner had released its deposit "  \
	  "key")                                                                                             \
	X(ATTEMPT_OVER, "attempt_over", SL_WARN, "round attempt operator_aborted",                           \
	  "round {round} attempt {attempt} is over: {who} and enough others have signed that they never "    \
	  "complete it")                                                                                     \
	X(ATTEMPT_OVER_BY_OPERATOR, "attempt_over", SL_WARN, "round attempt operator_aborted",               \
	  "round {round} attempt {attempt} is over: the operator has aborted it")                            \
	X(ATTEMPT_OVER_AT_START, "attempt_over", SL_WARN, "round attempt",                                   \
	  "round {round} attempt {attempt}, which a restart interrupted, is aborted: {reason}")              \
	X(MODEL_INVALIDATED, "model_invalidated", SL_WARN, "round attempt",                                  \
	  "round {round} attempt {attempt} is over, and too few learners have signed that they never "       \
	  "release it: its model must not be used again and is trained anew; the new one differs only by "   \
	  "training noise")                                                                                  \
	X(BEHIND, "behind", SL_WARN, "round attempt peer reason",                                            \
	  "{who}: |round {round} was committed without this learner (the peer is in round {shown}), and "    \
	  "no linked learner has sent its result; a learner is asked again when it links anew or commits "   \
	  "another round")                                                                                   \
	X(STALE, "stale", SL_WARN, "round attempt peer reason",                                              \
	  "{who}: |it is in round {shown} (its last committed model is {model}) and this learner in round "  \
	  "{round}: it was away, or started from an old checkpoint; its neighbours send it the results "     \
	  "that it missed")                                                                                  \
	X(CAUGHT_UP, "caught_up", SL_INFO, "round peer learners signers digest checkpoint",                  \
	  "caught up with round {round} from {who}: {learners} learners, model {model}, signed by "          \
	  "{signers}")                                                                                       \
	X(ABSTAINS, "abstains", SL_WARN, "round attempt peer reason",                                        \
	  "{who}: |it shows {counter} of round {shown} that this learner has signed and that is not on its " \
	  "disk: this learner takes no part until round {shown} is committed, and catches up then; if its "  \
	  "disk was not set back, another process has its key: stop that one")                               \
	X(PENALTY, "penalty", SL_WARN, "round attempt set",                                                  \
	  "round {round}: attempt {attempt} ended or made no progress because of {whom}; a quorum goes on "  \
	  "without such a learner, for more rounds each time: its disk may hang, its link may be too slow, " \
	  "or it does not follow the protocol")                                                              \
	X(FLOODED, "flooded", SL_WARN, "round attempt peer reason",                                          \
	  "{who}: |it signs more records in this round than an honest learner: further ones are ignored")    \
	X(EVIDENCE, "evidence", SL_WARN, "round attempt peer reason",                                        \
	  "{who}: |it {conflict} for one attempt: it lies, its disk has forgotten the first record, or "     \
	  "two processes have its key; both records are kept in {file}")                                     \
	X(EVIDENCE_LOST, "evidence", SL_WARN, "round attempt peer reason",                                   \
	  "{who}: |it {conflict} for one attempt: it lies, its disk has forgotten the first record, or "     \
	  "two processes have its key; the records cannot be kept: {file}")                                  \
	X(PRIVACY, "privacy", SL_WARN, "round since atom gone set",                                          \
	  "round {round}: this sum and those since round {since} together tell sums over fewer than "        \
	  "{limit} learners, the smallest over {atom}: {whom}")                                              \
	X(MODEL, "model", SL_WARN, "round attempt peer reason",                                              \
	  "{who} trains another model: {reason}; start the same program at all learners")                    \
	X(REJECTED, "rejected", SL_WARN, "peer reason unsaid", "{who}: {reason}")                            \
	X(REJECTED_MORE, "rejected", SL_WARN, "peer reason unsaid",                                          \
	  "{who}: {reason} (and {unsaid} more before)")                                                      \
	X(FATAL, "fatal", SL_ERROR, "reason", "{reason}")                                                    \
	X(FATAL_REASON, "fatal", SL_ERROR, "round phase reason",                                             \
	  "round {round} attempt {attempt} ended in {phase}: {reason}")                                      \
	X(FATAL_DIVERGED, "fatal", SL_ERROR, "round attempt peer reason",                                    \
	  "{who}: |its result differs: {theirs}, here {model}; no mean of the two is taken, this learner "   \
	  "stops")                                                                                           \
	X(FATAL_EXHAUSTED, "fatal", SL_ERROR, "round reason",                                                \
	  "|round {round} has used all of its {limit} attempts: this learner stops; remove the cause, "      \
	  "then start it again")                                                                             \
	/* the daemon: start and end */                                                                      \
	X(APPLICATION, "application", SL_INFO, "reason", "{reason}")                                         \
	X(APPLICATION_WARNING, "application", SL_WARN, "reason", "{reason}")                                 \
	X(COMMAND, "command", SL_WARN, "reason", "{reason}")                                                 \
	X(COMMAND_STARTED, "command", SL_INFO, "reason", "{reason}")                                         \
	X(COMMAND_OUTPUT, "command", SL_INFO, "reason", "command: |{reason}")                                \
	X(LISTENING, "listening", SL_INFO, "address incarnation",                                            \
	  "listening on {address}; start number {incarnation} of this learner")                              \
	X(LISTENING_ON_ALL, "listening", SL_INFO, "address incarnation",                                     \
	  "listening on {address}, all addresses, as {reason} of the roster is not one address of this "     \
	  "machine; set listen to choose one; start number {incarnation} of this learner")                   \
	X(NO_ADDRESS, "no_address", SL_WARN, "reason",                                                       \
	  "{reason}; this learner goes on as soon as it can listen there")                                   \
	X(HTTP, "http", SL_INFO, "address", "metrics, health and records are at {address}")                  \
	X(ROSTER, "roster", SL_WARN, "changes roster",                                                       \
	  "the roster differs from that of round {round}, the last one committed here: {whom}")              \
	X(UNKEPT_ROSTER, "roster", SL_WARN, "reason",                                                        \
	  "no copy of the roster is kept, with which others can verify the account: {reason}")               \
	X(PAST_ROSTER, "past_roster", SL_WARN, "round attempt",                                              \
	  "round {round} attempt {attempt} was begun under the previous roster: this learner finishes it "   \
	  "under that one, then restarts by itself, under the present roster")                               \
	X(UNSAFE_DUMP_MODEL, "unsafe_dump_model", SL_WARN, "",                                               \
	  "unsafe_dump_model is set: this learner writes its trained model to disk in every round; "         \
	  "never do this with real data")                                                                    \
	X(NOT_LOCKED, "not_locked", SL_WARN, "reason",                                                       \
	  "{reason} cannot be locked in memory, and may be written to the swap space; raise the limit: "     \
	  "ulimit -l, or LimitMEMLOCK=infinity in the unit")                                                 \
	X(STATE_FOLDER, "state_folder", SL_INFO, "reason",                                                   \
	  "the state folder is on {reason}, which forgets all when the machine or container ends: this "     \
	  "learner then sits out a round; see STATE FOLDER in starlingd(8)")                                 \
	X(STATE_FOLDER_REMOTE, "state_folder", SL_WARN, "reason",                                            \
	  "the state folder is on {reason}, where a record may be lost with the power of another machine, "  \
	  "and a second machine may run this learner: put it on a local disk; see STATE FOLDER in "          \
	  "starlingd(8)")                                                                                    \
	X(COPIED, "copied", SL_WARN, "",                                                                     \
	  "the state folder is a copy: see to it that the learner from which it was copied never starts "    \
	  "again; if it runs, end it or this one; see FAULTS in starlingd(8)")                               \
	X(THREADS, "threads", SL_WARN, "reason",                                                             \
	  "{reason}; this learner goes on with fewer threads; raise the limit: ulimit -u, or TasksMax in "   \
	  "the unit")                                                                                        \
	X(RESUMED, "resumed", SL_INFO, "round", "continuing after round {round}, from its checkpoint")       \
	X(IGNORED, "ignored", SL_WARN, "",                                                                   \
	  "{reason} is ignored: a checkpoint is no record of a committed round; this learner begins with "   \
	  "the "                                                                                             \
	  "result that the others send it, or with the initial model")                                       \
	X(DISK_HANGS, "disk_hangs", SL_WARN, "reason waited_s",                                              \
	  "the record {reason} has not reached the disk for {waited_s.0} s: this learner holds its part of " \
	  "the "                                                                                             \
	  "round "                                                                                           \
	  "back until it has; see to the disk of the state folder")                                          \
	X(RESULT, "result", SL_WARN, "round",                                                                \
	  "the result of round {round} cannot be shown to others before the next commit: {reason}")          \
	X(DAMAGED, "damaged", SL_ERROR, "committed round",                                                   \
	  "{reason}; going on from {model} until a peer sends the result of round {committed} or a later "   \
	  "one")                                                                                             \
	X(DECODED, "decoded", SL_WARN, "round",                                                              \
	  "{reason}; its model was taken from the result of round {round}, and the checkpoint is written "   \
	  "again")                                                                                           \
	X(AGAIN, "again", SL_INFO, "round",                                                                  \
	  "the result of round {round}, which was damaged here, is restored: this learner restarts by "      \
	  "itself")                                                                                          \
	X(PAST_ROSTER_ENDED, "again", SL_INFO, "round attempt",                                              \
	  "round {round} attempt {attempt} of the previous roster has ended: this learner restarts by "      \
	  "itself, under the present roster")                                                                \
	X(TAKING_ROSTER, "again", SL_INFO, "reason", "{reason}")                                             \
	X(NEW_ROSTER, "new_roster", SL_INFO, "reason", "{reason}")                                           \
	X(FORMING, "forming", SL_INFO, "reason", "{reason}")                                                 \
	X(RELOADED, "reloaded", SL_INFO, "reason", "{reason}")                                               \
	X(RELOADED_NOTHING, "reloaded", SL_WARN, "reason", "nothing was read again: {reason}")               \
	X(BACKUP, "backup", SL_INFO, "round", "the records, with round {round}, are in the folder backup")   \
	X(BACKUP_FAILED, "backup", SL_WARN, "reason", "no backup: {reason}")                                 \
	X(CHARGED, "charged", SL_INFO, "round attempt epsilon epsilon_unsampled delta budget",               \
	  "round {round} attempt {attempt}: epsilon {epsilon.3} of {budget} is spent, at delta {delta}")     \
	X(CHARGED_FREELY, "charged", SL_INFO, "round attempt epsilon epsilon_unsampled delta budget",        \
	  "round {round} attempt {attempt}: epsilon {epsilon.3} is spent, at delta {delta}")                 \
	X(LEDGER_GAP, "ledger_gap", SL_WARN, "round attempt from to guessed",                                \
	  "this learner cannot show what it did in rounds {from} to {to}: it was away before this start, "   \
	  "or its state folder was emptied, restored or set back; attempts charged for that: {guessed}")     \
	X(BUDGET_SPENT, "budget_spent", SL_WARN, "round epsilon budget",                                     \
	  "round {round} would exceed the privacy budget, of which epsilon {epsilon.3} of {budget} is "      \
	  "spent: this learner ends after the last committed round")                                         \
	X(BUDGET_ZEROS, "budget_zeros", SL_WARN, "round epsilon budget",                                     \
	  "round {round} would exceed the privacy budget, of which epsilon {epsilon.3} of {budget} is "      \
	  "spent: this learner goes on and sends zeros with noise")                                          \
	X(FINISHED, "finished", SL_INFO, "rounds", "all rounds are committed")                               \
	X(FINISHED_SPENT, "finished", SL_INFO, "rounds",                                                     \
	  "this learner ends before the last round: its privacy budget is spent")                            \
	X(AGREED_END, "agreed_end", SL_INFO, "round",                                                        \
	  "round {round} was the last one: the applications have agreed to stop")                            \
	X(STOPPING, "stopping", SL_INFO, "", "{reason}")                                                     \
	/* the daemon: training and links */                                                                 \
	X(TRAINING, "training", SL_INFO, "round", "round {round}: training")                                 \
	X(TRAINED, "trained", SL_INFO, "round train_s loss metrics",                                         \
	  "round {round}: trained in {train_s.2} s, loss {loss.4}")                                          \
	X(TRAINED_ONLY, "trained", SL_INFO, "round train_s loss metrics",                                    \
	  "round {round}: trained in {train_s.2} s")                                                         \
	X(EVALUATED, "evaluated", SL_INFO, "round mse", "round {round}: held-out MSE {mse.4}")               \
	X(EVALUATED_NONE, "evaluated", SL_INFO, "round mse", "this trainer has no held-out error")           \
	X(EVALUATED_FAILED, "evaluated", SL_WARN, "round", "{reason}")                                       \
	X(LINK_DOWN, "link_down", SL_DEBUG, "peer reason", "link to {who}, {address}, is down: {reason}")    \
	X(LINK_FAILED, "link_down", SL_WARN, "peer reason", "link to {who}, {address}, failed: {reason}")    \
	X(LINK_FAILED_AGAIN, "link_down", SL_DEBUG, "peer reason",                                           \
	  "link to {who}, {address}, failed: {reason}")                                                      \
	X(TWO_PLACES, "two_places", SL_WARN, "peer reason",                                                  \
	  "{who} runs at two places, {reason}: its identity was copied. Stop one of them; another machine "  \
	  "needs an identity of its own")                                                                    \
	X(FOUND, "found", SL_INFO, "peer address", "{who} is announced at {address} by mDNS")                \
	X(DISCOVERY, "discovery", SL_INFO, "reason", "{reason}")                                             \
	X(DISCOVERY_FAILED, "discovery", SL_WARN, "reason", "{reason}")                                      \
	X(JOINING, "joining", SL_INFO, "reason", "{reason}")                                                 \
	X(JOIN_REFUSED, "joining", SL_WARN, "address reason",                                                \
	  "{address} wanted to join and was refused: {reason}")                                              \
	X(JOIN_FAILED, "joining", SL_WARN, "reason", "{reason}")                                             \
	X(REFUSED, "refused", SL_WARN, "address key",                                                        \
	  "{address} connected with a key that is not in the roster, {key}: refused")                        \
	X(REFUSED_ANSWER, "refused", SL_WARN, "address key",                                                 \
	  "{address} answered for {who} with another key, {key}: refused")
