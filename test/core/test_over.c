/* The rules of certificates (ROUND.md §9.2 When an attempt is over, §9.4 Rule B), against what they
 * promise, on all sets of Aborts of small graphs. */
#include <stdlib.h>
#include <string.h>

#include "common/core/over.h"
#include "test/lib/test.h"

#define MOST 6u
#define UNREADY (SL_ABORT_PROMISES | SL_OVER_UNREADY)

struct world {
	struct sl_view view;
	uint8_t memory[8192];
	uint8_t marks[MOST];
};

static struct world *new_view(uint32_t n, const struct sl_edge *edges, size_t count, uint64_t c, uint64_t f)
{
	struct world *w = calloc(1, sizeof *w);
	struct sl_arena arena;
	sl_arena_init(&arena, w->memory, sizeof w->memory);
	assert_int_equal(sl_graph_init(&w->view.graph, n, edges, count, &arena), SL_OK);
	w->view.n = n;
	w->view.agreed.tolerance = c;
	w->view.agreed.forgetful = f;
	return w;
}

/* Make a view of `n` learners: a ring, with all chords of length up to `reach`. */
static struct world *new_world(uint32_t n, uint32_t reach, uint64_t c, uint64_t f)
{
	struct sl_edge edges[MOST * MOST];
	size_t count = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++)
			if (j - i <= reach || n - (j - i) <= reach)
				edges[count++] = (struct sl_edge){i, j};
	return new_view(n, edges, count, c, f);
}

/* Make a view of MOST learners: the first `hubs` have edges to all, the others to these only. */
static struct world *new_hubs(uint32_t hubs, uint64_t c, uint64_t f)
{
	struct sl_edge edges[MOST * MOST];
	size_t count = 0;
	for (uint32_t i = 0; i < hubs; i++)
		for (uint32_t j = i + 1; j < MOST; j++)
			edges[count++] = (struct sl_edge){i, j};
	return new_view(MOST, edges, count, c, f);
}

/* Mark the learners of `set` with `mark`. */
static void mark(struct world *w, uint32_t set, uint8_t bits)
{
	for (uint32_t i = 0; i < w->view.n && i < MOST; i++)
		w->marks[i] = set >> i & 1 ? bits : 0;
}

/* Return true if the key of learner j can be had: it sends it, or enough holders open it. `silent` do
 * neither. */
static bool key_known(const struct world *w, uint32_t j, uint32_t silent)
{
	const uint32_t *holders = sl_graph_neighbours(&w->view.graph, j);
	uint32_t open = 0;
	for (uint32_t k = 0; k < sl_graph_degree(&w->view.graph, j); k++)
		open += !(silent >> holders[k] & 1);
	return !(silent >> j & 1) || open >= sl_view_threshold(&w->view, j);
}

static bool can_complete(const struct world *w, uint32_t silent)
{
	for (uint32_t j = 0; j < w->view.n; j++)
		if (!key_known(w, j, silent))
			return false;
	return true;
}

/* With Readys of all, an attempt is over by Aborts if and only if those that did not sign cannot complete it.
 */
TEST(over_is_what_cannot_complete)
{
	for (uint32_t n = 3; n <= MOST; n++)
		for (uint32_t reach = 1; reach <= n / 2; reach++)
			for (uint64_t c = 1; c <= 2; c++) {
				struct world *w = new_world(n, reach, c, 0);
				for (uint32_t set = 0; set < 1u << n; set++) {
					mark(w, set, SL_ABORT_UNRELEASED);
					assert_int_equal(sl_over_proved(&w->view, w->marks),
							 !can_complete(w, set));
				}
				free(w);
			}
}

/* Nor can it be completed if any f of the signers have forgotten that they signed. */
TEST(over_with_learners_that_forget)
{
	for (uint32_t n = 4; n <= MOST; n++) {
		struct world *w = new_world(n, n / 2, 1, 1);
		for (uint32_t set = 0; set < 1u << n; set++) {
			mark(w, set, SL_ABORT_UNRELEASED);
			for (uint32_t i = 0; i < n && sl_over_proved(&w->view, w->marks); i++)
				assert_false(can_complete(w, set & ~(1u << i)));
		}
		free(w);
	}
}

/* Return true if coalition `a` cannot have the key of an honest learner, whatever the others show. */
static bool hides_one(const struct world *w, uint32_t set, uint32_t a)
{
	for (uint32_t j = 0; j < w->view.n; j++)
		if (!(a >> j & 1) && !key_known(w, j, set & ~a))
			return true;
	return false;
}

/* A model may be used again only if no coalition of c learners, with its own key shares, has all masked
 * states. */
