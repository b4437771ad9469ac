/* Every bad configuration is one line that says where and why. A quoted word begins after its quote. */
#include "test/config/settings_folder.h"
#include "test/lib/test.h"

#include "common/config/settings.h"

#define HEAD "run: r\nid: 3\nroster: roster.yaml\nidentity: id\nstate: state\n" /* lines 1 to 5 */

static int load(const char *text, struct sl_settings *settings, struct sl_error *error)
{
	folder_put("c.yaml", text);
	return sl_settings_load("c.yaml", NULL, 0, settings, error);
}

static void expect_error(const char *text, const char *message)
{
	struct sl_settings s;
	struct sl_error error = {0};
	assert_int_not_equal(load(text, &s, &error), SL_OK);
	assert_string_equal(error.text, message);
}

static void expect_set_error(const char *assignment, const char *message)
{
	struct sl_error error = {0};
	assert_int_not_equal(sl_settings_check(assignment, &error), SL_OK);
	assert_string_equal(error.text, message);
}

TEST_WITH(gives_defaults, folder_enter, folder_leave)
{
	struct sl_settings s;
	assert_int_equal(load(HEAD, &s, NULL), SL_OK);
	assert_string_equal(s.run, "r");
	assert_int_equal(s.id, 3);
	assert_string_equal(s.listen, "");
	assert_string_equal(s.control, "state/control.sock");
	assert_string_equal(s.log, "-");
	assert_string_equal(s.data, "digits");
	assert_int_equal(s.log_level, 1);
	assert_int_equal(s.rounds, 10);
	assert_int_equal(s.quorum, 0);
	assert_int_equal(s.p, 0);
	assert_int_equal(s.decimals, 4);
	assert_true(s.clipping_range == 16.0);
	assert_false(s.clamp || s.weight_samples || s.unsafe_dump_encoding);
	assert_int_equal(s.max_weight, 1);
	assert_int_equal(s.encoding, SL_ENCODING_WEIGHTED);
	assert_int_equal(s.sharing, SL_SHARING_SHAMIR);
	assert_int_equal(s.randomness, SL_RANDOMNESS_PRG);
	assert_int_equal(s.in_range, SL_RANGE_ROSTER);
	assert_true(s.straggler_timeout == 60 && s.hello_timeout == 2 && s.agreement_timeout == 10 &&
		    s.stall_timeout == 10);
	assert_true(s.prepare_timeout == 60 && s.confirm_timeout == 10 && s.serve_after_end == 30);
	assert_int_equal(s.trainer, SL_TRAINER_AUTOENCODER);
	assert_int_equal(s.size, 100000);
	assert_int_equal(s.split, SL_SPLIT_IID);
	assert_int_equal(s.hidden_units, 32);
	assert_true(s.learning_rate == 0.02);
	assert_int_equal(s.batch, 10);
	assert_int_equal(s.epochs, 5);
	assert_int_equal(s.seed, 1);
}

TEST_WITH(takes_every_kind, folder_enter, folder_leave)
{
	struct sl_settings s;
	assert_int_equal(
		load(HEAD
		     "p: 17592186044399\nquorum: majority\nclip: 2.5e1\nclip_policy: clamp\n"
		     "weight: samples\nmax_weight: 6000\nunsafe_reveal: true\nseed: 18446744073709551615\n"
		     "listen: \"[::1]:7400\"\nlog_level: warn\nsharing: additive\ncoins: os\nin_range: "
		     "told\n",
		     &s, NULL),
		SL_OK);
	assert_true(s.p == UINT64_C(17592186044399) && s.seed == UINT64_MAX);
	assert_true(s.quorum == UINT32_MAX && s.clipping_range == 25.0 && s.max_weight == 6000);
	assert_true(s.clamp && s.weight_samples && s.unsafe_dump_encoding);
	assert_string_equal(s.listen, "[::1]:7400");
	assert_int_equal(s.log_level, 2);
	assert_int_equal(s.sharing, SL_SHARING_ADDITIVE);
	assert_int_equal(s.randomness, SL_RANDOMNESS_OS);
	assert_int_equal(s.in_range, SL_RANGE_CONTROL);
}

