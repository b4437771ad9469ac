/* failpoint.h - named places at which a learner may die, for tests of what survives it.
 *
 * In starlingd sl_failpoint_reach does nothing. In starlingd-test, which only tests build, the environment
 * says STARLING_CRASH=POINT[:COUNT] and the process kills itself (SIGKILL) the first, or the COUNT-th, time
 * that it comes by there. What was sent before a point has left the process: the links are flushed first.
 */
#pragma once

#include <assert.h>

#define SL_FAILPOINTS(X)                                                                                     \
	X(LINK_STATE_SENT, "link-state-sent") /* the own one */                                              \
	X(SHARES_SENT, "shares-sent")	      /* the last chunk of them */                                   \
	X(BEFORE_PREPARED,                                                                                   \
	  "before-prepared")		    /* the own slot of the state file is durable, the row is not */  \
	X(AFTER_PREPARED, "after-prepared") /* the row is, and the Ready not sent */                         \
	X(READY_SENT, "ready-sent")	    /* the own one */                                                \
	X(BEFORE_RELEASED, "before-released")	      /* all Readys are there, the row is not */             \
	X(AFTER_RELEASED, "after-released")	      /* the row is, and no masked state has left */         \
	X(FIRST_STATE_SENT, "first-state-sent")	      /* the first chunk of the own masked state */          \
	X(MIXING, "mixing")			      /* a chunk of a later iteration was sent */            \
	X(BEFORE_COMMIT_FILES, "before-commit-files") /* checkpoint and result */                            \
	X(BETWEEN_FILES_AND_ROW, "between-files-and-row")                                                    \
	X(AFTER_COMMIT_ROW, "after-commit-row") /* and nobody was told */                                    \
	X(DIGEST_SENT, "digest-sent")		/* the own one */                                            \
	X(RECOVERING, "recovering")		/* entered RECOVER */                                        \
	X(CATCHING_UP, "catching-up")		/* entered CATCHUP */

enum sl_failpoint {
#define X(name, text) SL_FAILPOINT_##name,
	SL_FAILPOINTS(X)
#undef X
		SL_FAILPOINT_COUNT
};

static_assert(SL_FAILPOINT_COUNT <= 32, "points as bits of a word");

/* From any thread. */
void sl_failpoint_reach(enum sl_failpoint point);
