/* core.h - a learner as one pure state machine: sl_core_step takes an event and fills in the actions that it
 * leads to.
 *
 * No clock, no allocation, no I/O, no randomness. A shell supplies them (execute.h).
 *
 * Ownership:
 *
 *   pointer                      owner    valid
 *   in an event                  shell    during the step
 *   `buffer` of a chunk message  core     until the core returns it, once: in a job or in a DROP action
 *   in an action                 core     until the next step
 *   view of a job                core     until the result of the job is handed in
 *   the core itself              shell    as long as the arena of sl_core_init; nothing else is freed
 *
 * To read the room: the diagram in common/protocol/phase.h, the table in phases.c, then the map in state.h.
 * To follow one event: sl_core_step in step.c.
 */
#pragma once

#include "common/protocol/canonical.h"
#include "common/compute/job.h"
#include "common/compute/payload.h"
#include "common/mixing/privacy.h"
#include "common/protocol/message.h"
#include "common/protocol/phase.h"
#include "common/protocol/report.h"
#include "common/protocol/secrets.h"
#include "common/protocol/wait.h"

enum sl_open_state {
	SL_OPEN_PREPARED = 1, /* its Ready may have left */
	SL_OPEN_RELEASED,     /* and its deposit key, too */
	SL_OPEN_ABORTED,      /* its Ready may have left; an Abort that names the Ready follows or has left */
};

/* What a learner has said of the result of an attempt (ROUND.md §9.2 When an attempt is over). */
enum sl_vote {
	SL_VOTE_NONE,	/* nothing has left */
	SL_VOTE_DIGEST, /* a Digest may have left */
	SL_VOTE_ABORT,	/* an Abort may have left: no Digest of the attempt will */
};

/* An attempt in which this learner may be Ready, and which is neither over nor committed, as recorded on disk
 * (ROUND.md §14.3 Restart). */
struct sl_open {
	enum sl_open_state state;
	enum sl_vote vote;
	sl_attempt a;
	const uint8_t *view; /* as it was in SL_PERSIST_PREPARED */
	size_t view_bytes;
	const struct sl_ready *readys; /* as in SL_PERSIST_PREPARED or, if released, SL_PERSIST_RELEASED */
	uint32_t ready_count;
	const struct sl_secrets *secrets; /* as in SL_PERSIST_PREPARED */
};

/* An attempt that is over: the own Ready, and the Aborts that end it, for peers in which it is still open. */
struct sl_over {
	sl_attempt a;
	struct sl_ready ready;
	uint32_t count;
	const struct sl_abort *aborts; /* the own may be unsigned: the shell signs what it sends */
};

#define SL_SEEN_SUMS 16u /* sums that are remembered */

/* A learner that took part in sums that were seen. */
struct sl_seen_member {
	sl_id id;
	uint32_t in; /* bit s: in sum s */
};

/* The last sums that a learner has seen, as they go to the disk. */
struct sl_seen {
	uint32_t next;				   /* the place of the next sum */
	uint32_t count;				   /* of members: first those of the roster, then others */
	sl_round t[SL_SEEN_SUMS];		   /* 0: no sum */
	uint8_t view[SL_SEEN_SUMS][SL_HASH_BYTES]; /* h of its attempt */
	struct sl_seen_member members[];
};

struct sl_core_config {
	uint32_t self;			 /* this learner's index in the roster */
	uint32_t roster_size;		 /* R */
	const sl_id *ids;		 /* R ids, ascending; not owned */
	struct sl_parameters parameters; /* the own ones */
	size_t model_bytes;		 /* what a Result has: a model and the exponents of its ranges */
	struct sl_layout layout;	 /* of the vectors of rounds with limbs */
	struct sl_model model; /* for peers whose parameter `model` differs; size 0: not told. Not owned */
	struct sl_scope scope;
	uint8_t key[SL_KEY_BYTES]; /* own public key, sent with each link state */
	void *secrets; /* sl_core_secret_bytes for keys and key shares; NULL: of the arena. Not owned */
	uint32_t incarnation;
	bool range_by_control; /* peers in range come by SL_EVENT_RANGE; false: they are the whole roster */
	enum sl_membership_change membership_change;
	sl_round committed;			  /* last committed round, 0: none */
	uint8_t previous[SL_HASH_BYTES];	  /* D of that round */
	const struct sl_certificate *certificate; /* of that round; NULL: not at hand. Copied */
	const struct sl_seen *seen;		  /* as in the last record that had it; NULL: none. Copied */
	/* Round committed + 1, as recorded on disk: */
	sl_attempt aborted; /* highest attempt that is aborted without a Ready, or over; 0: none */
	uint32_t over_count;
	const struct sl_over *over; /* all attempts that are over, ascending. Copied as far as needed */
	bool reuse;		    /* every attempt that is over left the model fit for another */
	const struct sl_open
		*open; /* NULL: none. Used up by SL_EVENT_START; its slots are in the workspace */
	sl_ms straggler_timeout_ms, stall_timeout_ms, serve_after_end_ms;
	sl_ms relay_ms; /* relay delay (ROUND.md §7.6 Link states and the flood) */
};

