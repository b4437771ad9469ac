/* runner_internal.h - the parts of the in-process runner; private to runner_*.c.
 *
 *   runner_run.c       building, sweeps, the clock, topology playback
 *   runner_turn.c      queued events, the core, its actions, its work, on worker threads
 *   runner_deliver.c   messages, links
 *   runner_look.c      sums and samples for the caller
 *
 * Within a sweep a learner belongs to the worker that has its turn; shared data is const, atomic, or under
 * the lock.
 */
#pragma once

#include <pthread.h>

#include "daemon/runtime/pool.h"
#include "tools/host/packet.h"
#include "tools/runner/runner.h"

/* An event on its way to a core; with a message, `packet` is not NULL. */
struct sl_runner_mail {
	enum sl_event_kind kind;
	uint32_t peer;
	struct sl_packet *packet;
};

/* A message of this turn and its receivers, or (without a packet) the wanted links. */
struct sl_runner_said {
	struct sl_runner_said *next;
	struct sl_packet *packet;
	uint32_t count;
	uint32_t to[]; /* roster indices, ascending */
};

struct sl_runner_learner {
	struct sl_hosted host;
	struct sl_runner_mail *inbox;
	size_t inbox_count, inbox_room, inbox_done;
	struct sl_runner_said *said, **said_end; /* in this sweep */
	bool spoke;				 /* it has sent vectors: its turn ends */
	sl_ms due;
	uint64_t bytes; /* sent */
	uint64_t *up;	/* links that stand: bit set over the roster */
};

/* The encodings of an attempt, added up as they are made. */
struct sl_runner_sum {
	struct sl_runner_sum *next;
	uint8_t h[SL_HASH_BYTES];
	sl_round t;
	uint32_t count;
	uint64_t z[]; /* n+1 */
};

#define SL_RUNNER_RECENT 8192u
/* A thread that takes turns. */
struct sl_runner_worker {
	struct sl_runner *runner;
	struct sl_actions actions;
	uint32_t turn; /* the learner whose step it is */
	double seconds[SL_PHASE_COUNT], elsewhere_s, clock;
	struct sl_packet
		*recent[SL_RUNNER_RECENT]; /* records that it sent last: passed on, they are shared */
};

struct sl_runner {
	struct sl_runner_options options;
	uint32_t n;
	size_t words; /* of a bit set over the roster */
	sl_id *ids;
	struct sl_runner_learner *learners;
	sl_ms now;
	uint32_t steps, barren; /* of the schedule; barren: in a row, without a commit */
	sl_ms step_at;
	uint64_t *ranges; /* of the present step, by learner */
	sl_round first;	  /* the last round that a learner has committed */
	double deliver_s;

	struct sl_runner_worker *workers;
	struct sl_pool pool; /* of their threads; the first one is the caller's own */
	uint32_t *todo;	     /* learners that have a turn in this sweep */

	pthread_mutex_t lock;	     /* of the members below, and of the caller's functions except `train` */
	struct sl_analysis analysis; /* of the view analysis_h */
	uint8_t analysis_h[SL_HASH_BYTES];
	int analysis_code;
	struct sl_runner_sum *sums;
	struct sl_error error; /* that ends the run: of the first learner that has one */
	uint32_t error_of;
};

static inline bool sl_runner_has_to_do(const struct sl_runner_learner *l)
{
	return l->inbox_count > 0 || l->host.work != NULL;
}

/* runner_turn.c */
/* Free the mail and the work of a learner that has ended, or is about to. */
void sl_runner_drop(struct sl_runner *runner, uint32_t i);
int sl_runner_workers_open(struct sl_runner *runner);
void sl_runner_workers_close(struct sl_runner *runner);
/* Let every learner that has work take a turn. */
void sl_runner_sweep(struct sl_runner *runner);
/* Add the worker's processor time since the last call to *seconds. */
void sl_runner_tick(struct sl_runner_worker *worker, double *seconds);

/* runner_deliver.c */
/* Keep a Send or Links until the sweep is over. */
void sl_runner_say(struct sl_runner_worker *worker, uint32_t i, const struct sl_action *action);
/* Deliver the messages of this sweep. */
void sl_runner_deliver(struct sl_runner *runner);
/* Queue an event for learner i; the mail takes the reference of its packet over. */
void sl_runner_post(struct sl_runner *runner, uint32_t i, struct sl_runner_mail mail);
void sl_runner_said_free(struct sl_runner_learner *learner);

/* runner_look.c */
void sl_runner_sum_add(struct sl_runner *runner, uint32_t i);
bool sl_runner_sum_check(struct sl_runner *runner, uint32_t i);
void sl_runner_sums_forget(struct sl_runner *runner, sl_round t); /* up to t */
void sl_runner_look(struct sl_runner *runner, uint32_t i, uint32_t chunk,
		    uint64_t k);				   /* this chunk's state is sent */
void sl_runner_look_closing(struct sl_runner *runner, uint32_t i); /* all its states are at K */
