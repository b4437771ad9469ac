/* Settings: defaults, values, and one-line errors with place and cause. The place of a quoted word is that
 * behind its quote. */
#include "test/config/settings_folder.h"
#include "test/lib/test.h"

#include "common/base/real.h"
#include "common/config/settings_table.h"
#include "common/config/yaml.h"

#define HEAD "run: r\nid: 3\nroster: roster.yaml\nidentity: id\nstate: state\n" /* lines 1 to 5 */

static int load(const char *text, struct sl_settings *settings, struct sl_error *error)
{
	folder_put("c.yaml", text);
	return sl_settings_load("c.yaml", NULL, 0, NULL, NULL, settings, error);
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

/* deploy/starlingd.yaml, below, shows all of them. */
TEST_WITH(gives_defaults, folder_enter, folder_leave)
{
	struct sl_settings s;
	assert_int_equal(load(HEAD, &s, NULL), SL_OK);
	assert_string_equal(s.run, "r");
	assert_int_equal(s.id, 3);
	assert_string_equal(s.listen, "");
	assert_string_equal(s.control, "state/control.sock");
	assert_string_equal(s.log, "-");
	assert_int_equal(s.rounds, 10);
	assert_true(s.quorum == SL_QUORUM_MAJORITY && s.modulus == SL_MODULUS_AUTO &&
		    s.values == SL_VALUES_UPDATE && s.clipping_range == SL_CLIPPING_RANGE_AUTO);
	assert_int_equal(s.privacy_check, SL_PRIVACY_ENFORCE);
	assert_false(s.unsafe_dump_model);
	assert_int_equal(s.hidden_units, 32);
}

TEST_WITH(takes_every_kind, folder_enter, folder_leave)
{
	struct sl_settings s;
	assert_int_equal(
		load(HEAD
		     "modulus: 17592186044399\nquorum: majority\nclipping_range: 2.5e1\nclipping: clamp\n"
		     "weighting: samples\nmax_weight: 6000\nunsafe_dump_model: true\nseed: "
		     "18446744073709551615\n"
		     "listen: \"[::1]:7400\"\nlog_level: warn\nsharing: os\nneighbours: control\n",
		     &s, NULL),
		SL_OK);
	assert_true(s.modulus == UINT64_C(17592186044399) && s.seed == UINT64_MAX);
	assert_true(s.quorum == UINT32_MAX && s.clipping_range == 25.0 && s.max_weight == 6000);
	assert_true(s.clipping == SL_CLIPPING_CLAMP && s.weighting == SL_WEIGHTING_SAMPLES &&
		    s.unsafe_dump_model);
	assert_string_equal(s.listen, "[::1]:7400");
	assert_int_equal(s.log_level, 2);
	assert_int_equal(s.sharing, SL_SHARING_OS);
	assert_int_equal(s.neighbours, SL_NEIGHBOURS_CONTROL);
}

TEST_WITH(paths_follow_the_file, folder_enter, folder_leave)
{
	struct sl_settings s;
	mkdir("etc", 0700);
	folder_put("etc/c.yaml", HEAD "log: log.jsonl\ndata: /srv/mnist\n");
	assert_int_equal(sl_settings_load("etc/c.yaml", NULL, 0, NULL, NULL, &s, NULL), SL_OK);
	assert_string_equal(s.roster, "etc/roster.yaml");
	assert_string_equal(s.identity, "etc/id");
	assert_string_equal(s.control, "etc/state/control.sock");
	assert_string_equal(s.log, "etc/log.jsonl");
	assert_string_equal(s.data, "/srv/mnist");
}

TEST_WITH(overrides_win, folder_enter, folder_leave)
{
	static const char *const set[] = {"rounds=3", "modulus=1020431", "rounds=4", "log=-"};
	static const char *const bad[] = {"decimals=13"};
	struct sl_settings s;
	struct sl_error error = {0};
	folder_put("c.yaml", HEAD "rounds: 2\nlog: x\n");
	assert_int_equal(sl_settings_load("c.yaml", set, 4, NULL, NULL, &s, &error), SL_OK);
	assert_int_equal(s.rounds, 4);
	assert_int_equal(s.modulus, 1020431);
	assert_string_equal(s.log, "-");
	assert_int_equal(sl_settings_load("c.yaml", bad, 1, NULL, NULL, &s, &error), SL_ERR_RANGE);
	assert_string_equal(
		error.text,
		"--set decimals=13: decimals must be auto or a whole number from 0 to 12, not '13'");
}

TEST_WITH(refuses_keys, folder_enter, folder_leave)
{
	expect_error(HEAD "decimls: 4\n", "c.yaml:6:1: unknown key 'decimls'; did you mean 'decimals'?");
	expect_error(HEAD "colour: blue\n",
		     "c.yaml:6:1: unknown key 'colour'; `starlingd --settings` lists all keys");
	expect_error(HEAD "id: 4\n", "c.yaml:6:1: duplicate key 'id', first given in line 2");
	expect_error("run: r\n\"run\": s\n", "c.yaml:2:2: duplicate key 'run', first given in line 1");
	expect_error("id: 3\n", "c.yaml: missing key 'run': Name of the run; learners of different runs "
				"never exchange shares.");
	expect_error("run: r\nid: 3\nidentity: i\nstate: s\n",
		     "c.yaml: missing key 'roster': File with one line for each learner that may take part.");
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
	expect_error("decimals: 13\n",
		     "c.yaml:1:11: decimals must be auto or a whole number from 0 to 12, not '13'");
	expect_error("stall_timeout: 0.09\n",
		     "c.yaml:1:16: stall_timeout must be a number from 0.1 to 86400, not '0.09'");
	expect_error("clipping_range: 0\n", "c.yaml:1:17: clipping_range must be auto or a number greater "
					    "than 0 and at most 1e+09, not '0'");
	expect_error("clipping_range: inf\n", "c.yaml:1:17: clipping_range must be auto or a number greater "
					      "than 0 and at most 1e+09, not 'inf'");
	expect_error("clipping_range: nan\n", "c.yaml:1:17: clipping_range must be auto or a number greater "
					      "than 0 and at most 1e+09, not 'nan'");
	expect_error("clipping_range: 1e999\n", "c.yaml:1:17: clipping_range must be auto or a number "
						"greater than 0 and at most 1e+09, not '1e999'");
	expect_error("serve_after_end: -1\n",
		     "c.yaml:1:18: serve_after_end must be a number from 0 to 86400, not '-1'");
}

TEST_WITH(refuses_moduli, folder_enter, folder_leave)
{
	expect_error("modulus: 15\n", "c.yaml:1:10: modulus: 15 is not a prime");
	expect_error("modulus: 2\n",
		     "c.yaml:1:10: modulus must be auto or a prime between 2 and 2^61, not '2'");
	expect_error(
		"modulus: 2305843009213693952\n",
		"c.yaml:1:10: modulus must be auto or a prime between 2 and 2^61, not '2305843009213693952'");
	expect_error(HEAD "modulus: 3\n", "c.yaml:2:5: id 3 must be less than modulus, which is 3");
}

TEST_WITH(refuses_words, folder_enter, folder_leave)
{
	expect_error("weighting: sample\n",
		     "c.yaml:1:12: weighting must be one of equal, samples, not 'sample'");
	expect_error("unsafe_dump_model: yes\n",
		     "c.yaml:1:20: unsafe_dump_model must be one of false, true, not 'yes'");
	expect_error("quorum: most\n",
		     "c.yaml:1:9: quorum must be all, majority or a whole number from 1 to 2000, "
		     "not 'most'");
	expect_error(
		HEAD "weighting: samples\n",
		"c.yaml:6:12: weighting: samples needs max_weight, a public bound on any learner's samples");
	expect_error("sharing: shared\n",
		     "c.yaml:1:10: sharing must be one of shamir, os, seeded, not 'shared'");
	expect_set_error("forgetful=2", "--set forgetful=2: forgetful must be one of no, yes, not '2'");
	expect_error("run: a/b\n",
		     "c.yaml:1:6: run: 'a/b' is not a name; letters, digits, '.', '_' and '-' are allowed");
	expect_error("listen: 7400\n",
		     "c.yaml:1:9: listen: '7400' is not an address; expected HOST:PORT or [IPV6]:PORT");
	expect_error(
		"accept_roster: zzz\n",
		"c.yaml:1:16: accept_roster must be 8 to 64 hexadecimal digits in lower case, not 'zzz'");
	expect_set_error("accept_roster=0123abc", "--set accept_roster=0123abc: accept_roster must be 8 to "
						  "64 hexadecimal digits in lower case, not '0123abc'");
	expect_error("listen: h:0\n",
		     "c.yaml:1:9: listen: 'h:0' is not an address; the port must be 1 to 65535");
	expect_error("listen: h:1,h:2\n",
		     "c.yaml:1:9: listen: 'h:1,h:2' is not an address; expected HOST:PORT or [IPV6]:PORT");
}

TEST_WITH(refuses_shapes, folder_enter, folder_leave)
{
	expect_error("", "c.yaml:1:1: the file is empty");
	expect_error("# nothing\n", "c.yaml:1:1: the file is empty");
	expect_error("- run\n", "c.yaml:1:1: expected 'key: value' lines");
	expect_error("id:\n", "c.yaml:1:1: key 'id' has no value");
	expect_error("run: \"\"\n", "c.yaml:1:1: key 'run' has no value");
	expect_error("id: [1]\n", "c.yaml:1:5: the value of 'id' must be a single word or number");
	expect_error("run: &a r\nstate: *a\n",
		     "c.yaml:2:9: the value of 'state' must be a single word or number");
	expect_error("run: \"a\\0b\"\n", "c.yaml:1:7: the value of 'run' must be a single word or number");
	expect_error("run: r\n---\nid: 3\n",
		     "c.yaml:3:1: a second document starts here; a file must have one");
	expect_error("run: {\n", "c.yaml:2:1: did not find expected node content");
}

/* The line of the mistake and its likely cause, where libfyaml names another line or only a symptom. */
TEST_WITH(explains_syntax, folder_enter, folder_leave)
{
	static const char colon[] = "no colon with a space behind it: expected 'key: value'";
	char message[128];
	static const struct {
		const char *text;
		int line;
	} missing[] = {{"run: r\nid 3\n", 2},
		       {"run: r\nid 3\nroster: x\n", 2},
		       {"id 3\nrun: r\n", 1},
		       {"id:3\nrun: r\n", 1},
		       {"# c\n\nrun: r # x\n\n# y: z\nid 3 # n: m\nroster: y", 6},
		       {"rounds: 5\nquorum", 2}};
	for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
		snprintf(message, sizeof message, "c.yaml:%d:1: %s", missing[i].line, colon);
		expect_error(missing[i].text, message);
	}
	expect_error("run: r\n  id: 3\n", "c.yaml:2:1: the line is indented further than the one before");
	expect_error("run: r\n\tid: 3\n", "c.yaml:2:1: the line is indented by a tab; use spaces");
	expect_error("run: r: s\n", "c.yaml:1:7: invalid nested block mapping on the same line");
}

