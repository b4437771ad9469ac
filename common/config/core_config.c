#include "common/config/core_config.h"

#include <math.h>
#include <string.h>

#define RELAY_MS 500u /* a link on which a record takes longer is slower than most, or broken */

static sl_ms ms(double seconds)
{
	return (sl_ms)llround(seconds * 1000.0);
}

void sl_core_config_set(struct sl_core_config *config, const struct sl_settings *s, uint64_t n, uint32_t quorum)
{
	config->parameters = (struct sl_parameters){.n = n,
						    .p = s->p,
						    .rounds = s->rounds,
						    .quorum = quorum,
						    .tolerance = s->tolerance,
						    .sigma = s->sigma,
						    .max_weight = s->max_weight,
						    .encoding = (uint64_t)s->encoding,
						    .sharing = (uint64_t)s->sharing,
						    .mixing = (uint64_t)s->mixing,
						    .k = s->k,
						    .k_fixed = s->k_fixed,
						    .degree_max = s->degree_max};
	memcpy(&config->parameters.clip, &s->clip, sizeof s->clip);
	config->told = s->in_range == SL_RANGE_TOLD;
	config->gate_warn = s->gate_warn;
	config->straggler_ms = ms(s->straggler_wait);
	config->silent_ms = ms(s->silent_wait);
	config->flood_ms = ms(s->flood_wait);
	config->ready_ms = ms(s->ready_wait);
	config->stall_ms = ms(s->stall_wait);
	config->settle_ms = ms(s->settle_wait);
	config->linger_ms = ms(s->linger);
	config->relay_ms = RELAY_MS;
}