TEST(reuse_hides_an_honest_learner)
{
	for (uint32_t n = 4; n <= MOST; n++)
		for (uint64_t c = 1; c <= 2; c++) {
			struct world *w = new_world(n, n / 2, c, 0);
			uint32_t allowed = 0;
			for (uint32_t set = 0; set < 1u << n; set++) {
				mark(w, set, SL_ABORT_UNRELEASED);
				if (!sl_over_reusable(&w->view, w->marks))
					continue;
				allowed++;
				assert_true(sl_over_proved(&w->view, w->marks));
				for (uint32_t a = 0; a < 1u << n; a++)
					if ((uint64_t)__builtin_popcount(a) <= c)
						assert_true(hides_one(w, set, a));
			}
			assert_true(allowed > 0 || n == 4);
			free(w);
		}
}

/* With f = 1, the keys of three participants must stay closed before a model may be used again: one of them
 * may deny its Abort, and one may be of the coalition. Only hubs have holders enough. */
TEST(a_closed_key_more_for_each_that_forgets)
{
	for (uint32_t hubs = 2; hubs <= 3; hubs++) {
		struct world *w = new_hubs(hubs, 1, 1);
		mark(w, (1u << MOST) - 1, SL_ABORT_UNRELEASED);
		assert_int_equal(sl_over_reusable(&w->view, w->marks), hubs == 3);
		free(w);
	}
}

/* Of five learners with c = 1: 1 + f that never send a Ready end the attempt; 1 + c + f save the models. */
TEST(denials)
{
	for (uint64_t f = 0; f <= 1; f++)
		for (uint32_t count = 0; count <= 5; count++) {
			struct world *w = new_world(5, 1, 1, f);
			for (uint32_t i = 0; i < count; i++)
				w->marks[2 * i % 5] = UNREADY;
			assert_int_equal(sl_over_proved(&w->view, w->marks), count >= 1 + f);
			assert_int_equal(sl_over_reusable(&w->view, w->marks), count >= 2 + f);
			free(w);
		}
}

/* Among the participants that have not given the attempt up, and f others, there are no longer the max(c,
 * floor((N+f)/2)) + 1 digests of a commit. Give-ups save no model. */
TEST(give_ups)
{
	static const uint32_t least[4][2] = {{3, 3}, {3, 3}, {2, 3}, {1, 2}}; /* of five, by c - 1 and f */
	for (uint64_t c = 1; c <= 4; c++)
		for (uint64_t f = 0; f <= 1; f++)
			for (uint32_t count = 0; count <= 5; count++) {
				struct world *w = new_world(5, 2, c, f);
				mark(w, (1u << count) - 1, SL_ABORT_UNSIGNED);
				assert_int_equal(sl_over_proved(&w->view, w->marks),
						 count >= least[c - 1][f]);
				assert_false(sl_over_reusable(&w->view, w->marks));
				free(w);
			}
}

/* Who never sends a Ready signs no Digest, and counts where a give-up does. With f = 2, of six learners two
 * that denied and three that gave up leave one, and the two may deny that, too. */
TEST(give_ups_and_denials)
{
	for (uint32_t denials = 0; denials <= 2; denials++)
		for (uint32_t give_ups = 0; denials + give_ups <= 6; give_ups++) {
			struct world *w = new_world(6, 3, 1, 2); /* a commit needs 5 digests */
			uint32_t signers = denials + give_ups;
			mark(w, (1u << signers) - 1, SL_ABORT_UNSIGNED);
			for (uint32_t i = 0; i < denials; i++)
				w->marks[i] = UNREADY;
			assert_int_equal(sl_over_proved(&w->view, w->marks), signers >= 4);
			assert_int_equal(sl_over_hopeless(&w->view, w->marks), signers >= 2);
			free(w);
		}
}

/* An Abort counts unless the signer's Ready is held and is not the one that it names. */
TEST(judged_by_the_ready)
{
	const uint8_t ready[SL_HASH_BYTES] = {1}, other[SL_HASH_BYTES] = {2};
	struct sl_abort abort_record = {.a = 1, .says = SL_ABORT_PROMISES};
	assert_int_equal(sl_over_judge(&abort_record, NULL), UNREADY);
	assert_int_equal(sl_over_judge(&abort_record, ready), 0);
	memcpy(abort_record.ready, ready, sizeof ready);
	abort_record.says = SL_ABORT_UNRELEASED;
	assert_int_equal(sl_over_judge(&abort_record, NULL), SL_ABORT_UNRELEASED);
	assert_int_equal(sl_over_judge(&abort_record, ready), SL_ABORT_UNRELEASED);
	assert_int_equal(sl_over_judge(&abort_record, other), 0);
}
