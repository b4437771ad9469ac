/* The part of `starling dp plan` that is C: the noise that a budget of epsilon and delta needs, or the
 * epsilon of a noise. */
#include "tools/starling/dp_plan.h"

#include <math.h>

#include "common/dp/scale.h"
#include "common/field/encoding.h"
#include "tools/lib/command.h"

struct request {
	struct sl_dp_terms terms;   /* without noise */
	struct sl_dp_target target; /* without sampling; epsilon is 0: to be found, for `noise` */
	double noise, records, batch;
};

/* A row of the answer. */
struct plan {
	double q;			  /* Poisson sampling; 1: none */
	double noise, epsilon, unsampled; /* epsilon if the sampling were not at random */
	struct sl_dp_scale scale;
};

static double number(const json_t *request, const char *name)
{
	return json_number_value(json_object_get(request, name));
}

static struct request read_request(const json_t *json)
{
	bool learner = json_is_true(json_object_get(json, "learner"));
	return (struct request){.terms = {.unit = learner ? SL_DP_LEARNER : SL_DP_RECORD,
					  .dimension = number(json, "parameters"),
					  .clip = number(json, "clip"),
					  .learners = (uint32_t)number(json, "learners"),
					  .colluding = (uint32_t)number(json, "tolerance")},
				.target = {.epsilon = number(json, "epsilon"),
					   .delta = number(json, "delta"),
					   .rounds = (uint64_t)number(json, "rounds")},
				.noise = number(json, "noise"),
				.records = number(json, "records"),
				.batch = number(json, "batch")};
}

/* ---- the search ---- */

static struct sl_dp_terms terms_of(const struct request *o, double noise)
{
	struct sl_dp_terms terms = o->terms;
	terms.noise = noise;
	return terms;
}

static struct sl_dp_target target_of(const struct request *o, double sampled)
{
	struct sl_dp_target target = o->target;
	target.sampled = sampled;
	return target;
}

/* Return the bits of an element between learners; more than SL_P_BITS_MAX if no modulus holds the sum. */
static uint32_t bits_of(const struct request *o, const struct sl_dp_scale *scale)
{
	const struct sl_encoding encoding = {.values = SL_VALUES_NOISY,
					     .noisy = {.most = scale->most, .room = scale->room}};
	const struct sl_addends addends = {
		.learners = o->terms.learners, .max_weight = 1, .n = (uint64_t)o->terms.dimension};
	uint64_t p = sl_encoding_modulus(&encoding, &addends, SL_P_BITS_MAX);
	return p == 0 ? SL_P_BITS_MAX + 1 : sl_field_bits(p);
}

/* Fill in what noise multiplier `noise` leads to. */
static void evaluate(const struct request *o, double noise, struct plan *plan)
{
	const struct sl_dp_terms terms = terms_of(o, noise);
	const struct sl_dp_target plain = target_of(o, 1), sampled = target_of(o, plan->q);
	plan->noise = noise;
	plan->unsampled = plan->epsilon = sl_dp_scale_epsilon(&terms, &plain);
	if (sl_dp_scale_choose(&terms, &plan->scale) == SL_OK && plan->q < 1)
		plan->epsilon = sl_dp_scale_epsilon(&terms, &sampled);
}

/* Answer for each record drawn with probability `q`: with the noise that is given, or the least one that
 * keeps epsilon. SL_ERR_RANGE if there is none. */
static int answer(const struct request *o, double q, struct plan *plan, struct sl_error *error)
{
	const struct sl_dp_target target = target_of(o, q);
	double noise = o->target.epsilon > 0 ? sl_dp_scale_noise(&o->terms, &target) : o->noise;
	*plan = (struct plan){.q = q};
	if (!isfinite(noise))
		return sl_err_set(
			error, SL_ERR_RANGE,
			"no noise keeps epsilon %g at delta %g over %llu rounds: rounding to integers alone "
			"spends more, or so much noise has no room; allow more, or fewer rounds",
			target.epsilon, target.delta, (unsigned long long)target.rounds);
	evaluate(o, noise, plan);
	return SL_OK;
}

/* Answer all plans: without sampling, which may keep no epsilon if there is one with it, and with it. */
static int answer_all(const struct request *o, struct plan plans[static 2], size_t count,
		      struct sl_error *error)
{
	int rc = answer(o, 1, &plans[0], error);
	if (rc == SL_OK && count > 1)
		rc = answer(o, o->batch / o->records, &plans[1], error);
	if (rc != SL_OK || isfinite(plans[count - 1].epsilon))
		return rc;
	const struct sl_dp_terms terms = terms_of(o, o->noise);
	struct sl_dp_scale scale;
	if (o->noise > 1 && sl_dp_scale_choose(&terms, &scale) != SL_OK)
		return sl_err_set(error, SL_ERR_RANGE, "--noise %g is too large for %.0f parameters",
				  o->noise, terms.dimension);
	return sl_err_set(error, SL_ERR_RANGE,
			  "--noise %g keeps no epsilon at delta %g over %llu rounds: give more noise or a "
			  "larger delta",
			  o->noise, o->target.delta, (unsigned long long)o->target.rounds);
}

/* ---- the answer ---- */

/* Return a range that may take fewer bits, or null. No coordinate is larger than the records of a learner in
 * a round. */
static json_t *range_json(const struct request *o, const struct plan *plan)
{
	double records = ceil(2 * o->batch / o->terms.learners);
	struct sl_dp_terms terms = terms_of(o, plan->noise);
	struct sl_dp_scale scale;
	terms.range = records * terms.clip;
	return terms.unit == SL_DP_RECORD && sl_dp_scale_choose(&terms, &scale) == SL_OK
		       ? json_pack("{s:I, s:i}", "records", (json_int_t)records, "bits",
				   (int)bits_of(o, &scale))
		       : json_null();
}

/* Return a number, or null: no bound. */
static json_t *real_json(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *plans_json(const struct request *o, const struct plan *plans, size_t count)
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

int sl_dp_plan(const char *subject, const json_t *request, struct sl_error *error)
{
	const struct request o = read_request(request);
	struct plan plans[2];
	size_t count = o.batch < o.records ? 2 : 1;
	int rc = answer_all(&o, plans, count, error);
	(void)subject;
	if (rc == SL_OK)
		sl_command_print_json(json_pack("{s:o, s:o}", "plans", plans_json(&o, plans, count), "range",
						range_json(&o, &plans[count - 1])),
				      0);
	return rc;
}
