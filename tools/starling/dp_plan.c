/* `starling dp plan`: the noise that a budget of epsilon and delta needs, or the epsilon of a noise. What
 * that does to a mean is Python: starling_timeline/dp_plan.py. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "common/dp/scale.h"
#include "common/field/encoding.h"
#include "tools/lib/option.h"
#include "tools/starling/dp.h"
#include "tools/lib/python.h"
#include "tools/starling/topology.h"
#include "tools/lib/help_texts.h"

struct options {
	double epsilon, noise, delta, clip; /* epsilon or noise is 0: to be found */
	uint64_t rounds, records, batch, parameters;
	uint32_t learners, tolerance;
	enum sl_dp_unit unit;
	bool json;
};

/* A row of the answer. */
struct plan {
	double q;			  /* Poisson sampling; 1: none */
	double noise, epsilon, unsampled; /* epsilon if the sampling were not at random */
	struct sl_dp_scale scale;
};

static void take_unit(struct argp_state *state, const char *text, void *options)
{
	bool learner = strcmp(text, "learner") == 0;
	if (!learner && strcmp(text, "record") != 0)
		argp_failure(state, SL_EXIT_USAGE, 0, "--unit %s: must be record or learner", text);
	((struct options *)options)->unit = learner ? SL_DP_LEARNER : SL_DP_RECORD;
}

static const struct sl_option own[] = {
	{"epsilon", 'e', "E", "epsilon to be kept: answer the noise", SL_SETS(struct options, epsilon),
	 .real_most = 1000},
	{"noise", 'z', "Z", "noise multiplier, sigma / clip: answer epsilon", SL_SETS(struct options, noise),
	 .real_most = 1e6},
	{"delta", 'd', "D", "delta, below one in the number of records", SL_SETS(struct options, delta),
	 .real_most = 1},
	{"rounds", 'T', "T", "rounds of the run", SL_SETS(struct options, rounds), 1, SL_ROUNDS_MAX},
	{"records", 0, "N", "records of all learners", SL_SETS(struct options, records), 1, INT64_MAX},
	{"batch", 0, "B", "records of all learners in a round (all)", SL_SETS(struct options, batch), 1,
	 INT64_MAX},
	{"learners", 'n', "N", "learners (10)", SL_SETS(struct options, learners), 2, SL_LEARNERS_MAX},
	{"tolerance", 'c', "C", "how many learners may collude (1)", SL_SETS(struct options, tolerance), 1,
	 SL_LEARNERS_MAX - 2},
	{"parameters", 'p', "COUNT", "parameters of a model (50992)", SL_SETS(struct options, parameters), 1,
	 SL_PARAMETERS_MAX},
	{"clip", 0, "C", "norm to which a record is clipped, or a learner's vector (1)",
	 SL_SETS(struct options, clip), .real_most = 1e30},
	{"unit", 0, "UNIT", "what is hidden: record (the default) or learner", .take = take_unit},
	{"json", 0, NULL, "print JSON", SL_SETS(struct options, json)},
	{0}};

static void check(struct argp_state *state, const void *options)
{
	const struct options *o = options;
	bool learner = o->unit == SL_DP_LEARNER;
	double hidden = learner ? o->learners : (double)o->records;
	const char *wrong = (o->epsilon > 0) == (o->noise > 0)	   ? "give either --epsilon or --noise"
			    : !(o->delta > 0)			   ? "give --delta, such as 1e-5"
			    : o->rounds == 0			   ? "give --rounds"
			    : !learner && o->records == 0	   ? "give --records, or --unit learner"
			    : learner && o->records + o->batch > 0 ? "--unit learner has no --records and "
								     "no --batch"
								   : NULL;
	if (wrong != NULL)
		argp_failure(state, SL_EXIT_USAGE, 0, "%s; see '%s --help'", wrong, state->name);
	if (o->batch > o->records)
		argp_failure(state, SL_EXIT_USAGE, 0, "--batch %llu: more than the %llu records",
			     (unsigned long long)o->batch, (unsigned long long)o->records);
	if (o->tolerance + 2 > o->learners)
		argp_failure(state, SL_EXIT_USAGE, 0, "--tolerance %u: of %u learners at most %u may collude",
			     o->tolerance, o->learners, o->learners - 2);
	if (o->delta >= 1 / hidden)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--delta %g: must be below one in %.15g, the number of %s: a sum that shows one "
			     "of them whole would be allowed",
			     o->delta, hidden, learner ? "learners" : "records");
}

static const struct sl_usage usage = {.options = own, .check = check, .doc = SL_HELP_DP_PLAN};

/* ---- the search ---- */

static struct sl_dp_terms terms_of(const struct options *o, double noise)
{
	return (struct sl_dp_terms){.unit = o->unit,
				    .dimension = (double)o->parameters,
				    .clip = o->clip,
				    .noise = noise,
				    .learners = o->learners,
				    .colluding = o->tolerance};
}

/* Return the bits of an element between learners; more than SL_P_BITS_MAX if no modulus holds the sum. */
static uint32_t bits_of(const struct options *o, const struct sl_dp_scale *scale)
{
	const struct sl_encoding encoding = {.values = SL_VALUES_NOISY,
					     .noisy = {.most = scale->most, .room = scale->room}};
	const struct sl_addends addends = {.learners = o->learners, .max_weight = 1, .n = o->parameters};
	uint64_t p = sl_encoding_modulus(&encoding, &addends, SL_P_BITS_MAX);
	return p == 0 ? SL_P_BITS_MAX + 1 : sl_field_bits(p);
}

