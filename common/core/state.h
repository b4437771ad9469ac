/* state.h - the whole state of a learner, in one struct; private to core/.
 *
 * The files of core/ are named for what they handle: flood (records), discover, overlay, freeze, view, share,
 * ready, mix, mix_tree, recover, settle, fence, restore, catchup; attempt.c holds what every phase uses
 * (move, fail, emit), step.c the door. Handlers record what happened; step.c's advance then looks at the
 * state and takes every move that is due, so that the order in which things arrive does not matter.
 */
#pragma once

#include "common/base/bytes.h"
#include "common/core/core.h"
#include "common/protocol/release_log.h"

#define SL_WAIT_REPORT_MS 10000u

struct sl_peer {
	bool hello;	      /* one has arrived on the present link */
	bool tried;	      /* a dial failed or a link fell since it came into range */
	sl_attempt jumped_to; /* of t: an attempt far off that it has signed for; 0: none */
	sl_round accused;     /* the round in which evidence against it was handed over */
	bool few_shown;	      /* it asked for the last result, and was shown too few signers */
	uint32_t fruitless;   /* askings in a row that came to nothing */
	sl_ms ask_after;
	sl_round unshown; /* it claimed to be in this round, was asked for its result and did not show it; 0:
			     none */
	sl_round t;
	enum sl_peer_status status;
	uint32_t incarnation;	 /* last heard of */
	sl_round quarantined;	 /* the round that it is kept out of; 0: none */
	sl_round in_range;	 /* last round in which it was in range */
	struct sl_buffer *early; /* chunks of an attempt that is not frozen here yet */
	uint32_t early_count;
};

/* A flooded record of one learner, and which links have it. */
struct sl_record {
	bool present;
	sl_ms since;	/* when it came */
	uint64_t *sent; /* links that hold it */
	uint64_t *to;	/* scratch of the action that sends it */
};
struct sl_link_record {
	struct sl_record record;
	struct sl_link_state state;
	bool twice; /* its signer signed another one for the same attempt */
	sl_id *candidates;
	uint64_t *named; /* the candidates, as roster indices */
};
struct sl_ready_record {
	struct sl_record record;
	struct sl_ready ready;
};

struct sl_abort_record {
	struct sl_record record;
	struct sl_abort abort_record;
};

/* What is known of a member's masked state in the spool. */
enum sl_slot {
	SL_SLOT_UNSEEN = 0, /* some of it may be here: to be checked */
	SL_SLOT_CHECKING,
	SL_SLOT_MISSING,
	SL_SLOT_FETCHING,
	SL_SLOT_HELD,
};

/* One member of the view, as one that has masked states. */
struct sl_holder {
	uint8_t *held; /* bit set over positions */
	uint64_t *to;  /* scratch of the actions that ask it */
	uint32_t told; /* the edition of this learner's own set that it was told last; 0: none on this link */
	uint32_t origin; /* whose masked state is asked of it, while fetching */
	bool fetching;
	uint32_t asked, in; /* chunks */
	sl_ms progress;
	sl_ms ask_after; /* it did not answer */
};

/* One neighbour in an attempt. */
struct sl_exchange {
	uint32_t shares_in;  /* chunks of shares received, in order */
	uint64_t *states_in; /* per chunk, the next iteration expected; of tree: bit set over those that have
				come */
	struct sl_buffer *held; /* states that wait for their turn */
	uint32_t held_count;
	bool digest_known;
	struct sl_digest digest;
};