/* libfyaml 0.7 never returns from a directive with a byte above 127. */
TEST_WITH(refuses_bytes, folder_enter, folder_leave)
{
	static const char *const bad[] = {"\xe9",
					  "\xc0\xaf",
					  "\xe0\x9f\xbf",
					  "\xed\xa0\x80",
					  "\xf4\x90\x80\x80",
					  "\xf5\x80\x80\x80",
					  "\xe2\x82",
					  "\x80"};
	char text[64], message[128];
	struct sl_settings s;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		snprintf(text, sizeof text, "run: r\nid: %s\n", bad[i]);
		snprintf(message, sizeof message,
			 "c.yaml:2:5: byte 0x%02x is not UTF-8 text; is this a YAML file?",
			 (unsigned char)bad[i][0]);
		expect_error(text, message);
	}
	expect_error("%a\xe9\n", "c.yaml:1:1: YAML directives (lines that start with %) are not supported");
	expect_error("%a\n", "c.yaml:1:1: YAML directives (lines that start with %) are not supported");
	expect_error("run: r\n%YAML 1.2\n",
		     "c.yaml:2:1: YAML directives (lines that start with %) are not supported");
	assert_int_equal(load(HEAD
			      "data: /\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa6\xed\x9f\xbf\xf4\x8f\xbf\xbf/%a\n",
			      &s, NULL),
			 SL_OK);
}

