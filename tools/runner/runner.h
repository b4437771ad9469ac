/* runner.h - N learners in one process, with real jobs on threads, and without sockets, disk, faults or
 * waiting.
 *
 * Time is in turns. In a sweep every learner that has mail takes all of it and works until it has vectors to
 * send; then all messages are delivered, in the order of the roster. A sweep is the time of one message, in
 * whichever order learners compute, and a run depends on its options alone. The clock advances to the next
 * deadline only when no learner has work.
 *
 *        +-- turn 1: mail -> core -> jobs -> said --+
 *   -----+-- turn 2: mail -> core -> jobs -> said --+-- delivered ---> the next sweep
 *        +-- turn N: mail -> core -> jobs -> said --+
 *
 * No signature is made or checked. A vector that is sent is packed once and shared by its receivers. One
 * thread opens, steps and closes a run; the turns of a sweep are spread over the workers, which changes
 * nothing but the time.
 */
#pragma once

#include "common/core/core.h"
#include "common/config/settings.h"
#include "tools/lib/schedule.h"

/* A request to train a model, starting from `committed`. */
struct sl_runner_training {
	uint32_t learner;
	sl_round t;
	uint64_t draw; /* number of the training; it decides the random numbers */
	const float *committed;
	float *model;
	uint64_t weight; /* m_i; 1 unless changed */
};

/* A learner has committed round t: after this it is durable. */
struct sl_runner_commit {
	uint32_t learner;
	sl_round t;
	uint32_t step;		    /* of the schedule, counted from 1 as played */
	const struct sl_view *view; /* NULL: the learner caught up, without the view */
	const float *model;	    /* n */
	const uint8_t *digest;	    /* D */
	uint64_t total_weight;
	bool exact; /* with `verify`: Z is the plain sum of the encodings of the view; where there is one */
};

/* A learner's state at some coordinates after iteration k of mixing: k = 0 is its masked state, k = K the
 * last. */
struct sl_runner_sample {
	uint32_t learner;
	uint64_t k;
	const struct sl_view *view;
	const uint32_t *coordinates;
	uint32_t count;
	const uint64_t *raw; /* metropolis: X = s 2^g, as int64 */
};

#define SL_RUNNER_COORDINATES_MAX 64u

struct sl_runner_options {
	uint32_t learners;		    /* N, at least 2 */
	const struct sl_settings *settings; /* of all learners, without identities and addresses */
	const struct sl_schedule *schedule; /* learners in range of each other, a step a round; NULL: all */
	size_t parameters;		    /* n, floats of a model */
	const float *initial;		    /* the model before the first round; NULL: zeros */
	uint64_t seed;			    /* of the randomness */
	bool verify;
	uint32_t workers;	     /* threads that take turns; 0, 1: none but the caller's */
	const uint32_t *coordinates; /* ascending, at most n: of the samples */
	uint32_t coordinate_count;

	/* Bytes of a message as a frame, for sl_runner_bytes: sl_codec_bytes. NULL: not counted. */
	size_t (*frame_bytes)(const struct sl_message *message);
	/* SL_OK, or an error that ends the run. With several workers, called by them at once, for different
	 * learners. */
	int (*train)(void *context, struct sl_runner_training *training, struct sl_error *error);
	/* One at a time; with several workers, in no order within a sweep. All of these may be NULL. */
	void (*committed)(void *context, const struct sl_runner_commit *commit);
	void (*sampled)(void *context, const struct sl_runner_sample *sample);
	void (*reported)(void *context, uint32_t learner, const struct sl_report *report);
	void *context;
};

struct sl_runner_figures {
	sl_round committed;  /* by all */
	enum sl_phase phase; /* of the learner furthest behind, in round t, and its progress */
	sl_round t;
	uint32_t permille;
	double seconds[SL_PHASE_COUNT]; /* of processor time, of all learners together, by phase */
	double deliver_s;		/* .. and between their turns */
};

struct sl_runner;

/* Set the defaults of starlingd, with a schedule also `neighbours: control` and the max_degree that it needs;
 * then the "KEY=VALUE" strings. schedule: the one to be played, or NULL. */
int sl_runner_settings(const char *const *set, size_t count, const struct sl_schedule *schedule,
		       struct sl_settings *settings, struct sl_error *error);

/* The options and all that they point to are borrowed. After an error nothing is left to close. */
int sl_runner_open(const struct sl_runner_options *options, struct sl_runner **runner,
		   struct sl_error *error);
/* Run one sweep. SL_PENDING: there is more to do; SL_OK: every learner has committed all rounds; else an
 * error. */
int sl_runner_step(struct sl_runner *runner, struct sl_error *error);
void sl_runner_figures(const struct sl_runner *runner, struct sl_runner_figures *figures);
/* Return the bytes of the frames that learner i has sent since the start, without those that TLS adds. */
uint64_t sl_runner_bytes(const struct sl_runner *runner, uint32_t i);
void sl_runner_close(struct sl_runner *runner);