struct sl_attempt_state {
	uint32_t share_next; /* chunks of shares generated and, but for seeds, sent */
	uint32_t expanded;   /* chunks that the neighbours' seeds are expanded over */
	bool share_busy;
	bool encoded;
	uint64_t *iteration;	 /* per chunk: k of the own state; of tree: what is waited for (mix_tree.c) */
	uint32_t *have;		 /* per chunk: neighbours whose state of that k is held */
	bool *busy;		 /* per chunk: a MIX job is out */
	uint32_t started;	 /* chunks whose k = 0 went out */
	uint32_t finished;	 /* chunks that are through */
	uint32_t base;		 /* first chunk that is not */
	uint64_t mixed;		 /* chunk iterations done, for status */
	struct sl_buffer *given; /* of tree: masked states to keep, within a step */
	bool prepared;		 /* the own Ready may leave */
	bool resumed;		 /* from disk: there is nothing to mix with */
	bool result_known;
	uint8_t digest[SL_HASH_BYTES];
	double margin;
	sl_ms progress;	     /* last time anything of this attempt moved */
	uint8_t *view_bytes; /* view_size of them */
	size_t view_size;
	struct sl_ready *readys; /* by position, from the release on */
	/* of RECOVER, by position: */
	enum sl_slot *slots;
	struct sl_holder *holders;
	uint8_t *held;	  /* the slots that are HELD, as a bit set */
	uint32_t edition; /* of it */
	uint32_t held_count, fetched;
	uint32_t joined; /* somebody who recovers already, before this learner could; SL_NOBODY */
	bool checking, summing, operator_aborted;
	sl_ms hopeless_at; /* when the first participant's fence was held; SL_NEVER */
};

/* A result that somebody else has. */
struct sl_catchup {
	uint32_t from;
	sl_ms progress;
	struct sl_certificate certificate;
	uint32_t chunks, asked, in;
	enum sl_phase back;  /* where to go on when nothing comes of it */
	struct sl_view view; /* as much of it as jobs need */
};

struct sl_core {
	struct sl_core_config config;
	struct sl_actions *out;
	sl_ms now;

	enum sl_phase phase;
	sl_ms since;	 /* when this phase began */
	sl_ms report_at; /* when to say again who is awaited */
	sl_round t, committed;
	sl_attempt a;
	sl_attempt seen; /* highest attempt of t seen signed */
	uint8_t previous[SL_HASH_BYTES];
	sl_round rounds;		   /* T: the own, or the most that a view agreed on */
	struct sl_certificate certificate; /* of the last committed round; t = 0: there is none at hand */
	struct sl_certificate making;	   /* of the round that is being committed */
	bool attested; /* the last result is another's, of a view that this learner released in: it has signed
			  for it */
	uint64_t total_weight;		  /* of the round being committed */
	uint8_t open_view[SL_HASH_BYTES]; /* h of the last attempt of t that failed after release; zeros: none
					   */
	bool members_known; /* members: of the last committed round, if this learner was in it */

	struct sl_release_log release_log;
	sl_attempt pending_abort; /* the highest attempt of t heard of that an earlier life may have been in;
				     0: none */
	sl_round started;	  /* the round in which this life began */

	bool trained, stopped;
	uint64_t draws;
	sl_ms trained_at;

	uint64_t *linked;	   /* bit sets over the roster */
	uint64_t *range;	   /* in range in this step; empty while have_range is false */
	uint64_t *next_range;	   /* the radio's next list */
	uint64_t *near;		   /* whom this learner has, or wants, a link to in this round */
	uint64_t *keep;		   /* scratch of the LINKS action */
	uint64_t *missing;	   /* of the last wait or failure reported */
	uint64_t *view_neighbours; /* the view's neighbours of this learner */
	uint64_t *failed;	   /* of a failure reported */
	uint64_t *single;	   /* one peer */
	uint64_t *have_targets;	   /* scratch of the action that tells what is held */
	uint64_t *signed_to;	   /* .. who else has signed the last result */
	uint64_t *ready_set;	   /* scratch */
	uint64_t *eligible;	   /* scratch */
	uint64_t *source;	   /* whom a result is asked of */
	uint64_t *tree_own, *tree_up, *tree_down; /* of tree: who gets the own masked state, a sum, Z */
	uint64_t *reach; /* links that floods use: in range, or the overlay of them */
	uint64_t *members;
	uint64_t *tried_candidates;
	bool have_range, have_next_range, reach_stale;
	bool full_graph; /* the gate refused what the overlay of this round gave: everybody in range is
			    offered an edge */

	sl_ms not_before; /* refused by the gate: no new attempt before */
	sl_ms half_since; /* when half of the peers that answer were ready: a sparse learner cannot count a
			     quorum */
	uint32_t refusals;

	struct sl_peer *peers;
	struct sl_link_record *links;
	struct sl_ready_record *readys;
	struct sl_abort_record *aborts;
	bool flood_dirty;
	sl_ms flood_again; /* when records go where their signers were left to send them */

