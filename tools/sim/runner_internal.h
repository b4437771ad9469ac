/* runner_internal.h - the parts of the in-process runner; private to runner_*.c.
 *
 *   runner.c   building, sweeps, the clock    turn.c   mail, the core, what it asks for   work.c   jobs, training, the disk
 *   sweep.c    workers take turns             piece.c  messages, packed once              radio.c  topology playback
 *   deliver.c  delivery, links                look.c   sums and samples for the caller
 *
 * Within a sweep a learner belongs to the worker that has its turn; what is shared is const, atomic, or under the lock.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "tools/sim/runner.h"
#include "tools/sim/vectors.h"

/* A message, shared by its receivers and freed when the last of them has read it. */
struct swarm_piece {
	atomic_uint readers;
	size_t frame_bytes; /* its size as a frame */
	struct sl_message message;
	_Alignas(64) uint8_t bytes[]; /* of a chunk; else what the message points to */
};

enum swarm_mail_kind { SWARM_START, SWARM_LINK_UP, SWARM_LINK_DOWN, SWARM_RANGE, SWARM_DEADLINE, SWARM_PIECE };
struct swarm_mail {
	enum swarm_mail_kind kind;
	uint32_t peer;
	struct swarm_piece *piece;
};

/* Something said in this turn; the sets lie in `sets`. */
struct swarm_said {
	struct swarm_piece *piece; /* NULL: the set of wanted links */
	uint32_t peer;             /* or SL_NOBODY: to a set */
	size_t set;
};

enum swarm_work_kind { SWARM_JOB, SWARM_TRAIN, SWARM_PERSIST, SWARM_WIPE };
struct swarm_work {
	enum swarm_work_kind kind;
	struct sl_job job;
	struct sl_durable durable;
	uint64_t draw;                         /* TRAIN; durable.t is its round */
	uint8_t digest[SL_HASH_BYTES];         /* of a commit, as the others */
	uint64_t p, total_weight;
};

/* An array that grows; items of one kind. */
#define SWARM_LIST(type)                                                                                     \
	struct {                                                                                             \
		type *items;                                                                                 \
		size_t count, room;                                                                          \
	}

struct swarm_learner {
	struct sl_core *core;
	void *arena;
	struct sl_vault vault;
	const struct sl_view *view; /* of the last ENCODE or CHECK */
	uint64_t random;            /* of its coins */
	SWARM_LIST(struct swarm_mail) inbox;
	SWARM_LIST(struct swarm_work) work;
	size_t inbox_done, work_done; /* from their fronts */
	SWARM_LIST(struct swarm_said) said;
	SWARM_LIST(uint64_t) sets;
	bool spoke;       /* vectors, in this turn: enough for one */
	bool stopped;
	sl_ms due;
	uint64_t bytes; /* sent */
	uint64_t *up, *wanted; /* links that stand, and those that it wants; bit sets over the roster */
	enum sl_phase phase;
	sl_round committed;
	uint8_t *result; /* Z of it, packed at the width of p, for learners that catch up */
	uint64_t p;
};

/* The encodings of an attempt, added up as they are made. */
struct swarm_sum {
	struct swarm_sum *next;
	uint8_t h[SL_HASH_BYTES];
	sl_round t;
	uint32_t count;
	uint64_t z[]; /* n+1 */
};

/* A thread that takes turns. The first one is the caller's own. */
struct swarm_worker {
	struct swarm *swarm;
	pthread_t thread;
	struct sl_actions actions;
	struct sl_buffer *spare;
	double seconds[SL_PHASE_COUNT], elsewhere_s, clock;
};

#define SWARM_WORKERS_MAX 64u

struct swarm {
	struct swarm_options options;
	uint32_t n;
	size_t words; /* of a bit set over the roster */
	sl_id *ids;
	struct swarm_learner *learners;
	sl_ms now;
	uint64_t sweeps;
	uint32_t steps, barren; /* of the schedule; barren: in a row, without a commit */
	sl_ms step_at;
	uint64_t *ranges; /* of the present step, by learner */
	sl_round first;   /* the last round that a learner has committed */
	double deliver_s;

	struct swarm_worker *workers[SWARM_WORKERS_MAX];
	uint32_t worker_count;
	uint32_t *todo; /* learners that have a turn in this sweep */
	uint32_t todo_count;
	atomic_uint next; /* of todo */
	pthread_mutex_t gate; /* of the four below */
	pthread_cond_t open, done;
	bool sweeping, closing;
	uint32_t busy; /* workers, beside the first */

	pthread_mutex_t lock; /* of what follows, and of the caller's functions but `train` */
	struct sl_survey survey; /* of the view survey_h */
	uint8_t survey_h[SL_HASH_BYTES];
	int survey_code;
	struct swarm_sum *sums;
	struct sl_error error; /* that ends the run: of the first learner that has one */
	uint32_t error_of;
};

static inline bool swarm_has_to_do(const struct swarm_learner *l)
{
	return l->inbox.count > 0 || l->work.count > 0;
}

/* Makes room for one more item; the list is { items, count, room }. */
void *swarm_grow(void *items, size_t *room, size_t count, size_t size);
#define SWARM_PUSH(list, item)                                                                               \
	do {                                                                                                 \
		(list).items = swarm_grow((list).items, &(list).room, (list).count + 1, sizeof *(list).items); \
		(list).items[(list).count++] = (item);                                                       \
	} while (0)

/* turn.c */
void swarm_turn(struct swarm_worker *worker, uint32_t i);
/* A learner that has ended, or is about to. */
void swarm_drop(struct swarm_worker *worker, uint32_t i);
void swarm_event(struct swarm_worker *worker, uint32_t i, struct sl_event *event);
void swarm_give_back(struct swarm_worker *worker, struct sl_buffer *list);

/* sweep.c */
int swarm_workers_open(struct swarm *swarm);
void swarm_workers_close(struct swarm *swarm);
/* Let every learner that has work take a turn. */
void swarm_sweep(struct swarm *swarm);
/* The worker's time since the last call was spent on this. */
void swarm_tick(struct swarm_worker *worker, double *seconds);
/* Learner i ends the run. */
void swarm_fail(struct swarm *swarm, uint32_t i, const struct sl_error *error);

/* work.c */
void swarm_work(struct swarm_worker *worker, uint32_t i);

/* piece.c */
void swarm_say(struct swarm *swarm, uint32_t i, const struct sl_action *action);
void swarm_unread(struct swarm_piece *piece, uint32_t readers); /* so many have read it, or will not */

/* deliver.c: all that was said in this sweep */
void swarm_deliver(struct swarm *swarm);
void swarm_post(struct swarm *swarm, uint32_t i, struct swarm_mail mail);

/* radio.c */
void swarm_radio_next(struct swarm *swarm);

/* look.c */
void swarm_sum_add(struct swarm *swarm, uint32_t i);
bool swarm_sum_check(struct swarm *swarm, uint32_t i);
void swarm_sums_forget(struct swarm *swarm, sl_round t); /* up to t */
void swarm_look(struct swarm *swarm, uint32_t i, uint32_t chunk, uint64_t k); /* it shows this chunk's state */
void swarm_look_closing(struct swarm *swarm, uint32_t i);                     /* all its states are at K */
