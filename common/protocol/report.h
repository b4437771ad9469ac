/* report.h - what the core tells its shell, as facts. common/report makes sentences and log records of them.
 *
 * A report has a kind. The first fields below are common to several kinds; the union has one struct for each
 * kind that states more. A report that an attempt failed, or that it is released and goes on in RECOVER, also
 * has a reason, and the union `why` has one struct for each reason that states more. A report is valid until
 * the next step of the core.
 */
#pragma once

#include "common/field/encoding.h"
#include "common/mixing/engine.h"
#include "common/protocol/message.h"
#include "common/protocol/phase.h"
#include "common/graph/graph.h"

/* X(kind, name in traces) */
#define SL_REPORTS(X)                                                                                        \
	X(PHASE, "PHASE")	  /* `phase` is entered */                                                   \
	X(VIEW, "VIEW")		  /* the view passed the privacy check; set: own neighbours */               \
	X(LEFT_OUT, "LEFT OUT")	  /* the view is agreed on without `peer`, or the learners of set; reason */ \
	X(EXPOSED, "EXPOSED")	  /* the privacy check failed and only warns; reason FEW or TOLERANCE */     \
	X(ENCODED, "ENCODED")	  /* the trained model is encoded, and some values were rounded */           \
	X(CLAMPED, "CLAMPED")	  /* parameters were cut to the clipping range */                            \
	X(SCALED, "SCALED")	  /* with noise, the vector was scaled down to the norm */                   \
	X(MIXED, "MIXED")	  /* all states of metropolis are mixed */                                   \
	X(COMMITTED, "COMMITTED") /* the round is committed */                                               \
	X(WAITING, "WAITING") /* set: learners awaited; NULL: the list of learners in range is; in RECOVER:  \
				 those whose deposit no linked learner has, or whose key is unknown */       \
	X(FAILED, "FAILED")   /* the attempt ended before its release, its sum is refused, or the learner    \
				 ends; reason */                                                             \
	X(RECOVERING, "RECOVERING") /* the attempt goes on without mixing; reason */                         \
	X(RECOVERED, "RECOVERED")   /* all masked states of the attempt are here */                          \
	X(RESUMED, "RESUMED")	    /* an attempt that a restart interrupted goes on */                      \
	X(OVER, "OVER") /* an attempt with an own Ready is over: `peer` has aborted it, or SL_NOBODY: the    \
				   operator */                                                               \
	X(MODEL_INVALIDATED,                                                                                 \
	  "INVALIDATED")	  /* rule B forbids its use in another attempt: it is trained again */       \
	X(MODEL, "MODEL")	  /* `peer` trains another model */                                          \
	X(REJECTED, "REJECTED")	  /* a message of `peer` is not acceptable */                                \
	X(BEHIND, "BEHIND")	  /* `peer` has committed this round without this learner */                 \
	X(STALE, "STALE")	  /* `peer` is in an earlier round */                                        \
	X(CAUGHT_UP, "CAUGHT UP") /* a result is adopted from `peer` */                                      \
	X(PENALTY, "PENALTY")	  /* set: learners that held up or ended attempts: they are left out */      \
	X(FLOODED, "FLOODED")	  /* `peer` signs more records than an honest learner */                     \
	X(ABSTAINS, "ABSTAINS")	  /* `peer` shows what this learner has signed and forgotten */              \
	X(EVIDENCE, "EVIDENCE")	  /* `peer` signed two records that no honest learner signs both */          \
	X(PRIVACY, "PRIVACY")	  /* set: learners of atoms below c+2 (seen.h) */                            \
	X(DIVERGED, "DIVERGED")	  /* the digest of `peer` differs from the own one */                        \
	X(EXHAUSTED, "EXHAUSTED") /* no attempt of this round is left */

enum sl_report_kind {
#define X(kind, name) SL_REPORT_##kind,
	SL_REPORTS(X)
#undef X
};

