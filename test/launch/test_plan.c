/* What a plan says of a round. */
#include "test/lib/test.h"
#include "tools/launch/launch.h"

/* How a round was encoded is in its row; decimals that are not, in the settings. */
TEST(encoding_of_a_round)
{
	struct sl_plan plan = {.learners = 5};
	plan.settings.decimals = 6;
	plan.settings.clipping = SL_CLIPPING_CLAMP;
	plan.settings.clipping_range = 3;
	struct sl_round_row row = {.values = SL_VALUES_UPDATE, .bits = 19, .decimals = 4};
	struct sl_encoding encoding = sl_plan_encoding(&plan, &row);
	assert_true(encoding.values == SL_VALUES_UPDATE && encoding.update_bits == 19);
	assert_true(encoding.decimals == 6 && encoding.clamp && encoding.clipping_range == 3);
	row.decimals_known = true;
	row.values = SL_VALUES_EXACT;
	encoding = sl_plan_encoding(&plan, &row);
	assert_true(encoding.values == SL_VALUES_EXACT && encoding.decimals == 4);
	assert_int_equal(encoding.weight_total, 5);
}
