/* failpoint.h - named places at which a test kills a learner, to check its recovery.
 *
 * In starlingd sl_failpoint_reach has no effect. In starlingd-test, which only tests build, the environment
 * variable STARLING_CRASH=POINT[:COUNT] makes the process kill itself (SIGKILL) at the COUNT-th (first)
 * arrival at the point. Everything sent before a point has left the process: the links are flushed first.
 * With POINT:COUNT:hang the thread stops there for ever, as with a disk that does not answer.
 */
#pragma once

#include <assert.h>

#define SL_FAILPOINTS(X)                                                                                     \
	X(LINK_STATE_SENT, "link-state-sent")	      /* the own one */                                      \
	X(SHARES_SENT, "shares-sent")		      /* the last chunk of them */                           \
	X(BEFORE_PREPARED, "before-prepared")	      /* the own slot is durable, the row is not */          \
	X(AFTER_PREPARED, "after-prepared")	      /* the row is durable, the Ready not sent */           \
	X(READY_SENT, "ready-sent")		      /* the own one */                                      \
	X(BEFORE_RELEASED, "before-released")	      /* all Readys received, the row is not durable */      \
	X(AFTER_RELEASED, "after-released")	      /* the row is durable, no deposit key sent */          \
	X(KEY_SENT, "key-sent")			      /* the own deposit key */                              \
	X(MIXING, "mixing")			      /* a chunk of a State was sent */                      \
	X(BEFORE_COMMIT_FILES, "before-commit-files") /* checkpoint and result */                            \
	X(BETWEEN_FILES_AND_ROW, "between-files-and-row")                                                    \
	X(BEFORE_ACCOUNT, "before-account")	    /* the row is durable, its record not in the account */  \
	X(AFTER_COMMIT_ROW, "after-commit-row")	    /* the core was not told */                              \
	X(BEFORE_LOG_EMPTIED, "before-log-emptied") /* of the database, if it has grown */                   \
	X(DIGEST_SENT, "digest-sent")		    /* the own one */                                        \
	X(RECOVERING, "recovering")		    /* entered RECOVER */                                    \
	X(CATCHING_UP, "catching-up")		    /* entered CATCHUP */                                    \
	X(AFTER_ABORTED, "after-aborted")	    /* the row is durable, the Abort not sent */             \
	X(AFTER_OVER, "after-over")		    /* the row is durable, the core was not told */          \
	X(RESTARTING, "restarting")		    /* it is to start again, and nothing is closed */        \
	X(BEFORE_EXEC, "before-exec")		    /* .. all is closed */                                   \
	X(BEFORE_OWN_MARK, "before-own-mark")	    /* it was said that the folder is a copy */              \
	/* only with an application: */                                                                      \
	X(BEFORE_TRAINED_FILE, "before-trained-file") /* the application has given its vector */             \
	X(AFTER_TRAINED_FILE, "after-trained-file")   /* it is durable, the core was not told */             \
	X(BEFORE_TRAINED_END, "before-trained-end")   /* the round is committed, the vector still there */

enum sl_failpoint {
#define X(name, text) SL_FAILPOINT_##name,
	SL_FAILPOINTS(X)
#undef X
		SL_FAILPOINT_COUNT
};

static_assert(SL_FAILPOINT_COUNT <= 32, "points as bits of a word");

/* Reach `point`; called from any thread. */
void sl_failpoint_reach(enum sl_failpoint point);