/* The timeouts that follow from stall_timeout (ROUND.md §13.1 Timers of the round): how long a peer that says
 * nothing is waited for, and how long READY may take. */
static inline sl_ms sl_core_hello_ms(const struct sl_core_config *config)
{
	return config->stall_timeout_ms / 5;
}
static inline sl_ms sl_core_prepare_ms(const struct sl_core_config *config)
{
	return 6 * config->stall_timeout_ms;
}

enum sl_event_kind {
	SL_EVENT_START,		  /* the first event, once */
	SL_EVENT_LINK_UP,	  /* peer: an authenticated link is up */
	SL_EVENT_LINK_DOWN,	  /* peer: the link fell, or dialling failed */
	SL_EVENT_MESSAGE,	  /* peer, message[, buffer of a chunk]; the signature is verified */
	SL_EVENT_TRAINED,	  /* far, hop_bytes: the model of the round is in the workspace */
	SL_EVENT_TRAINING_FAILED, /* the model of the round could not be used; it is trained again */
	SL_EVENT_COMPUTED,	  /* result */
	SL_EVENT_DURABLE,	  /* durable: the entry of that PERSIST action is on disk */
	SL_EVENT_RANGE,		  /* range: the peers in range from the next attempt on */
	SL_EVENT_OPERATOR_ABORT,  /* round: abort its open attempt; SL_ERR_INVALID if there is none */
	SL_EVENT_LAST_ROUND,	  /* round: which is committed, and the last one of this learner */
	SL_EVENT_DEADLINE,	  /* sl_core_deadline() has passed */
};

/* Entries that a restart must find (ROUND.md §14.1 What is durable before what is sent). */
enum sl_persist_kind {
	SL_PERSIST_ABORTED = 1, /* the promises `says` of attempt a; without `ready`: no Ready in a or before
				   it will leave any more */
	SL_PERSIST_PREPARED,	/* the own slot, and the attempt with view, own Ready and secrets */
	SL_PERSIST_RELEASED,	/* all Readys; before the deposit key leaves */
	SL_PERSIST_SIGNS,	/* a Digest of attempt a follows */
	SL_PERSIST_OVER,	/* the Aborts that end attempt a; its secrets are erased */
	SL_PERSIST_COMMIT,	/* the committed model, from the workspace, and its certificate */
};

struct sl_durable {
	enum sl_persist_kind kind;
	sl_round t;
	sl_attempt a;
	uint32_t says; /* ABORTED: SL_ABORT_UNRELEASED, SL_ABORT_UNSIGNED or, without a Ready, both */
};

struct sl_event {
	enum sl_event_kind kind;
	bool more; /* another event follows at once: the step passes on no records yet, nor counts those of
		      all */
	sl_ms now;
	uint32_t peer; /* roster index */
	const struct sl_message *message;
	struct sl_buffer *buffer; /* Share, State, Result, Deposit, KeyShare: size and bytes of the chunk */
	const struct sl_job_result *result;
	bool far; /* the update of the initial model is beyond the range of a tensor (sl_job_model_far) */
	uint64_t hop_bytes;    /* TRAINED: the parameter; 0: not measured */
	const uint64_t *range; /* bit set over the roster */
	struct sl_durable durable;
	sl_round round;
};

enum sl_action_kind {
	SL_ACTION_PERSIST, /* persist: after the jobs given before it; in order */
	SL_ACTION_SEND,	   /* send: message to the peers of `to` */
	SL_ACTION_TRAIN,   /* train: a model for round t; `draw` is its training nonce */
	SL_ACTION_COMPUTE, /* job */
	SL_ACTION_LINKS,   /* to: keep links to these peers, and to no others */
	SL_ACTION_DROP,	   /* buffers: free them */
	SL_ACTION_WIPE,	   /* after the jobs given before: wipe the workspace and end the state file */
	SL_ACTION_REPORT,
	SL_ACTION_STOP, /* code: the learner is done (SL_OK), or cannot go on; SL_ERR_RANGE: its trained model
			   cannot be encoded */
};
#define SL_ACTION_KINDS (SL_ACTION_STOP + 1u)

