/* state.h - the state of a learner, in one struct; private to common/core.
 *
 * A map of the room. A file includes the headers of files that stand below it, and of no others:
 *
 *    step            the entry point: start, links, Hello; a table for messages, a table for job results
 *    init            the arena
 *    phases          the table of phases: enter, advance, deadline, fail, invariant
 *    restore         an attempt that a crash cut short
 *    flood           received records: link states, Readys, Aborts
 *    conflict        records of one signer that contradict each other
 *    model           a Model for each linked peer with another model
 *    ready           READY, RELEASE
 *    recover         RECOVER: collect all deposits and keys of an attempt and add them up
 *    check           CHECK: show that mixing has added the masked states that the Readys fix
 *    share           SHARE
 *    status          what a shell may show of the state
 *    agree           AGREE, with view_build
 *    train           TRAIN and the beginning of a round
 *    discover        DISCOVER
 *    catchup         CATCHUP
 *    confirm         CONFIRM, COMMIT
 *    done            DONE
 *    have            what the participants of an attempt have of it, and answers to those that recover
 *    state_loss      records that this learner has forgotten
 *    open            deposit keys and openings: learning, showing, passing on
 *    mix             MIX; a file for each engine: mix_exchange (exact, metropolis), mix_forest
 *    split           participants that hold other Readys
 *    deposit         the slots of the state file, checked against the Readys
 *    close           the end of an attempt by a certificate
 *    attempt         the end of an attempt
 *    aborts          the Aborts of the round, by attempt
 *    over            the rules of certificates: pure functions
 *    seen            sums that this learner has seen, and what they tell together
 *    certificate     Round and signed digests of the last committed round, for learners that catch up
 *    digests         the Digests of the present view
 *    relay           forwarding of records over links
 *    spare           the links that the flood spares, since a tree brings the records
 *    held            the records that are held and passed on
 *    allowance       how much of the own work one signer may cause, attempt numbers among it
 *    overlay         the candidates where more than max_degree peers are in range
 *    pace            the time for which a neighbour holds up the others
 *    penalty         the peers that are waited for, and those that are offered an edge
 *    compatible      why a learner may not be in a view with this one
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
#include "common/protocol/view_codec.h"

#define SL_WAIT_REPORT_MS 10000u /* between two reports of what a phase waits for */
#define SL_ABORT_SETS (SL_OVERS_MAX + SL_ABORTS_AHEAD_MAX)
#define SL_STEP_SETS (SL_ACTIONS_MAX + 16u) /* an action has one at most */
#define SL_READIED_MAX 64u		    /* of the own attempts that are remembered to have had a Ready */