TEST_WITH(paths_follow_the_file, folder_enter, folder_leave)
{
	struct sl_settings s;
	mkdir("etc", 0700);
	folder_put("etc/c.yaml", HEAD "log: log.jsonl\ndata: /srv/mnist\n");
	assert_int_equal(sl_settings_load("etc/c.yaml", NULL, 0, &s, NULL), SL_OK);
	assert_string_equal(s.roster, "etc/roster.yaml");
	assert_string_equal(s.identity, "etc/id");
	assert_string_equal(s.control, "etc/state/control.sock");
	assert_string_equal(s.log, "etc/log.jsonl");
	assert_string_equal(s.data, "/srv/mnist");
}

TEST_WITH(overrides_win, folder_enter, folder_leave)
{
	static const char *const set[] = {"rounds=3", "p=1020431", "rounds=4", "log=-"};
	static const char *const bad[] = {"sigma=13"};
	struct sl_settings s;
	struct sl_error error = {0};
	folder_put("c.yaml", HEAD "rounds: 2\nlog: x\n");
	assert_int_equal(sl_settings_load("c.yaml", set, 4, &s, &error), SL_OK);
	assert_int_equal(s.rounds, 4);
	assert_int_equal(s.p, 1020431);
	assert_string_equal(s.log, "-");
	assert_int_equal(sl_settings_load("c.yaml", bad, 1, &s, &error), SL_ERR_RANGE);
	assert_string_equal(error.text,
			    "--set sigma=13: sigma must be a whole number from 0 to 12, not '13'");
}

TEST_WITH(refuses_keys, folder_enter, folder_leave)
{
	expect_error(HEAD "sigmma: 4\n", "c.yaml:6:1: unknown key 'sigmma'; did you mean 'sigma'?");
	expect_error(HEAD "colour: blue\n", "c.yaml:6:1: unknown key 'colour'");
	expect_error(HEAD "id: 4\n", "c.yaml:6:1: duplicate key 'id', first given in line 2");
	expect_error("run: r\n\"run\": s\n", "c.yaml:2:2: duplicate key 'run', first given in line 1");
	expect_error("id: 3\n",
		     "c.yaml: missing key 'run' (name of the run; learners of different runs never share)");
	expect_error("run: r\nid: 3\nidentity: i\nstate: s\n",
		     "c.yaml: missing key 'roster' (file that lists the learners)");
}

TEST_WITH(refuses_numbers, folder_enter, folder_leave)
{
	expect_error("run: r\nid: 0\n",
		     "c.yaml:2:5: id must be a whole number from 1 to 4294967295, not '0'");
	expect_error("id: -1\n", "c.yaml:1:5: id must be a whole number from 1 to 4294967295, not '-1'");
	expect_error("id: 4294967296\n",
		     "c.yaml:1:5: id must be a whole number from 1 to 4294967295, not '4294967296'");
	expect_error("rounds: 10abc\n",
		     "c.yaml:1:9: rounds must be a whole number from 1 to 1000000, not '10abc'");
	expect_error("rounds: 1.5\n",
		     "c.yaml:1:9: rounds must be a whole number from 1 to 1000000, not '1.5'");
	expect_error("seed: 18446744073709551616\n", "c.yaml:1:7: seed must be a whole number from 0 to "
						     "18446744073709551615, not '18446744073709551616'");
	expect_error("sigma: 13\n", "c.yaml:1:8: sigma must be a whole number from 0 to 12, not '13'");
	expect_error("clip: 0\n",
		     "c.yaml:1:7: clip must be a number greater than 0 and at most 1e+09, not '0'");
	expect_error("clip: inf\n",
		     "c.yaml:1:7: clip must be a number greater than 0 and at most 1e+09, not 'inf'");
	expect_error("clip: nan\n",
		     "c.yaml:1:7: clip must be a number greater than 0 and at most 1e+09, not 'nan'");
	expect_error("clip: 1e999\n",
		     "c.yaml:1:7: clip must be a number greater than 0 and at most 1e+09, not '1e999'");
	expect_error("linger: -1\n", "c.yaml:1:9: linger must be a number from 0 to 86400, not '-1'");
}

