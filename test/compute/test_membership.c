/* Membership inference (ROUND.md §4.9 Noise): whoever knows all but a canary looks at a mean to find out if
 * the canary is in it. What it finds bounds epsilon from below, and must not exceed what the ledger says.
 *
 * Canaries of one mean lie in coordinates of their own, so that each of them is a trial. The sum of these
 * coordinates orders outcomes as their likelihood ratio does. At a threshold t, epsilon >= ln((p - delta) /
 * q), where p and q are the probabilities that the sum is at least t with the canary and without. The
 * threshold with the largest bound is chosen by half of the means; the other half bounds p and q. The seed is
 * fixed: a bound that holds once holds always. */
#include <math.h>
#include <string.h>

#include <sodium.h>

#include "common/base/bytes.h"
#include "common/compute/job_model.h"
#include "test/compute/attempt.h"
#include "test/lib/test.h"

#define COLLUDING 1u
#define CLIP 1.5
#define FAILURE 1e-9   /* probability that p or q is beyond its bound */
#define BACKGROUND 0.3 /* of each coordinate, in steps */
#define BINS 1024      /* of outcomes */
#define BINS_A_SIGMA 16

/* How canaries are put in, and what is wrong with the build. */
struct game {
	enum sl_dp_unit unit;
	double noise, delta;
	size_t n;	    /* coordinates of the model */
	size_t width;	    /* of a canary */
	int trials, rounds; /* of each trial: the sum of so many means is looked at */
	uint32_t seen;	    /* participants whose noise is known */
	double strength;    /* of the noise, of what it should be */
};

/* Records of the norm of the clip; and a vector that is longer, which its learner scales down to the clip. */
static const struct game records = {SL_DP_RECORD, 1, 0.01, ELEMENTS - 1, 1, 100, 1, COLLUDING, 1};
static const struct game a_learner = {SL_DP_LEARNER, 0.5, 0.1, 256, 4, 3000, 1, COLLUDING, 1};

/* By half, and by absence (0) or presence (1) of the canary: so many trials had this outcome. */
static struct counts {
	uint64_t of[2][2][BINS];
} counts;

/* ---- randomness ---- */

static uint64_t drawn;

static void seeded(void *context, uint8_t *bytes, size_t n)
{
	uint8_t seed[randombytes_SEEDBYTES] = {0};
	(void)context;
	drawn++;
	memcpy(seed, &drawn, sizeof drawn);
	randombytes_buf_deterministic(bytes, n, seed);
}

/* ---- means ---- */

static uint64_t bits(double value)
{
	uint64_t b;
	memcpy(&b, &value, sizeof b);
	return b;
}

static void begin(struct attempt *a, const struct game *game)
{
	struct sl_view *view = &a->view;
	static const struct sl_layout none;
	view->agreed = (struct sl_parameters){.n = game->n,
					      .tolerance = COLLUDING,
					      .max_weight = 1,
					      .values = SL_VALUES_NOISY,
					      .sharing = view->sharing,
					      .dp_unit = game->unit,
					      .dp_clip = bits(CLIP),
					      .dp_noise = bits(game->noise)};
	sl_view_set_encoding(view, &none);
	a->workspace.n = game->n;
	a->workspace.source = seeded;
	drawn = 0;
	memset(&counts, 0, sizeof counts);
}

/* Write the vector of participant `i`: of the first, with the canaries that are `in`. */
static void train(struct attempt *a, const struct game *game, uint32_t i, const uint8_t *in)
{
	float *trained = a->workspace.trained;
	double background = ldexp(BACKGROUND, a->view.encoding.noisy.step);
	if (i == 0 && game->unit == SL_DP_LEARNER)
		background = 0;
	for (size_t l = 0; l < game->n; l++)
		trained[l] = (float)(background + (i == 0 && in[l / game->width] != 0 ? CLIP : 0));
}

