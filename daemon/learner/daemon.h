/* daemon.h - the state of one learner as a process: the shell around the core.
 *
 * One loop runs on one thread. Its callbacks only append to the event queue. Draining the queue steps the
 * core and executes the actions of each step, in order. Slow work runs on workers: one computes and writes
 * files, one trains, and for large models one encrypts and decrypts (TLS offload).
 *
 *   socket -> links -> event queue -> core step -> actions -> links -> socket
 *                          ^                          |
 *                          +----- compute, train -----+
 *
 * Only files that need several parts of the state include this header; the others take the parts they need.
 */
#pragma once

#include <stdatomic.h>
#include <time.h>
#include <uv.h>

#include "common/config/roster.h"
#include "common/config/settings.h"
#include "common/core/core.h"
#include "common/model/trainer.h"
#include "common/report/record.h"
#include "daemon/learner/admission.h"
#include "daemon/learner/backup_state.h"
#include "daemon/learner/control.h"
#include "daemon/learner/event_queue.h"
#include "daemon/learner/group_news.h"
#include "daemon/learner/masked_states.h"
#include "daemon/learner/progress_state.h"
#include "daemon/learner/record_limit.h"
#include "daemon/metrics/metrics.h"
#include "daemon/net/identity.h"
#include "daemon/net/keys.h"
#include "daemon/net/links.h"
#include "daemon/net/mdns.h"
#include "daemon/net/tls.h"
#include "daemon/runtime/http.h"
#include "daemon/runtime/log.h"
#include "daemon/runtime/recent.h"
#include "daemon/runtime/worker.h"
#include "daemon/store/folder.h"
#include "daemon/store/result.h"
#include "daemon/store/store.h"

/* The warnings about one peer. */
struct sl_peer_warning {
	sl_ms quiet_until; /* end of the interval in which warnings are only counted */
	uint32_t unsaid;   /* warnings counted in it */
	bool other_run;	   /* its last Hello was of another run */
};

/* The durable write that the compute worker is in. */
struct sl_writing {
	atomic_uint_fast64_t since_ms; /* 0: none */
	atomic_uint kind;	       /* enum sl_persist_kind */
	sl_ms report_at;	       /* loop thread: time of the next report; 0: none yet */
};

/* Seconds in each phase of the present attempt, and in TRAIN of its round. */
struct sl_phase_times {
	double spent[SL_PHASE_COUNT];
	enum sl_phase phase; /* the present one */
	double since;	     /* time at which it was entered, monotonic; 0: none was */
};

/* The present wait (wait_log.h). */
struct sl_wait_log {
	enum sl_wait wait; /* NOTHING: none */
	enum sl_phase phase;
	sl_round t;
	sl_attempt a;
	sl_ms since, log_at;
	bool said;				   /* a record was written */
	uint64_t set[(SL_LEARNERS_MAX + 63) / 64]; /* .. the learners that it named */
};

#define SL_OBSTACLE_BYTES 1024u
#define SL_COPY_BYTES 16u /* of the hash by which a copy of a record is known: SipHash-2-4-128 */
#define SL_COPY_KEY_BYTES 16u

/* The last sentences of two kinds of reports (obstacle.h); empty at the start. */
struct sl_obstacles {
	char refused[SL_OBSTACLE_BYTES];   /* why the last attempt ended */
	enum sl_reason reason;		   /* .. of it */
	char different[SL_OBSTACLE_BYTES]; /* how a peer differs in roster, parameters or last result */
	uint32_t peer;			   /* .. which one: roster index */
};

#define SL_LINK_FAULT_REASONS 4u

/* Failed dials to a peer since its link was up last. */
struct sl_link_fault {
	sl_ms since; /* the first one; 0: none */
	uint32_t count;
	const char *said[SL_LINK_FAULT_REASONS]; /* the reasons of warnings; its addresses may have several */
};

/* Measurements for the log and the status. */
struct sl_figures_round {
	uint64_t bytes_sent, bytes_received; /* at the last commit */
	uint64_t flood_bytes;		     /* of link states, Readys and Aborts, since the last commit */
	uint64_t view_bytes;		     /* sent when the present view was agreed */
	sl_ms view_ms;			     /* time of that agreement; 0: no view */
	double rate; /* bytes per second between the last committed view and its commit; 0: none yet */
	struct sl_phase_times times;
	double cpu_s;	/* at the last commit */
	double train_s; /* duration of the last training */
};

/* What the status says of records that were logged. Times are wall clock; 0: never. */
struct sl_status_notes {
	time_t started_at, committed_at;
	sl_round committed, evaluated; /* rounds of committed_at and loss, of mse */
	double trained_loss, loss, mse;
	char problem_at[SL_LOG_TIME_BYTES]; /* "": never */
	enum sl_record_kind problem;	    /* the last warning or error */
	enum sl_level problem_level;
	char problem_text[SL_RECORD_TEXT_BYTES];
};

/* The arguments of sl_settings_load. */
struct sl_settings_source {
	const char *path;
	const char *const *overrides;
	size_t count;
};

