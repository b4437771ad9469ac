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
#include "daemon/learner/backup_state.h"
#include "daemon/learner/control.h"
#include "daemon/learner/event_queue.h"
#include "daemon/learner/masked_states.h"
#include "daemon/learner/progress_state.h"
#include "daemon/membership/membership.h"
#include "daemon/net/keys.h"
#include "daemon/net/links.h"
#include "daemon/net/tls.h"
#include "daemon/observe/observe.h"
#include "daemon/runtime/worker.h"
#include "daemon/store/folder.h"
#include "daemon/store/result.h"
#include "daemon/store/store.h"

#define SL_COPY_BYTES 16u /* of the hash by which a copy of a record is known: SipHash-2-4-128 */
#define SL_COPY_KEY_BYTES 16u

/* The arguments of sl_settings_load. */
struct sl_settings_source {
	const char *path;
	const char *const *overrides;
	size_t count;
};

struct sl_daemon {
	const struct sl_settings *settings;
	struct sl_settings_source source; /* where they are from; path NULL: they are not read again */
	struct sl_store
		*store; /* opened and closed by the loop thread; in between used by the compute worker */
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
	struct sl_progress progress;
	struct sl_backup backup;
	struct sl_membership members;
	struct sl_observe observe;
	uv_timer_t farewell; /* looks whether the command has ended */
	uv_signal_t interrupt, terminate, hangup;
	struct sl_links *links;
	struct sl_control *control;
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
	struct sl_promises promises;	      /* attempts of the round in which the learner starts */
	sl_round used_up; /* round in which no model may be used that was trained before now; 0: none */
	struct sl_result result;      /* last committed result, served to peers */
	struct sl_result next_result; /* durable result of a commit that the core has not been told yet */
	char checkpoints[SL_FOLDER_PATH_BYTES]; /* their folder */
	char checkpoint[SL_FILE_NAME_BYTES];	/* name of the last checkpoint file */
	bool restart_requested;			/* start the program again after it has ended */
	bool other_model;			/* .. with the model of another application */
	sl_round committed_through;		/* last committed round if its model cannot be read: no other
						   attempt up to that round; 0: the model was read */
	struct sl_keys keys;			/* of the roster */
	uint8_t *tensors;			/* of the own model, for Model messages; read by the core */
	uint8_t (*checked)[7][SL_COPY_BYTES];	/* by signer: hash of the last verified LinkState, Ready,
						   Digest, Checksum, and Abort of each kind */
	uint8_t copy_key[SL_COPY_KEY_BYTES];	/* of these hashes, drawn at the start */
	atomic_bool stop_training;
	uint32_t encoding;	  /* jobs under way that read the trained model */
	struct sl_task *training; /* waits for them; owned; NULL: none */
	atomic_bool failed;	  /* set after a fatal error; queued disk writes are then skipped */
	char rejection[256];	  /* text of the last rejected record */
	uint32_t passed;	  /* failpoints (as bits) to reach once everything queued has been flushed */
	char listen[SL_ADDRESS_BYTES]; /* the address at which it listens */
	bool listens_on_all; /* .. all addresses, as that of the roster is not one of this machine */
	bool stopping, closed;
	sl_ms farewell_ms; /* when the last round was served; 0: it is not yet */
	int status;	   /* exit status */
};

/* Begin with nothing but the settings: let the parts of the state know what they borrow from each other. */
void sl_daemon_init(struct sl_daemon *daemon, const struct sl_settings *settings);
/* Sign `message` with the own key, if messages of its kind carry a signature. */
void sl_daemon_sign(const struct sl_daemon *daemon, struct sl_message *message);
/* End in order: links say goodbye, workers finish. `status` is the exit status. */
void sl_daemon_stop(struct sl_daemon *daemon, int status);
/* End in order and start the program again, with the present files. */
void sl_daemon_restart(struct sl_daemon *daemon);
/* End in order after the last round, with status 0: as soon as the command of trainer: exec has ended, which
 * may save its model, or after 30 s. */
void sl_daemon_finish(struct sl_daemon *daemon);
