/* hosted.h - a learner in this process: its core, its vectors, the work that the core asked for, and its
 * store. Simulator, explorer, in-process runner and libstarlingcore consist of these.
 *
 *   action --sl_hosted_ask--> work, in order --sl_hosted_run--> vectors and store --> an event of the host
 *
 * The host decides when work runs and when the core gets its result; packet.h has the messages. The state
 * file of an attempt lies in memory. Owns all that it points to, except `view`, which belongs to the core.
 */
#pragma once

#include "common/compute/job.h"
#include "tools/host/disk.h"

enum sl_work_kind { SL_WORK_JOB, SL_WORK_WIPE, SL_WORK_PERSIST, SL_WORK_TRAIN };
struct sl_work {
	struct sl_work *next;
	enum sl_work_kind kind;
	bool ran;
	struct sl_job job;
	struct sl_job_result result; /* of the job, when it has run */
	struct sl_persist record;    /* PERSIST: a copy */
	sl_round t;		     /* TRAIN */
	uint64_t draw;
};

struct sl_hosted {
	struct sl_core_config config; /* of the next start */
	struct sl_core *core;
	void *arena;
	size_t arena_bytes;
	struct sl_workspace workspace;
	const struct sl_view *view;	  /* of the last ENCODE or CHECK that was asked for */
	struct sl_work *work, **work_end; /* oldest first */
	struct sl_host_disk disk;
	uint64_t *wanted; /* links, as of the last LINKS: bit set over the roster */
	uint64_t random;  /* of the workspace */
	enum sl_phase phase;
	void *ranges;  /* memory of workspace.ranges */
	void *initial; /* model before the first round, with its exponents; owned; NULL: zeros */
	sl_round committed;
	bool stopped;
};

/* Fill in `learner`, which is all zeros, and allocate the vectors for `config` and models of `tensors`, which
 * are borrowed (NULL: float32); randomness is repeatable from `random`. SL_ERR_NOMEM: call close. */
int sl_hosted_open(struct sl_hosted *learner, const struct sl_core_config *config,
		   const struct sl_tensors *tensors, uint64_t random);
/* Make a core of learner->config, in place of the last one. */
int sl_hosted_start(struct sl_hosted *learner);
/* The work must have been taken. */
void sl_hosted_close(struct sl_hosted *learner);

/* Return element `e` of the state after exchange `k` (0: of the masked state), in the view. */
uint64_t sl_hosted_state(const struct sl_hosted *learner, uint64_t k, size_t e);

/* Append the work of COMPUTE, WIPE, PERSIST or TRAIN. With `whole`, a record is kept with all that a restart
 * needs, else only what a commit needs. */
void sl_hosted_ask(struct sl_hosted *learner, const struct sl_action *action, bool whole);
/* Run a job, wipe the vectors, or make a record durable. The buffers of a job remain the host's. */
void sl_hosted_run(struct sl_hosted *learner, struct sl_work *work);
/* Remove the oldest work, or return NULL; free it with sl_hosted_done. */
struct sl_work *sl_hosted_take(struct sl_hosted *learner);
void sl_hosted_done(struct sl_work *work);
/* Fill in the event that tells the core that work is done; return false if there is none. */
bool sl_hosted_event(struct sl_hosted *learner, const struct sl_work *work, struct sl_event *event);