TEST_WITH(refuses_files, folder_enter, folder_leave)
{
	struct sl_settings s;
	struct sl_error error = {0};
	assert_int_equal(sl_settings_load("none.yaml", NULL, 0, NULL, NULL, &s, &error), SL_ERR_NOTFOUND);
	assert_string_equal(error.text, "none.yaml: No such file or directory");
	assert_int_equal(sl_settings_load(".", NULL, 0, NULL, NULL, &s, &error), SL_ERR_IO);
	assert_string_equal(error.text, ".: Is a directory");
}

TEST_WITH(refuses_files_that_are_too_long, folder_enter, folder_leave)
{
	struct sl_settings s;
	struct sl_error error = {0};
	int fd = open("config.yaml", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	dprintf(fd, "%s#%*s\n", HEAD, (int)(SL_YAML_BYTES_MAX - sizeof HEAD - 1), "");
	assert_int_equal(lseek(fd, 0, SEEK_CUR), SL_YAML_BYTES_MAX);
	assert_int_equal(sl_settings_load("config.yaml", NULL, 0, NULL, NULL, &s, &error), SL_OK);
	dprintf(fd, "\n");
	assert_int_equal(sl_settings_load("config.yaml", NULL, 0, NULL, NULL, &s, &error), SL_ERR_FULL);
	assert_string_equal(error.text, "config.yaml: longer than 1048576 bytes");
	close(fd);
}

TEST_WITH(refuses_a_long_socket, folder_enter, folder_leave)
{
	char text[512], message[512];
	snprintf(text, sizeof text, HEAD "control: /%0*d\n", 120, 0);
	snprintf(message, sizeof message,
		 "c.yaml:6:10: the path of the control socket has 121 bytes, more than the 107 possible; set "
		 "`control` to a shorter one");
	expect_error(text, message);
}

TEST_WITH(checks_assignments, folder_enter, folder_leave)
{
	assert_int_equal(sl_settings_check("hidden_units=1", NULL), SL_OK);
	expect_set_error("hiden_units=1",
			 "--set hiden_units=1: unknown key 'hiden_units'; did you mean 'hidden_units'?");
	expect_set_error("hidden_units", "--set hidden_units: expected KEY=VALUE");
	expect_set_error("hidden_units=", "--set hidden_units=: hidden_units has no value");
	expect_set_error("=1", "--set =1: expected KEY=VALUE");
	expect_set_error("modulus=9", "--set modulus=9: modulus: 9 is not a prime");
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
			    "quorum: 5 is too small for 10 learners in the roster with forgetful: no; set at "
			    "least 6");
	s.quorum = 11;
	assert_int_equal(sl_settings_quorum(&s, 10, &quorum, &error), SL_ERR_RANGE);
	assert_string_equal(error.text, "quorum: 11 is more than the 10 learners in the roster");
	s.quorum = 5;
	assert_int_equal(sl_settings_quorum(&s, 9, &quorum, &error), SL_OK);
}

