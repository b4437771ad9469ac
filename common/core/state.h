/* state.h - the state of a learner, in one struct; private to common/core.
 *
 * A map of the room. A file includes the headers of files that stand below it, and of no others:
 *
 *    step            the entry point: start, links, Hello; a table for messages, a table for job results
 *    init            the arena
 *    phases          the table of phases: enter, advance, deadline, fail, invariant
 *    restore         an attempt that a crash cut short
 *    flood           received records: link states, Readys, Aborts
 *    model           a Model for each neighbour that trains another model
 *    recover         RECOVER: collect all masked states of a released attempt and add them up
 *    mix             MIX; a file for each engine: mix_exchange (exact, metropolis), mix_tree
 *    ready           READY, RELEASE
 *    share           SHARE
 *    agree           AGREE, with view_build and compatible
 *    train           TRAIN and the beginning of a round
 *    discover        DISCOVER
 *    catchup         CATCHUP
 *    confirm         CONFIRM, COMMIT
 *    done            DONE
 *    abort           effect of other learners' Aborts, and of pending aborts, on the attempt
 *    attempt         the end of an attempt
 *    releases        the release log of the round, the own Aborts
 *    members         participants of the last committed round
 *    certificate     signed digests of the last committed round, for learners that catch up
 *    relay           forwarding of records over links
 *    attempt_number  limits on attempt numbers in messages of other learners
 *    allowance       how much of the own work one signer may cause
 *    overlay         the candidates where more than max_degree peers are in range
 *    suspect         peers that owed something and made no progress
 *    move            the one function that changes the phase
 *    emit            actions
 *    state           this file
 *
 * Handlers record what an event says. sl_core_step then calls the `advance` of the phase until no move is
 * due, so that the order in which messages arrive does not matter.
 */
#pragma once

#include "common/base/bytes.h"
#include "common/core/core.h"
#include "common/protocol/release_log.h"

#define SL_WAIT_REPORT_MS 10000u /* between two reports of what a phase waits for */

/* A phase: a row of the table in phases.c. A function may be NULL: there is nothing to do. */
struct sl_phase_row {
	enum sl_peer_status
		status; /* in the own Hello; in CATCHUP, that of the phase to which it goes back counts */
	/* Begin the phase; core->before is the phase before it. Called by sl_move_to alone. */
	void (*enter)(struct sl_core *core);
	/* Take a move that is due. Return true if the phase changed. */
	bool (*advance)(struct sl_core *core);
	/* Return the time at which `advance` has something to do even if nothing arrives; NULL: SL_NEVER. */
	sl_ms (*deadline)(const struct sl_core *core);
	/* End the attempt, or recover it (sl_attempt_fail). NULL: there is no attempt. */
	struct sl_report *(*fail)(struct sl_core *core, enum sl_reason reason, bool refused);
	/* React to the fall of the link to `peer`. */
	void (*lost)(struct sl_core *core, uint32_t peer);
	/* The record that the phase waits for, and what follows once it is on disk. */
	enum sl_persist_kind record;
	void (*durable)(struct sl_core *core);
	/* Return the progress of the phase in 1/1000, for status displays. */
	uint32_t (*permille)(const struct sl_core *core);
	/* Return true if what the phase relies on holds; asserted after every step. */
	bool (*invariant)(const struct sl_core *core);
};

/* What a signer has left of something that fills again with time (allowance.h). */
struct sl_store_of_signer {
	uint32_t left;
	sl_ms since; /* it was right at this time */
};

/* What keeps two learners out of one view. */
struct sl_difference {
	enum sl_reason reason; /* NONE: nothing */
	uint32_t parameter;    /* of PARAMETER: SL_PARAMETER_ number; else 0 */
};