struct sl_persist {
	struct sl_durable what;
	const uint8_t *view; /* PREPARED: its bytes (view_codec.h) */
	size_t view_bytes;
	const struct sl_ready
		*readys; /* PREPARED: the own; RELEASED: all, by position. The own is unsigned */
	uint32_t ready_count;
	uint64_t draw;			  /* PREPARED: training nonce of the model */
	const struct sl_secrets *secrets; /* PREPARED */
	bool ready;			  /* ABORTED: the attempt is open; the Abort names its Ready */
	const struct sl_abort *aborts;	  /* OVER: what ends the attempt; the own may be unsigned */
	uint32_t abort_count;		  /* OVER; 0: the operator ends it */
	bool reuse;			  /* OVER: the model may go into another attempt */
	const struct sl_certificate *certificate; /* COMMIT: the own digest is unsigned */
	uint64_t total_weight;			  /* COMMIT */
	const struct sl_seen *seen;		  /* OVER, COMMIT: with the sum of this record */
};

/* Return the bytes of `seen` with its members. */
static inline size_t sl_seen_size(const struct sl_seen *seen)
{
	return sizeof *seen + seen->count * sizeof *seen->members;
}

struct sl_action {
	enum sl_action_kind kind;
	union {
		struct sl_persist persist;
		struct {
			const uint64_t *to;	   /* bit set over the roster */
			struct sl_message message; /* a chunk without bytes */
			struct sl_payload payload; /* where they are */
			bool own; /* the shell signs the message, if its kind has a signature */
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

/* Filled by a step, in the order in which the shell must execute them. */
struct sl_actions {
	uint32_t count;
	struct sl_action items[SL_ACTIONS_MAX];
};

struct sl_core;

/* Return the bytes of arena that a core of this configuration needs. */
size_t sl_core_bytes(const struct sl_core_config *config);
/* Return the bytes of memory that its keys and key shares need. */
size_t sl_core_secret_bytes(const struct sl_core_config *config);
/* Return a core in `arena`, or NULL if the arena is too small. Most of it is touched only if it is needed:
 * the arena should be of zeros. */
struct sl_core *sl_core_init(const struct sl_core_config *config, struct sl_arena *arena);

/* Process `event` and fill in `actions`. SL_ERR_INVALID: the event is not allowed now; nothing changed. */
int sl_core_step(struct sl_core *core, const struct sl_event *event, struct sl_actions *actions);

/* Return false if `message` changes nothing, whether its signature is right or not: a Digest beyond those
 * that a commit needs. */
bool sl_core_wants(const struct sl_core *core, const struct sl_message *message);

/* Return every chunk that the core still holds: at the end, if it has not stopped by itself. */
struct sl_buffer *sl_core_held(struct sl_core *core);

/* Return the time at which the next SL_EVENT_DEADLINE is due, or SL_NEVER. */
sl_ms sl_core_deadline(const struct sl_core *core);

/* Return true if signed messages of the learner with roster index `signer` are ignored: it has been reported
 * in this round, since more of its records came than an honest learner signs, and more come still. Their
 * signatures need not be verified. */
bool sl_core_ignores(const struct sl_core *core, uint32_t signer, sl_ms now);

/* For status displays. */
struct sl_core_status {
	sl_round t, committed;
	sl_round rounds;	       /* T: of the roster, or raised or ended since (§7.16) */
	uint8_t digest[SL_HASH_BYTES]; /* of the last committed round; if there is none, zeros */
	sl_attempt a;
	sl_ms since;	   /* time at which the phase began */
	sl_ms waits_since; /* .. or at which something of what it waits for came last */
	sl_ms deadline;	   /* after which the phase has waited too long; SL_NEVER: it has no such time */
	enum sl_phase phase;
	uint32_t permille;     /* of the phase */
	uint32_t learners;     /* in the view; 0: there is none */
	enum sl_engine engine; /* of the view */
	uint64_t steps;	       /* exchanges of the engine */
	uint32_t over;	       /* attempts of round t that are over */
	uint32_t atom;	       /* size of the smallest atom, with the last view (seen.h); 0: no view yet */
};
void sl_core_status(const struct sl_core *core, struct sl_core_status *status);

/* Return what the learner waits for now. `set`, a bit set over the roster: the peers that it waits for. */
enum sl_wait sl_core_awaits(const struct sl_core *core, uint64_t *set);

/* Return true if a view is agreed on, and the number of further participants that may be lost for good while
 * its attempt still completes (ROUND.md §10.4 How recovery ends). Participants that are in range and not
 * linked count as lost.
 */
bool sl_core_tolerates(const struct sl_core *core, uint32_t *losses);

/* What this learner knows of a peer: from its link, and from the last Hello on it. */
struct sl_core_peer {
	bool linked, in_range;
	bool participant, neighbour; /* in the view */
	bool heard;   /* a Hello has come in this run of the program; else nothing below holds */
	sl_round t;   /* its round */
	sl_attempt a; /* its attempt */
	enum sl_peer_status status;
	uint32_t incarnation;
	sl_round
		left_out; /* last round of those that it is left out of, since it held up attempts; 0: none */
};
void sl_core_peer(const struct sl_core *core, uint32_t index, struct sl_core_peer *peer);
