#include "common/report/modulus.h"

#include "common/report/reason.h"

static struct sl_encoding encoding_of(const struct sl_settings *s)
{
	bool update = s->values == SL_VALUES_UPDATE,
	     exact = s->decimals == SL_DECIMALS_AUTO || s->clipping_range == SL_CLIPPING_RANGE_AUTO;
	return (struct sl_encoding){.kind = s->encoding,
				    .values = update  ? SL_VALUES_UPDATE
					      : exact ? SL_VALUES_EXACT
						      : SL_VALUES_MODEL,
				    .decimals = exact ? 0 : s->decimals,
				    .update_bits = update ? s->update_bits : SL_EXACT_BITS_LEAST,
				    .clipping_range = s->clipping_range};
}

uint64_t sl_modulus_of(const struct sl_settings *settings, const struct sl_addends *addends)
{
	const struct sl_encoding encoding = encoding_of(settings);
	return settings->modulus != SL_MODULUS_AUTO
		       ? settings->modulus
		       : sl_encoding_modulus(&encoding, addends, sl_engine_p_bits(settings->mixing));
}

int sl_modulus_check(const struct sl_settings *settings, uint32_t learners, sl_id largest_id,
		     struct sl_error *error)
{
	const struct sl_encoding encoding = encoding_of(settings);
	const struct sl_addends addends = {
		.learners = learners, .max_weight = settings->max_weight, .n = 1, .largest_id = largest_id};
	const struct sl_roster none = {0};
	uint32_t bits = sl_engine_p_bits(settings->mixing);
	uint64_t p = sl_modulus_of(settings, &addends), least = 0;
	uint64_t largest = largest_id > learners ? largest_id : learners;
	struct sl_report report = {.reason = SL_REASON_P_BOUND};
	char text[SL_ERROR_BYTES];
	int digits_most = -1;
	if (settings->dp != SL_DP_USE_OFF) /* it follows from the model */
		return SL_OK;
	bool met = sl_encoding_bound(p != 0 ? p : (UINT64_C(1) << bits) - 1, &encoding, &addends, &least,
				     &digits_most);
	report.why.p_bound.p = p;
	report.why.p_bound.least = least;
	report.why.p_bound.values = encoding.values;
	report.why.p_bound.digits = sl_encoding_digits(&encoding);
	report.why.p_bound.digits_most = digits_most;
	report.why.p_bound.learners = learners;
	report.why.p_bound.bits_most = bits;
	if (met && p != 0 && p >> bits == 0) {
		if (p > largest)
			return SL_OK;
		report = (struct sl_report){.reason = SL_REASON_P_IDS, .why.p_ids = {p, largest}};
	}
	sl_reason_text(&none, &report, text, sizeof text);
	return sl_err_set(error, SL_ERR_RANGE, "%s", text);
}