	uint64_t flood_held; /* link states of this attempt, when last counted */
	bool flood_news;     /* since the view was tried last, a link state has come */
	uint32_t epoch, jobs;
	bool view_built, view_checked;
	struct sl_view view;
	struct sl_attempt_state at;
	struct sl_exchange *exchange; /* by neighbour number */
	struct sl_catchup catchup;
	struct sl_edge advice[SL_ADVICE_MAX]; /* of a refusal reported */

	struct sl_edge *edges; /* scratch: R(R-1)/2 */
	struct sl_arena arena; /* of the view and the attempt, reset at each freeze */
};

/* attempt.c */
struct sl_action *sl_emit(struct sl_core *core, enum sl_action_kind kind);
struct sl_report *sl_emit_report(struct sl_core *core, enum sl_report_kind kind);
void sl_attempt_move(struct sl_core *core, enum sl_phase to);
void sl_emit_job(struct sl_core *core, enum sl_job_kind kind, uint32_t chunk, struct sl_buffer *buffers);
struct sl_job *sl_emit_job_on(struct sl_core *core, enum sl_job_kind kind, uint32_t chunk,
			      const struct sl_view *view);
struct sl_persist *sl_emit_persist(struct sl_core *core, enum sl_persist_kind kind, sl_attempt a);
void sl_emit_send(struct sl_core *core, const uint64_t *to, const struct sl_message *message, bool own);
void sl_emit_send_neighbours(struct sl_core *core, const struct sl_message *message, bool own);
void sl_emit_stop(struct sl_core *core, int code);
void sl_emit_reject(struct sl_core *core, uint32_t peer, const char *why);
/* The attempt cannot go on as it is: before release it ends, and the next one starts at once, or after a
 * pause when `refused`; after it, it is recovered. The returned report wants its fields filled. */
struct sl_report *sl_attempt_fail(struct sl_core *core, enum sl_reason reason, bool refused);
/* Gives one chunk back unused; and everything that is held for the attempt. */
void sl_emit_drop(struct sl_core *core, struct sl_buffer *buffer);
void sl_emit_drop_held(struct sl_core *core);
/* Ends an attempt, however far it got, and goes on to the next: with the same model, or with another one. */
void sl_attempt_leave(struct sl_core *core, enum sl_reason reason, bool model_invalidated);
void sl_emit_hello(struct sl_core *core, const uint64_t *to);
void sl_attempt_begin_round(struct sl_core *core);
void sl_attempt_begin_training(struct sl_core *core);
/* The state of a round of which nothing has happened yet. */
void sl_attempt_enter_round(struct sl_core *core);
void sl_emit_waiting(struct sl_core *core, const uint64_t *set);

/* flood.c */
void sl_flood_link_state(struct sl_core *core, uint32_t from, const struct sl_link_state *state);
void sl_flood_ready(struct sl_core *core, uint32_t from, const struct sl_ready *ready);
/* Whether an attempt's number is too far off for one learner's word. */
bool sl_flood_far(const struct sl_core *core, sl_attempt a);
/* Whether the attempt that a link state of this round is for is too far off to be believed yet. */
bool sl_flood_jump(struct sl_core *core, uint32_t signer, const struct sl_link_state *state);
void sl_flood_own_link_state(struct sl_core *core, const uint64_t *candidates);
void sl_flood_own_ready(struct sl_core *core); /* as it stands in readys */
void sl_flood_abort(struct sl_core *core, uint32_t from, const struct sl_abort *abort_record);
void sl_flood_own_abort(struct sl_core *core);
void sl_flood_forget(struct sl_core *core, uint32_t link);
void sl_flood_pump(struct sl_core *core);

/* discover.c */
void sl_discover_range(struct sl_core *core, const uint64_t *range);
void sl_discover_links(struct sl_core *core);
void sl_discover_ahead(struct sl_core *core);
void sl_discover_anew(struct sl_core *core);
void sl_discover_enter(struct sl_core *core);
void sl_discover_notice(struct sl_core *core, uint32_t signer, const uint64_t *named);
bool sl_discover_advance(struct sl_core *core);
sl_ms sl_discover_deadline(const struct sl_core *core);

/* overlay.c: those of `from` to whom this learner offers an edge in round t (protocol 5, DISCOVER); whether
 * that is fewer */