/* A roster member as seen over its link. */
struct sl_peer {
	bool hello; /* a Hello has arrived on the present link */
	bool tried; /* a dial failed or a link fell since the peer came into range */
	sl_attempt
		claimed; /* highest attempt of round t that the peer has signed a link state for; 0: none */
	struct sl_store_of_signer records, attempts; /* what its records may still cause in this round */
	uint32_t ignored;     /* records of this round beyond that, since the last report */
	sl_ms ignored_report; /* no such report before */
	sl_round accused;     /* round in which evidence against the peer was reported last */
	bool told, told_us; /* on the present link: a Model was sent to the peer, one of the peer has come */
	bool few_shown;	    /* the peer was shown the last result with too few signers */
	uint32_t fruitless; /* requests for a result in a row that brought none */
	sl_ms ask_after;    /* no such request before */
	sl_round unshown;   /* round that the peer claims and for which it did not show the result; 0: none */
	sl_round t;	    /* round in the last Hello */
	enum sl_peer_status status; /* status in the last Hello */
	uint32_t incarnation;	    /* incarnation in the last Hello */
	sl_round quarantined;	    /* round that the peer is kept out of; 0: none */
	bool suspect;		    /* it owed something to an attempt and made no progress */
	sl_round suspect_until;	    /* .. until it signs a link state of a later round than this */
	sl_round suspect_of;	    /* .. and of a later attempt than this one, or a later round */
	sl_attempt suspect_after;
	uint32_t failures; /* such attempts in a row, without a committed round */
	sl_round in_range; /* last round in which the peer was in range */
	bool overdue;	   /* a window closed without it, and it has not come to this round since */
	uint32_t started;  /* incarnation in its last link state */
	sl_round left_out; /* round in which the views without it were reported last */
	struct sl_difference left_out_for; /* .. and why */
	struct sl_buffer *early;	   /* chunks of shares that came before the view was agreed on here */
	uint32_t early_count;
};

/* A flooded record of one learner, and the links that have it. */
struct sl_record {
	bool present;
	sl_ms since;	/* time of arrival */
	uint64_t *sent; /* links whose other end has it */
	uint64_t *to;	/* scratch of the action that sends it */
};
struct sl_link_record {
	struct sl_record record;
	struct sl_link_state state;
	bool twice;	   /* the signer signed another link state for the same attempt */
	sl_id *candidates; /* memory of state.candidates */
	uint64_t *named;   /* the candidates, as a bit set over the roster */
};
struct sl_ready_record {
	struct sl_record record;
	struct sl_ready ready;
};

struct sl_abort_record {
	struct sl_record record;
	struct sl_abort abort;
};

/* State of a participant's slot in the state file. */
enum sl_slot {
	SL_SLOT_UNSEEN = 0, /* to be checked against the commitment */
	SL_SLOT_CHECKING,   /* a CHECK job is out */
	SL_SLOT_MISSING,    /* incomplete or wrong */
	SL_SLOT_FETCHING,   /* requested from another participant */
	SL_SLOT_HELD,	    /* as committed to */
};

/* A participant in RECOVER, as a source of masked states. */
struct sl_holder {
	uint8_t *held;	 /* what it has: a bit set over positions */
	uint64_t *to;	 /* scratch of the requests to it */
	uint32_t told;	 /* edition of the own `held` in the last Have to it; 0: none on this link */
	uint32_t origin; /* position whose masked state is requested from it, while fetching */
	bool fetching;
	uint32_t asked, in; /* chunks requested, chunks received */
	sl_ms progress;	    /* time of the last chunk */
	sl_ms ask_after;    /* no request before, since it did not answer the last one */
};

/* A neighbour in an attempt. */
struct sl_exchange {
	uint32_t shares_in; /* chunks of shares received, in order */
	uint64_t *
		states_in; /* per chunk: next exchange expected; tree: bit set over the iterations received */
	struct sl_buffer *held; /* states that wait for their turn */
	uint32_t held_count;
	bool digest_known;
	struct sl_digest digest;
};