/* A phase: a row of the table in phases.c. A function may be NULL: there is nothing to do. */
struct sl_phase_row {
	enum sl_peer_status
		status; /* in the own Hello; in CATCHUP, that of the phase to which it goes back counts */
	/* Begin the phase; core->before is the phase before it. Called by sl_move_to alone. */
	void (*enter)(struct sl_core *core);
	/* Take a move that is due. Return true if the phase changed. */
	bool (*advance)(struct sl_core *core);
	bool of_all; /* moves wait for records of all: `advance` looks at them all, after the last of several
		      */
	/* Return the time at which `advance` has something to do even if nothing arrives; NULL: SL_NEVER. */
	sl_ms (*deadline)(const struct sl_core *core);
	/* End the attempt, or recover it (sl_attempt_fail). NULL: there is no attempt. */
	struct sl_report *(*fail)(struct sl_core *core, enum sl_reason reason, bool refused);
	/* React to the fall of the link to `peer`. */
	void (*lost)(struct sl_core *core, uint32_t peer);
	/* The entry that the phase waits for, and what follows once it is on disk. */
	enum sl_persist_kind record;
	void (*durable)(struct sl_core *core);
	/* Return what the phase waits for now, and add the peers that it waits for to `set`. NULL: its
	 * record. */
	enum sl_wait (*awaits)(const struct sl_core *core, uint64_t *set);
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

/* What a peer did that counts against it; penalty.c has a table of what each costs. */
enum sl_fault {
	SL_FAULT_NONE,
	SL_FAULT_EXCUSABLE, /* an attempt ended through it; another learner may have caused it */
	SL_FAULT_OWED,	    /* .. it made no progress, or held up the others */
	SL_FAULT_LIED,	    /* it did what no honest learner does */
	SL_FAULT_LATE,	    /* a window closed without it, and it has not come since */
	SL_FAULT_MUTE,	    /* .. while its link was up, and no Hello has come since */
	SL_FAULTS,
};

/* What counts against a peer, and what it may still cause (penalty.h, allowance.h). */
struct sl_penalty {
	sl_round last[SL_FAULTS]; /* the round of the last fault of each kind; 0: none */
	uint32_t points;	  /* of all faults, less the rounds that it has committed since */
	sl_round until;		  /* the last round from which it is left out; 0: none */
	uint32_t windows; /* rounds whose window closed without it, less those that it has committed since */
	sl_round late_until; /* up to this one, it is awaited only when it is trained; 0: none */
	struct sl_store_of_signer records, attempts; /* that it may still cause in this round */
	sl_attempt claimed; /* highest attempt of round t that it has signed a link state for; 0: none */
};

/* What is noted of a peer once, until its key changes (sl_emit_once). */
enum sl_once {
	SL_ONCE_FLOODED,  /* reported; round */
	SL_ONCE_EVIDENCE, /* reported; round */
	SL_ONCE_STALE,	  /* reported as behind; incarnation */
	SL_ONCE_LEFT_OUT, /* reported as left out of a view; cause, and round or incarnation */
	SL_ONCE_STARTED,  /* seen; incarnation in its last link state */
	SL_ONCES,
};

/* What this learner has asked a peer for, and what it had of it (catchup.c). */
struct sl_asked {
	uint32_t fruitless; /* requests for a result in a row that brought none */
	sl_ms after;	    /* no such request before */
	sl_round shown;	    /* of the last Round that the peer has sent, if it was not of the past; 0: none */
	sl_round unshown;   /* round that the peer claims and for which it did not show the result; 0: none */
	sl_round behind;    /* its round when this learner went on without fetching it; or 0 */
};

/* A roster member as seen over its link. */
struct sl_peer {
	bool hello;	    /* a Hello has arrived on the present link */
	bool tried;	    /* a dial failed or a link fell since the peer came into range */
	bool told, told_us; /* on the present link: a Model was sent to the peer, one of the peer has come */
	sl_round t;	    /* round in the last Hello */
	sl_attempt a;	    /* attempt in the last Hello */
	enum sl_peer_status status;	/* status in the last Hello */
	uint32_t incarnation;		/* incarnation in the last Hello */
	uint8_t records[SL_HASH_BYTES]; /* hash of what it holds, in the last Hello on the present link */
	sl_ms records_at;		/* time at which that came */
	sl_ms down_since;  /* time at which the link fell, or it came into range; while it is down */
	sl_round in_range; /* last round in which the peer was in range */
	struct sl_penalty penalty;
	uint64_t once[SL_ONCES]; /* keys; 0: not yet */
	struct sl_asked asked;
	sl_ms ready_ms; /* from the begin of SHARE until its last Ready, or more (pace.h); 0: none has come */
	struct sl_buffer *early; /* chunks of shares that came before the view was agreed on here */
	uint32_t early_count;
};

#define SL_RECORD_KINDS 4u    /* that are flooded: LinkStates, Readys, Digests and Aborts */
#define SL_FEW_CANDIDATES 16u /* have their place in the record */
/* A flooded record of one learner. */
struct sl_record {
	bool present;
	bool told;   /* it was here when the own records were told of */
	sl_ms since; /* time of arrival */
};
struct sl_link_record {
	struct sl_record record;
	struct sl_link_state state;
	bool twice;	   /* the signer signed another link state for the same attempt */
	sl_id *candidates; /* memory of state.candidates: `few`, or of core->names */
	sl_id few[SL_FEW_CANDIDATES];
	uint32_t room;	 /* .. for so many */
	uint64_t *named; /* the candidates, as a bit set over the roster */
};
struct sl_ready_record {
	struct sl_record record;
	struct sl_ready ready;
};

struct sl_digest_record {
	struct sl_record record;
	struct sl_digest digest;
};

struct sl_abort_record {
	struct sl_record record;
	struct sl_abort abort;
};

/* The Aborts of one attempt of round t: of each signer the one that says the most. */
struct sl_abort_set {
	sl_attempt a;		 /* 0: a free place */
	struct sl_abort *aborts; /* by roster index; says 0: none */
};

/* State of a participant's slot in the state file. */
enum sl_slot {
	SL_SLOT_UNSEEN = 0, /* to be checked against the owner's Ready */
	SL_SLOT_CHECKING,   /* a CHECK job is out */
	SL_SLOT_MISSING,    /* incomplete or wrong */
	SL_SLOT_FETCHING,   /* requested from another participant */
	SL_SLOT_HELD,	    /* the deposit that the Ready names */
};

/* A participant as a source of deposits and keys. */
struct sl_holder {
	bool heard;	    /* a Have has come over the present link */
	uint8_t *held;	    /* deposits that it has: a bit set over positions; the others follow it */
	uint8_t *keys;	    /* keys that it knows */
	uint8_t *keys_sent; /* .. that were sent to it over the present link */
	uint32_t told;	    /* edition of the own Have in the last one to it; 0: none on this link */
	uint32_t origin;    /* position whose deposit is requested from it, while fetching */
	bool fetching;
	uint32_t asked, in;    /* chunks requested, chunks received */
	uint64_t brought;      /* .. received of all deposits, those that were false among them */
	sl_ms since, progress; /* time of the first request, of the last chunk */
	sl_ms ask_after;       /* no request before, since it did not answer the last one */
};

/* An opening: the key share of `origin`, a position, at `holder`. */
struct sl_opened {
	uint32_t origin; /* SL_NOBODY: a free place */
	sl_id holder;
	struct sl_held_share share;
	uint64_t *sent; /* links over which it was sent or came */
};

/* A neighbour in an attempt. */
struct sl_exchange {
	uint32_t shares_in;	/* chunks of shares received, in order */
	uint32_t deposits_in;	/* chunks of its deposit received, in order */
	bool share_checked;	/* its key share fits its Ready */
	bool opened;		/* the key share that it gave to this learner was shown */
	uint64_t *states_in;	/* per chunk: next exchange expected; forest: bit set over the iterations
				   received */
	struct sl_buffer *held; /* states that wait for their turn */
	uint32_t held_count;
	sl_ms held_up_ms; /* for so long this learner waited for its shares and deposit alone */
	bool awaited;	  /* the fewest of them are here, as of the last step */
};

/* The place of this learner in a tree. */
struct sl_tree_place {
	uint32_t parent;   /* roster index; SL_NOBODY: this learner is the root */
	uint32_t children; /* their number */
	uint64_t *to;	   /* .. these, as a bit set over the roster */
};

struct sl_attempt_state {
	/* SHARE */
	uint32_t share_next;		      /* chunks of shares made and, but for seeds, sent */
	uint32_t expanded;		      /* chunks over which the neighbours' seeds are expanded */
	bool share_busy;		      /* a SHARE or EXPAND job is out */
	bool encoded, drawn;		      /* ENCODE, SECRETS is done */
	uint32_t deposit_asked, deposit_made; /* chunks of the own deposit */
	struct sl_secrets *secrets; /* in core->secrets, as are their shares and `keys`; NULL: no attempt */
	sl_ms began, looked;	    /* SHARE began, took its last step */
	sl_ms some_ready;	    /* c+1 participants were ready; SL_NEVER: not yet */
	sl_ms most_ready;	    /* .. all but c */
	bool others_wait;	    /* most neighbours have sent all that they may */
	sl_ms excused;		    /* .. time that excuses those that have not (pace.c) */
	/* READY */
	bool prepared;	     /* PREPARED is durable: the own Ready may leave */
	bool resumed;	     /* the attempt is from disk: there is no analysis of its graph */
	bool unmixable;	     /* a deposit or key share is wrong, or CATCHUP came between: after the release,
				recover */
	bool aborted;	     /* this learner has aborted the attempt after its Ready: it is bound */
	bool given_up;	     /* .. signs no Digest of it */
	sl_ms all_stuck;     /* since then all are stuck (§9.2); 0: they are not */
	bool signs;	     /* .. signs a Digest of it as soon as SIGNS is durable */
	bool digested;	     /* .. may have signed it */
	bool released;	     /* RELEASED is durable */
	uint32_t split_from; /* a participant with two Readys, or a peer that says it has others; SL_NOBODY */
	sl_ms split_since;   /* it was heard or seen */
	bool split_proved;   /* two Readys of one participant were seen */
	uint8_t readys_hash[SL_HASH_BYTES];    /* of all Readys; zeros: some are missing */
	uint8_t (*said_readys)[SL_HASH_BYTES]; /* by position: that of others, as they said; zeros: not yet */
	struct sl_ready *readys;	       /* by position */
	bool *ready_here;		       /* by position */
	uint32_t ready_count;
	uint8_t *view_bytes; /* the view as on disk, view_size bytes */
	size_t view_size;
	/* keys, by position */
	uint8_t (*keys)[SL_KEY_BYTES];
	bool *claimed;	    /* the key came from its owner before the owner's Ready */
	uint8_t *known;	    /* keys that are known, as a bit set */
	uint32_t key_count; /* .. their number */
	sl_ms released_at;
	struct sl_opened *openings; /* opening_count places, from the first opening on */
	uint32_t opening_count;
	sl_id *combine_ids; /* scratch */
	uint8_t (*combine)[SL_KEY_SHARE_BYTES];
	bool open_dirty; /* a key or an opening may have to be sent */
	/* MIX */
	uint64_t *iteration;	   /* per chunk: exchanges done; forest: the iteration expected next */
	uint32_t *have;		   /* per chunk: states held, or keys known, for the next MIX job */
	bool *busy;		   /* per chunk: a MIX job is out */
	uint32_t started;	   /* chunks that are under way or finished */
	uint32_t finished;	   /* chunks of which nothing more is expected */
	uint32_t base;		   /* first chunk that is not finished */
	uint64_t mixed;		   /* exchanges done, over all chunks, for status */
	struct sl_spreads spreads; /* metropolis: of chunk 0, for the report MIXED */
	/* CHECK, by position */
	bool fixed;	 /* Z is computed: the own challenge may be shown */
	uint32_t points; /* of a checksum */
	uint8_t (*challenges)[SL_KEY_BYTES];
	bool *challenge_here, *checksum_here;
	uint32_t challenge_count, checksum_count;
	uint64_t *phi;		/* N x 2 x points: of the masked states, as said first, and otherwise */
	uint32_t (*signers)[2]; /* N: positions of the first who said either; SL_NOBODY: none has */
	uint64_t *said;		/* points: scratch */
	uint64_t *own_values;	/* what CHECKSUM found: of masked states, packed; of Z */
	uint64_t *z_values;	/* .. of Z; NULL: not yet */
	bool points_asked;	/* CHECKSUM is out or done */
	bool judging;		/* the sum is known, and some Checksums lie: one deposit shows whose */
	uint8_t seed[SL_HASH_BYTES];
	/* CONFIRM */
	bool result_known;
	uint8_t digest[SL_HASH_BYTES];
	uint64_t agreeing;		   /* participants that have signed it */
	uint8_t strands[SL_STRANDS_BYTES]; /* of Z */
	double margin;
	sl_ms progress; /* time at which anything of this attempt happened last */
	/* RECOVER, by position: */
	enum sl_slot *slots;
	struct sl_holder *holders;
	uint8_t *held;		/* slots that are HELD, as a bit set */
	uint32_t edition;	/* of `held` and `known`: raised with every change */
	uint32_t held_count;	/* slots that are HELD */
	uint32_t fetched;	/* slots that were fetched from other participants */
	uint32_t joined;	/* the first participant that has sent a Have; SL_NOBODY */
	uint32_t joined_count;	/* .. so many have */
	sl_ms joined_at;	/* .. the first one at this time */
	bool checking, summing; /* a CHECK, the SUM job is out */
	bool operator_aborted;	/* the operator aborts the attempt */
	enum sl_reason refused; /* the sum is known, and cannot be committed: RESULT or WEIGHTLESS; or NONE */
	sl_ms over_since;	/* since when the attempt is over; SL_NEVER */
};

/* A certificate, and the memory of what it points to. */
struct sl_certificate_store {
	struct sl_certificate certificate; /* t = 0: none */
	struct sl_round_head head;
	uint32_t *members;
};

/* Learners that are in exactly the same sums (seen.h). */
struct sl_seen_atom {
	uint32_t in;	  /* these sums, and the view */
	uint32_t size;	  /* learners .. */
	uint32_t missing; /* .. of the roster that are not in the view .. */
	uint32_t gone;	  /* .. that are not in the roster */
};

/* A peer that a committed round is requested from: the first one from the front, the second from the back. */
struct sl_supplier {
	uint32_t peer;	    /* roster index; SL_NOBODY: none */
	uint32_t asked, in; /* of the chunks from its end: requested from it; received, from any peer */
	uint32_t ahead;	    /* chunks that may be requested ahead; 0: the peer has shown nothing lately */
};

/* A committed round, requested from one or two peers. */
struct sl_catchup {
	struct sl_supplier sources[2];
	uint32_t shows;	       /* the source that has sent the Round, or none of them */
	uint32_t brings;       /* .. that has brought the last chunk that was taken */
	bool mixed;	       /* several have brought chunks */
	sl_ms began, progress; /* time of the first request, of the last chunk */
	sl_ms look_again;      /* the sources are looked at again; SL_NEVER: there is to be one only */
	sl_ms ends;	       /* .. which has to be done by then; else SL_NEVER */
	uint32_t signers;      /* digests that are needed; 0: no Round has come */
	uint32_t chunks;       /* of the model */
	enum sl_phase back;    /* phase to go back to if no result comes of it */
	struct sl_view view;   /* as much of the view as the jobs need: h */
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
	sl_round rounds;	  /* T: of the roster, or raised or ended since (§7.16) */
	bool ended;		  /* .. or the round of SL_EVENT_LAST_ROUND, whatever peers agree on */