/* Two views of the least quorum share more than f learners. */
TEST(forgetful_raises_the_least_quorum)
{
	static const struct {
		uint32_t roster_size, c, least; /* c 0: not forgetful */
	} rows[] = {{10, 0, 6}, {10, 1, 6}, {10, 2, 7}, {9, 0, 5}, {9, 1, 6}, {9, 8, 9}, {2, 1, 2}};
	struct sl_error error = {0};
	uint32_t quorum = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sl_settings s = {.quorum = SL_QUORUM_MAJORITY,
					.forgetful = rows[i].c > 0 ? SL_FORGETFUL_YES : SL_FORGETFUL_NO,
					.tolerance = rows[i].c};
		assert_int_equal(sl_settings_quorum(&s, rows[i].roster_size, &quorum, &error), SL_OK);
		assert_int_equal(quorum, rows[i].least);
		s.quorum = rows[i].least - 1;
		assert_int_equal(sl_settings_quorum(&s, rows[i].roster_size, &quorum, &error), SL_ERR_RANGE);
	}
	struct sl_settings s = {.forgetful = SL_FORGETFUL_YES, .tolerance = 9};
	assert_int_equal(sl_settings_quorum(&s, 9, &quorum, &error), SL_ERR_RANGE);
	assert_string_equal(error.text, "forgetful: yes needs more learners in the roster than tolerance: 9");
}

static FILE *print_to(const char *path, bool yaml)
{
	FILE *out = fopen(path, "w+e");
	assert_non_null(out);
	sl_settings_print(out, yaml);
	rewind(out);
	return out;
}

/* deploy/starlingd.yaml is what `starlingd --settings=yaml` prints. */
TEST_WITH(deployed_example_is_printed, folder_enter, folder_leave)
{
	char line[512], printed[512];
	struct sl_settings s;
	struct sl_error error = {0};
	const char *deployed = SL_SOURCE_ROOT "/deploy/starlingd.yaml";
	FILE *in = fopen(deployed, "re"), *out = print_to("printed", true);
	assert_non_null(in);
	while (fgets(printed, sizeof printed, out)) {
		assert_non_null(fgets(line, sizeof line, in));
		assert_string_equal(line, printed);
	}
	assert_null(fgets(line, sizeof line, in));
	fclose(in);
	fclose(out);
	assert_ok(sl_settings_load(deployed, NULL, 0, NULL, NULL, &s, &error), error);
}