struct sl_attempt_state {
	/* SHARE */
	uint32_t share_next; /* chunks of shares made and, but for seeds, sent */
	uint32_t expanded;   /* chunks over which the neighbours' seeds are expanded */
	bool share_busy;     /* a SHARE or EXPAND job is out */
	bool encoded;
	/* READY */
	bool prepared;		 /* PREPARED is durable: the own Ready may leave */
	bool resumed;		 /* the attempt is from disk: there is no analysis of its graph */
	struct sl_ready *readys; /* by position, from the release on */
	uint8_t *view_bytes;	 /* the view as on disk, view_size bytes */
	size_t view_size;
	/* MIX */
	uint64_t *iteration;	 /* per chunk: exchanges done; tree: the iteration expected next */
	uint32_t *have;		 /* per chunk: states held for the next MIX job */
	bool *busy;		 /* per chunk: a MIX job is out */
	uint32_t started;	 /* chunks of which the first state was sent */
	uint32_t finished;	 /* chunks of which nothing more is expected */
	uint32_t base;		 /* first chunk that is not finished */
	uint64_t mixed;		 /* exchanges done, over all chunks, for status */
	struct sl_buffer *given; /* of tree: masked states to be kept, collected within a step */
	/* CONFIRM */
	bool result_known;
	uint8_t digest[SL_HASH_BYTES];
	double margin;
	sl_ms progress; /* time at which anything of this attempt happened last */
	/* RECOVER, by position: */
	enum sl_slot *slots;
	struct sl_holder *holders;
	uint8_t *held;		/* slots that are HELD, as a bit set */
	uint32_t edition;	/* of `held`: raised with every change */
	uint32_t held_count;	/* slots that are HELD */
	uint32_t fetched;	/* slots that were fetched from other participants */
	uint32_t joined;	/* a participant that has sent a Have; SL_NOBODY */
	bool checking, summing; /* a CHECK, the SUM job is out */
	bool operator_aborted;	/* the operator aborts the attempt */
	bool weightless;	/* the sum is known and its total weight is 0: wait for an abort */
	sl_ms over_since;	/* since when no participant can complete the attempt; SL_NEVER */
};

/* A committed round, requested from a peer. */
struct sl_catchup {
	uint32_t from;			   /* roster index of the peer */
	sl_ms progress;			   /* time of its last chunk */
	struct sl_certificate certificate; /* the certificate that it has shown */
	uint32_t chunks, asked, in;	   /* chunks of Z; of these requested, received */
	enum sl_phase back;		   /* phase to go back to if no result comes of it */
	struct sl_view view;		   /* as much of the view as the jobs need */
};

struct sl_core {
	struct sl_core_config config;
	struct sl_parameters parameters;   /* of the own link states of round t: what was auto is chosen */
	const struct sl_phase_row *phases; /* the table of phases.c, by phase */
	struct sl_actions *out;		   /* of the present step */
	sl_ms now;			   /* of the present step */
	bool stopped;

	enum sl_phase phase, before; /* the present phase and the one before it */
	sl_ms since;		     /* time at which the phase began */
	sl_ms report_at;	     /* time of the next report of what the phase waits for */
	sl_round t, committed;
	sl_attempt a;
	sl_attempt seen;	  /* highest attempt of t in a signed message */
	sl_attempt pending_abort; /* highest attempt of t that an earlier incarnation may be in; 0: none */
	sl_round started;	  /* round of the start */
	sl_round rounds;	  /* T: the own, or the most that a view agreed on */

	bool trained;	/* the model of round t is in the workspace */
	uint64_t draws; /* models trained so far: the next training nonce */
	sl_ms trained_at;

	/* the last committed round */
	uint8_t previous[SL_HASH_BYTES];   /* D */
	struct sl_certificate certificate; /* its certificate; t = 0: none at hand */
	struct sl_certificate making;	   /* the certificate of the round that is being committed */
	bool attested; /* this learner attests the last result (PROTOCOL.md §11.4 Attested results) */
	uint64_t total_weight; /* of the round that is being committed */
	bool took_part;	       /* this process took part in the last committed round, in `view_neighbours` */
	sl_round members_of;   /* last committed round that this learner took part in; 0: none */
	uint64_t *members;     /* its participants */
	uint64_t *changed, *changed_told; /* learners in only one of them and the view; those reported last */
	sl_round told_change;		  /* .. in this round */
	uint32_t members_gone;		  /* participants of it that are not in the roster any more */

	struct sl_release_log release_log; /* releases and Aborts of round t */
	uint8_t open_view[SL_HASH_BYTES];  /* h of the last attempt of t that was released; zeros: none */

