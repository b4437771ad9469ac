/* core.h - the learner, as one pure state machine with one door.
 *
 * Events in, actions out; no clock, no allocation, no I/O, no randomness. The daemon is one shell around it,
 * the simulator another.
 *
 * Ownership, once and for all:
 *  - What an event points to is borrowed for the length of the step. Exception: `buffer` of a chunk message
 * becomes the core's, and comes back exactly once, in the job that uses it or in a drop action.
 *  - What an action points to belongs to the core and is valid until the next step; job views until the job's
 * result.
 *  - The core lives in the arena handed to sl_core_init; nothing is to be freed.
 */
#pragma once

#include "common/protocol/canonical.h"
#include "common/compute/job.h"
#include "common/protocol/message.h"
#include "common/protocol/phase.h"
#include "common/protocol/report.h"

/* An attempt that was cut short (protocol 6, restart). */
struct sl_open {
	bool released;
	sl_attempt a;
	const uint8_t *view; /* as it was in SL_PERSIST_PREPARED */
	size_t view_bytes;
	const struct sl_ready *readys; /* as in SL_PERSIST_PREPARED or, if released, SL_PERSIST_RELEASED */
	uint32_t ready_count;
};

struct sl_core_config {
	uint32_t self;	      /* this learner's index in the roster */
	uint32_t roster_size; /* R */
	const sl_id *ids;     /* R ids, ascending; not owned */
	struct sl_parameters parameters;
	struct sl_scope scope;
	uint8_t key[SL_KEY_BYTES]; /* own public key, sent with each link state */
	uint32_t incarnation;
	bool range_by_control;		 /* in range is whom the radio names, not the whole roster */
	bool privacy_check_warns;	 /* share where c colluders learn more than the mean, and say so */
	sl_round committed;		 /* last committed round, 0: none */
	uint8_t previous[SL_HASH_BYTES]; /* its D */
	const struct sl_certificate
		*certificate; /* of it, for others that catch up; NULL: not at hand. Copied */
	/* Of round committed + 1, as the disk remembers it (protocol 6, restart): */
	sl_attempt aborted; /* the highest attempt that was given up; 0: none */
	sl_attempt closed;  /* the highest released one that is not finished any more; 0: none */
	uint32_t released_count;
	sl_attempt released[SL_RELEASED_MAX]; /* those in which the masked state may have left, ascending */
	const struct sl_open
		*open; /* prepared or released, and neither given up nor settled; NULL: none. Used in
			* SL_EVENT_START for the last time; its spool is in the vault by then */
	sl_ms straggler_timeout_ms, hello_timeout_ms, agreement_timeout_ms, prepare_timeout_ms,
		stall_timeout_ms, confirm_timeout_ms, serve_after_end_ms;
	sl_ms relay_ms; /* how long a record is left to its signer to send to those that it named */
};

enum sl_event_kind {
	SL_EVENT_START,		 /* the first, once */
	SL_EVENT_LINK_UP,	 /* peer: an authenticated link stands */
	SL_EVENT_LINK_DOWN,	 /* peer: it fell, or could not be dialled */
	SL_EVENT_MESSAGE,	 /* peer, message[, buffer of a chunk]; signatures already checked against the
				    signer's pin */
	SL_EVENT_TRAINED,	 /* the model of the round is in the vault */
	SL_EVENT_COMPUTED,	 /* result */
	SL_EVENT_DURABLE,	 /* durable: what that persist action asked for is on disk */
	SL_EVENT_RANGE,		 /* range: the radio speaks */
	SL_EVENT_OPERATOR_ABORT, /* round: the operator gives up its open attempt; SL_ERR_INVALID where there
				    is none */
	SL_EVENT_DEADLINE,	 /* sl_core_deadline() has passed */
};

/* What must not be forgotten (protocol 6 and 8). */
enum sl_persist_kind {
	SL_PERSIST_ABORTED = 1, /* no attempt up to a is ever released any more, but those that were */
	SL_PERSIST_PREPARED,	/* the own slot of the spool, and the attempt with view and own Ready */
	SL_PERSIST_RELEASED,	/* with the Readys of all; before the first masked state leaves */
	SL_PERSIST_CLOSED, /* a released attempt that nobody can complete, or that the operator has given up
			    */
	SL_PERSIST_COMMIT, /* the committed model and Z, packed at the width of the proof's p, are in the
			      vault */
};

