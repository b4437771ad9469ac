/* status_table.h - the fields of the answer to the request `status` of the control socket, stated once: for
 * the daemon, which fills them, and for starling-control(7), which a test compares with this table.
 *
 * X(field, meaning). Durations are in seconds and end in _s, instants (RFC 3339 in UTC) end in _at. A field
 * that is not known is null.
 */
#pragma once

#define SL_STATUS_VERSION 1

#define SL_STATUS_FIELDS(X)                                                                                  \
	X(ok, "true")                                                                                        \
	X(v, "version of this object: 1")                                                                    \
	X(id, "id of this learner")                                                                          \
	X(name, "its name")                                                                                  \
	X(run, "name of the run")                                                                            \
	X(version, "version of the program")                                                                 \
	X(pid, "process id")                                                                                 \
	X(started_at, "when it was started")                                                                 \
	X(round, "round that it is in")                                                                      \
	X(rounds, "rounds of the run")                                                                       \
	X(attempt, "attempt of the round")                                                                   \
	X(phase, "phase of the round")                                                                       \
	X(phase_s, "time since it entered the phase")                                                        \
	X(deadline_s, "time left until the deadline of the phase; negative: the deadline has passed")        \
	X(overdue, "true if the deadline has passed, or if waiting alone does not help")                     \
	X(progress, "progress of the phase in thousandths")                                                  \
	X(waits_for, "what it waits for, in words")                                                          \
	X(awaits, "ids of the learners that it waits for")                                                   \
	X(obstacle, "what waiting alone does not cure, and the remedy; null: no such obstacle")              \
	X(learners, "participants of the view; 0: no view is agreed on")                                     \
	X(neighbours, "ids of its neighbours in the view")                                                   \
	X(mixing, "engine of the view")                                                                      \
	X(steps, "exchanges of the engine")                                                                  \
	X(tolerance, "further participants that may be lost for good once all are Ready; null: no view")     \
	X(atom, "learners of the smallest atom: so many hide each other in the last sums; null: no view")    \
	X(dp, "object: what it has spent of its privacy budget; null: dp is off")                            \
	X(rounded, "tensors of its last trained model that were rounded to 0 as a whole")                    \
	X(committed, "last committed round; 0: none")                                                        \
	X(last_commit, "object: that round")                                                                 \
	X(links, "links that are up")                                                                        \
	X(bytes_sent, "bytes sent since the start")                                                          \
	X(bytes_received, "bytes received since the start")                                                  \
	X(round_bytes_sent, "bytes sent since the last commit")                                              \
	X(step, "step of the last range request")                                                            \
	X(metrics, "object: the last metrics of its application")                                            \
	X(memory_bytes, "resident memory of the process")                                                    \
	X(peak_bytes, "its largest resident memory")                                                         \
	X(last_problem, "object: the last warning or error that is not over")                                \
	X(two_places, "addresses of two processes that have its key, one of them here; null: one")           \
	X(peers, "array of objects: what it knows of the others")

/* Of last_commit. */
#define SL_STATUS_COMMIT_FIELDS(X)                                                                           \
	X(round, "the round")                                                                                \
	X(at, "when it was committed here; null: before this start")                                         \
	X(digest, "digest of its model, hexadecimal")                                                        \
	X(loss, "loss of this learner's training for it")                                                    \
	X(mse, "held-out mean squared error of its model")

/* Of dp. */
#define SL_STATUS_DP_FIELDS(X)                                                                               \
	X(unit, "what is hidden: record or learner")                                                         \
	X(epsilon, "spent so far, with dp_sampling as it is declared; null: no bound")                       \
	X(epsilon_unsampled, "the same without sampling")                                                    \
	X(delta, "dp_delta")                                                                                 \
	X(budget, "dp_epsilon; null: none")                                                                  \
	X(left, "budget less epsilon, at least 0; null: no budget")                                          \
	X(charges, "attempts that were charged")                                                             \
	X(guessed, "of them, those without a record: see ledger_gap in starling-log(5)")

/* Of last_problem. */
#define SL_STATUS_PROBLEM_FIELDS(X)                                                                          \
	X(at, "when it was logged")                                                                          \
	X(level, "warn or error")                                                                            \
	X(event, "event of the record")                                                                      \
	X(text, "its sentence")

/* Of an entry of peers. The first ones this learner sees itself; the others are second-hand: what the peer
 * said in its last Hello. */
#define SL_STATUS_PEER_FIELDS(X)                                                                             \
	X(id, "id of the peer")                                                                              \
	X(name, "its name")                                                                                  \
	X(link, "up or down")                                                                                \
	X(path, "how the link goes: direct, proxy (that of this machine), or relay and the name of a "       \
		"learner; null: no link")                                                                    \
	X(segment, "most bytes of a packet of the link, without headers; up to 1200: larger ones were lost " \
		   "on the way, or do not fit the interface; null: no link")                                 \
	X(in_range, "true if it is in range")                                                                \
	X(participant, "true if it is in the view")                                                          \
	X(neighbour, "true if it is a neighbour in the view")                                                \
	X(rtt_s, "least round trip time of the link; null: unknown")                                         \
	X(rate, "bytes per second that the link carried while it was busy; null: unknown")                   \
	X(unsent, "bytes for it that wait for the network")                                                  \
	X(left_out_until, "last round from which it is left out because it held up attempts")                \
	X(two_places, "addresses of two processes that have its key; null: one")                             \
	X(other_run, "true if its last Hello was of another run, and refused")                               \
	X(round, "second-hand: its round")                                                                   \
	X(attempt, "second-hand: its attempt")                                                               \
	X(state, "second-hand: its state: training, ready, open (in an attempt that it has to finish), "     \
		 "done, abstains")                                                                           \
	X(version, "version of its program; null: not known, as without a signed roster")