struct sl_daemon {
	const struct sl_settings *settings;
	struct sl_settings_source source; /* where they are from; path NULL: they are not read again */
	struct sl_group group; /* the present roster, with its signatures; `roster` may be a past one */
	struct sl_group_update group_update;
	struct sl_roster_fetch roster_fetch;
	struct sl_roster roster;
	struct sl_identity identity;
	struct sl_store
		*store; /* opened and closed by the loop thread; in between used by the compute worker */
	uint32_t self;	/* own roster index */
	struct sl_log *log;
	struct sl_tls tls;
	struct sl_trainer *trainer;
	void *ranges;			/* memory of workspace.ranges */
	struct sl_tensor_begin *begins; /* of workspace.tensors */

	uv_loop_t loop;
	uv_prepare_t before; /* drains the event queue before the loop sleeps */
	uv_check_t after;    /* drains it after the loop has polled */
	uv_idle_t busy;	     /* active while the event queue is not empty, so that the loop does not sleep */
	uv_timer_t alarm;    /* the core's deadline */
	uv_timer_t watchdog; /* looks at waits, durable writes and progress */
	struct sl_writing writing;
	struct sl_progress progress;
	struct sl_backup backup;
	uv_timer_t farewell; /* looks whether the command has ended */
	uv_signal_t interrupt, terminate, hangup;
	struct sl_links *links;
	struct sl_mdns *mdns;		/* NULL: `discover: none` */
	struct sl_admission *admission; /* of learners that join */
	struct sl_join_handler join;
	struct sl_control *control;
	struct sl_http *http;	 /* NULL: `http: off` */
	struct sl_recent recent; /* log records for those that ask over HTTP */
	struct sl_metrics counters;
	struct sl_worker compute, train, crypto;

	struct sl_event_queue event_queue;
	struct sl_core_config core_config;
	uint64_t training_nonce; /* of the first training; random at each start */
	struct sl_core *core;
	void *core_memory;
	sl_id *ids; /* of the roster, ascending; read by the core */
	struct sl_actions actions;

	/* Used by the compute worker. */
	struct sl_workspace workspace;
	struct sl_masked_states masked_states;

	const struct sl_view *workspace_view; /* view of the core for which the workspace was prepared last */
	struct sl_durable past; /* open attempt of the previous roster, which `roster` then is; t 0: none */
	struct sl_promises promises; /* attempts of the round in which the learner starts */
	sl_round used_up; /* round in which no model may be used that was trained before now; 0: none */
	struct sl_result result;      /* last committed result, served to peers */
	struct sl_result next_result; /* durable result of a commit that the core has not been told yet */
	char checkpoints[SL_FOLDER_PATH_BYTES]; /* their folder */
	char checkpoint[SL_FILE_NAME_BYTES];	/* name of the last checkpoint file */
	bool settled;				/* a round has committed under the present roster */
	bool restart_requested;			/* start the program again after it has ended */
	bool other_model;			/* .. with the model of another application */
	sl_round committed_through;		/* last committed round if its model cannot be read: no other
						   attempt up to that round; 0: the model was read */
	struct sl_keys keys;			/* of the roster */
	struct sl_peer_warning *peer_warnings;	/* by roster index */
	uint8_t *tensors;			/* of the own model, for Model messages; read by the core */
	char (*other_models)[SL_ERROR_BYTES];	/* by roster index: how the model of a peer differs; "": not
						   known */
	uint8_t (*checked)[7][SL_COPY_BYTES];	/* by signer: hash of the last verified LinkState, Ready,
						   Digest, Checksum, and Abort of each kind */
	uint8_t copy_key[SL_COPY_KEY_BYTES];	/* of these hashes, drawn at the start */
	uint32_t step;				/* step of the topology playback, as last reported */
	atomic_bool stop_training;
	atomic_uint training_permille; /* progress of the training */
	uint32_t encoding;	       /* jobs under way that read the trained model */
	struct sl_task *training;      /* waits for them; owned; NULL: none */
	struct json_t *metrics;	       /* of the last training, as its application named them; NULL: none */
	struct sl_figures_round figures;
	struct sl_status_notes notes;
	struct sl_link_bytes *link_bytes; /* by roster index: at the last commit */
	struct sl_record_limit record_limit;
	struct sl_link_fault *link_faults; /* by roster index */
	atomic_bool failed;		   /* set after a fatal error; queued disk writes are then skipped */
	char rejection[256];		   /* text of the last rejected record */
	struct sl_wait_log wait;
	struct sl_obstacles obstacles;
	uint32_t passed; /* failpoints (as bits) to reach once everything queued has been flushed */
	char listen[SL_ADDRESS_BYTES]; /* the address at which it listens */
	bool listens_on_all; /* .. all addresses, as that of the roster is not one of this machine */
	bool stopping, closed;
	sl_ms farewell_ms; /* when the last round was served; 0: it is not yet */
	int status;	   /* exit status */
};

/* Sign `message` with the own key, if messages of its kind carry a signature. */
void sl_daemon_sign(const struct sl_daemon *daemon, struct sl_message *message);
/* End in order: links say goodbye, workers finish. `status` is the exit status. */
void sl_daemon_stop(struct sl_daemon *daemon, int status);
/* End in order after the last round, with status 0: as soon as the command of trainer: exec has ended, which
 * may save its model, or after 30 s. */
void sl_daemon_finish(struct sl_daemon *daemon);
