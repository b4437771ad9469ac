/* report.h - what the core has to say, as facts; the shell makes sentences of them (the core has no stdio).
 *
 * A failure reason is a kind of report: it says why an attempt ended. The comments give the fields each one
 * fills.
 */
#pragma once

#include "common/mixing/engine.h"
#include "common/protocol/message.h"
#include "common/protocol/phase.h"
#include "common/graph/graph.h"

enum sl_report_kind {
	SL_REPORT_PHASE, /* entered `phase` */
	SL_REPORT_VIEW,	 /* the gate is passed. n: learners, edges, exchanges, p; engine; real: mu; bytes: to
			    be sent to the neighbours, set */
	SL_REPORT_EXPOSED,    /* the gate is passed because it only warns: as FAILED with FEW or TOLERANCE */
	SL_REPORT_CLAMPED,    /* n[0] coordinates clamped */
	SL_REPORT_COMMITTED,  /* n: learners, edges, exchanges, total weight; engine; real: margin; hash: D;
				 aggregate_ms in n2 */
	SL_REPORT_WAITING,    /* set: learners awaited in `phase` (NULL: the radio); in RECOVER: whose masked
				 states nobody in reach has */
	SL_REPORT_FAILED,     /* the attempt ended; reason and its fields */
	SL_REPORT_RECOVERING, /* the attempt is released, and goes on without mixing: as FAILED, why; n[2]:
				 learners; or at a restart */
	SL_REPORT_RECOVERED,  /* all masked states are here; n[0]: learners, n[1]: how many were got from
				 others */
	SL_REPORT_RESUMED,    /* an attempt that a restart cut short goes on; n[0]: whether it was released */
	SL_REPORT_CLOSED, /* nobody can complete the released attempt: peer has signed so (or the operator:
			     peer = SL_NOBODY) */
	SL_REPORT_MODEL_INVALIDATED, /* the model was released in a failed attempt and is trained again */
	SL_REPORT_REJECTED,	     /* peer's message was not acceptable; word says why */
	SL_REPORT_BEHIND,    /* peer has committed this round without this learner; n[0]: the peer's round */
	SL_REPORT_STALE,     /* peer stands in round n[0] < t; hash: D of its last commit */
	SL_REPORT_CAUGHT_UP, /* round n[0] is adopted from peer; n[1]: its learners, n[2]: signers; hash: D */
	SL_REPORT_QUARANTINED, /* peer is kept out of round t; word: why; n: what it says, what was known */
	SL_REPORT_EVIDENCE,    /* peer signed both of `evidence` */
	SL_REPORT_PRIVACY,   /* set: so few came or went since the last commit that the two sums tell of them;
				n: came, went */
	SL_REPORT_DIVERGED,  /* peer's digest differs: hash is ours, hash2 the peer's */
	SL_REPORT_EXHAUSTED, /* the attempts of this round are used up */
};

enum sl_reason {
	SL_REASON_NONE,
	SL_REASON_LINK,	      /* peer: the link to it fell */
	SL_REASON_FLOOD,      /* set: link states missing at the deadline */
	SL_REASON_ALONE,      /* nobody lists this learner; n[1]: quorum */
	SL_REASON_QUORUM,     /* n: learners in the view, quorum; set: who is missing */
	SL_REASON_P_BOUND,    /* n: p (0: auto found none), least p, sigma, N; real: largest sigma or -1 */
	SL_REASON_P_IDS,      /* n: p, the id that is too large, or N */
	SL_REASON_WIDTH,      /* n: f, bits of the largest p; real: the need */
	SL_REASON_ITERATIONS, /* n: K, the limit */
	SL_REASON_PARAMETER,  /* peer; word: its name; n: own value, the peer's */
	SL_REASON_ROSTER,     /* peer has another roster; hash: own, hash2: its; n: sizes */
	SL_REASON_HISTORY,    /* peer: its last committed model is another one; hash: own D, hash2: its */
	SL_REASON_FEW,	      /* n: N, c: fewer than c+2 learners */
	SL_REASON_TOLERANCE, /* n: kappa, c, edges missing; set: who could be singled out by whom; edges: what
				would do */
	SL_REASON_ITERATIONS_RULE, /* n: K as fixed, K needed */
	SL_REASON_ABORTED,	   /* peer has given the attempt up */
	SL_REASON_USED_UP,	   /* n[0]: released attempts of this round: no more fit on record */
	SL_REASON_OPERATOR_ABORT,  /* the operator gives it up */
	SL_REASON_RESTARTED,	   /* this learner was, in the middle of the attempt */
	SL_REASON_RECORD, /* n[0]: a released attempt whose record is not of this roster or model, or damaged
			   */
	SL_REASON_JOINED, /* peer recovers the attempt already */
	SL_REASON_BAD_STATE,	/* peer sent a masked state that is not of the field */
	SL_REASON_EQUIVOCATION, /* peer signed two link states for one attempt */
	SL_REASON_STALLED,	/* set: who owes something */
	SL_REASON_SUPERSEDED,	/* peer started a later attempt; n[0]: which */
	SL_REASON_COMMITTED,	/* peer has committed this round without this learner */
	SL_REASON_BAD_SHARE,	/* peer sent a share that is not of the field */
	SL_REASON_MODEL,	/* NaN or infinity: n[0] is the coordinate, real the value */
	SL_REASON_CLIP,		/* |theta| > clip: n[0] is the coordinate, real the value */
	SL_REASON_WEIGHT,	/* n: m_i, max_weight; or a total weight of 0 */
	SL_REASON_RESULT,	/* the sum is not one of N models within clip */
	SL_REASON_MARGIN,	/* real: rounding margin of 3/8 or more */
	SL_REASON_MEMORY,	/* the arena is too small for the view */
};

#define SL_NOBODY UINT32_MAX /* as a peer */

struct sl_report {
	enum sl_report_kind kind;
	enum sl_reason reason;
	enum sl_phase phase;
	sl_round t;
	sl_attempt a;
	uint32_t peer; /* roster index */
	uint64_t n[4];
	enum sl_engine engine;
	uint64_t bytes;
	sl_ms elapsed; /* COMMITTED: since this learner's model was trained */
	double real;
	const char *word;    /* a constant */
	const uint64_t *set; /* bit set over the roster */
	const uint8_t *hash, *hash2;
	const struct sl_edge *edges; /* roster indices; edge_count of them */
	uint32_t edge_count;
	const struct sl_link_state *evidence[2];
};
