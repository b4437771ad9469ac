/* admission.h - decides on requests of learners that join the group (GROUP.md §12.9 Joining).
 *
 * The requests come from unknown peers. What a learner gets before it has proved anything: that this is, or
 * is not, the group that it names. Invitations and waiting learners are files in the folder of the group, so
 * that `starling group invite` and `starling admit` work beside a running daemon, and a restart loses
 * nothing.
 */
#pragma once

#include <time.h>

#include "common/config/settings.h"
#include "common/membership/group.h"
#include "common/membership/invitation_file.h"
#include "common/membership/waiting.h"
#include "daemon/net/join_server.h"

#define SL_ADMISSION_WATCHED 16u /* invitations and members whose tries are counted at a time */

struct sl_admission_handler {
	void *context;
	/* Tell the operator: `refused` NULL: the learner waits for `starling admit`. */
	void (*say)(void *context, const char *address, const struct sl_waiting *waiting,
		    const char *refused);
};

struct sl_admission {
	char folder[SL_PATH_BYTES];
	char path[SL_PATH_BYTES]; /* of the roster */
	struct timespec written;  /* .. when it was */
	struct sl_group group;
	char *roster; /* its text; owned */
	size_t roster_bytes;
	struct sl_admission_handler handler;
	bool due;		    /* a learner waits that is admitted without a question */
	bool fresh;		    /* .. and another one has come since the last look */
	struct sl_admission_tries { /* wrong proofs, and changes of what waits, of an invitation or a member
				     */
		uint8_t id[SL_INVITATION_ID_BYTES];
		uint32_t count; /* in this minute */
		uint64_t since; /* s, monotonic, begin of the minute; 0: unused */
	} tries[SL_ADMISSION_WATCHED];
	struct sl_invitation_file invitation; /* of the request; large */
	struct sl_error why;		      /* a file of the request that cannot be read or written */
};

/* Read the roster in `path`, and serve its group if it is signed. */
int sl_admission_open(struct sl_admission *admission, const char *path,
		      const struct sl_admission_handler *handler, struct sl_error *error);
/* Return the version of the roster in its file now, or of the last one that could be used. */
uint64_t sl_admission_version(struct sl_admission *admission);
/* As the function `ask` of struct sl_join_handler; `context` is the admission. */
void sl_admission_serve(void *context, const struct sl_join_peer *peer, const struct sl_join_request *request,
			struct sl_join_answer *answer);
void sl_admission_close(struct sl_admission *admission);
