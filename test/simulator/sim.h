/* sim.h - N cores in one process under a virtual clock, with the surroundings of a daemon simulated from a
 * seed.
 *
 * The order of events is random wherever it may vary: each directed link is a queue with delays of its own,
 * jobs return late (and run as early or as late as the core allows), training, disk and dialling take random
 * times. The same seed gives the same run. A checker that shares no code with the cores checks every step
 * (check.h).
 *
 *   world.c  building, the clock      shell.c  a step and its actions   link.c  links and messages
 *   check.c  the rules                post.c   the queue of events, memory
 *   signatures.c                      seen.c   hashes met before
 *
 * Each file calls only files below it: world, shell, link and forget, lie and check, signatures, post.
 *
 * A learner and its messages are those of hosted.h and packet.h, shared with the in-process runner
 * (runner.h).
 */
#pragma once

#include <stdio.h>

#include "common/base/random.h"
#include "common/core/core.h"
#include "tools/host/packet.h"
#include "test/explorer/trace.h"
#include "test/simulator/seen.h"

#define SL_SIM_BUFFERS_MAX 4096u

/* Models before the first round, of updates: zeros, a common one, or learner 1 has another. */
enum sl_sim_initial { SL_SIM_ZEROS, SL_SIM_COMMON, SL_SIM_DIFFERENT };

struct sl_sim_options {
	uint64_t seed;
	uint32_t learners;
	const char *topology;	     /* possible links; with `playback`, of each step. NULL: complete */
	const struct sl_edge *edges; /* or these, edge_count of them */
	uint32_t edge_count;
	bool playback;			 /* topology playback: a graph a round; all links are possible */
	struct sl_tensors tensors;	 /* of the models; without items: float32 */
	struct sl_parameters parameters; /* 0 where the default serves (see sl_sim_new) */
	double clipping_range;		 /* 0: 16 */
	enum sl_sim_initial initial;
	uint32_t delay_ms; /* of links, jobs and disk, at most; 0: 20 */
	bool signatures;   /* real signatures; else an unchecked tag in their place */
};

enum sl_sim_kind {
	SL_SIM_CORE, /* `event` of the core */
	SL_SIM_DIAL,
	SL_SIM_MAIL,
	SL_SIM_TRAINED,
	SL_SIM_WORK,
	SL_SIM_CALL
};

struct sl_sim_event {
	uint64_t at, seq; /* us */
	enum sl_sim_kind kind;
	enum sl_event_kind event;
	uint32_t learner, peer;
	uint32_t generation; /* of the link, or of the training */
	uint32_t life;	     /* of the learner: an event of an earlier life is dropped */
	struct sl_packet *packet;
	uint64_t *range;
};

/* A place in the heap of events. */
struct sl_sim_place {
	uint64_t at, seq;
	size_t slot;
};

/* A buffer that the core was given and has not given back. */
struct sl_sim_held {
	struct sl_buffer *buffer;
	uint32_t peer;
	bool working; /* in a job */
};

#define SL_SIM_SUMS 16u /* that a learner remembers */
#define SL_SIM_LISTED_MAX 16u
struct sl_sim_listed {
	sl_round t;
	sl_attempt a;
	uint32_t incarnation;
	uint64_t *named;
};

struct sl_sim_learner {
	struct sl_hosted host;	  /* its config may be changed before sl_sim_start */
	uint64_t work_at;	  /* us: when its latest work is done */
	uint32_t training;	  /* generation */
	uint64_t draw;		  /* of the model in the workspace */
	uint32_t slots, own_slot; /* of the state file */
	uint32_t life;		  /* crashes so far */
	struct sl_sim_held *held;
	uint32_t held_count, held_room;
	uint64_t spin_at;
	uint32_t spins;
	enum sl_job_kind stuck;	  /* its jobs of this kind do not come back */
	uint64_t ahead;		  /* us: its clock against the world's */
	uint64_t paused_until;	  /* us: until then it does nothing, and then everything at once */
	uint32_t slow_ms;	  /* of its jobs and disk, at most, in addition to delay_ms */
	uint32_t training_ms;	  /* of the next training, at most; 0: 500 */
	bool disk_fails;	  /* the next write does */
	bool down;		  /* crashed, and not restarted */
	bool lost;		  /* .. and never will be */
	bool aborted_by_operator; /* its operator has aborted an attempt: the safety rule is then the
				     operator's responsibility */
	bool liar;		  /* what it says is not what its core says: nothing is asked of it */
	bool odd;		  /* its roster or parameters are not those of the others */
	bool forgot;		  /* its disk was set back, */
	sl_round forgot_in;	  /* .. for the last time in this round */
	struct sl_sim_aborted {
		struct sl_sim_aborted *next;
		sl_round t;
		sl_attempt a;
	} * aborted; /* attempts that it aborted without a Ready; the checker's */
	bool silent; /* trains for ever; stopped before sl_sim_start: was never there */
	int code;
	/* the checker's */
	uint64_t agreed_at,
		viewed_at; /* us: its own link state of the present attempt went out; its view was closed */
	struct sl_sim_listed listed[SL_SIM_LISTED_MAX]; /* its own link states, the latest first */
	sl_attempt *ready_a;   /* by round: the highest attempt that it signed a Ready for, in this life */
	sl_attempt *aborted_a; /* .. that it aborted on its disk */
	const struct sl_sim_attempt *sums[SL_SIM_SUMS]; /* the last sums that it has seen */
	uint32_t sum_count, atom;			/* so far; the smallest atom that it reported */
};

