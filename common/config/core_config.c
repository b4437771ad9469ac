#include "common/config/core_config.h"

#include <math.h>
#include <string.h>

#define RELAY_MS 500u /* a link on which a record takes longer is slower than most, or broken */

static sl_ms ms(double seconds)
{
	return (sl_ms)llround(seconds * 1000.0);
}

void sl_core_config_set(struct sl_core_config *config, const struct sl_settings *s, uint64_t n,
			uint32_t quorum)
{
	config->parameters = (struct sl_parameters){.n = n,
						    .p = s->p,
						    .rounds = s->rounds,
						    .quorum = quorum,
						    .tolerance = s->tolerance,
						    .decimals = s->decimals,
						    .max_weight = s->max_weight,
						    .encoding = (uint64_t)s->encoding,
						    .sharing = (uint64_t)s->sharing,
						    .mixing = (uint64_t)s->mixing,
						    .k = s->k,
						    .iterations_rule = s->iterations_rule,
						    .max_degree = s->max_degree};
	memcpy(&config->parameters.clipping_range, &s->clipping_range, sizeof s->clipping_range);
	config->range_by_control = s->in_range == SL_RANGE_CONTROL;
	config->privacy_check_warns = s->privacy_check_warns;
	config->straggler_timeout_ms = ms(s->straggler_timeout);
	config->hello_timeout_ms = ms(s->hello_timeout);
	config->agreement_timeout_ms = ms(s->agreement_timeout);
	config->prepare_timeout_ms = ms(s->prepare_timeout);
	config->stall_timeout_ms = ms(s->stall_timeout);
	config->confirm_timeout_ms = ms(s->confirm_timeout);
	config->serve_after_end_ms = ms(s->serve_after_end);
	config->relay_ms = RELAY_MS;
}