/* A line of two spaces begins a setting, also where its description is long. */
TEST_WITH(reference_has_every_key, folder_enter, folder_leave)
{
	char line[256];
	size_t rows = 0;
	FILE *out = print_to("reference", false);
	while (fgets(line, sizeof line, out)) {
		assert_true(strlen(line) <= 101);
		if (strncmp(line, "  ", 2) != 0 || line[2] == ' ')
			continue;
		assert_int_equal(
			strncmp(line + 2, sl_settings_table[rows].key, strlen(sl_settings_table[rows].key)),
			0);
		rows++;
	}
	fclose(out);
	assert_int_equal(rows, SL_SETTINGS_ROWS);
}

/* Built-in trainers average updates, unless a number or an encoding for models is set; an application says.
 */
TEST_WITH(values_are_automatic, folder_enter, folder_leave)
{
	static const struct {
		const char *set;
		uint32_t values, decimals;
		double range;
	} cases[] = {{"rounds=3", SL_VALUES_UPDATE, SL_DECIMALS_AUTO, SL_CLIPPING_RANGE_AUTO},
		     {"trainer=noise", SL_VALUES_UPDATE, SL_DECIMALS_AUTO, SL_CLIPPING_RANGE_AUTO},
		     {"values=model", SL_VALUES_MODEL, 4, 16},
		     {"encoding=paper", SL_VALUES_MODEL, 4, 16},
		     {"decimals=5", SL_VALUES_MODEL, 5, 16},
		     {"clipping_range=8", SL_VALUES_MODEL, 4, 8},
		     {"modulus=1020431", SL_VALUES_MODEL, 4, 16},
		     {"dp=off", SL_VALUES_UPDATE, SL_DECIMALS_AUTO, SL_CLIPPING_RANGE_AUTO},
		     {"trainer=application", SL_VALUES_AUTO, SL_DECIMALS_AUTO, SL_CLIPPING_RANGE_AUTO}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct sl_settings s;
		struct sl_error error;
		assert_int_equal(sl_settings_assign(&cases[i].set, 1, &s, &error), SL_OK);
		assert_int_equal(s.values, cases[i].values);
		assert_int_equal(s.decimals, cases[i].decimals);
		assert_true(s.clipping_range == cases[i].range);
	}
}

/* Built-in trainers have a fixed precision with models; applications state what they need in each round. */
TEST_WITH(precision_is_automatic_for_applications, folder_enter, folder_leave)
{
	static const char *const models = "values=model";
	static const char *const set[] = {"trainer=application", "decimals=7", "clipping_range=auto"};
	static const char *const ranges[] = {"trainer=application", "clipping_range=8"};
	static const char *const paper[] = {"trainer=application", "encoding=paper", "decimals=7",
					    "clipping_range=16"};
	struct sl_settings s;
	struct sl_error error;
	assert_int_equal(sl_settings_assign(&models, 1, &s, &error), SL_OK);
	assert_int_equal(s.decimals, 4);
	assert_true(s.clipping_range == 16);
	assert_int_equal(sl_settings_assign(set, 1, &s, &error), SL_OK);
	assert_int_equal(s.decimals, SL_DECIMALS_AUTO);
	assert_true(s.clipping_range == SL_CLIPPING_RANGE_AUTO);
	assert_int_equal(sl_settings_assign(set, 3, &s, &error), SL_ERR_INVALID);
	assert_non_null(strstr(error.text, "decimals needs clipping_range"));
	assert_int_equal(sl_settings_assign(ranges, 2, &s, &error), SL_ERR_INVALID);
	assert_non_null(strstr(error.text, "clipping_range needs decimals"));
	assert_int_equal(sl_settings_assign(paper, 2, &s, &error), SL_ERR_INVALID);
	assert_non_null(strstr(error.text, "encoding: paper needs decimals and clipping_range"));
	assert_int_equal(sl_settings_assign(paper, 4, &s, &error), SL_OK);
	assert_int_equal(s.decimals, 7);
	assert_true(s.clipping_range == 16);
}

TEST_WITH(states_values, folder_enter, folder_leave)
{
	char text[SL_VALUE_TEXT_BYTES];
	assert_string_equal(sl_settings_value("encoding", SL_ENCODING_PAPER, text), "paper");
	assert_string_equal(sl_settings_value("quorum", SL_QUORUM_MAJORITY, text), "majority");
	assert_string_equal(sl_settings_value("quorum", 3, text), "3");
	assert_string_equal(sl_settings_value("clipping_range", sl_real_bits(0.5), text), "0.5");
	assert_string_equal(sl_settings_value("n", 7, text), "7");
}