	bool trained;	/* the model of round t is in the workspace */
	bool failing;	/* it is trained again: the last one could not be used */
	uint64_t draws; /* models trained so far: the next training nonce */
	sl_ms trained_at;

	/* the last committed round */
	uint8_t previous[SL_HASH_BYTES];    /* D */
	struct sl_certificate_store last;   /* its certificate */
	struct sl_certificate_store making; /* the certificate of the round that is being committed */
	struct sl_certificate_store shown;  /* .. that a peer shows in CATCHUP */
	uint8_t rival[SL_HASH_BYTES];	    /* a digest of the last committed view that is not the own */
	uint64_t *rivals;		    /* .. participants that have signed it */
	bool without_initial;		    /* the first round averages whole models */
	uint64_t total_weight;		    /* of the round that is being committed */
	sl_round fetched;		    /* the last round that this process has fetched; 0: none */
	bool took_part;	      /* this process took part in the last committed round, in `view_neighbours` */
	uint64_t *members;    /* .. with these participants */
	struct sl_seen *sums; /* that this learner has seen (seen.h) */
	uint32_t sums_room;   /* .. of so many learners */
	struct sl_seen_atom *atoms; /* scratch: as many */
	uint32_t atom;		    /* size of the smallest atom, with the view; 0: there is no view yet */
	uint64_t *changed, *changed_told; /* learners of atoms below c+2; those reported last */
	uint32_t gone_told;		  /* .. and those of them outside the roster, reported last */