struct sl_sim_link { /* i -> j; symmetric properties are kept in both directions */
	bool possible, cut, up, held, refused;
	uint32_t generation, slow_ms; /* a message takes up to slow_ms more, */
	uint32_t lag_ms;	      /* .. and at least so long */
	uint64_t up_at, last; /* us: when its other end gets LINK_UP; when the latest message arrives */
	struct sl_packet **kept;
	uint32_t kept_count;
};

struct sl_sim_note {
	uint64_t at;
	uint32_t learner;
	struct sl_report report;	/* its pointers are not valid; copies: */
	uint64_t set;			/* the first 64 learners */
	struct sl_edge *edges;		/* of TOLERANCE and PRUNED */
	struct sl_link_state *evidence; /* of EVIDENCE, two, without candidates */
};

struct sl_sim {
	struct sl_sim_options options;
	uint32_t n;
	sl_id *ids;
	uint64_t random, now, seq;
	struct sl_sim_learner *learners;
	uint64_t *due; /* by learner, us of the world: its deadline, as of its last step; UINT64_MAX: none, or
			  it has stopped */
	struct sl_sim_link *links;   /* n * n */
	struct sl_sim_place *heap;   /* heap_room, of which the first heap_count are taken */
	struct sl_sim_event *events; /* by slot; the free slots are those of the places that are not taken */
	size_t heap_count, heap_room;
	struct sl_sim_note *notes;
	size_t note_count, note_room;
	struct sl_sim_attempt *attempts, *fresh; /* check.c; the one opened in this step */
	void *randomness, *verdicts; /* seen.h: keys of random streams; signatures that were found good */
	struct sl_sim_keys *keys;    /* signatures.c; NULL: none are real */
	uint8_t (*digests)[SL_HASH_BYTES];
	float **models; /* by round */
	uint64_t steps;
	FILE *lines;	     /* each step as a line; NULL: not written */
	uint64_t digest;     /* of all steps so far: two runs that have the same one are the same */
	bool rosters;	     /* a learner has another one */
	bool check_evidence; /* fail if a learner that follows the protocol is reported as one that lies */
	bool liars; /* a learner signs two things for one attempt, or passes on wrong sums: the rules on
		       signatures, and on sums before CHECK, do not apply */
	/* Look at a message of learner i to j, and perhaps change it; return false to drop it. */
	bool (*tap)(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *message);
	/* Look at or change the result of a job of learner i, as soon as it has run. */
	void (*tap_result)(struct sl_sim *sim, uint32_t i, struct sl_job_result *result);
	/* Return true to crash learner i: before `action` is carried out, or (NULL) when `work` is done and
	 * the core does not know it. */
	bool (*failpoint)(struct sl_sim *sim, uint32_t i, const struct sl_action *action,
			  const struct sl_work *work);
	void (*after_step)(struct sl_sim *sim, uint32_t i);
	void (*call)(struct sl_sim *sim,
		     const struct sl_sim_event *event); /* SL_SIM_CALL: an event of the caller */
	void *context;
	struct sl_sim_lies *lies;     /* lie.h; NULL: messages arrive as they are sent */
	struct sl_sim_copies *copies; /* forget.h; by learner; NULL: disks do not forget */
	struct sl_sim_memory *memory; /* of sl_sim_alloc */
	struct sl_actions actions;
	const struct sl_event *cause; /* of the actions, while they are carried out */
	uint32_t actor, life;	      /* whose they are */
	struct sl_sim_trace trace;
};

/* Return a simulation. Defaults: n = 8 floats, p auto, 1 round, a majority as quorum, c = 1, a privacy check
 * that only warns, 4 decimals, clipping range 16, equal weights, encoding weighted, sharing shamir. */
