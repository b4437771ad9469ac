#include "common/setup/core_config.h"

#include <inttypes.h>
#include <math.h>

#include "common/base/real.h"

#define RELAY_MS                                                                                             \
	500u /* a record that takes longer to cross a link suggests that the link is slow or broken */

static sl_ms ms(double seconds)
{
	return (sl_ms)llround(seconds * 1000.0);
}

void sl_core_config_values(struct sl_core_config *config, const struct sl_settings *s, enum sl_values values)
{
	struct sl_parameters *p = &config->parameters;
	p->clipping_range = sl_real_bits(1);
	if (s->dp != SL_DP_USE_OFF) {
		p->values = values == SL_VALUES_UPDATE ? SL_VALUES_NOISY_UPDATE : SL_VALUES_NOISY;
		return;
	}
	bool decimals = values == SL_VALUES_MODEL && s->decimals != SL_DECIMALS_AUTO;
	p->values = values == SL_VALUES_MODEL && !decimals ? SL_VALUES_EXACT : values;
	p->decimals = decimals ? s->decimals : 0;
	p->update_bits = values == SL_VALUES_UPDATE ? s->update_bits : 0;
	if (decimals)
		p->clipping_range = sl_real_bits(s->clipping_range);
}

/* Set what the noise follows from. */
static void set_noise(struct sl_core_config *config, const struct sl_settings *s)
{
	struct sl_parameters *p = &config->parameters;
	p->dp_unit = s->dp == SL_DP_USE_LEARNER ? SL_DP_LEARNER : SL_DP_RECORD;
	p->dp_clip = sl_real_bits(s->dp_clip);
	p->dp_range = sl_real_bits(s->clipping_range);
	p->dp_noise = sl_real_bits(sl_settings_noise(s, p->n, config->roster_size));
}

/* Check that the sum of all learners of the roster has a modulus: views check it again, for their learners.
 */
static int check_modulus(const struct sl_core_config *config, const struct sl_dp_scale *scale,
			 struct sl_error *error)
{
	const struct sl_parameters *p = &config->parameters;
	const struct sl_encoding encoding = {.values = (enum sl_values)p->values,
					     .noisy = {.most = scale->most, .room = scale->room}};
	const struct sl_addends addends = {.learners = config->roster_size, .max_weight = 1, .n = p->n};
	uint32_t bits = sl_engine_p_bits((enum sl_engine)p->mixing);
	if (p->p == 0 && sl_encoding_modulus(&encoding, &addends, bits) == 0)
		return sl_err_set(error, SL_ERR_RANGE,
				  "no modulus below 2^%" PRIu32 " holds the sum of %" PRIu32
				  " vectors and their noise: lower clipping_range or dp_noise",
				  bits, config->roster_size);
	if (p->p == 0 || (p->p >> bits == 0 && sl_encoding_bound(p->p, &encoding, &addends, NULL, NULL)))
		return SL_OK;
	return sl_err_set(error, SL_ERR_RANGE,
			  "modulus: %" PRIu64 " is too %s for the sum of %" PRIu32
			  " vectors and their noise: leave it at auto",
			  p->p, p->p >> bits == 0 ? "small" : "large", config->roster_size);
}

int sl_core_config_check(const struct sl_core_config *config, const struct sl_settings *s,
			 struct sl_error *error)
{
	struct sl_dp_scale scale;
	if (s->dp == SL_DP_USE_OFF)
		return SL_OK;
	struct sl_dp_terms terms = sl_view_terms(&config->parameters, config->roster_size);
	if (!isfinite(terms.noise))
		return sl_err_set(
			error, SL_ERR_RANGE,
			"no noise keeps dp_epsilon: %g with dp_delta: %g over %" PRIu32
			" rounds: allow more, or set fewer rounds; `starling dp plan` shows what each "
			"leads to",
			s->dp_epsilon, s->dp_delta, s->rounds);
	if (sl_dp_scale_choose(&terms, &scale) == SL_OK)
		return check_modulus(config, &scale, error);
	terms.range = 0;
	if (sl_dp_scale_choose(&terms, &scale) == SL_OK)
		return sl_err_set(
			error, SL_ERR_RANGE,
			"clipping_range: %g is less than a step of the encoding, which is %.2g, or more "
			"than 2^54 steps",
			s->clipping_range, ldexp(1, scale.step));
	return sl_err_set(error, SL_ERR_RANGE, "dp_noise: %g is too %s for vectors of %" PRIu64 " numbers",
			  terms.noise, terms.noise > 1 ? "large" : "small", config->parameters.n);
}

void sl_core_config_set(struct sl_core_config *config, const struct sl_settings *s, uint64_t n,
			uint64_t model, uint32_t quorum)
{
	config->parameters =
		(struct sl_parameters){.n = n,
				       .p = s->modulus,
				       .rounds = s->rounds,
				       .quorum = quorum,
				       .tolerance = s->tolerance,
				       .max_weight = s->max_weight,
				       .encoding = (uint64_t)s->encoding,
				       .sharing = (uint64_t)s->sharing,
				       .mixing = (uint64_t)s->mixing,
				       .k = s->iterations,
				       .iterations_rule = s->iterations_rule == SL_ITERATIONS_EXACTLY,
				       .max_degree = s->max_degree,
				       .model = model,
				       .forgetful = s->forgetful == SL_FORGETFUL_YES ? s->tolerance : 0,
				       .privacy_check = s->privacy_check == SL_PRIVACY_ENFORCE};
	if (s->dp != SL_DP_USE_OFF)
		set_noise(config, s);
	sl_core_config_values(config, s, s->values == SL_VALUES_UPDATE ? SL_VALUES_UPDATE : SL_VALUES_MODEL);
	config->range_by_control = s->neighbours == SL_NEIGHBOURS_CONTROL;
	config->membership_change = s->membership_change;
	config->straggler_timeout_ms = ms(s->straggler_timeout);
	config->stall_timeout_ms = ms(s->stall_timeout);
	config->serve_after_end_ms = ms(s->serve_after_end);
	config->relay_ms = RELAY_MS;
}
