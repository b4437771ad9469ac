/* sim.h - N cores in one process under a virtual clock, with the surroundings of a daemon simulated from a seed.
 *
 * The order of events is random wherever it may vary: each directed link is a queue with delays of its own, jobs return
 * late (and run as early or as late as the core allows), training, disk and dialling take random times. The same seed gives
 * the same run. A checker that shares no code with the cores checks every step (check.h).
 *
 *   world.c  building, the clock      verbs.c  verbs of tests       link.c  links and messages
 *   shell.c  execution of actions     check.c  the rules            trace.c a step as a line
 *   disk.c   records                  signatures.c                  seen.c  hashes met before
 *   vectors.c memory of a learner, shared with the in-process runner (runner.h)
 */
#pragma once

#include <stdio.h>

#include "common/base/random.h"
#include "common/core/core.h"
#include "tools/sim/disk.h"
#include "tools/sim/seen.h"
#include "tools/sim/trace.h"
#include "tools/sim/vectors.h"

#define SIM_BUFFERS_MAX 4096u

struct sim_options {
	uint64_t seed;
	uint32_t learners;
	const char *topology;            /* possible links; with `radio`, of each step. NULL: complete */
	const struct sl_edge *edges;     /* or these, edge_count of them */
	uint32_t edge_count;
	bool radio;                      /* topology playback: a graph a round; all links are possible */
	struct sl_parameters parameters; /* 0 where the default serves (see sim_new) */
	double clip;                     /* 0: 16 */
	uint32_t delay_ms;               /* of links, jobs and disk, at most; 0: 20 */
	bool signatures;                 /* real signatures; else an unchecked tag in their place */
};

enum sim_kind { SIM_START, SIM_LINK_UP, SIM_LINK_DOWN, SIM_DIAL, SIM_MAIL, SIM_TRAINED, SIM_WORK, SIM_RANGE, SIM_CALL };

struct sim_mail {
	struct sl_message message;
	sl_id *candidates;
	uint8_t *bytes;
};

struct sim_event {
	uint64_t at, seq; /* us */
	enum sim_kind kind;
	uint32_t learner, peer;
	uint32_t generation; /* of the link, or of the training */
	uint32_t life;       /* of the learner: what was meant for one that crashed does not reach its successor */
	struct sim_mail *mail;
	uint64_t *range;
};

/* What a learner's worker has to do, in order. */
enum sim_work_kind { SIM_JOB, SIM_WIPE, SIM_PERSIST };
struct sim_work {
	struct sim_work *next;
	enum sim_work_kind kind;
	struct sl_job job;
	struct sim_record *record; /* PERSIST */
	bool ran;
	struct sl_job_result result;
};

/* A buffer that the core was given and has not given back. */
struct sim_held {
	struct sl_buffer *buffer;
	uint32_t peer;
	enum sl_message_kind kind;
	bool working; /* in a job */
};

#define SIM_LISTED_MAX 16u
struct sim_listed {
	sl_round t;
	sl_attempt a;
	uint32_t incarnation;
	uint64_t *named;
};

struct sim_learner {
	struct sl_core_config config; /* may be changed before sim_start */
	struct sl_core *core;
	void *arena;
	struct sl_vault vault;
	const struct sl_view *view; /* of the last ENCODE, or of the attempt that a start went on with */
	struct sim_work *work, **work_end;
	uint64_t work_at, random;
	uint32_t training;  /* generation */
	uint64_t draw;      /* of the model in the vault */
	uint64_t *wanted;   /* by the last LINKS */
	struct sim_disk disk;
	uint32_t slots, own_slot; /* of the spool */
	uint32_t life;         /* crashes so far */
	struct sim_held *held;
	uint32_t held_count, held_room;
	uint64_t spin_at;
	uint32_t spins;
	enum sl_job_kind stuck; /* its jobs of this kind do not come back */
	uint64_t ahead;        /* us: its clock against the world's */
	uint64_t paused_until; /* us: until then it does nothing, and then everything at once */
	uint32_t slow_ms;      /* of its jobs and disk, at most, on top of what is usual */
	uint32_t training_ms;  /* of the next training, at most; 0: 500 */
	bool disk_fails;       /* the next write does */
	bool down;             /* crashed, and not restarted */
	bool lost;             /* .. and never will be */
	bool abandons;         /* its operator has aborted an attempt: the safety rule is then the operator's responsibility */
	bool stopped, silent; /* silent: trains for ever; stopped before sim_start: was never there */
	int code;
	/* the checker's */
	enum sl_phase phase;
	sl_round committed;
	uint64_t frozen_at, viewed_at; /* us: its own link state of the present attempt went out; its view was closed */
	struct sim_listed listed[SIM_LISTED_MAX]; /* its own link states, the latest first */
	sl_attempt *signed_a;          /* by round: the highest attempt that it signed a link state for */
	sl_attempt *ready_a;           /* .. a Ready for, in this life */
	sl_attempt *fenced_a;          /* .. and fenced on its disk */
};

