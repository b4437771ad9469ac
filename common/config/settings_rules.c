/* Rules between settings and a roster, and between the settings of one roster and the next (ROUND.md §3.3
 * Rules between settings). */
#include "common/config/settings.h"
#include "common/config/settings_table.h"
#include "common/protocol/view.h"

int sl_settings_quorum(const struct sl_settings *settings, uint32_t roster_size, uint32_t *quorum,
		       struct sl_error *error)
{
	bool forgetful = settings->forgetful == SL_FORGETFUL_YES;
	uint32_t f = forgetful ? settings->tolerance : 0, least = sl_view_quorum_least(roster_size, f);
	if (f >= roster_size)
		return sl_err_set(error, SL_ERR_RANGE,
				  "forgetful: yes needs more learners in the roster than tolerance: %u", f);
	if (settings->quorum == SL_QUORUM_ALL)
		*quorum = roster_size;
	else if (settings->quorum == SL_QUORUM_MAJORITY)
		*quorum = least;
	else if (settings->quorum < least)
		return sl_err_set(error, SL_ERR_RANGE,
				  "quorum: %u is too small for %u learners in the roster with forgetful: %s; "
				  "set at least %u",
				  settings->quorum, roster_size, forgetful ? "yes" : "no", least);
	else if (settings->quorum > roster_size)
		return sl_err_set(error, SL_ERR_RANGE,
				  "quorum: %u is more than the %u learners in the roster", settings->quorum,
				  roster_size);
	else
		*quorum = settings->quorum;
	return SL_OK;
}

static struct sl_dp_terms terms_of(const struct sl_settings *s, uint64_t elements, uint32_t roster_size)
{
	return (struct sl_dp_terms){.unit = s->dp == SL_DP_USE_LEARNER ? SL_DP_LEARNER : SL_DP_RECORD,
				    .dimension = (double)elements,
				    .clip = s->dp_clip,
				    .noise = s->dp_noise,
				    .range = s->clipping_range,
				    .learners = roster_size,
				    .colluding = s->tolerance};
}

double sl_settings_noise(const struct sl_settings *s, uint64_t elements, uint32_t roster_size)
{
	const struct sl_dp_terms terms = terms_of(s, elements, roster_size);
	const struct sl_dp_target target = {s->dp_epsilon, s->dp_delta, s->dp_sampling, s->rounds};
	return s->dp_noise > 0 ? s->dp_noise : sl_dp_scale_noise(&terms, &target);
}

/* Return true if the budget, if there is one, suffices for one round with the noise that is set: that hardly
 * depends on the number of elements, which only learners know. */
static bool keeps_budget(const struct sl_settings *s, uint32_t roster_size)
{
	struct sl_dp_terms terms = terms_of(s, 1, roster_size);
	terms.range = 0;
	const struct sl_dp_target one = {s->dp_epsilon, s->dp_delta, s->dp_sampling, 1};
	return s->dp == SL_DP_USE_OFF || !(s->dp_noise > 0 && s->dp_epsilon > 0) ||
	       s->tolerance >= roster_size || sl_dp_scale_epsilon(&terms, &one) <= s->dp_epsilon;
}

int sl_settings_size(const struct sl_settings *settings, uint32_t roster_size, struct sl_error *error)
{
	uint32_t c = settings->tolerance;
	if (settings->dp == SL_DP_USE_LEARNER && settings->dp_delta * roster_size >= 1)
		return sl_err_set(
			error, SL_ERR_REFUSED,
			"%s: dp_delta: %g must be below one in %u, the number of learners: a sum that "
			"shows one of them whole would be allowed",
			settings->roster, settings->dp_delta, roster_size);
	if (!keeps_budget(settings, roster_size))
		return sl_err_set(
			error, SL_ERR_REFUSED,
			"%s: dp_noise: %g spends more than dp_epsilon: %g in one round: raise dp_noise, or "
			"leave it at auto",
			settings->roster, settings->dp_noise, settings->dp_epsilon);
	if (roster_size >= c + 2 || settings->privacy_check == SL_PRIVACY_WARN)
		return SL_OK;
	return sl_err_set(error, SL_ERR_REFUSED,
			  "%s: %u learners are too few for tolerance: %u, since %u colluding ones could "
			  "subtract their models from the mean; it takes %u learners%s",
			  settings->roster, roster_size, c, c, c + 2,
			  settings->dp == SL_DP_USE_OFF ? ", or privacy_check: warn" : "");
}

static bool has_decimals(const struct sl_settings *settings)
{
	return settings->values == SL_VALUES_MODEL && settings->decimals != SL_DECIMALS_AUTO;
}

int sl_settings_follow(const struct sl_settings *now, const struct sl_settings *next, struct sl_error *error)
{
	static const size_t of_model[] = {SL_ROW_hidden_units, SL_ROW_noise_parameters, SL_ROW_seed,
					  SL_ROW_metrics, SL_ROW_dp};
	for (size_t i = 0; i < sizeof of_model / sizeof *of_model; i++) {
		const struct sl_setting *row = &sl_settings_table[of_model[i]];
		if (sl_settings_table_bits(row, now) != sl_settings_table_bits(row, next))
			return sl_err_set(error, SL_ERR_REFUSED,
					  "%s cannot change once rounds have begun: the model that they go "
					  "on from depends on it",
					  row->key);
	}
	if (has_decimals(now) == has_decimals(next))
		return SL_OK;
	return sl_err_set(error, SL_ERR_REFUSED,
			  "values were averaged with%s decimals, and would be averaged with%s decimals: that "
			  "cannot change once rounds have begun",
			  has_decimals(now) ? "" : "out", has_decimals(next) ? "" : "out");
}
