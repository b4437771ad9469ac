/* check.h - the rules that hold after every step of a simulation, checked outside the cores.
 *
 *  - Z is the plain sum mod p of the encodings of exactly the view's participants; two commits of one round
 * are equal.
 *  - No deposit key and no sum of masked states of an attempt leaves before every participant's Ready was
 * emitted, nor after the attempt ended there, nor before its release is durable, nor after an Abort; to
 * members of the view only (ROUND.md §7.12 Release).
 *  - A model is encoded again only if rule B allows it for every attempt in which it had a Ready (ROUND.md
 * §9.4 Rule B).
 *  - A commit has equal digests of so many members that two such sets share an honest one; a learner that has
 * given an attempt up signs no result of it, nor the other way round.
 *  - What one learner signs in one attempt agrees over all its lives: one Ready, one Digest, one Checksum,
 * and Aborts that name one Ready.
 *  - Every iteration conserves the total of the states; no key of random streams is used twice.
 *  - Each vector with noise has that of a key of its own, which is gone when the shares are made; and what is
 * seen is charged: PREPARED is on the disk.
 *  - An Abort is on its signer's disk before it leaves, and names all that was released there.
 *  - Iteration k of a chunk leaves when every neighbour's k-1 has left: at most one ahead.
 *  - An edge is what both ends listed; an attempt has one view; no learner signs two things for one attempt;
 * and no Ready while another attempt with a Ready of this learner is not over (ROUND.md §9.3 Rule A).
 *  - With membership_change wait and cohort, no attempt makes an atom of fewer than c+2 learners among those
 * that its participants have seen; each reports the smallest (GROUP.md §12.7 Privacy over several sums).
 *  - No learner that follows the protocol, and whose disk is as it was, is reported as one that lies.
 *  - The privacy check held for every view that shared, against every coalition of c learners; phases move
 * along phase.h; actions and held buffers stay below their maxima.
 */
#pragma once

#include "test/simulator/sim.h"

/* The states sent in one iteration: a weighted sum over the coordinates, of `count` learners. */
struct sl_sim_mixed {
	unsigned __int128 total;
	uint32_t count;
};

/* The hash of what a learner has signed. */
struct sl_sim_record {
	bool known;
	uint8_t hash[SL_HASH_BYTES];
};

/* The part of one learner in an attempt. */
struct sl_sim_part {
	bool in; /* the view */
	bool ready, ended;
	bool digested; /* it has signed a result */
	struct sl_sim_record signed_ready, signed_digest, signed_checksum;
	struct sl_sim_record named;			  /* the Ready that its Aborts name */
	bool prepared, released, aborted, over, given_up; /* on its disk */
	bool altered;	     /* its shares were changed on their way, and x with them */
	bool twin;	     /* it has another input, too: 1 more in its first element */
	bool told;	     /* in recovery: which of the first 64 positions it has */
	uint64_t held, keys; /* .. deposits of them, and keys */
	uint64_t draw;	     /* of the model that went in */
	uint64_t *x;	     /* its encoding; NULL: none yet */
	void *theta;	     /* its model */
	bool lied;	     /* about its magnitudes: it states `magnitude` of each tensor */
	uint8_t magnitude;
	uint64_t weight;
	int64_t *noisy; /* its integers, noise among them; NULL: no noise */
};

struct sl_sim_attempt {
	struct sl_sim_attempt *next;
	uint8_t h[SL_HASH_BYTES];
	sl_round t;
	sl_attempt a;
	uint32_t n, chunks;
	uint64_t p, elements, f; /* f: by the roster of the view */
	uint32_t *members;	 /* roster indices */
	bool *edge;		 /* roster x roster */
	struct sl_sim_part *of;	 /* by roster index */
	bool privacy_checked;
	int step;		    /* with noise: 2^step */
	int64_t *out;		    /* roster x chunks: last iteration that left; -1 */
	struct sl_sim_mixed *mixed; /* by iteration and chunk */
	size_t mixed_room;
};

