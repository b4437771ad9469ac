/* runner_internal.h - the parts of the in-process runner; private to runner_*.c.
 *
 *   runner.c           building, sweeps, the clock
 *   runner_turn.c      queued events, the core, execution of its actions
 *   runner_work.c      jobs, training, the disk
 *   runner_sweep.c     distribution of the learners over worker threads
 *   runner_piece.c     messages, packed once
 *   runner_radio.c     topology playback
 *   runner_deliver.c   delivery, links
 *   runner_look.c      sums and samples for the caller
 *
 * Within a sweep a learner belongs to the worker that has its turn; what is shared is const, atomic, or under
 * the lock.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "tools/sim/runner.h"
#include "tools/sim/vectors.h"

/* A message, shared by its receivers and freed when the last of them has read it. */
struct sl_runner_payload {
	atomic_uint readers;
	size_t frame_bytes; /* its size as a frame */
	struct sl_message message;
	_Alignas(64) uint8_t bytes[]; /* of a chunk; else what the message points to */
};

enum sl_runner_mail_kind {
	SL_RUNNER_START,
	SL_RUNNER_LINK_UP,
	SL_RUNNER_LINK_DOWN,
	SL_RUNNER_RANGE,
	SL_RUNNER_DEADLINE,
	SL_RUNNER_PAYLOAD
};
struct sl_runner_mail {
	enum sl_runner_mail_kind kind;
	uint32_t peer;
	struct sl_runner_payload *piece;
};

/* Something said in this turn; the sets lie in `sets`. */
struct sl_runner_said {
	struct sl_runner_payload *piece; /* NULL: the set of wanted links */
	uint32_t peer;			 /* or SL_NOBODY: to a set */
	size_t set;
};

enum sl_runner_work_kind { SL_RUNNER_JOB, SL_RUNNER_TRAIN, SL_RUNNER_PERSIST, SL_RUNNER_WIPE };
struct sl_runner_work {
	enum sl_runner_work_kind kind;
	struct sl_job job;
	struct sl_durable durable;
	uint64_t draw;		       /* TRAIN; durable.t is its round */
	uint8_t digest[SL_HASH_BYTES]; /* of a commit, as the others */
	uint64_t p, total_weight;
};

/* An array that grows; items of one kind. */
#define SL_RUNNER_LIST(type)                                                                                 \
	struct {                                                                                             \
		type *items;                                                                                 \
		size_t count, room;                                                                          \
	}

struct sl_runner_learner {
	struct sl_core *core;
	void *arena;
	struct sl_workspace workspace;
	const struct sl_view *view; /* of the last ENCODE or CHECK */
	uint64_t random;	    /* of its coins */
	SL_RUNNER_LIST(struct sl_runner_mail) inbox;
	SL_RUNNER_LIST(struct sl_runner_work) work;
	size_t inbox_done, work_done; /* from their fronts */
	SL_RUNNER_LIST(struct sl_runner_said) said;
	SL_RUNNER_LIST(uint64_t) sets;
	bool spoke; /* vectors, in this turn: enough for one */
	bool stopped;
	sl_ms due;
	uint64_t bytes;	       /* sent */
	uint64_t *up, *wanted; /* links that stand, and those that it wants; bit sets over the roster */
	enum sl_phase phase;
	sl_round committed;
	uint8_t *result; /* Z of it, packed at the width of p, for learners that catch up */
	uint64_t p;
};

/* The encodings of an attempt, added up as they are made. */
struct sl_runner_sum {
	struct sl_runner_sum *next;
	uint8_t h[SL_HASH_BYTES];
	sl_round t;
	uint32_t count;
	uint64_t z[]; /* n+1 */
};

/* A thread that takes turns. The first one is the caller's own. */
struct sl_runner_worker {
	struct sl_runner *runner;
	pthread_t thread;
	struct sl_actions actions;
	struct sl_buffer *spare;
	double seconds[SL_PHASE_COUNT], elsewhere_s, clock;
};

#define SL_RUNNER_WORKERS_MAX 64u

