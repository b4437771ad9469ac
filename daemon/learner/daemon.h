/* daemon.h - one learner as a process: the shell around the core.
 *
 * One loop, on one thread: libuv callbacks put events into the inbox and do nothing else; a turn takes them
 * out, steps the core, and carries out what it asks for, in order. Slow work is on workers: one computes (and
 * writes checkpoints), one trains, and where models are large one has TLS's bulk.
 *
 *   socket -> links -> inbox -> core step -> carry -> links -> socket
 *                        ^                    |
 *                        +--- compute, train -+
 */
#pragma once

#include <stdatomic.h>
#include <uv.h>

#include "common/core/core.h"
#include "daemon/learner/control.h"
#include "daemon/runtime/failpoint.h"
#include "daemon/net/identity.h"
#include "daemon/net/keys.h"
#include "daemon/net/links.h"
#include "daemon/runtime/log.h"
#include "daemon/store/result.h"
#include "common/config/roster.h"
#include "common/config/settings.h"
#include "daemon/store/state_file.h"
#include "daemon/store/store.h"
#include "daemon/net/tls.h"
#include "common/model/trainer.h"
#include "daemon/runtime/worker.h"

/* Something that happened, waiting for its turn. */
struct sl_queued_event {
	struct sl_queued_event *next;
	struct sl_event event; /* its pointers point into this struct, or to what it owns */
	bool frame;	       /* a frame to decode: kind, payload, size */
	uint32_t kind;
	uint8_t *payload;
	size_t size;
	struct sl_job_result result;
	uint64_t *range;
};

/* What a peer sent that was not acceptable: said at once, then at most once in ten seconds. */
struct sl_peer_warning {
	sl_ms quiet_until;
	uint32_t unsaid;
};

struct sl_figures_round {
	uint64_t bytes_sent, bytes_received; /* at the last commit */
	uint64_t flood_bytes;		     /* of link states and Readys, since then */
	uint64_t view_bytes;		     /* sent when the present view was closed */
	sl_ms view_ms;			     /* and when that was */
	double rate; /* bytes per second from the last committed view to its commit; 0: none yet */
	double entered_ms[SL_PHASE_COUNT]; /* monotonic: when this attempt came to a phase; 0: it has not */
	double cpu_s;			   /* at the last commit */
	double train_s;
	double loss;
	uint64_t samples;
};

struct sl_daemon {
	const struct sl_settings *settings;
	struct sl_roster roster;
	struct sl_identity identity;
	struct sl_store *store; /* opened and closed here; between, the compute worker's */
	uint32_t self;
	struct sl_log *log;
	struct sl_tls tls;
	struct sl_trainer *trainer;

	uv_loop_t loop;
	uv_prepare_t before; /* a turn before the loop sleeps */
	uv_check_t after;    /* and one after it woke */
	uv_idle_t busy;	     /* runs while the inbox is not empty, so that the loop does not sleep */
	uv_timer_t alarm;    /* the core's deadline */
	uv_signal_t interrupt, terminate;
	struct sl_links *links;
	struct sl_control *control;
	struct sl_worker compute, train, crypto;

	struct sl_queued_event *event_queue, **event_queue_end;
	struct sl_core_config core_config;
	struct sl_core *core;
	void *core_memory;
	sl_id *ids;
	struct sl_actions actions;

	struct sl_workspace workspace;
	struct sl_state_file state_file; /* what vault.spool lies in; the compute worker's, as are */
	struct sl_state_file kept,
		spare; /* that of the last committed round, and one of which nothing is needed any more */
	struct sl_promises promises;	      /* of the round it starts in, until it has started */
	struct sl_result result;	      /* the last committed one, for who asks */
	struct sl_result next_result;	      /* durable, and not told to the core yet */
	const struct sl_view *workspace_view; /* the core's view that the vault was last opened for */
	char checkpoint[SL_FILE_NAME_BYTES];  /* file name of the last one */
	bool restart_requested;		      /* once it has ended, it starts again by itself */
	sl_round committed_through; /* committed, and the model cannot be read: no other attempt up to there.
				       0: none */
	struct sl_keys keys;	    /* of the roster */
	struct sl_peer_warning *peer_warnings; /* by roster index */
	uint8_t (*checked)[3][SL_HASH_BYTES];  /* of the last link state, ready, fence that was in order, by
						  signer */
	uint32_t step;			       /* the radio's, as told last */
	atomic_bool stop_training;
	atomic_uint training_permille;
	struct sl_figures_round figures;
	const char **link_faults; /* by roster index: why a dial failed last, said when it changes */
	atomic_bool failed;	  /* stopped by a failure: what is queued to be made durable is not */
	char rejection[256];	  /* of the record rejected last */
	char missing[256];	  /* in RECOVER: whose masked states nobody in reach has; "": nobody's */
	uint32_t passed;	  /* crash points, as bits, to be at when all is flushed */
	bool stopping, closed;
	int status; /* exit status */
};

