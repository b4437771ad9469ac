/* The masked states of the attempt under way (protocol 6): their spool opened, room made before a job writes into it, and
 * what of them is sent. */
#include <string.h>

#include "common/base/bytes.h"
#include "daemon/learner/daemon.h"

/* Out of the spare one, if that is alike. */
static int open_spool(struct sl_daemon *daemon, sl_round t, sl_attempt a, uint32_t slots, size_t slot_bytes,
		      struct sl_error *error)
{
	if (daemon->spare.slots != slots || daemon->spare.slot_bytes != slot_bytes) {
		sl_spool_remove(&daemon->spare);
		return sl_spool_open(&daemon->spool, daemon->settings->state, t, a, slots, slot_bytes, error);
	}
	daemon->spool = daemon->spare;
	daemon->spare = (struct sl_spool_file){0};
	return sl_spool_reuse(&daemon->spool, t, a, error);
}

int sl_masked_open(struct sl_daemon *daemon, sl_round t, sl_attempt a, uint32_t slots, size_t slot_bytes,
		   struct sl_error *error)
{
	sl_spool_remove(&daemon->spool); /* of an attempt that came to nothing */
	int rc = open_spool(daemon, t, a, slots, slot_bytes, error);
	daemon->vault.spool = (struct sl_spool){.base = daemon->spool.base, .slot_bytes = slot_bytes};
	return rc;
}

static int reserve(void *context, uint32_t position, struct sl_error *error)
{
	struct sl_daemon *daemon = context;
	return sl_spool_reserve(&daemon->spool, position, error);
}

int sl_masked_room(struct sl_daemon *daemon, const struct sl_job *job, struct sl_error *error)
{
	const struct sl_view *view = job->view;
	if (job->kind == SL_JOB_ENCODE)
		return sl_masked_open(daemon, view->t, view->a, view->n, sl_slot_bytes(view), error);
	return sl_job_slots(job, reserve, daemon, error);
}

static bool is_of(const struct sl_spool_file *spool, sl_round t, sl_attempt a)
{
	return t == spool->t && a == spool->a;
}

bool sl_masked_wanted(const struct sl_daemon *daemon, sl_round committed, sl_round t, sl_attempt a)
{
	return t >= committed || is_of(&daemon->kept, t, a) || is_of(&daemon->spare, t, a);
}

/* Those of a committed round stay until the next has committed; then the file is at hand for another one. */
void sl_masked_end(struct sl_daemon *daemon)
{
	struct sl_store_round last = {0};
	sl_store_last_round(daemon->store, &last, NULL);
	daemon->vault.spool = (struct sl_spool){0};
	if (!is_of(&daemon->spool, last.t, last.a)) {
		sl_spool_remove(&daemon->spool);
		return;
	}
	sl_spool_remove(&daemon->spare);
	daemon->spare = daemon->kept;
	daemon->kept = daemon->spool;
	daemon->spool = (struct sl_spool_file){0};
}