bool sl_overlay_thins(const struct sl_core *core, const uint64_t *from);
void sl_overlay(const struct sl_core *core, const uint64_t *from, uint64_t *offered);

/* freeze.c */
void sl_agree_enter(struct sl_core *core);
bool sl_agree_advance(struct sl_core *core);
void sl_agree_analysed(struct sl_core *core, const struct sl_job_result *result);

/* view.c: SL_OK built; SL_PENDING: core->awaited names the link states still missing; SL_ERR_REFUSED: it has
 * failed the attempt */
int sl_view_build(struct sl_core *core);

/* The view that these bytes were written of (view_bytes.h), built and gated. False: they are not of this
 * learner, or damaged. */
bool sl_view_restore(struct sl_core *core, const uint8_t *bytes, size_t size);

/* share.c */
void sl_share_enter(struct sl_core *core);
void sl_share_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer);
bool sl_share_advance(struct sl_core *core);
void sl_share_result(struct sl_core *core, const struct sl_job_result *result);

/* ready.c */
void sl_ready_commitment(struct sl_core *core, const uint8_t *commitment);
bool sl_ready_advance(struct sl_core *core);
void sl_ready_prepared(struct sl_core *core);
void sl_ready_released(struct sl_core *core);

/* mix.c */
void sl_mix_enter(struct sl_core *core); /* what has come early */
/* Whether it is, by its form, a chunk of its sender's masked state. */
bool sl_mix_first(const struct sl_core *core, const struct sl_buffer *buffer);
void sl_mix_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer);
bool sl_mix_advance(struct sl_core *core);
void sl_mix_result(struct sl_core *core, const struct sl_job_result *result);
/* Holds a state until its turn; gives back the one of this chunk and iteration, or NULL. */
void sl_mix_hold(struct sl_core *core, struct sl_exchange *exchange, struct sl_buffer *buffer);
struct sl_buffer *sl_mix_unhold(struct sl_exchange *exchange, uint32_t chunk, uint64_t iteration);
void sl_mix_send(struct sl_core *core, const uint64_t *to, uint32_t chunk, uint64_t iteration);

/* mix_tree.c: what of this is another thing with tree */
void sl_mix_tree_enter(struct sl_core *core);
/* A state of neighbour r. NULL: taken; else why not. What it gave to keep waits for the end of the step. */
const char *sl_mix_tree_take(struct sl_core *core, uint32_t r, struct sl_buffer *buffer);
void sl_mix_tree_backup(struct sl_core *core);
void sl_mix_tree_advance(struct sl_core *core);
void sl_mix_tree_result(struct sl_core *core, uint32_t m);
/* Whether neighbour r is waited for, of chunk m. */
bool sl_mix_tree_awaits(const struct sl_core *core, uint32_t m, uint32_t r);

/* recover.c */
struct sl_report *sl_recover_enter(struct sl_core *core, enum sl_reason reason);
/* Once the attempt's arrays are there: nothing is known of anybody's slot. */
void sl_recover_begin(struct sl_core *core);
void sl_recover_have(struct sl_core *core, uint32_t peer, const struct sl_have *have);
void sl_recover_request(struct sl_core *core, uint32_t peer, const struct sl_request *request);
void sl_recover_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer);
void sl_recover_result(struct sl_core *core, const struct sl_job_result *result);
void sl_recover_link(struct sl_core *core, uint32_t peer); /* it came up, or fell */
bool sl_recover_advance(struct sl_core *core);
sl_ms sl_recover_deadline(const struct sl_core *core);

/* fence.c */
/* Gives up the present attempt for good: durable, then told to all. */
void sl_abort_own(struct sl_core *core, sl_attempt a);
void sl_abort_durable(struct sl_core *core, sl_attempt a);
/* A fence of somebody's is known. */
void sl_abort_heard(struct sl_core *core, uint32_t signer);
/* A member of the view that has given it up, or will not finish it; SL_NOBODY. */
uint32_t sl_abort_of_view(const struct sl_core *core);
/* Everybody else in the view has, and will not: if this learner does not finish it either, nobody does. */
bool sl_abort_by_all(const struct sl_core *core);
/* The present attempt is released: on the ledger, with what is known of its members' fences. */
void sl_release_log_use(struct sl_core *core);
/* An attempt of which no more is known than that this learner's masked state may have left. False: no room.
 */