/* Add the vector of a participant to the sum, and to what is known if it is seen. */
static void take_part(struct attempt *a, const struct game *game, bool seen, uint64_t *sum, int64_t *known)
{
	static uint64_t x[ELEMENTS];
	struct sl_gaussian *noise = &a->workspace.noise.plan;
	attempt_run_well(a, SL_JOB_ENCODE, 0);
	if (game->strength == 0)
		memset(noise->coefficient, 0, sizeof noise->coefficient);
	else if (game->strength < 1)
		assert_int_equal(sl_gaussian_plan(game->strength * noise->sigma, noise), SL_OK);
	sl_job_model_encode(&a->workspace, &a->view, 0, a->view.elements, x);
	for (size_t l = 0; l < a->view.elements; l++) {
		sum[l] = sl_field_add(&a->view.field, sum[l], x[l]);
		known[l] += seen ? sl_field_centred(&a->view.field, x[l]) : 0;
	}
}

/* Let all take part in a mean. Add the sum that it shows, without what is known, to `shown`. */
static void mean(struct attempt *a, const struct game *game, const uint8_t *in, double *shown)
{
	static uint64_t sum[ELEMENTS];
	static int64_t known[ELEMENTS];
	memset(sum, 0, a->view.elements * sizeof *sum);
	memset(known, 0, a->view.elements * sizeof *known);
	for (uint32_t i = 0; i < LEARNERS; i++) {
		train(a, game, i, in);
		take_part(a, game, i + game->seen >= LEARNERS, sum, known);
	}
	sl_bytes_pack(a->workspace.s, sum, a->view.elements, a->view.field.bits);
	attempt_run_well(a, SL_JOB_ACCEPT, 0);
	const float *committed = a->workspace.committed;
	for (size_t l = 0; l < game->n; l++)
		shown[l] += rint(ldexp((double)committed[l], -a->view.encoding.noisy.step) * LEARNERS) -
			    (double)known[l];
}

/* Put records in by a coin each; of the vectors that a learner may have, one. */
static void choose(const struct game *game, uint8_t *in)
{
	size_t canaries = game->n / game->width;
	uint64_t at;
	seeded(NULL, in, canaries);
	for (size_t k = 0; k < canaries; k++)
		in[k] &= 1;
	if (game->unit == SL_DP_RECORD)
		return;
	seeded(NULL, (uint8_t *)&at, sizeof at);
	memset(in, 0, canaries);
	in[at % canaries] = 1;
}

static void look(struct attempt *a, const struct game *game, int half)
{
	static uint8_t in[ELEMENTS];
	static double shown[ELEMENTS];
	double bin = sqrt((double)game->width * game->rounds) * a->view.scale.sigma / BINS_A_SIGMA;
	choose(game, in);
	memset(shown, 0, sizeof shown);
	for (int t = 0; t < game->rounds; t++)
		mean(a, game, in, shown);
	for (size_t k = 0; k < game->n / game->width; k++) {
		double sum = 0;
		for (size_t l = 0; l < game->width; l++)
			sum += shown[k * game->width + l];
		double at = fmin(fmax(BINS / 2 + floor(sum / bin), 0), BINS - 1);
		counts.of[half][in[k]][(size_t)at]++;
	}
}

/* ---- bounds ---- */

/* Return n KL(share, p): the chance of a share as far from p is below its exp(-) (Chernoff). */
static double unlikely(double share, double p, double n)
{
	double there = share > 0 ? share * log(share / p) : 0;
	return n * (there + (share < 1 ? (1 - share) * log((1 - share) / (1 - p)) : 0));
}

/* Return a bound on the probability of what came `k` times in `n`: from below, with end 0, or above, 1. */
static double bound(double k, double n, double end)
{
	double near = k / n, far = end;
	for (int i = 0; i < 100; i++) {
		double middle = (near + far) / 2;
		*(unlikely(k / n, middle, n) > -log(FAILURE) ? &far : &near) = middle;
	}
	return far;
}

/* Let each bin count the outcomes from there on. */
static void add_up(void)
{
	for (int half = 0; half < 2; half++)
		for (int with = 0; with < 2; with++)
			for (size_t i = BINS - 1; i > 0; i--)
				counts.of[half][with][i - 1] += counts.of[half][with][i];
}