TEST_WITH(refuses_moduli, folder_enter, folder_leave)
{
	expect_error("p: 15\n", "c.yaml:1:4: p: 15 is not a prime");
	expect_error("p: 2\n", "c.yaml:1:4: p must be auto or a prime, 2 < p < 2^61, not '2'");
	expect_error("p: 2305843009213693952\n",
		     "c.yaml:1:4: p must be auto or a prime, 2 < p < 2^61, not '2305843009213693952'");
	expect_error(HEAD "p: 3\n", "c.yaml:2:5: id 3 must be less than p, which is 3");
}

TEST_WITH(refuses_words, folder_enter, folder_leave)
{
	expect_error("weight: sample\n", "c.yaml:1:9: weight must be one of equal, samples, not 'sample'");
	expect_error("unsafe_reveal: yes\n",
		     "c.yaml:1:16: unsafe_reveal must be one of false, true, not 'yes'");
	expect_error("quorum: most\n",
		     "c.yaml:1:9: quorum must be all, majority or a whole number from 1 to 2000, "
		     "not 'most'");
	expect_error(HEAD "weight: samples\n",
		     "c.yaml:6:9: weight: samples needs max_weight, a public bound on any learner's samples");
	expect_error("sharing: shared\n",
		     "c.yaml:1:10: sharing must be one of shamir, additive, seeded, not 'shared'");
	expect_error(HEAD "coins: os\nsharing: seeded\n",
		     "c.yaml:6:8: sharing: seeded sends the keys that coins are drawn from, and coins: os "
		     "draws them from none");
	expect_error("run: a/b\n",
		     "c.yaml:1:6: run: 'a/b' is not a name; letters, digits, '.', '_' and '-' are allowed");
	expect_error("listen: 7400\n",
		     "c.yaml:1:9: listen: '7400' is not an address; expected HOST:PORT or [IPV6]:PORT");
	expect_error("listen: h:0\n",
		     "c.yaml:1:9: listen: 'h:0' is not an address; the port must be 1 to 65535");
}

TEST_WITH(refuses_shapes, folder_enter, folder_leave)
{
	expect_error("", "c.yaml:1:1: holds no YAML");
	expect_error("# nothing\n", "c.yaml:1:1: holds no YAML");
	expect_error("- run\n", "c.yaml:1:1: expected 'key: value' lines");
	expect_error("id:\n", "c.yaml:1:1: key 'id' has no value");
	expect_error("run: \"\"\n", "c.yaml:1:1: key 'run' has no value");
	expect_error("id: [1]\n", "c.yaml:1:5: the value of 'id' must be a single word or number");
	expect_error("run: &a r\nstate: *a\n",
		     "c.yaml:2:9: the value of 'state' must be a single word or number");
	expect_error("run: \"a\\0b\"\n", "c.yaml:1:7: the value of 'run' must be a single word or number");
	expect_error("run: r\n---\nid: 3\n", "c.yaml:3:1: a second document; only one is read");
	expect_error("run: r\n  id: 3\n", "c.yaml:1:6: invalid multiline plain key");
}

TEST_WITH(refuses_files, folder_enter, folder_leave)
{
	struct sl_settings s;
	struct sl_error error = {0};
	assert_int_equal(sl_settings_load("none.yaml", NULL, 0, &s, &error), SL_ERR_NOTFOUND);
	assert_string_equal(error.text, "none.yaml: No such file or directory");
	assert_int_equal(sl_settings_load(".", NULL, 0, &s, &error), SL_ERR_IO);
	assert_string_equal(error.text, ".: Is a directory");
}