struct sl_durable {
	enum sl_persist_kind kind;
	sl_round t;
	sl_attempt a;
};

struct sl_event {
	enum sl_event_kind kind;
	sl_ms now;
	uint32_t peer; /* roster index */
	const struct sl_message *message;
	struct sl_buffer *buffer; /* Share, State, Result, Masked: the piece (size, bytes) */
	const struct sl_job_result *result;
	const uint64_t *range; /* bit set over the roster */
	struct sl_durable durable;
	sl_round round;
};

enum sl_action_kind {
	SL_ACTION_PERSIST, /* persist: behind the jobs given before it, and one after the other */
	SL_ACTION_SEND,	   /* message to the peers of `to` */
	SL_ACTION_TRAIN,   /* a model for round t; `draw` makes its randomness fresh */
	SL_ACTION_COMPUTE, /* job */
	SL_ACTION_LINKS,   /* keep links to the peers of `to`, and to no others */
	SL_ACTION_DROP,	   /* buffers: give them back */
	SL_ACTION_WIPE,	   /* the attempt is over: wipe the vault and end the spool (after the jobs already
			      given) */
	SL_ACTION_REPORT,
	SL_ACTION_STOP, /* the learner is done (code SL_OK) or cannot go on */
};

struct sl_persist {
	struct sl_durable what;
	const uint8_t *view; /* PREPARED: its bytes (view_bytes.h) */
	size_t view_bytes;
	const struct sl_ready
		*readys; /* PREPARED: the own; RELEASED: of all, by position. The own is unsigned */
	uint32_t ready_count;
	uint64_t draw;				  /* PREPARED: of the model */
	const struct sl_certificate *certificate; /* COMMIT: the own digest is unsigned */
	uint64_t total_weight;			  /* COMMIT */
};

struct sl_action {
	enum sl_action_kind kind;
	union {
		struct sl_persist persist;
		struct {
			const uint64_t *to;	   /* bit set over the roster */
			struct sl_message message; /* signature left zero where the learner's own: the shell
						    * signs. Chunks have no bytes: the shell packs row r of
						    * the vault for neighbour r (Share), the state (State),
						    * the last committed Z (Result), or the slot of `origin`
						    * (Masked); and it adds the nonce where one is due. */
			bool own;
		} send;
		struct {
			sl_round t;
			uint64_t draw;
		} train;
		struct sl_job job;
		const uint64_t *to;
		struct sl_buffer *buffers;
		struct sl_report report;
		int code;
	};
};

/* Filled by a step, in the order in which the shell must carry them out. */
struct sl_actions {
	uint32_t count;
	struct sl_action items[SL_ACTIONS_MAX];
};

struct sl_core;

/* Bytes of arena that a core of this configuration needs. */
size_t sl_core_bytes(const struct sl_core_config *config);
/* NULL when the arena is too small. */
struct sl_core *sl_core_init(const struct sl_core_config *config, struct sl_arena *arena);

/* The one door. SL_ERR_INVALID, with nothing changed and no action, for an event that its kind does not
 * allow. */
int sl_core_step(struct sl_core *core, const struct sl_event *event, struct sl_actions *actions);

/* At the end, for a core that has not stopped by itself: every chunk that it still holds, given back. */
struct sl_buffer *sl_core_held(struct sl_core *core);

/* When the next SL_EVENT_DEADLINE is due; SL_NEVER. */
sl_ms sl_core_deadline(const struct sl_core *core);

/* For status displays. */
struct sl_core_status {
	sl_round t, committed;
	sl_attempt a;
	enum sl_phase phase;
	uint32_t permille;     /* of the phase */
	uint32_t learners;     /* of the view, 0 before it is closed */
	enum sl_engine engine; /* of the view, and */
	uint64_t steps;	       /* its exchanges */
};
void sl_core_status(const struct sl_core *core, struct sl_core_status *status);