/* Everything up to the first event. On an error the text says what to do; nothing runs. */
int sl_daemon_open(struct sl_daemon *daemon, const struct sl_settings *settings, struct sl_error *error);
/* As much of it as touches nothing: identity, roster, p, data. Beside a running daemon too. */
int sl_daemon_check(struct sl_daemon *daemon, const struct sl_settings *settings, struct sl_error *error);
/* Runs until the learner is done or told to end; returns the exit status. */
int sl_daemon_run(struct sl_daemon *daemon);
void sl_daemon_close(struct sl_daemon *daemon);
/* Ends in order: links say goodbye, workers finish. */
void sl_daemon_stop(struct sl_daemon *daemon, int status);

/* restore.c, in this order; the log is opened in between */
int sl_restore_store(struct sl_daemon *daemon, struct sl_error *error);
int sl_restore_roster(struct sl_daemon *daemon, struct sl_error *error);
/* The committed model into the vault, its round into the core's configuration. */
int sl_restore_model(struct sl_daemon *daemon, struct sl_error *error);
/* What is promised in the round after it, and the attempt that was cut short. */
int sl_restore_promises(struct sl_daemon *daemon, struct sl_error *error);

/* loop.c */
int sl_loop_open(struct sl_daemon *daemon, struct sl_error *error);
int sl_loop_listen(struct sl_daemon *daemon, struct sl_error *error);
/* Whatever open reached; the workers have ended then. */
void sl_loop_close(struct sl_daemon *daemon);

/* inbox.c */
struct sl_queued_event *sl_events_new(struct sl_daemon *daemon, enum sl_event_kind kind);
void sl_events_range(struct sl_daemon *daemon, const uint64_t *range);
void sl_events_frame(struct sl_daemon *daemon, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size);
/* Empties the inbox through the core. */
void sl_events_drain(struct sl_daemon *daemon);
void sl_events_close(struct sl_daemon *daemon);
/* Logs that a peer sent something unacceptable, within measure. */
void sl_events_warn(struct sl_daemon *daemon, uint32_t peer, const char *why);

/* carry.c */
void sl_actions_execute(struct sl_daemon *daemon, const struct sl_actions *actions);
void sl_actions_sign(const struct sl_daemon *daemon, struct sl_message *message);
void sl_actions_free_buffers(struct sl_buffer *buffer);

/* report.c */
void sl_report_log(struct sl_daemon *daemon, const struct sl_report *report);

/* reason.c */
void sl_reason_text(const struct sl_daemon *daemon, const struct sl_report *report, char *text, size_t size);
/* "ana (2), bo (5) and 3 more" */
void sl_reason_names(const struct sl_daemon *daemon, const uint64_t *set, char *text, size_t size);

/* The first digits of a hash, or `none` where it is all zeros. */
const char *sl_reason_hash(const uint8_t *hash, const char *none, char text[static 2 * SL_HASH_BYTES + 1]);

/* evidence.c: SL_REPORT_EVIDENCE into the state folder; *name is the file's */
int sl_evidence_write(const struct sl_daemon *daemon, const struct sl_report *report, char *name,
		      size_t name_bytes, struct sl_error *error);

/* tasks.c */
void sl_tasks_compute(struct sl_daemon *daemon, const struct sl_job *job);
void sl_tasks_train(struct sl_daemon *daemon, sl_round t, uint64_t draw);
void sl_tasks_wipe(struct sl_daemon *daemon);
void sl_tasks_evaluate(struct sl_daemon *daemon, sl_round t);
/* Says why, and ends the learner with status 1; nothing queued is made durable any more. */
void sl_tasks_fatal(struct sl_daemon *daemon, const char *text);

/* persist.c */
void sl_persist_add(struct sl_daemon *daemon, const struct sl_persist *persist);

/* masked.c: all but the last two on the compute worker, or before it runs */
int sl_masked_states_open(struct sl_daemon *daemon, sl_round t, sl_attempt a, uint32_t slots,
			  size_t slot_bytes, struct sl_error *error);
int sl_masked_states_room(struct sl_daemon *daemon, const struct sl_job *job, struct sl_error *error);
void sl_masked_states_end(struct sl_daemon *daemon);
/* Whether a spool stays when this round is committed. */
bool sl_masked_states_wanted(const struct sl_daemon *daemon, sl_round committed, sl_round t, sl_attempt a);
/* The nonce that a chunk of a masked state brings, where one is due; the chunk itself, of a Masked. */
void sl_masked_states_nonce(const struct sl_daemon *daemon, struct sl_message *m);
const uint8_t *sl_masked_states_payload(const struct sl_daemon *daemon, const struct sl_message *m);