struct sl_sim *sl_sim_new(const struct sl_sim_options *options);
void sl_sim_start(struct sl_sim *sim);
/* Free the simulation. */
void sl_sim_free(struct sl_sim *sim);
/* Defined by the program: end the test, or go on to the next seed. */
void sl_sim_failed(struct sl_sim *sim, const char *text) __attribute__((noreturn));
/* Ends the run, with the seed. */
void sl_sim_fail(struct sl_sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Write a line about learner i among those of the steps: what the surroundings do to it. */
void sl_sim_tell(struct sl_sim *sim, uint32_t i, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

bool sl_sim_step(struct sl_sim *sim);	  /* false: no event is left */
uint64_t sl_sim_next(struct sl_sim *sim); /* time of the next event, us; UINT64_MAX: none */

void sl_sim_cut(struct sl_sim *sim, uint32_t i, uint32_t j); /* falls now and cannot be dialled */
void sl_sim_restore(struct sl_sim *sim, uint32_t i, uint32_t j);
void sl_sim_isolate(struct sl_sim *sim, uint32_t i); /* from all others */
void sl_sim_rejoin(struct sl_sim *sim, uint32_t i);
void sl_sim_hold(struct sl_sim *sim, uint32_t i, uint32_t j); /* i -> j: keeps messages from now on */
void sl_sim_release(struct sl_sim *sim, uint32_t i, uint32_t j);
/* Deliver a copy of a message of i to j: late, in any order, and not through the tap. */
void sl_sim_echo(struct sl_sim *sim, uint32_t i, uint32_t j, const struct sl_message *message,
		 uint32_t delay_ms);
void sl_sim_playback(struct sl_sim *sim, const char *topology,
		     uint32_t step); /* tell all learners their neighbours */
void sl_sim_playback_edges(struct sl_sim *sim, const struct sl_edge *edges, size_t count);
/* Crash learner i at once. Its config becomes that of a start from its disk, and may be changed. */
void sl_sim_crash(struct sl_sim *sim, uint32_t i);
void sl_sim_restart(struct sl_sim *sim, uint32_t i);
/* Crash learner i; writes that were not durable are lost, and its peers notice after notice_ms. */
void sl_sim_lose_power(struct sl_sim *sim, uint32_t i, uint32_t notice_ms);
/* Delay all events of learner i until then (us). Its links stay up. */
void sl_sim_pause(struct sl_sim *sim, uint32_t i, uint64_t until);
void sl_sim_clock_jump(struct sl_sim *sim, uint32_t i, uint64_t us); /* its clock does */
void sl_sim_sign(const struct sl_sim *sim, struct sl_message *message);

/* Among the files. */
/* shell.c: set element `e` of a run of `model`. */
void sl_sim_set_element(const struct sl_tensor_run *run, void *model, size_t e, double value);
static inline uint64_t sl_sim_random(uint64_t *state)
{
	return sl_random_next(state);
}
/* Return zeroed memory, or a copy of `bytes`, which lives as long as the simulation. */
void *sl_sim_alloc(struct sl_sim *sim, size_t count, size_t size);
void *sl_sim_copy(struct sl_sim *sim, const void *from, size_t bytes);
uint64_t sl_sim_delay(struct sl_sim *sim, uint32_t ms_max); /* us */
void sl_sim_post(struct sl_sim *sim, uint64_t at, struct sl_sim_event event);
/* Post an event of the core. */
void sl_sim_post_core(struct sl_sim *sim, uint64_t at, enum sl_event_kind event, uint32_t learner,
		      uint32_t peer);
/* Deliver a packet of i to j at time `at`, unless its link falls before. */
void sl_sim_post_packet(struct sl_sim *sim, uint32_t i, uint32_t j, uint64_t at, struct sl_packet *packet);
/* Put an event back into the queue as it is; take the next one. */
void sl_sim_push(struct sl_sim *sim, const struct sl_sim_event *event);
struct sl_sim_event sl_sim_pop(struct sl_sim *sim);
void sl_sim_event_free(struct sl_sim_event *event);
void sl_sim_post_end(struct sl_sim *sim);
struct sl_sim_link *sl_sim_link(const struct sl_sim *sim, uint32_t i, uint32_t j);
/* signatures.c */
void sl_sim_signatures_begin(struct sl_sim *sim);
void sl_sim_signatures_verify(struct sl_sim *sim, uint32_t receiver, const struct sl_message *message);
/* Return true if a signature holds for the roster of the receiver: a daemon drops other messages. */
bool sl_sim_signatures_hold(const struct sl_sim *sim, uint32_t receiver, const struct sl_message *message);
/* link.c */
void sl_sim_want(struct sl_sim *sim, uint32_t i, const uint64_t *set);
void sl_sim_dial(struct sl_sim *sim, uint32_t i, uint32_t j);
void sl_sim_fall(struct sl_sim *sim, uint32_t i, uint32_t j); /* both ways */
void sl_sim_unlink(struct sl_sim *sim, uint32_t i,
		   uint32_t notice_ms); /* stopped: its peers notice after its last messages */
void sl_sim_send(struct sl_sim *sim, uint32_t i, const struct sl_action *action);
/* shell.c */
void sl_sim_deliver(struct sl_sim *sim, uint32_t i, struct sl_event *event); /* one step of core i */
void sl_sim_work_due(struct sl_sim *sim, uint32_t i);
void sl_sim_give(struct sl_sim *sim, uint32_t i, uint32_t peer, struct sl_buffer *buffer);
void sl_sim_take_back(struct sl_sim *sim, uint32_t i, struct sl_buffer *list);
void sl_sim_halt(struct sl_sim *sim, uint32_t i);