	sl_round abstains;  /* this learner takes no part in rounds up to this one; 0: in all */
	sl_round cleared;   /* .. does so again in rounds up to this one, by the operator's will */
	sl_attempt aborted; /* highest attempt of t that this learner has aborted without a Ready; 0: none */
	sl_attempt readied[SL_READIED_MAX]; /* attempts of t for which it may have sent a Ready: the last */
	uint32_t readied_count;		    /* .. of so many, each at its number modulo SL_READIED_MAX */
	struct sl_abort_set abort_sets[SL_ABORT_SETS];
	uint32_t over;		/* attempts of t that are over, for status */
	struct sl_abort *proof; /* 2R, of an OVER action */
	uint8_t *marks;		/* R, bits of over.h by position: scratch */

	/* bit sets over the roster */
	uint64_t *linked;	     /* links that are up */
	uint64_t *range;	     /* peers in range; empty while have_range is false */
	uint64_t *next_range;	     /* the next list of SL_EVENT_RANGE */
	uint64_t *near;		     /* peers to which this learner has, or wants, a link in this round */
	uint64_t *view_neighbours;   /* neighbours in the view */
	uint64_t *tried_candidates;  /* candidates in the own link state */
	uint64_t *reach;	     /* links over which records are flooded */
	uint64_t *branches, *spared; /* links of the tree of the last view, and the others to participants */
	struct sl_tree_place trees[SL_TREES_MAX]; /* forest */
	uint64_t *check_near;			  /* forest: the neighbours in tree 0 */
	/* .. of actions and reports, valid until the next step */
	uint64_t *keep;		/* LINKS */
	uint64_t *missing;	/* peers missing in the last wait or failure */
	uint64_t *participants; /* those of the view */
	uint64_t *failed;	/* those of a failure that is reported */
	uint64_t *have_targets; /* receivers of a Have */
	uint64_t *disputed;	/* learners whose checksums of one masked state differ */
	uint64_t *keepers;	/* receivers of the own deposit */
	uint64_t *penalized;	/* peers that have got a penalty */
	uint64_t
		*excluded; /* learners that are not in the view of this attempt, whatever their link states */
	/* .. of its actions: SL_STEP_SETS, of which `step_used` are taken */
	uint64_t *step_sets;
	uint32_t step_used;
	/* .. scratch */
	uint64_t *unwanted; /* those with a penalty that DISCOVER does without (penalty.h) */
	uint64_t *ready_set, *eligible;