	/* bit sets over the roster */
	uint64_t *linked;	    /* links that are up */
	uint64_t *range;	    /* peers in range; empty while have_range is false */
	uint64_t *next_range;	    /* the next list of SL_EVENT_RANGE */
	uint64_t *near;		    /* peers to which this learner has, or wants, a link in this round */
	uint64_t *view_neighbours;  /* neighbours in the view */
	uint64_t *tried_candidates; /* candidates in the own link state */
	uint64_t *reach;	    /* links over which records are flooded */
	uint64_t *tree_own, *tree_up, *tree_down; /* tree: receivers of the masked state, of a sum, of Z */
	/* .. of actions and reports, valid until the next step */
	uint64_t *keep;		/* LINKS */
	uint64_t *missing;	/* peers missing in the last wait or failure */
	uint64_t *failed;	/* those of a failure that is reported */
	uint64_t *single;	/* one peer */
	uint64_t *have_targets; /* receivers of a Have */
	uint64_t *signed_to;	/* receivers of the certificate */
	uint64_t *suspects;	/* peers that have become suspect */
	uint64_t *source;	/* the peer that a result is requested from */
	uint64_t
		*excluded; /* learners that are not in the view of this attempt, whatever their link states */
	/* .. scratch */
	uint64_t *shunned; /* suspects that DISCOVER does without */
	uint64_t *ready_set, *eligible;

	bool have_range, have_next_range, reach_stale;
	bool full_graph;    /* the privacy check refused the overlay of this round */
	sl_ms not_before;   /* after a refusal: no new attempt before; SL_NEVER: not without a change */
	sl_ms window_since; /* time at which the window of DISCOVER opened; SL_NEVER */
	uint32_t refusals;  /* in this round */

	struct sl_peer *peers; /* by roster index, as are */
	struct sl_link_record *links;
	struct sl_ready_record *readys;
	struct sl_abort_record *aborts;
	bool flood_dirty;    /* a record may have to be sent */
	sl_ms flood_again;   /* time at which records left to their signers are sent */
	uint64_t flood_held; /* link states of this attempt, when last counted */
	bool flood_news;     /* a link state has come since the view was last tried */

	uint32_t epoch;	   /* results of jobs of another epoch are ignored */
	uint32_t jobs;	   /* jobs that are out */
	bool view_built;   /* `view` is complete but for the engine */
	bool view_checked; /* .. and passed the privacy check */
	struct sl_view view;
	struct sl_attempt_state at;
	struct sl_exchange *exchange; /* by neighbour number */
	struct sl_catchup catchup;
	struct sl_edge advice[SL_ADVICE_MAX]; /* edges of a refusal that is reported */

	struct sl_edge *edges; /* scratch: R(R-1)/2 */
	struct sl_arena arena; /* of the view and the attempt, reset when a view is built */
};

/* Return the roster index of `id`, or UINT32_MAX. */
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

/* Return the most candidates of a link state that are stored. The signer's roster may be a larger edition
 * than this one: its link state is kept, so that the difference can be reported. */
static inline uint32_t sl_core_candidates_max(uint32_t roster_size)
{
	uint32_t most = 2 * roster_size + 64;
	return most < SL_LEARNERS_MAX ? most : SL_LEARNERS_MAX;
}

/* Words and bytes of a bit set over the roster. */
static inline size_t sl_core_words(const struct sl_core *core)
{
	return sl_bit_words(core->config.roster_size);
}
static inline size_t sl_core_set_bytes(const struct sl_core *core)
{
	return sl_core_words(core) * sizeof(uint64_t);
}
/* Bytes of a bit set over the positions of `view`, as in a Have. */
static inline size_t sl_core_held_bytes(const struct sl_view *view)
{
	return (view->n + 7) / 8;
}

/* Return core->single, which is set to `peer` alone. */
static inline const uint64_t *sl_core_only(struct sl_core *core, uint32_t peer)
{
	memset(core->single, 0, sl_core_set_bytes(core));
	sl_bit_set(core->single, peer);
	return core->single;
}

/* Return true if peer `i` is linked and has said that it is ready for round t. */
static inline bool sl_core_peer_ready(const struct sl_core *core, uint32_t i)
{
	const struct sl_peer *p = &core->peers[i];
	return sl_bit(core->linked, i) && p->hello && p->t == core->t && p->status == SL_PEER_STATUS_READY &&
	       p->quarantined == 0;
}
/* Return true if the masked state of this learner may have left in the present attempt. */
static inline bool sl_core_released(const struct sl_core *core)
{
	return core->phase >= SL_PHASE_RELEASE && core->phase <= SL_PHASE_RECOVER;
}
