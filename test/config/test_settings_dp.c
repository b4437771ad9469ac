/* Settings of differential privacy: what they need, and what they exclude. */
#include "test/lib/test.h"

#include "common/config/settings_table.h"

/* With differential privacy, whatever would tell more than the mean with its noise is refused. */
TEST(dp_refuses_what_would_tell_more)
{
	static const struct {
		const char *set[3];
		const char *part; /* of the error; NULL: none */
	} cases[] = {
		{{"dp=learner", "dp_noise=3"}, NULL},
		{{"dp=learner", "dp_epsilon=1"}, NULL},
		{{"dp=record", "dp_noise=3", "trainer=application"}, NULL},
		{{"dp=record", "dp_noise=3"}, "dp: record needs trainer: application"},
		{{"dp=learner", "dp_noise=3", "dp_clip=none"}, "dp needs dp_clip"},
		{{"dp=learner", "dp_noise=3", "dp_delta=none"}, "dp needs dp_delta"},
		{{"dp=learner"}, "dp needs dp_epsilon, the budget, or dp_noise"},
		{{"dp=learner", "dp_noise=3", "encoding=paper"}, "dp needs encoding: weighted"},
		{{"dp=learner", "dp_noise=3", "weighting=samples"}, "dp needs weighting: equal"},
		{{"dp=learner", "dp_noise=3", "max_weight=2"}, "dp needs weighting: equal and max_weight: 1"},
		{{"dp=learner", "dp_noise=3", "metrics=aggregate"}, "dp needs metrics: local"},
		{{"dp=learner", "dp_noise=3", "decimals=4"}, "dp excludes decimals"},
		{{"dp=learner", "dp_noise=3", "privacy_check=warn"}, "dp needs privacy_check: enforce"},
		{{"dp=learner", "dp_noise=3", "unsafe_dump_model=true"}, "dp excludes --verify"},
		{{"dp=learner", "dp_noise=3", "dp_sampling=0.1"}, "dp_sampling needs dp: record"},
		{{"dp=learner", "dp_noise=0"}, "dp_noise"},
		{{"dp=learner", "dp_noise=3", "dp_clip=0"}, "dp_clip"},
		{{"dp=learner", "dp_noise=3", "dp_clip=-1"}, "dp_clip"},
		{{"dp=learner", "dp_noise=3", "dp_clip=1e-310"}, "dp_clip"},
		{{"dp=learner", "dp_noise=3", "dp_clip=nan"}, "dp_clip"},
		{{"dp=learner", "dp_noise=3", "dp_clip=inf"}, "dp_clip"},
		{{"dp_noise=3", "dp_clip=none", "dp_delta=none"}, "dp_noise needs dp:"},
		{{"dp_clip=1", "dp_delta=none"}, "dp_clip needs dp:"},
		{{"dp_clip=none", "dp_delta=1e-6"}, "dp_delta needs dp:"},
		{{"dp_epsilon=1", "dp_clip=none", "dp_delta=none"}, "dp_epsilon needs dp:"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sl_settings s;
		struct sl_error error = {0};
		const char *all[8] = {"max_weight=1", "dp_clip=1", "dp_delta=1e-6"};
		size_t count = 3;
		for (size_t k = 0; k < 3 && cases[i].set[k] != NULL; k++)
			all[count++] = cases[i].set[k];
		int rc = sl_settings_assign(all, count, &s, &error);
		assert_int_equal(rc == SL_OK, cases[i].part == NULL);
		if (cases[i].part != NULL && strstr(error.text, cases[i].part) == NULL)
			fail_msg("%s: %s", cases[i].part, error.text);
		if (rc == SL_OK) /* no range and no digits are chosen: the noise decides */
			assert_true(s.decimals == SL_DECIMALS_AUTO &&
				    s.clipping_range == SL_CLIPPING_RANGE_AUTO);
	}
}

TEST(dp_takes_a_range)
{
	static const char *const set[] = {"dp=learner",		"dp_clip=1",	 "dp_delta=1e-6",
					  "dp_noise=1",		"values=update", "clipping_range=0.5",
					  "trainer=application"};
	struct sl_settings s;
	struct sl_error error;
	assert_int_equal(sl_settings_assign(set, 7, &s, &error), SL_OK);
	assert_true(s.clipping_range == 0.5 && s.values == SL_VALUES_UPDATE);
}

/* delta below one in the number of what is hidden */
TEST(dp_delta_is_below_one_in_the_learners)
{
	static const char *set[] = {"dp=learner", "dp_clip=1", "dp_noise=1", "dp_delta=0.1"};
	struct sl_settings s;
	struct sl_error error;
	assert_int_equal(sl_settings_assign(set, 4, &s, &error), SL_OK);
	assert_int_equal(sl_settings_size(&s, 9, &error), SL_OK);
	assert_int_equal(sl_settings_size(&s, 10, &error), SL_ERR_REFUSED);
	assert_non_null(strstr(error.text, "dp_delta: 0.1 must be below one in 10"));
}

/* Or no learner would start with what `starling group set` has signed. */
TEST(dp_noise_keeps_the_budget_for_one_round)
{
	static const char *set[] = {"dp=record",  "dp_clip=1",		 "dp_delta=1e-5",
				    "dp_noise=2", "trainer=application", "dp_epsilon=2.1"};
	struct sl_settings s;
	struct sl_error error;
	assert_int_equal(sl_settings_assign(set, 6, &s, &error), SL_OK);
	assert_int_equal(sl_settings_size(&s, 10, &error), SL_OK);
	s.dp_noise = 1.9;
	assert_int_equal(sl_settings_size(&s, 10, &error), SL_ERR_REFUSED);
	assert_non_null(strstr(error.text, "dp_noise: 1.9 spends more than dp_epsilon: 2.1 in one round"));
	s.dp_sampling = 0.01;
	assert_int_equal(sl_settings_size(&s, 10, &error), SL_OK);
	s.dp_sampling = 1;
	s.dp_epsilon = 0; /* no budget */
	assert_int_equal(sl_settings_size(&s, 10, &error), SL_OK);
}