void sl_sim_check_view(struct sl_sim *sim, const struct sl_view *view);			  /* at ENCODE */
void sl_sim_check_encoded(struct sl_sim *sim, uint32_t i, const struct sl_view *view);	  /* after ENCODE */
void sl_sim_check_prg(struct sl_sim *sim, uint32_t i, const struct sl_view *view);	  /* likewise */
void sl_sim_check_noise_keys(struct sl_sim *sim, uint32_t i, const struct sl_view *view); /* likewise */
void sl_sim_check_noise_gone(struct sl_sim *sim, uint32_t i);			      /* after COMMITMENT */
void sl_sim_check_closed(struct sl_sim *sim, uint32_t i, const struct sl_view *view); /* after CLOSE */
void sl_sim_check_durable(struct sl_sim *sim, uint32_t i, const struct sl_persist *record);
void sl_sim_check_sent(struct sl_sim *sim, uint32_t i, const struct sl_action *action);
void sl_sim_check_report(struct sl_sim *sim, uint32_t i, const struct sl_report *report);
void sl_sim_check_step(struct sl_sim *sim, uint32_t i, const struct sl_actions *actions);
void sl_sim_check_crashed(struct sl_sim *sim, uint32_t i);
void sl_sim_check_forgot(struct sl_sim *sim, uint32_t i);

/* Return true if other learners may wait for learner i for ever: it was Ready in one of their attempts, and
 * no living learner has its masked state or the result. */
bool sl_sim_check_needed(const struct sl_sim *sim, uint32_t i);
/* Return true if the attempt of learner i neither completes nor ends by anything that its participants may
 * still do: too few have signed a Digest, or given up, and the others lack a deposit or a key that only liars
 * may have (ROUND.md §10.4 How recovery ends). */
bool sl_sim_check_undecided(const struct sl_sim *sim, uint32_t i);

/* Among the files. */
/* attempt.c */
struct sl_sim_attempt *sl_sim_check_find(const struct sl_sim *sim, const uint8_t *h);
struct sl_sim_attempt *sl_sim_check_open(struct sl_sim *sim, const struct sl_view *view);
static inline bool *sl_sim_check_edge(const struct sl_sim *sim, const struct sl_sim_attempt *page, uint32_t i,
				      uint32_t j)
{
	return &page->edge[(size_t)i * sim->n + j];
}
uint64_t sl_sim_check_digests(const struct sl_sim *sim, const struct sl_sim_attempt *page);
/* Return true if learner i cannot know what it did in round t: its disk was set back then, or later. What it
 * signs may contradict itself; what follows for others is still checked. */
static inline bool sl_sim_check_excused(const struct sl_sim *sim, uint32_t i, sl_round t)
{
	return sim->learners[i].forgot && t <= sim->learners[i].forgot_in;
}
/* check_mean.c: compare the committed model of learner i with the plain mean of the models, in doubles.
 * Encoding rounds each value to a multiple of the step that was agreed. */
void sl_sim_check_mean(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page,
		       const struct sl_round_head *agreed);
/* Return element `e` of a run. */
double sl_sim_check_value(const struct sl_tensor_run *run, const void *model, size_t e);
/* check_noise.c */
void sl_sim_check_noise(struct sl_sim *sim, uint32_t i, struct sl_sim_attempt *page,
			const struct sl_view *view);				  /* after ENCODE, with x */
void sl_sim_check_charged(struct sl_sim *sim, const struct sl_sim_attempt *page); /* it is seen */
/* check_rules.c */
void sl_sim_check_reuse(struct sl_sim *sim, uint32_t i, sl_round t);
void sl_sim_check_safety(struct sl_sim *sim, uint32_t i, const struct sl_ready *ready);
void sl_sim_check_over(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page); /* before OVER */
void sl_sim_check_shown(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page);
/* check_seen.c */
void sl_sim_check_sum_seen(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page);
/* Return true if learners i and j leave the same learners out of a view: they have seen the same sums. */
bool sl_sim_check_alike(const struct sl_sim *sim, uint32_t i, uint32_t j);
void sl_sim_check_atoms(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page); /* at ENCODE */
/* check_signed.c */
void sl_sim_check_edges(struct sl_sim *sim, const struct sl_sim_attempt *page);
void sl_sim_check_one_view(struct sl_sim *sim, const struct sl_sim_attempt *page);
/* `failed` of the view is what min(c + 1, N) of its learners have to say (ROUND.md §5.6 Deposits). */
void sl_sim_check_failed(struct sl_sim *sim, const struct sl_view *view);
void sl_sim_check_signed(struct sl_sim *sim, uint32_t i, const struct sl_action *action);