struct sl_runner {
	struct sl_runner_options options;
	uint32_t n;
	size_t words; /* of a bit set over the roster */
	sl_id *ids;
	struct sl_runner_learner *learners;
	sl_ms now;
	uint64_t sweeps;
	uint32_t steps, barren; /* of the schedule; barren: in a row, without a commit */
	sl_ms step_at;
	uint64_t *ranges; /* of the present step, by learner */
	sl_round first;	  /* the last round that a learner has committed */
	double deliver_s;

	struct sl_runner_worker *workers[SL_RUNNER_WORKERS_MAX];
	uint32_t worker_count;
	uint32_t *todo; /* learners that have a turn in this sweep */
	uint32_t todo_count;
	atomic_uint next;     /* of todo */
	pthread_mutex_t gate; /* of the four below */
	pthread_cond_t open, done;
	bool sweeping, closing;
	uint32_t busy; /* workers, beside the first */

	pthread_mutex_t lock;	     /* of what follows, and of the caller's functions but `train` */
	struct sl_analysis analysis; /* of the view analysis_h */
	uint8_t analysis_h[SL_HASH_BYTES];
	int analysis_code;
	struct sl_runner_sum *sums;
	struct sl_error error; /* that ends the run: of the first learner that has one */
	uint32_t error_of;
};

static inline bool sl_runner_has_to_do(const struct sl_runner_learner *l)
{
	return l->inbox.count > 0 || l->work.count > 0;
}

/* Makes room for one more item; the list is { items, count, room }. */
void *sl_runner_grow(void *items, size_t *room, size_t count, size_t size);
#define SL_RUNNER_PUSH(list, item)                                                                           \
	do {                                                                                                 \
		(list).items =                                                                               \
			sl_runner_grow((list).items, &(list).room, (list).count + 1, sizeof *(list).items);  \
		(list).items[(list).count++] = (item);                                                       \
	} while (0)

/* runner_turn.c */
void sl_runner_turn(struct sl_runner_worker *worker, uint32_t i);
/* A learner that has ended, or is about to. */
void sl_runner_drop(struct sl_runner_worker *worker, uint32_t i);
void sl_runner_event(struct sl_runner_worker *worker, uint32_t i, struct sl_event *event);
void sl_runner_give_back(struct sl_runner_worker *worker, struct sl_buffer *list);

/* runner_sweep.c */
int sl_runner_workers_open(struct sl_runner *runner);
void sl_runner_workers_close(struct sl_runner *runner);
/* Let every learner that has work take a turn. */
void sl_runner_sweep(struct sl_runner *runner);
/* The worker's time since the last call was spent on this. */
void sl_runner_tick(struct sl_runner_worker *worker, double *seconds);
/* Learner i ends the run. */
void sl_runner_fail(struct sl_runner *runner, uint32_t i, const struct sl_error *error);

/* runner_work.c */
void sl_runner_work(struct sl_runner_worker *worker, uint32_t i);

/* runner_piece.c */
void sl_runner_say(struct sl_runner *runner, uint32_t i, const struct sl_action *action);
void sl_runner_unread(struct sl_runner_payload *piece,
		      uint32_t readers); /* so many have read it, or will not */

/* runner_deliver.c: all that was said in this sweep */
void sl_runner_deliver(struct sl_runner *runner);
void sl_runner_post(struct sl_runner *runner, uint32_t i, struct sl_runner_mail mail);

/* runner_radio.c */
void sl_runner_playback_next(struct sl_runner *runner);

/* runner_look.c */
void sl_runner_sum_add(struct sl_runner *runner, uint32_t i);
bool sl_runner_sum_check(struct sl_runner *runner, uint32_t i);
void sl_runner_sums_forget(struct sl_runner *runner, sl_round t); /* up to t */
void sl_runner_look(struct sl_runner *runner, uint32_t i, uint32_t chunk,
		    uint64_t k);				   /* it shows this chunk's state */
void sl_runner_look_closing(struct sl_runner *runner, uint32_t i); /* all its states are at K */
