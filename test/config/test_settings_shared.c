/* Settings that are one for all learners: those of the roster beside those of a machine, their hash, and
 * which may follow which. */
#include "test/config/settings_folder.h"
#include "test/lib/test.h"

#include "common/config/settings_table.h"

#define HEAD "run: r\nid: 3\nroster: roster.yaml\nidentity: id\nstate: state\n" /* lines 1 to 5 */

static struct sl_setting_text in_roster[] = {{"rounds", "7"}, {"quorum", "all"}, {"epochs", "3"}};

static int give_roster(void *context, const char *path, const struct sl_settings *own,
		       struct sl_setting_list *list, struct sl_error *error)
{
	(void)own;
	(void)error;
	assert_string_equal(path, "roster.yaml");
	list->items = in_roster;
	list->count = *(uint32_t *)context;
	return SL_OK;
}

/* Load `text` beside a roster with the first `count` settings. */
static int load_beside(const char *text, uint32_t count, struct sl_settings *settings, struct sl_error *error)
{
	folder_put("c.yaml", text);
	*error = (struct sl_error){0};
	return sl_settings_load("c.yaml", NULL, 0, give_roster, &count, settings, error);
}

/* What the roster says of this machine is a proposal to newcomers only. */
TEST_WITH(shared_settings_are_those_of_the_roster, folder_enter, folder_leave)
{
	struct sl_settings s;
	struct sl_error error;
	assert_int_equal(load_beside(HEAD, 3, &s, &error), SL_OK);
	assert_int_equal(s.rounds, 7);
	assert_true(s.quorum == SL_QUORUM_ALL && s.epochs == 5 && s.stall_timeout == 10);
	assert_int_equal(load_beside(HEAD "rounds: 7\nstall_timeout: 10.0\nepochs: 9\n", 3, &s, &error),
			 SL_OK);
	assert_int_equal(s.epochs, 9);
}

/* .. also where the roster leaves the default. */
TEST_WITH(another_shared_value_is_refused, folder_enter, folder_leave)
{
	struct sl_settings s;
	struct sl_error error;
	assert_int_equal(load_beside(HEAD "quorum: majority\n", 2, &s, &error), SL_ERR_INVALID);
	assert_string_equal(
		error.text,
		"c.yaml:6:9: quorum is one for all learners and stands in the roster: roster.yaml has "
		"all, not majority; leave it out here, and change it with starling group set");
	assert_int_equal(load_beside(HEAD "rounds: 8\n", 0, &s, &error), SL_ERR_INVALID);
	assert_string_equal(
		error.text,
		"c.yaml:6:9: rounds is one for all learners and stands in the roster: roster.yaml has "
		"10 (the default), not 8; leave it out here, and change it with starling group set");
}

TEST_WITH(shared_settings_are_checked, folder_enter, folder_leave)
{
	static struct sl_setting_text wrong[] = {
		{"rounds", "many"}, {"colour", "blue"}, {"weighting", "samples"}};
	struct sl_setting_list list = {"r.yaml", wrong, 1};
	struct sl_settings s;
	struct sl_error error;
	uint8_t hash[SL_HASH_BYTES];
	assert_int_equal(sl_settings_hash(&list, hash, &error), SL_ERR_RANGE);
	assert_string_equal(error.text,
			    "r.yaml: settings: rounds must be a whole number from 1 to 1000000, not 'many'");
	list.items = wrong + 1;
	assert_int_equal(sl_settings_hash(&list, hash, &error), SL_ERR_INVALID);
	struct sl_setting_text kept = in_roster[0];
	in_roster[0] = wrong[2];
	assert_int_equal(load_beside(HEAD, 1, &s, &error), SL_ERR_INVALID);
	in_roster[0] = kept;
	assert_string_equal(error.text,
			    "roster.yaml: weighting: samples needs max_weight, a public bound on any "
			    "learner's samples");
}