TEST_WITH(refuses_a_long_socket, folder_enter, folder_leave)
{
	char text[512], message[512];
	snprintf(text, sizeof text, HEAD "control: /%0*d\n", 120, 0);
	snprintf(message, sizeof message,
		 "c.yaml:6:10: the path of the control socket has 121 bytes, and only 107 are possible; set "
		 "'control'");
	expect_error(text, message);
}

TEST_WITH(checks_assignments, folder_enter, folder_leave)
{
	assert_int_equal(sl_settings_check("hidden=1", NULL), SL_OK);
	expect_set_error("hiden=1", "--set hiden=1: unknown key 'hiden'; did you mean 'hidden'?");
	expect_set_error("hidden", "--set hidden: expected KEY=VALUE");
	expect_set_error("hidden=", "--set hidden=: expected KEY=VALUE");
	expect_set_error("=1", "--set =1: expected KEY=VALUE");
	expect_set_error("p=9", "--set p=9: p: 9 is not a prime");
}

TEST_WITH(asks_for_a_majority, folder_enter, folder_leave)
{
	struct sl_settings s = {.quorum = 0};
	struct sl_error error = {0};
	uint32_t quorum = 0;
	assert_int_equal(sl_settings_quorum(&s, 10, &quorum, &error), SL_OK);
	assert_int_equal(quorum, 10);
	s.quorum = UINT32_MAX;
	assert_int_equal(sl_settings_quorum(&s, 10, &quorum, &error), SL_OK);
	assert_int_equal(quorum, 6);
	s.quorum = 5;
	assert_int_equal(sl_settings_quorum(&s, 10, &quorum, &error), SL_ERR_RANGE);
	assert_string_equal(error.text,
			    "quorum: 5 is less than a majority of the 10 learners in the roster, which is 6");
	s.quorum = 11;
	assert_int_equal(sl_settings_quorum(&s, 10, &quorum, &error), SL_ERR_RANGE);
	assert_string_equal(error.text, "quorum: 11 is more than the 10 learners in the roster");
	s.quorum = 5;
	assert_int_equal(sl_settings_quorum(&s, 9, &quorum, &error), SL_OK);
}

/* Line by line: what the deployed example comments out must be a key too, with its default. */
static void uncomment(const char *from, const char *to)
{
	char line[512];
	FILE *in = fopen(from, "re"), *out = fopen(to, "we");
	assert_non_null(in);
	assert_non_null(out);
	while (fgets(line, sizeof line, in))
		fputs(line[0] == '#' && line[1] != ' ' && strchr(line, ':') ? line + 1 : line, out);
	fclose(in);
	fclose(out);
}

static size_t count_keys(const char *path)
{
	char line[512];
	size_t n = 0;
	FILE *in = fopen(path, "re");
	assert_non_null(in);
	while (fgets(line, sizeof line, in))
		n += line[0] >= 'a' && line[0] <= 'z';
	fclose(in);
	return n;
}

static size_t count_reference(void)
{
	FILE *out = fopen("reference", "w+e");
	size_t n = 0;
	assert_non_null(out);
	sl_settings_reference(out);
	rewind(out);
	for (int c; (c = fgetc(out)) != EOF;)
		n += c == '\n';
	fclose(out);
	return n;
}

TEST_WITH(deployed_example_loads, folder_enter, folder_leave)
{
	struct sl_settings s;
	struct sl_error error = {0};
	const char *deployed = SL_SOURCE_ROOT "/deploy/starlingd.yaml";
	if (sl_settings_load(deployed, NULL, 0, &s, &error) != SL_OK)
		fail_msg("%s", error.text);
	uncomment(deployed, "all.yaml");
	if (sl_settings_load("all.yaml", NULL, 0, &s, &error) != SL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(count_keys("all.yaml"), count_reference());
}