bool sl_release_log_note(struct sl_core *core, sl_attempt a);
struct sl_used *sl_release_log_find(struct sl_core *core, sl_attempt a);
void sl_release_log_forget(struct sl_core *core);
/* A Ready of an attempt of this round that this life knows nothing of. */
void sl_abort_unknown(struct sl_core *core, const struct sl_ready *ready);
/* What an earlier life may have been in is given up, as soon as this one is in a later attempt or in none. */
void sl_abort_pending(struct sl_core *core);

/* restore.c: goes on with config.open; false: it is of no use */
bool sl_restore(struct sl_core *core);

/* settle.c */
void sl_confirm_result(struct sl_core *core, const struct sl_job_result *result);
void sl_confirm_digest(struct sl_core *core, uint32_t peer, const struct sl_digest *digest);
bool sl_confirm_advance(struct sl_core *core);
void sl_confirm_persist(struct sl_core *core);
void sl_confirm_durable(struct sl_core *core);
/* What follows once round t is committed, here or elsewhere: the next one, or the end. */
void sl_confirm_committed(struct sl_core *core);
bool sl_confirm_done_advance(struct sl_core *core);

/* catchup.c */
bool sl_catchup_begin(struct sl_core *core);
/* Whom to ask for the committed round; SL_NOBODY. */
uint32_t sl_catchup_source(const struct sl_core *core);
void sl_catchup_greet(struct sl_core *core);
/* There is another signer of the last result: whoever was shown too few may want to know. */
void sl_catchup_signed(struct sl_core *core);
/* What a digest is of; without it, or any other signer, yet. */
void sl_certificate_begin(struct sl_certificate *certificate, const struct sl_digest *d);
/* Another signer of the same round, view and result over the same field; any other digest is left out. */
void sl_certificate_add(struct sl_certificate *certificate, const struct sl_digest *d);
void sl_catchup_request(struct sl_core *core, uint32_t peer, const struct sl_request *request);
void sl_catchup_digest(struct sl_core *core, uint32_t peer, const struct sl_digest *digest);
void sl_catchup_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer, sl_round t);
void sl_catchup_result(struct sl_core *core, const struct sl_job_result *result);
void sl_catchup_durable(struct sl_core *core);
void sl_catchup_lost(struct sl_core *core);
bool sl_catchup_advance(struct sl_core *core);

static inline uint32_t sl_core_index(const struct sl_core *core, sl_id id)
{
	uint32_t low = 0, high = core->config.roster_size;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (core->config.ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < core->config.roster_size && core->config.ids[low] == id ? low : UINT32_MAX;
}

/* A link state may be of a larger roster than this one: room enough for an edition of it to name what is
 * wrong. */
static inline uint32_t sl_core_candidates_max(uint32_t roster_size)
{
	uint32_t most = 2 * roster_size + 64;
	return most < SL_LEARNERS_MAX ? most : SL_LEARNERS_MAX;
}

static inline size_t sl_core_words(const struct sl_core *core)
{
	return sl_bit_words(core->config.roster_size);
}
static inline size_t sl_core_set_bytes(const struct sl_core *core)
{
	return sl_core_words(core) * sizeof(uint64_t);
}
/* Whether a peer stands ready for this learner's round. */
static inline bool sl_core_peer_ready(const struct sl_core *core, uint32_t i)
{
	const struct sl_peer *p = &core->peers[i];
	return sl_bit(core->linked, i) && p->hello && p->t == core->t && p->status == SL_PEER_STATUS_READY &&
	       p->quarantined == 0;
}
/* Shares or states are on their way: a lost neighbour ends this. Between the two it does not matter. */
static inline bool sl_core_exchanging(const struct sl_core *core)
{
	return core->phase == SL_PHASE_SHARE || core->phase == SL_PHASE_MIX;
}
/* The masked state of this learner may have left in the present attempt. */
static inline bool sl_core_released(const struct sl_core *core)
{
	return core->phase >= SL_PHASE_RELEASE && core->phase <= SL_PHASE_RECOVER;
}
static inline size_t sl_core_held_bytes(const struct sl_view *view)
{
	return (view->n + 7) / 8;
}