/* Fill in what noise multiplier `noise` leads to. */
static void evaluate(const struct options *o, double noise, struct plan *plan)
{
	const struct sl_dp_terms terms = terms_of(o, noise);
	struct sl_dp_target target = {.delta = o->delta, .sampled = 1, .rounds = o->rounds};
	plan->noise = noise;
	plan->unsampled = plan->epsilon = sl_dp_scale_epsilon(&terms, &target);
	if (sl_dp_scale_choose(&terms, &plan->scale) != SL_OK)
		return;
	target.sampled = plan->q;
	plan->epsilon = plan->q < 1 ? sl_dp_scale_epsilon(&terms, &target) : plan->unsampled;
}

/* Find the least noise that keeps epsilon. SL_ERR_RANGE if there is none. */
static int search(const struct options *o, struct plan *plan, struct sl_error *error)
{
	const struct sl_dp_terms terms = terms_of(o, 0);
	const struct sl_dp_target target = {o->epsilon, o->delta, plan->q, o->rounds};
	double noise = sl_dp_scale_noise(&terms, &target);
	if (!isfinite(noise))
		return sl_err_set(
			error, SL_ERR_RANGE,
			"no noise keeps epsilon %g at delta %g over %llu rounds: rounding to integers alone "
			"spends more, or so much noise has no room; allow more, or fewer rounds",
			o->epsilon, o->delta, (unsigned long long)o->rounds);
	evaluate(o, noise, plan);
	return SL_OK;
}

/* Answer for each record drawn with probability `q`. */
static int answer(const struct options *o, double q, struct plan *plan, struct sl_error *error)
{
	*plan = (struct plan){.q = q};
	if (o->epsilon > 0)
		return search(o, plan, error);
	evaluate(o, o->noise, plan);
	return SL_OK;
}

/* Answer all plans: without sampling, which may keep no epsilon if there is one with it, and with it. */
static int answer_all(const struct options *o, struct plan plans[static 2], size_t count,
		      struct sl_error *error)
{
	int rc = answer(o, 1, &plans[0], error);
	if (rc == SL_OK && count > 1)
		rc = answer(o, (double)o->batch / (double)o->records, &plans[1], error);
	if (rc != SL_OK || isfinite(plans[count - 1].epsilon))
		return rc;
	const struct sl_dp_terms terms = terms_of(o, o->noise);
	struct sl_dp_scale scale;
	if (o->noise > 1 && sl_dp_scale_choose(&terms, &scale) != SL_OK)
		return sl_err_set(error, SL_ERR_RANGE, "--noise %g is too large for %llu parameters",
				  o->noise, (unsigned long long)o->parameters);
	return sl_err_set(error, SL_ERR_RANGE,
			  "--noise %g keeps no epsilon at delta %g over %llu rounds: give more noise or a "
			  "larger delta",
			  o->noise, o->delta, (unsigned long long)o->rounds);
}

/* ---- what is handed over ---- */

/* Return a range that may take fewer bits, or null. No coordinate is larger than the records of a learner in
 * a round. */
static json_t *range_json(const struct options *o, const struct plan *plan)
{
	double records = ceil(2 * (double)o->batch / o->learners);
	struct sl_dp_terms terms = terms_of(o, plan->noise);
	struct sl_dp_scale scale;
	terms.range = records * o->clip;
	return o->unit == SL_DP_RECORD && sl_dp_scale_choose(&terms, &scale) == SL_OK
		       ? json_pack("{s:I, s:i}", "records", (json_int_t)records, "bits",
				   (int)bits_of(o, &scale))
		       : json_null();
}

/* Return a number, or null: no bound. */
static json_t *real_json(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *plans_json(const struct options *o, const struct plan *plans, size_t count)
{
	json_t *list = json_array();
	for (const struct plan *p = plans; p < plans + count; p++)
		json_array_append_new(list,
				      json_pack("{s:f, s:f, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:i}", "q",
						p->q, "noise", p->noise, "epsilon", real_json(p->epsilon),
						"unsampled", real_json(p->unsampled), "norm", p->scale.norm,
						"step", ldexp(1, p->scale.step), "sensitivity",
						p->scale.sensitivity, "sigma", p->scale.sigma, "sigma_total",
						p->scale.sigma_total, "bits", (int)bits_of(o, &p->scale)));
	return list;
}

static json_t *answer_json(const struct options *o, const struct plan *plans, size_t count)
{
	return json_pack("{s:s, s:f, s:f, s:I, s:I, s:I, s:i, s:i, s:I, s:o, s:o, s:b}", "unit",
			 o->unit == SL_DP_LEARNER ? "learner" : "record", "delta", o->delta, "clip", o->clip,
			 "rounds", (json_int_t)o->rounds, "records", (json_int_t)o->records, "batch",
			 (json_int_t)o->batch, "learners", (int)o->learners, "tolerance", (int)o->tolerance,
			 "parameters", (json_int_t)o->parameters, "plans", plans_json(o, plans, count),
			 "range", range_json(o, &plans[count - 1]), "json", o->json);
}

int sl_dp_plan(int argc, char **argv)
{
	struct options o = {.clip = 1, .learners = 10, .tolerance = 1, .parameters = SL_FLOATS_USUAL};
	struct plan plans[2];
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &o);
	if (o.batch == 0)
		o.batch = o.records;
	size_t count = o.batch < o.records ? 2 : 1;
	int rc = answer_all(&o, plans, count, &error);
	if (rc != SL_OK)
		return sl_command_status("starling dp plan", rc, &error);
	return sl_python_run_json("starling_timeline.dp_plan", 1, (const char **)argv,
				  answer_json(&o, plans, count));
}