/* The hash is one of values: not of their spelling, and not of what is of a machine. */
TEST(the_hash_covers_each_shared_value)
{
	static const struct {
		struct sl_setting_text item;
		bool same;
	} rows[] = {{{"rounds", "10"}, true},	      {{"rounds", "11"}, false},
		    {{"stall_timeout", "1e1"}, true}, {{"stall_timeout", "10.000000000000002"}, false},
		    {{"quorum", "majority"}, true},   {{"quorum", "3"}, false},
		    {{"epochs", "9"}, true},	      {{"membership_change", "wait"}, false}};
	uint8_t usual[SL_HASH_BYTES], hash[SL_HASH_BYTES];
	struct sl_error error = {0};
	assert_int_equal(sl_settings_hash(&(struct sl_setting_list){.path = "r"}, usual, &error), SL_OK);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct sl_setting_list list = {"r", &rows[i].item, 1};
		assert_int_equal(sl_settings_hash(&list, hash, &error), SL_OK);
		assert_int_equal(memcmp(hash, usual, sizeof hash) == 0, rows[i].same);
	}
}

TEST(settings_that_are_not_usual_can_be_read_again)
{
	static const char *const set[] = {"quorum=all", "stall_timeout=0.1", "epochs=3", "rounds=10"};
	struct sl_setting_text items[SL_SETTINGS_SHARED_MAX];
	struct sl_settings s;
	struct sl_error error;
	assert_int_equal(sl_settings_assign(set, 4, &s, &error), SL_OK);
	s.values = SL_VALUES_AUTO; /* as before it is chosen */
	assert_int_equal(sl_settings_differing(&s, items, &error), 2);
	assert_string_equal(items[0].key, "quorum");
	assert_string_equal(items[0].value, "all");
	assert_string_equal(items[1].key, "stall_timeout");
	assert_string_equal(items[1].value, "0.10000000000000001");
}

/* A learner under an earlier roster has its settings, and none of the present one. */
TEST(all_shared_settings_are_replaced)
{
	static const char *const set[] = {"rounds=5", "quorum=3", "epochs=2", "values=model"};
	struct sl_settings s;
	struct sl_error error;
	const struct sl_setting_list list = {"r", in_roster, 1};
	assert_int_equal(sl_settings_assign(set, 4, &s, &error), SL_OK);
	assert_int_equal(sl_settings_share(&s, &list, &error), SL_OK);
	assert_true(s.rounds == 7 && s.quorum == SL_QUORUM_MAJORITY && s.epochs == 2);
	assert_true(s.values == SL_VALUES_UPDATE && s.decimals == SL_DECIMALS_AUTO);
}

/* Settings of the round may change in mid-run, but not those that the last result depends on. */
TEST(settings_that_may_follow_others)
{
	static const struct {
		const char *now, *next;
		bool fits;
	} rows[] = {{"quorum=all", "quorum=majority", true},
		    {"tolerance=1", "tolerance=2", true},
		    {"forgetful=no", "forgetful=yes", true},
		    {"update_bits=12", "update_bits=8", true},
		    {"decimals=4", "decimals=6", true},
		    {"values=update", "values=auto", true},
		    {"values=model", "values=update", false},
		    {"values=auto", "modulus=2305843009213693951", false},
		    {"hidden_units=32", "hidden_units=33", false},
		    {"metrics=local", "metrics=aggregate", false},
		    {"seed=1", "seed=2", false}};
	struct sl_settings now, next;
	struct sl_error error;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(sl_settings_assign(&rows[i].now, 1, &now, &error), SL_OK);
		assert_int_equal(sl_settings_assign(&rows[i].next, 1, &next, &error), SL_OK);
		assert_int_equal(sl_settings_follow(&now, &next, &error) == SL_OK, rows[i].fits);
	}
}

TEST(a_roster_may_be_too_small)
{
	static const char *const warn = "privacy_check=warn";
	struct sl_settings s;
	struct sl_error error;
	assert_int_equal(sl_settings_assign(NULL, 0, &s, &error), SL_OK);
	assert_int_equal(sl_settings_size(&s, 3, &error), SL_OK);
	assert_int_equal(sl_settings_size(&s, 2, &error), SL_ERR_REFUSED);
	assert_non_null(strstr(error.text, "it takes 3 learners, or privacy_check: warn"));
	s.dp = SL_DP_USE_RECORD; /* refuses privacy_check: warn */
	assert_int_equal(sl_settings_size(&s, 2, &error), SL_ERR_REFUSED);
	assert_null(strstr(error.text, "warn"));
	assert_int_equal(sl_settings_assign(&warn, 1, &s, &error), SL_OK);
	assert_int_equal(sl_settings_size(&s, 2, &error), SL_OK);
}