struct sim_link { /* i -> j; what is symmetric stands in both */
	bool possible, cut, up, held, refused;
	uint32_t generation, slow_ms;
	uint64_t up_at, last; /* when its other end hears that it stands; when the latest message arrives */
	struct sim_mail **kept;
	uint32_t kept_count;
};

struct sim_note {
	uint64_t at;
	uint32_t learner;
	struct sl_report report; /* its pointers are not kept, but what they led to: */
	uint64_t set;            /* the first 64 */
	uint8_t hash[SL_HASH_BYTES], hash2[SL_HASH_BYTES];
	struct sl_edge edges[SL_ADVICE_MAX];
	struct sl_link_state evidence[2]; /* candidates without */
};

struct sim {
	struct sim_options options;
	uint32_t n;
	sl_id *ids;
	uint64_t random, now, seq;
	struct sim_learner *learners;
	uint64_t *due; /* by learner, us of the world: its deadline, as of its last step; UINT64_MAX: none, or it has stopped */
	struct sim_link *links; /* n * n */
	struct sim_event *heap;
	size_t heap_count, heap_room;
	struct sim_note *notes;
	size_t note_count, note_room;
	struct sim_attempt *attempts, *fresh; /* check.c; the one opened in this step */
	struct sim_seen coins, verdicts;      /* keys of coins; signatures that were found good */
	struct sim_keys *keys;                /* signatures.c; NULL: none are real */
	uint8_t (*digests)[SL_HASH_BYTES];
	float **models; /* by round */
	uint32_t radio_step, most_actions;
	uint64_t steps;
	FILE *lines;      /* each step as a line; NULL: not written */
	uint64_t digest;  /* of all steps so far: two runs that have the same one are the same */
	bool liars;                /* a learner signs two things for one attempt: the rules on signatures do not apply */
	/* Looks at, changes (true) or swallows (false) what learner i says to j. */
	bool (*tap)(struct sim *sim, uint32_t i, uint32_t j, struct sl_message *message);
	/* Looks at or changes what a job of learner i found, as soon as it has run. */
	void (*tap_result)(struct sim *sim, uint32_t i, struct sl_job_result *result);
	/* Whether learner i crashes here: before it does what `action` asks for, or (NULL) when work is done and not told. */
	bool (*crash_point)(struct sim *sim, uint32_t i, const struct sl_action *action, const struct sim_work *work);
	void (*after_step)(struct sim *sim, uint32_t i);
	void (*call)(struct sim *sim, const struct sim_event *event); /* SIM_CALL: an event of the caller */
	void *context;
	struct sl_actions actions;
	const struct sl_event *cause; /* of the actions, while they are carried out */
	struct trace trace;
};

/* Defaults: n = 8 floats, p auto, 1 round, majority quorum, c = 1, a gate that only warns, sigma 4, clip 16, equal weights,
 * weighted, shamir. */
struct sim *sim_new(const struct sim_options *options);
void sim_start(struct sim *sim);
/* Fails when a buffer was not given back. */
void sim_free(struct sim *sim);
/* What the program does with a run that failed (a test ends, a runner goes on to the next seed); must not return. */
void sim_failed(struct sim *sim, const char *text) __attribute__((noreturn));
/* Ends the run, with the seed. */
void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

bool sim_step(struct sim *sim); /* false: nothing will ever happen again */
uint64_t sim_next(struct sim *sim); /* when it will (us); UINT64_MAX */
void sim_elapse(struct sim *sim, sl_ms ms);
void sim_run_until_round(struct sim *sim, sl_round t); /* all learners have committed it */
void sim_run_until_commit(struct sim *sim, uint32_t i, sl_round t); /* i has */
void sim_run_until_phase(struct sim *sim, uint32_t i, enum sl_phase phase);
const struct sim_note *sim_run_until_report(struct sim *sim, uint32_t i, enum sl_report_kind kind, enum sl_reason reason);
/* At every learner that is there, now or before. */
void sim_run_until_all_say(struct sim *sim, enum sl_report_kind kind, enum sl_reason reason);
void sim_run_until_done(struct sim *sim); /* all learners have stopped with SL_OK */
void sim_run_until_stopped(struct sim *sim, uint32_t i, int code);

