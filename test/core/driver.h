/* driver.h - one real core, alone: the test plays its peers, its worker and its disk, word by word.
 *
 * Learner 1 is the core; 2, 3, .. are the test's. Every step comes back as its trace ("cause -> effect,
 * effect").
 */
#pragma once

#include "tools/sim/trace.h"

struct driver {
	struct sl_core_config config;
	struct sl_core *core;
	void *arena;
	sl_id *ids;
	sl_ms now;
	const struct sl_view *view;			/* of the last job */
	uint32_t epoch;					/* of the last job */
	uint32_t chunk[SL_JOB_ADOPT + 1];		/* of the last job of each kind */
	struct sl_durable asked[SL_PERSIST_COMMIT + 1]; /* of the disk, the last of each kind */
	struct sl_analysis analysis;			/* what ANALYSE finds; kappa 2, degree of r 3 */
	uint32_t given, back;				/* buffers */
	int code;					/* of the last step */
	struct sl_actions actions;
	struct sl_sim_trace trace;
};

/* `learners` in the roster, n floats; started, with nobody linked. In two steps, to change its configuration
 * between. */
struct driver *driver_new(uint32_t learners, uint64_t n);
struct driver *driver_build(uint32_t learners, uint64_t n);
void driver_start(struct driver *p);
/* Every buffer must be back, unless the core was cut short: then pass what it still holds. */
void driver_free(struct driver *p, uint32_t held);

const char *tell(struct driver *p, struct sl_event event);
const char *tell_link(struct driver *p, bool up, sl_id peer);
const char *tell_message(struct driver *p, sl_id from, const struct sl_message *message);
const char *tell_hello(struct driver *p, sl_id from, sl_round t, enum sl_peer_status status);
/* Link state of `id` in attempt a naming the learners of `candidates` (0 ends the list). */
struct sl_message link_state_of(const struct driver *p, sl_id id, sl_attempt a, const sl_id *candidates);
const char *tell_link_state(struct driver *p, sl_id from, sl_id id, sl_attempt a, const sl_id *candidates);
const char *tell_ready(struct driver *p, sl_id from, sl_id id, sl_attempt a);
/* That of attempts up to a it released those in `released` (0 ends the list) and no others. */
const char *tell_abort(struct driver *p, sl_id from, sl_id id, sl_attempt a, const sl_attempt *released);
/* That it holds the masked states of these positions (bit 0: learner 1). */
const char *tell_have(struct driver *p, sl_id from, uint8_t held);
const char *tell_digest(struct driver *p, sl_id from, uint8_t first);
const char *tell_payload(struct driver *p, sl_id from, enum sl_message_kind kind, uint32_t index,
			 uint64_t iteration);
const char *tell_masked(struct driver *p, sl_id from, sl_id origin, uint32_t index);
const char *tell_done(struct driver *p, enum sl_job_kind kind, int code);
/* What the last action of that kind asked for is on disk. */
const char *tell_durable(struct driver *p, enum sl_persist_kind kind);
const char *tell_time(struct driver *p, sl_ms ms); /* later: a deadline */

/* Everybody linked, trained and ready; all link states of attempt 1 heard: a complete graph. Ends at ANALYSE.
 */
void driver_agree(struct driver *p);
/* On to the first share out; to the own Ready out; to (the first chunks of) the own masked state out. */
void driver_share(struct driver *p);
void driver_ready(struct driver *p);
void driver_release(struct driver *p);