	bool have_range, have_next_range, reach_stale;
	bool full_graph;    /* this round does without the overlay (§7.5) */
	sl_ms not_before;   /* after a refusal: no new attempt before; SL_NEVER: not without a change */
	sl_ms window_since; /* time at which the window of DISCOVER opened; SL_NEVER */
	sl_ms dialled_at;   /* time since which the silent peers have been dialled in it */
	sl_ms revived_at;  /* a link state ended the silence of a peer first in it, or after a long time; 0 */
	uint32_t refusals; /* in this round */
	sl_ms begun_at;	   /* time at which the first attempt of this round began; SL_NEVER */

	struct sl_peer *peers; /* by roster index, as are */
	struct sl_link_record *links;
	uint64_t *sent;	   /* sets of signers, by kind and peer (held.h) */
	sl_id *names;	   /* the candidates of all link states */
	size_t names_used; /* .. so many are taken, of those that changed their place since, too */
	struct sl_ready_record *readys;
	struct sl_digest_record *digests;
	struct sl_abort_record *aborts;
	bool flood_dirty;	     /* a record may have to be sent */
	sl_ms flood_again;	     /* time at which records left to their signers are sent */
	bool sparing;		     /* `spared` counts: the tree is whole */
	bool tells;		     /* a view was agreed on: others may spare links to this learner */
	sl_ms untold_since;	     /* arrival of the first record that was not told of */
	sl_ms tell_at;		     /* time at which it is; SL_NEVER: there is none */
	sl_ms compare_at;	     /* time at which what others told is compared; SL_NEVER: it was */
	uint32_t postponed;	     /* times that it was put off */
	sl_ms told_at;		     /* time at which the own records were told of last; SL_NEVER: not yet */
	uint8_t told[SL_HASH_BYTES]; /* .. their hash */
	uint64_t flood_held;	     /* link states of this attempt, when last counted */
	bool flood_news;	     /* a link state has come since the view was last tried */