void sim_cut(struct sim *sim, uint32_t i, uint32_t j); /* falls now and cannot be dialled */
void sim_restore(struct sim *sim, uint32_t i, uint32_t j);
void sim_join(struct sim *sim, uint32_t i, uint32_t j); /* a link that could not be so far */
void sim_isolate(struct sim *sim, uint32_t i); /* from all others */
void sim_rejoin(struct sim *sim, uint32_t i);
void sim_hold(struct sim *sim, uint32_t i, uint32_t j); /* i -> j: keeps what is sent from now on */
void sim_release(struct sim *sim, uint32_t i, uint32_t j);
/* Posts a copy of what i said to j: late, in no order, and past the tap. */
void sim_echo(struct sim *sim, uint32_t i, uint32_t j, const struct sl_message *message, uint32_t delay_ms);
void sim_radio(struct sim *sim, const char *topology, uint32_t step); /* tell all learners their neighbours */
void sim_radio_edges(struct sim *sim, const struct sl_edge *edges, size_t count);
/* Gone in the middle of whatever it did. Its config becomes what its disk would start it with, and may be changed. */
void sim_crash(struct sim *sim, uint32_t i);
void sim_restart(struct sim *sim, uint32_t i);
/* As a crash, but what was not durable is lost, and its peers notice after that long only. */
void sim_lose_power(struct sim *sim, uint32_t i, uint32_t notice_ms);
/* Nothing reaches it, and it does nothing, until then (us). Its links are no concern of this. */
void sim_pause(struct sim *sim, uint32_t i, uint64_t until);
void sim_leap(struct sim *sim, uint32_t i, uint64_t us); /* its clock does */
/* How many seeds to try: `usual`, times the environment's SIM_MORE. */
uint32_t sim_seeds(uint32_t usual);
/* How often i said it; the last one in *last, unless that is NULL or there is none. */
uint32_t sim_count(const struct sim *sim, uint32_t i, enum sl_report_kind kind, enum sl_reason reason, const struct sim_note **last);

const struct sim_note *sim_find(const struct sim *sim, uint32_t i, enum sl_report_kind kind, enum sl_reason reason);
const struct sim_note *sim_expect(struct sim *sim, uint32_t i, enum sl_report_kind kind, enum sl_reason reason);
void sim_expect_none(struct sim *sim, uint32_t i, enum sl_report_kind kind, enum sl_reason reason);
void sim_sign(const struct sim *sim, struct sl_message *message);

/* Among the files. */
static inline uint64_t sim_random(uint64_t *state)
{
	return sl_random_next(state);
}
uint64_t sim_delay(struct sim *sim, uint32_t ms_max); /* us */
void sim_post(struct sim *sim, uint64_t at, struct sim_event event);
void sim_event_free(struct sim_event *event);
void sim_deliver(struct sim *sim, uint32_t i, struct sl_event *event); /* one step of core i */
struct sim_link *sim_link(const struct sim *sim, uint32_t i, uint32_t j);
/* signatures.c */
void sim_signatures_begin(struct sim *sim);
void sim_signatures_verify(struct sim *sim, uint32_t receiver, const struct sl_message *message);
/* link.c */
void sim_want(struct sim *sim, uint32_t i, const uint64_t *set);
void sim_dial(struct sim *sim, uint32_t i, uint32_t j);
void sim_fall(struct sim *sim, uint32_t i, uint32_t j); /* both ways */
void sim_send(struct sim *sim, uint32_t i, const struct sl_action *action);
void sim_mail_arrives(struct sim *sim, const struct sim_event *event);
void sim_mail_free(struct sim_mail *mail);
/* shell.c */
void sim_carry(struct sim *sim, uint32_t i, const struct sl_actions *actions);
void sim_work_due(struct sim *sim, uint32_t i);
void sim_train_done(struct sim *sim, uint32_t i, uint32_t generation);
void sim_give(struct sim *sim, uint32_t i, uint32_t peer, enum sl_message_kind kind, struct sl_buffer *buffer);
void sim_take_back(struct sim *sim, uint32_t i, struct sl_buffer *list);
void sim_halt(struct sim *sim, uint32_t i);
void sim_unlink(struct sim *sim, uint32_t i, uint32_t notice_ms); /* stopped: its peers hear of it after what it said */