/* X(reason, name in traces) */
#define SL_REASONS(X)                                                                                        \
	X(NONE, "none")                                                                                      \
	X(LINK, "link")		      /* the link to `peer` was lost */                                      \
	X(FLOOD, "flood")	      /* set: learners whose link state is missing at the deadline */        \
	X(ALONE, "alone")	      /* no learner in range lists this one */                               \
	X(QUORUM, "quorum")	      /* set: learners that the view lacks */                                \
	X(P_BOUND, "p bound")	      /* p cannot hold the sum of all models */                              \
	X(P_IDS, "p ids")	      /* p is not larger than every id and N */                              \
	X(WIDTH, "width")	      /* metropolis: too few fractional bits for this graph */               \
	X(ITERATIONS, "iterations")   /* metropolis: this graph needs more iterations than the limit */      \
	X(OTHER_MODEL, "other model") /* `peer` has another model, or averages other values of it */         \
	X(INITIAL, "initial")	      /* the participants begin with different models */                     \
	X(ELEMENTS, "elements")	      /* a vector of the view has too many elements */                       \
	X(ROSTER, "roster")	      /* `peer` has another roster */                                        \
	X(HISTORY, "history")	      /* `peer` starts from another committed model */                       \
	X(FEW, "few")		      /* fewer than c+2 learners */                                          \
	X(TOLERANCE, "tolerance")     /* set: learners that could single out others */                       \
	X(PRUNED, "pruned")	      /* set: learners with too few links, without which the others go on */ \
	X(ITERATIONS_RULE,                                                                                   \
	  "iterations rule")  /* metropolis: this graph needs more than the fixed iterations */              \
	X(ABORTED, "aborted") /* `peer` has signed an Abort */                                               \
	X(OPERATOR_ABORT, "operator abort") /* the operator aborts the attempt */                            \
	X(RESTARTED, "restarted")	    /* this learner was restarted during the attempt */              \
	X(RECORD, "record") /* the record of a released attempt is damaged, or of another roster or model */ \
	X(READYS, "readys differ")	/* `peer` holds other Readys of the attempt */                       \
	X(MUTE, "mute")			/* `peer` is linked and has said no Hello */                         \
	X(JOINED, "joined")		/* `peer` is already recovering the attempt */                       \
	X(BAD_STATE, "bad state")	/* `peer` sent a masked state with an element that is not in Z_p */  \
	X(EQUIVOCATION, "equivocation") /* `peer` signed two different link states for one attempt */        \
	X(STALLED, "stalled")		/* set: learners from which due data did not come */                 \
	X(SLOW, "slow")		      /* set: learners for whose data alone this one has waited for long */  \
	X(SUPERSEDED, "superseded")   /* `peer` started a later attempt */                                   \
	X(COMMITTED, "committed")     /* `peer` is in a later round, as it says */                           \
	X(BAD_SHARE, "bad share")     /* `peer` sent a share with an element that is not in Z_p */           \
	X(BAD_DEPOSIT, "bad deposit") /* the deposit or key share of `peer` is not what it signed for */     \
	X(MODEL, "model")	      /* a parameter of the model is NaN or infinite */                      \
	X(CLIP, "clip")		      /* a parameter of the model is outside the clipping range */           \
	X(ZEROED, "zeroed")	      /* a tensor of the model is rounded to 0 in round after round */       \
	X(WEIGHT, "weight")	      /* the weight is larger than max_weight, or 0 where it must be 1 */    \
	X(MEMBERSHIP, "membership")   /* set: learners of atoms below c+2, or those it waits for */          \
	X(WEIGHTLESS, "weightless")   /* every participant has weight 0 */                                   \
	X(RESULT, "result")	      /* the sum is not one of N models within the clipping range */         \
	X(CHECKSUM, "checksum")	      /* a sum that was passed on is wrong; set: learners that dispute a     \
					 masked state */                                                     \
	X(MARGIN, "margin")	      /* the rounding margin is 3/8 or more */                               \
	X(MEMORY, "memory")	      /* the view does not fit the arena */

enum sl_reason {
#define X(reason, name) SL_REASON_##reason,
	SL_REASONS(X)
#undef X
};

/* Return the name in traces: "OVER", "quorum". */
const char *sl_report_name(enum sl_report_kind kind);
const char *sl_report_reason_name(enum sl_reason reason);

#define SL_NOBODY UINT32_MAX /* as a peer */

/* How the states of metropolis converge: a learner's differences to its neighbours
 * (sl_spectrum_spread_bound).
 */
struct sl_spreads {
	uint32_t count;
	struct {
		uint64_t exchanges; /* that were done, ascending */
		double spread, bound;
	} points[SL_SPREADS_MAX];
};