	uint32_t epoch;	   /* results of jobs of another epoch are ignored */
	uint32_t jobs;	   /* jobs that are out */
	bool wipe_due;	   /* keys of an attempt that has ended are to be overwritten */
	bool view_built;   /* `view` is complete but for the engine */
	bool view_checked; /* .. and passed the privacy check */
	struct sl_view view;
	struct sl_attempt_state at;
	struct sl_exchange *exchange; /* by neighbour number */
	struct sl_catchup catchup;
	struct sl_message evidence[2];	      /* that is reported */
	struct sl_edge advice[SL_ADVICE_MAX]; /* edges of a refusal that is reported */

	struct sl_edge *edges;	 /* scratch: R(R-1)/2 */
	struct sl_arena arena;	 /* of the view and the attempt, reset when a view is built */
	struct sl_arena secrets; /* .. its keys and key shares */
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

/* Return the candidates of all link states for which there is memory: of all learners, and of those that a
 * step can store anew. */
#define SL_STEP_LINK_STATES 4u
static inline size_t sl_core_names(uint32_t roster_size)
{
	return (roster_size + (size_t)SL_STEP_LINK_STATES) * sl_core_candidates_max(roster_size);
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

/* Return the sooner of `due` and `at`, if that is still to come. */
static inline sl_ms sl_core_sooner(const struct sl_core *core, sl_ms due, sl_ms at)
{
	return at > core->now && at < due ? at : due;
}

/* Return true if this learner takes no part in round t. */
static inline bool sl_core_abstains(const struct sl_core *core)
{
	return core->t <= core->abstains;
}

/* Return true if the attempt is open: this learner has sent a Ready in it, or is about to. */
static inline bool sl_core_open(const struct sl_core *core)
{
	return core->view_checked && core->phase >= SL_PHASE_READY;
}

/* Return true if peer `i` is linked and has said that it is ready for round t. */
static inline bool sl_core_peer_ready(const struct sl_core *core, uint32_t i)
{
	const struct sl_peer *p = &core->peers[i];
	return sl_bit(core->linked, i) && p->hello && p->t == core->t && p->status == SL_PEER_STATUS_READY;
}

/* Return the incarnation that learner `i` says over its link; 0: it has none. A learner whose disk was set
 * back counts anew, so that what it said over an earlier link does not count. */
static inline uint32_t sl_core_incarnation(const struct sl_core *core, uint32_t i)
{
	return sl_bit(core->linked, i) ? core->peers[i].incarnation : 0;
}

/* Bit sets over the positions of a view, as in a Have. */
static inline bool sl_core_has(const uint8_t *set, uint32_t position)
{
	return (set[position / 8] >> (position % 8)) & 1;
}
static inline void sl_core_mark(uint8_t *set, uint32_t position)
{
	set[position / 8] |= (uint8_t)(1u << (position % 8));
}

/* Return true if this learner has a view with the hash `h` in round `t`, complete and checked. */
static inline bool sl_core_in_view(const struct sl_core *core, sl_round t, const uint8_t *h)
{
	return core->view_checked && t == core->t && memcmp(h, core->view.h, SL_HASH_BYTES) == 0;
}
