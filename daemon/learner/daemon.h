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

#include "common/config/settings.h"
#include "common/core/core.h"
#include "common/model/trainer.h"
#include "daemon/learner/control.h"
#include "daemon/learner/event_queue.h"
#include "daemon/learner/masked_states.h"
#include "daemon/learner/verify.h"
#include "daemon/membership/membership.h"
#include "daemon/net/links.h"
#include "daemon/net/tls.h"
#include "daemon/observe/observe.h"
#include "daemon/runtime/pool.h"
#include "daemon/runtime/worker.h"
#include "daemon/store/folder.h"
#include "daemon/store/result.h"
#include "daemon/store/store.h"

/* Where the settings are from: arguments of sl_group_load_settings. */
struct sl_settings_source {
	const char *path;
	const char *const *overrides;
	size_t count;
};

/* The handles of the loop. */
struct sl_handles {
	uv_prepare_t before; /* drains the event queue before the loop sleeps */
	uv_check_t after;    /* drains it after the loop has polled */
	uv_idle_t busy;	     /* active while the event queue is not empty, so that the loop does not sleep */
	uv_timer_t alarm;    /* the core's deadline */
	uv_timer_t watchdog; /* looks at waits, durable writes and progress */
	uv_timer_t farewell; /* looks whether the command has ended */
	uv_signal_t interrupt, terminate, hangup;
};

/* Memory that is owned here and used under another name. */
struct sl_daemon_memory {
	void *core;			/* of the core */
	sl_id *ids;			/* of the roster, ascending; read by the core */
	uint8_t *tensors;		/* of the own model, for Model messages; read by the core */
	void *ranges;			/* of workspace.ranges */
	struct sl_tensor_begin *begins; /* of workspace.tensors */
};

/* The trainings: one at a time, in place of the model that the one before has made. */
struct sl_trainings {
	uint64_t nonce;	     /* of the first one; random at each start */
	atomic_bool stop;    /* end the present one */
	uint32_t readers;    /* jobs under way that read the trained model */
	struct sl_task *due; /* waits for them; owned; NULL: none */
	sl_round used_up;    /* round in which no model may be used that was trained before now; 0: none */
};

/* What is spent of the privacy (budget.h); loop thread. */
struct sl_budget {
	struct sl_ledger ledger; /* as it was on record last */
	bool zeros_said;	 /* a record tells that zeros are sent */
	bool ended;		 /* the learner ends: there is no budget for the next round */
};

/* The files of committed rounds. */
struct sl_committed {
	struct sl_result next;		     /* of a commit that the core has not been told yet */
	char folder[SL_FOLDER_PATH_BYTES];   /* of the checkpoints */
	char checkpoint[SL_FILE_NAME_BYTES]; /* the last one's name */
	sl_round through; /* last committed round if its model cannot be read: no other attempt up to that
			     round; 0: the model was read */
};

/* Where the learner listens. */
struct sl_listening {
	char address[SL_ADDRESS_BYTES];
	bool on_all; /* all addresses, as that of the roster is not one of this machine */
};

/* The last backup (backup.h). */
struct sl_backup {
	uint32_t number;       /* counts backups since the start; 0: none yet */
	bool runs;	       /* the last one is under way */
	struct sl_error error; /* of the last one; code SL_OK: it is there */
	sl_round round;	       /* its last committed round; 0: none */
};

/* What the service manager was shown (progress.h). */
struct sl_progress {
	uint64_t taken;	   /* events taken from the queue since the start */
	uint64_t seen;	   /* .. at the last look */
	uint64_t fed_ms;   /* when the watchdog was fed last; 0: never */
	uint64_t shown_ms; /* when the status was shown last */
	char shown[256];   /* that status */
};

struct sl_daemon {
	const struct sl_settings *settings;
	struct sl_settings_source source; /* where they are from */
	struct sl_store
		*store; /* opened and closed by the loop thread; in between used by the compute worker */
	struct sl_membership members;
	struct sl_observe observe;
	struct sl_trainer *trainer;

	uv_loop_t loop;
	struct sl_handles handles;
	struct sl_worker compute, train, crypto;
	struct sl_event_queue event_queue;
	struct sl_progress progress;
	struct sl_control *control;
	struct sl_backup backup;

	struct sl_tls tls;
	struct sl_links *links;
	struct sl_listening listen;
	struct sl_verifier verifier;

	struct sl_core_config core_config;
	struct sl_core *core;
	struct sl_actions actions;
	struct sl_daemon_memory memory;

	/* Used by the compute worker. */
	struct sl_workspace workspace;
	struct sl_pool pool; /* helps it */
	struct sl_masked_states masked_states;
	atomic_uint wipes; /* that are queued: jobs before them are of attempts that are over */

	const struct sl_view *workspace_view; /* view of the core for which the workspace was prepared last */
	struct sl_promises promises;	      /* attempts of the round in which the learner starts */
	struct sl_trainings training;
	struct sl_budget budget;
	struct sl_result result; /* last committed one, served to peers */
	struct sl_committed committed;

	uint32_t passed;	/* failpoints (as bits) to reach once everything queued has been flushed */
	atomic_bool failed;	/* set after a fatal error; queued disk writes are then skipped */
	bool restart_requested; /* start the program again after it has ended */
	bool other_model;	/* .. with the model of another application */
	bool stopping, closed;
	sl_ms farewell_ms; /* when the last round was served; 0: it is not yet */
	int status;	   /* exit status */
};

/* Begin with nothing but the settings: let the parts of the state know what they borrow from each other. */
void sl_daemon_init(struct sl_daemon *daemon, struct sl_settings *settings);
/* Sign `message` with the own key, if messages of its kind carry a signature. */
void sl_daemon_sign(const struct sl_daemon *daemon, struct sl_message *message);
/* End in order: links say goodbye, workers finish. `status` is the exit status. */
void sl_daemon_stop(struct sl_daemon *daemon, int status);
/* End in order and start the program again, with the present files. */
void sl_daemon_restart(struct sl_daemon *daemon);
/* End in order after the last round, with status 0: as soon as the command of trainer: exec has ended, which
 * may save its model, or after 30 s. */
void sl_daemon_finish(struct sl_daemon *daemon);