struct sl_report {
	enum sl_report_kind kind;
	enum sl_reason reason; /* of FAILED, EXPOSED, LEFT_OUT, RECOVERING; else NONE */
	enum sl_phase phase;
	sl_round t;
	sl_attempt a;
	uint32_t peer;	     /* roster index of the learner that the report names */
	const uint64_t *set; /* bit set over the roster: the learners that the report names */
	union {
		struct {
			uint32_t learners, edges;
			uint32_t tolerance; /* losses for good that it tolerates once all are Ready */
			const uint8_t *h;
			const uint64_t *participants; /* bit set over the roster */
			uint64_t exchanges, p, bytes; /* bytes: to be sent to the neighbours */
			enum sl_engine engine;
			double mu;
			uint32_t atom; /* size of the smallest atom of the sums seen, with that of the view */
		} view;
		struct {
			enum sl_values values; /* of the encoding */
			double step;	       /* quantization step, with decimals */
			uint64_t n, vanished;  /* values of the model; those that were rounded to 0 */
			double rounding,
				update; /* largest error and largest update; NaN: no committed model */
			uint32_t frozen, first_frozen; /* tensors that changed and are rounded to 0 as a
							  whole; the index of the first */
		} encoded;
		struct {
			uint64_t count; /* parameters */
			bool ranged;	/* each tensor has its range: then clipping_range is of no meaning */
			double clipping_range;
		} clamped;
		struct {
			uint64_t exchanges;
			const struct sl_spreads *spreads; /* one or more */
		} mixed;
		struct {
			uint32_t learners, edges;
			uint64_t exchanges, total_weight;
			enum sl_engine engine;
			enum sl_values values; /* of the encoding */
			uint32_t decimals;     /* as agreed */
			uint32_t update_bits;  /* of the first limb */
			double mu, margin, clipping_range;
			sl_ms elapsed; /* since this learner's model was trained */
			uint8_t digest[SL_HASH_BYTES];
		} committed;
		struct {
			uint32_t learners; /* of the view */
		} recovering;
		struct {
			bool change; /* the last attempt was refused, and waiting alone does not cure that */
		} waiting;
		struct {
			uint32_t learners,
				fetched; /* masked states: all of the view; those that other learners sent */
		} recovered;
		struct {
			bool released;
		} resumed;
		struct {
			uint64_t tolerance;
		} model_invalidated;
		struct {
			const char *text; /* constant: the fault of the message */
		} rejected;
		struct {
			sl_round t; /* of the peer */
		} behind;
		struct {
			sl_round t;		       /* of the peer */
			uint8_t digest[SL_HASH_BYTES]; /* of its last commit */
		} stale;
		struct {
			sl_round t; /* that is adopted */
			uint32_t learners, signers;
			uint8_t digest[SL_HASH_BYTES];
		} caught_up;
		struct {
			sl_round t;	    /* of the record */
			const char *record; /* constant: "a Ready" */
		} abstains;
		const struct sl_model *model; /* of the peer: its tensors as it has sent them, not checked */
		const struct sl_message *evidence; /* two records; a Ready before an Abort */
		struct {
			sl_round since; /* round of the first sum that counts */
			uint32_t atom;	/* size of the smallest atom */
			uint32_t gone;	/* learners of small atoms that are not in the roster */
			uint64_t tolerance;
		} privacy;
		struct {
			uint8_t own[SL_HASH_BYTES], theirs[SL_HASH_BYTES];
		} diverged;
	};
	union {
		struct {
			uint32_t learners; /* of the view */
			uint64_t quorum;
		} quorum; /* ALONE, QUORUM */
		struct {
			uint64_t p;	/* 0: `modulus: auto` found none */
			uint64_t least; /* smallest integer that meets the bound */
			enum sl_values values;
			uint64_t digits; /* decimals or update_bits, as agreed */
			int digits_most; /* largest that p allows; -1: none */
			uint32_t learners,
				bits_most; /* of the view; bits of the largest p that the engine takes */
		} p_bound;
		struct {
			uint64_t count;
		} elements;
		struct {
			uint64_t p, largest; /* largest: the larger of N and the largest id */
		} p_ids;
		struct {
			uint32_t fraction,
				p_bits_most; /* g of §8.2; bits of the largest p that leaves enough */
			double need;	     /* least 2^g */
		} width;
		struct {
			uint64_t need, limit; /* K; the largest, or the one that is fixed */
		} iterations;		      /* ITERATIONS, ITERATIONS_RULE */
		struct {
			bool model;		 /* n or the tensors differ; else what is averaged */
			uint64_t own_n, their_n; /* values of the models */
			enum sl_values own_values, their_values;
		} other;
		struct {
			uint32_t own_size, their_size;
			uint8_t own[SL_HASH_BYTES], theirs[SL_HASH_BYTES];
		} roster;
		struct {
			uint8_t own[SL_HASH_BYTES],
				theirs[SL_HASH_BYTES]; /* digests; zeros: the initial model */
		} history;
		struct {
			uint32_t learners, kappa; /* of the view; kappa: of TOLERANCE, as is what follows c */
			uint64_t tolerance;	  /* c */
			uint32_t missing;	  /* edges whose addition would be enough */
			uint32_t edge_count;	  /* of `edges`: the first of them */
			const struct sl_edge *edges; /* between roster indices */
		} tolerance;			     /* FEW, TOLERANCE, PRUNED */
		struct {
			sl_attempt a;
		} attempt; /* RECORD: the released one; SUPERSEDED: the peer's */
		struct {
			uint64_t index; /* of the parameter; ZEROED: of the tensor */
			double value, clipping_range;
			bool exact; /* round: beyond its largest value */
		} model;	    /* MODEL, CLIP, ZEROED */
		struct {
			uint64_t weight, most; /* a weight of 0 may be the total */
		} weight;
		struct {
			uint32_t learners;
		} result;
		struct {
			double distance; /* of the sum from the integer it rounds to */
		} margin;
	} why;
};