/* Return a lower bound on epsilon with the threshold `t`, by one half. */
static double epsilon_at(double delta, int half, size_t t)
{
	const uint64_t *without = counts.of[half][0], *with = counts.of[half][1];
	double p = bound((double)with[t], (double)with[0], 0) - delta;
	return p > 0 ? log(p / bound((double)without[t], (double)without[0], 1)) : 0;
}

static double measured(double delta)
{
	size_t best = 0;
	double most = 0;
	for (size_t t = 0; t < BINS; t++)
		if (epsilon_at(delta, 0, t) > most) {
			best = t;
			most = epsilon_at(delta, 0, t);
		}
	return epsilon_at(delta, 1, best);
}

/* ---- the attack ---- */

/* Return epsilon of the ledger: not below that of the noise that was agreed, nor far above. */
static double charged(const struct attempt *a, const struct game *game)
{
	struct sl_dp_spent spent = {0};
	struct sl_dp_round round = sl_view_charge(&a->view, 1);
	sl_dp_charge(&spent, &round, (uint64_t)game->rounds);
	double epsilon = sl_dp_spent_epsilon(&spent, game->delta, false),
	       agreed = sl_dp_epsilon(game->delta, sqrt(game->rounds) / game->noise);
	assert_true(epsilon > agreed && epsilon < 1.01 * agreed);
	return epsilon;
}

/* Return the measured epsilon as a part of the ledger's. */
static double attack(struct attempt *a, const struct game *game)
{
	begin(a, game);
	double epsilon = charged(a, game);
	for (int k = 0; k < game->trials; k++)
		look(a, game, k % 2);
	add_up();
	double least = measured(game->delta);
	print_message("%s, %g of the noise, that of %u known: epsilon >= %.3f, %.3f of the ledger's\n",
		      game->unit == SL_DP_RECORD ? "records" : "a learner", game->strength, game->seen, least,
		      least / epsilon);
	return least / epsilon;
}

static void hides(struct attempt *a, struct game game, double part)
{
	double found = attack(a, &game);
	assert_true(found > part && found <= 1);
}

static void is_found(struct attempt *a, struct game game, double strength, uint32_t seen)
{
	game.strength = strength;
	game.seen = seen;
	assert_true(attack(a, &game) > 1);
}

TEST_WITH(records_are_hidden, attempt_setup, attempt_teardown)
{
	hides(*state, records, 0.85);
}

TEST_WITH(a_learner_is_hidden, attempt_setup, attempt_teardown)
{
	hides(*state, a_learner, 0.65);
}

TEST_WITH(records_are_hidden_in_four_rounds, attempt_setup, attempt_teardown)
{
	struct game game = records;
	game.noise = 2;
	game.rounds = 4;
	game.trials /= 4;
	hides(*state, game, 0.8);
}

/* A build that is wrong is found. */

TEST_WITH(too_little_noise_is_found, attempt_setup, attempt_teardown)
{
	struct game few = a_learner;
	few.trials /= 4;
	for (double strength = 0; strength < 1; strength += 0.5) {
		is_found(*state, records, strength, COLLUDING);
		is_found(*state, few, strength, COLLUDING);
	}
}

TEST_WITH(noise_of_two_known_is_found, attempt_setup, attempt_teardown)
{
	is_found(*state, records, 1, COLLUDING + 1);
	is_found(*state, a_learner, 1, COLLUDING + 1);
}

/* ---- nightly: bounds that are nearer, and a smaller delta ---- */

static void hides_long(struct game game, double delta, int trials, double part)
{
	void *state;
	game.delta = delta;
	game.trials = trials;
	assert_int_equal(attempt_setup(&state), 0);
	hides(state, game, part);
	attempt_teardown(&state);
}

TEST_NIGHTLY(many_records)
{
	hides_long(records, 0.01, 20000, 0.97);
	hides_long(records, 1e-5, 20000, 0.8);
}

TEST_NIGHTLY(a_learner_in_many_runs)
{
	hides_long(a_learner, 0.1, 200000, 0.94);
}
