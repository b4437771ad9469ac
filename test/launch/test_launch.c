/* The launcher against fake daemons: what it reports, what it finds out, and that it leaves nobody behind. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

#include "test/launch/launcher.h"
#include "test/lib/test.h"

static const char starling[] = STARLING_PATH, fake[] = FAKE_DAEMON_PATH;

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct launcher));
	launcher_open(*state, starling, fake);
	return 0;
}

static int teardown(void **state)
{
	launcher_close(*state);
	free(*state);
	return 0;
}

/* ---- a good run ---- */

TEST_WITH(test_three_rounds, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, NULL, "-n 4 --rounds 3 --verify --json");
	expect_status(l, 0);
	assert_int_equal(launcher_alive(l, 4), 0);
	json_t *summary = launcher_summary(l), *printed = json_loads(l->out, 0, NULL);
	assert_true(json_equal(summary, printed));
	assert_int_equal(json_integer_value(json_object_get(summary, "learners")), 4);
	assert_string_equal(json_string_value(json_object_get(summary, "topology")), "complete");
	assert_true(json_is_true(json_object_get(summary, "verified")));
	assert_true(json_number_value(json_object_get(summary, "mse_first")) == 0.5);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal((int)figure(summary, i, "round"), (int)i + 1);
		assert_int_equal((int)figure(summary, i, "step"), (int)i + 1);
		assert_int_equal((int)figure(summary, i, "steps"), 33);
		assert_int_equal((int)figure(summary, i, "bytes"), 4000);
		assert_true(figure(summary, i, "train_s") == 0.25);
	}
	json_decref(summary);
	json_decref(printed);
	expect_exact(l, "+++");
	assert_false(launcher_has(l, "run/learner-01/state/reveal-000001.u64"));
	assert_true(launcher_has(l, "run/schedule.txt"));
}

TEST_WITH(test_plain_lines_in_a_pipe, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, NULL, "-n 2 --rounds 2");
	expect_status(l, 0);
	expect_text(l->out, "  same\n");
	expect_text(l->out,
		    "2 of 2 rounds, all the same (exact by construction; --verify recomputes it); MSE "
		    "0.500000 -> 0.250000\nnext: ./starling logs run\n");
	expect_text(l->out, "aggreg. s        MB  mean\n");
	assert_null(strpbrk(l->out, "\r\033"));
	assert_string_equal(l->err, "");
}

TEST_WITH(test_settings_reach_the_daemons, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, NULL, "-n 2 --set decimals=2 --set rounds=1 --set hello_timeout=3");
	expect_status(l, 0);
	expect_text(l->out, "1 of 1 round, all the same (exact by construction; --verify recomputes it); MSE "
			    "0.500000\n");
	launcher_await(l, "run/learner-02/config.yaml", "decimals: 2\n");
	launcher_await(l, "run/learner-02/config.yaml", "rounds: 1\n");
	launcher_await(l, "run/learner-02/config.yaml", "hello_timeout: 3\n");
}

TEST_WITH(test_words_for_a_shell, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, NULL, "-n 2 --rounds 1 --run-dir it's");
	expect_status(l, 0);
	expect_text(l->out, "run folder it's\n");
	expect_text(l->out, "next: ./starling logs 'it'\\''s'\n");
}

TEST_WITH(test_clamped_parameters_are_said, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "1:clamp:2", "-n 2 --rounds 2");
	expect_status(l, 0);
	expect_text(l->out, "  same, clamped 47,000\n");
	expect_text(l->out, "\nclamped 47,000 parameters to 16 in 1 round\n");
	json_t *summary = launcher_summary(l);
	assert_true(figure(summary, 0, "clamped") == 0 && figure(summary, 1, "clamped") == 47000);
	json_decref(summary);
}

TEST_WITH(test_evaluated_after_finished, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "1:late:2", "-n 2 --rounds 2");
	expect_status(l, 0);
	expect_text(l->out, "MSE 0.500000 -> 0.250000\n");
}

TEST_WITH(test_two_at_once_have_two_folders, setup, teardown)
{
	struct launcher *l = *state;
	/* the usual name, for this second and the next few */
	for (time_t t = time(NULL), end = t + 20; t < end; t++) {
		char path[PATH_MAX], name[64];
		struct tm tm;
		strftime(name, sizeof name, "run-%Y%m%d-%H%M%S", localtime_r(&t, &tm));
		snprintf(path, sizeof path, "%.3000s/%s", l->folder, name);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	launcher_run_usual(l, "-n 2 --rounds 1");
	expect_status(l, 0);
	expect_text(l->out, "-2\n");
}

TEST_WITH(test_deep_folder, setup, teardown)
{
	struct launcher *l = *state;
	char arguments[512], deep[400] = "run";
	char path[PATH_MAX];
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%.3000s/%s", l->folder, deep);
		assert_int_equal(mkdir(path, 0755), 0);
		size_t used = strlen(deep);
		snprintf(deep + used, sizeof deep - used, "/%060d", i);
	}
	snprintf(arguments, sizeof arguments, "-n 2 --rounds 1 --run-dir %s", deep);
	launcher_run(l, NULL, arguments);
	expect_status(l, 0);
}

/* ---- ends ---- */

TEST_WITH(test_interrupt, setup, teardown)
{
	struct launcher *l = *state;
	launcher_start(l, "1:stall:1", -1, "-n 3 --rounds 2");
	launcher_await(l, "out", "learners are up");
	assert_int_equal(launcher_alive(l, 3), 3);
	kill(l->pid, SIGINT);
	launcher_wait(l);
	expect_status(l, 130);
	assert_int_equal(launcher_alive(l, 3), 0);
	json_t *summary = launcher_summary(l);
	assert_string_equal(json_string_value(json_object_get(summary, "error")), "interrupted");
	json_decref(summary);
}

TEST_WITH(test_interrupt_deletes_encodings, setup, teardown)
{
	struct launcher *l = *state;
	launcher_start(l, "1:stall:2", -1, "-n 3 --rounds 2 --verify");
	launcher_await(l, "out", "  exact\n");
	launcher_await(l, "run/learner-02/log.jsonl", "\"round\":2");
	launcher_await(l, "run/learner-02/state/reveal-000002.u64", "");
	kill(l->pid, SIGINT);
	launcher_wait(l);
	expect_status(l, 130);
	assert_int_equal(launcher_count(l, "reveal-"), 0);
}

TEST_WITH(test_failure_deletes_encodings, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "2:die:2", "-n 3 --rounds 3 --verify --no-restart");
	expect_status(l, 1);
	assert_int_equal(launcher_count(l, "reveal-"), 0);
}

TEST_WITH(test_encodings_that_cannot_be_deleted, setup, teardown)
{
	struct launcher *l = *state;
	launcher_start(l, "1:stall:1", -1, "-n 2 --rounds 2 --verify");
	launcher_await(l, "out", "learners are up");
	launcher_folder(l, "run/learner-02/state/reveal-000007.u64"); /* a folder is no file to be unlinked */
	kill(l->pid, SIGINT);
	launcher_wait(l);
	expect_text(l->err, "starling launch: 1 secret encoding could not be deleted: ");
}

TEST_WITH(test_second_interrupt_kills, setup, teardown)
{
	struct launcher *l = *state;
	launcher_start(l, "2:linger", -1, "-n 2 --rounds 100 --topology s.txt");
	launcher_wait(l); /* no such file: status 2 */
	expect_status(l, 2);
	launcher_write(l, "s.txt", "learners 2\nstep\nstep 1-2\n");
	launcher_start(l, "2:linger", -1, "--rounds 2 --topology s.txt");
	launcher_await(l, "out", "learners are up");
	kill(l->pid, SIGINT);
	launcher_await(l, "run/learner-02/stderr.txt", "does not hear");
	kill(l->pid, SIGINT);
	launcher_wait(l);
	expect_status(l, 130);
	assert_int_equal(launcher_alive(l, 2), 0);
}

TEST_WITH(test_stubborn_child, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "2:linger", "-n 2 --rounds 1");
	expect_status(l, 0);
	assert_int_equal(launcher_alive(l, 2), 0);
}

TEST_WITH(test_dying_child, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "2:die:2", "-n 3 --rounds 3 --no-restart");
	expect_status(l, 1);
	expect_text(l->err, "learner-02 (2) ended with status 3 in round 2: the test wants this to end\nlast "
			    "words of the fake\n");
	assert_int_equal(launcher_alive(l, 3), 0);
	json_t *summary = launcher_summary(l);
	expect_text(json_string_value(json_object_get(summary, "error")), "learner-02 (2) ended");
	json_decref(summary);
}

TEST_WITH(test_killed_child, setup, teardown)
{
	struct launcher *l = *state;
	launcher_start(l, "1:stall:1", -1, "-n 2 --rounds 2 --no-restart");
	launcher_await(l, "out", "learners are up");
	launcher_kill(l, 2);
	launcher_wait(l);
	expect_status(l, 1);
	expect_text(l->err, "learner-02 (2) was killed by SIGKILL ");
	assert_int_equal(launcher_alive(l, 2), 0);
}

/* ---- wrong results are found ---- */

TEST_WITH(test_other_digest, setup, teardown)
{
	launcher_run(*state, "2:digest:2", "-n 4 --rounds 3");
	expect_status(*state, 1);
	expect_exact(*state, "+-+");
	expect_text(((struct launcher *)*state)->out, "NOT EXACT");
}

TEST_WITH(test_wide_margin, setup, teardown)
{
	launcher_run(*state, "3:margin:1", "-n 4 --rounds 2");
	expect_status(*state, 1);
	expect_exact(*state, "-+");
}

TEST_WITH(test_flipped_bit, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "3:flip:2", "-n 4 --rounds 3 --verify");
	expect_status(l, 1);
	expect_exact(l, "+-+");
	expect_text(l->out, "learner-03/state/round-000002.safetensors: parameter 2 is ");
	assert_true(launcher_has(l, "run/learner-01/state/reveal-000002.u64")); /* kept: it is evidence */
	expect_text(l->err, "the check of round 2 failed; kept as evidence, and secret: "
			    "run/learner-*/state/reveal-000002.u64\n");
	assert_int_equal(launcher_count(l, "reveal-"), 4);
}

TEST_WITH(test_flipped_bit_passes_unverified, setup, teardown)
{
	launcher_run(*state, "3:flip:2", "-n 4 --rounds 3");
	expect_status(*state, 0);
}

TEST_WITH(test_wrong_reveal, setup, teardown)
{
	launcher_run(*state, "1:reveal:3", "-n 4 --rounds 3 --verify");
	expect_status(*state, 1);
	expect_exact(*state, "++-");
	expect_text(((struct launcher *)*state)->out, "the exact mean is ");
}

/* ---- the topology playback ---- */

TEST_WITH(test_step_that_leads_nowhere, setup, teardown)
{
	struct launcher *l = *state;
	launcher_write(l, "s.txt", "learners 3\nstep\nstep 1-2 2-3\n");
	launcher_run(l, NULL, "--topology s.txt --rounds 1 --step-seconds 0.3");
	expect_status(l, 0);
	expect_text(l->out, "warning: step 1 of the schedule is disconnected: 3 parts");
	expect_text(l->out, "step 1 (disconnected) passed after 0.3 s without a commit: learner-0");
	json_t *summary = launcher_summary(l);
	assert_int_equal((int)figure(summary, 0, "step"), 2);
	json_decref(summary);
}

TEST_WITH(test_schedule_that_leads_nowhere, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "2:stall:2", "-n 3 --rounds 3 --step-seconds 0.2");
	expect_status(l, 1);
	expect_text(l->err, "no round committed in 3 steps, the whole schedule");
	json_t *summary = launcher_summary(l);
	assert_int_equal(json_array_size(json_object_get(summary, "rounds")), 1);
	assert_true(json_is_false(json_object_get(summary, "all_same")));
	json_decref(summary);
}

TEST_WITH(test_a_pause_is_said, setup, teardown)
{
	struct launcher *l = *state;
	launcher_start(l, "2:lost:2", -1, "-n 3 --rounds 3");
	launcher_await(l, "out",
		       "round 2 waits in RECOVER for learner-03 (3): nobody in reach holds its masked state; "
		       "the round "
		       "goes on by itself when it is back. If it is lost for good:\n  ./starling abort "
		       "--round 2 --run run\n");
	kill(l->pid, SIGINT);
	launcher_wait(l);
	expect_status(l, 130);
}

/* Nobody waits for its report: not for the rows, not for the end. */
TEST_WITH(test_who_does_not_answer_is_absent, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "2:sleep:2", "-n 3 --rounds 3");
	expect_status(l, 0);
	expect_exact(l, "+++");
	expect_text(l->out, "  same, 1 absent\n");
	json_t *summary = launcher_summary(l);
	assert_int_equal((int)figure(summary, 0, "absent"), 0);
	assert_int_equal((int)figure(summary, 1, "absent"), 1);
	json_decref(summary);
}

TEST_WITH(test_the_encoding_of_who_is_absent_counts, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, "3:sleep:2", "-n 3 --rounds 2 --verify");
	expect_status(l, 0);
	expect_text(l->out, "  exact, 1 absent\n");
	assert_int_equal(launcher_count(l, "reveal-"), 0);
}

/* ---- bad input: one line, status 2, nothing left behind ---- */

TEST_WITH(test_bad_input, setup, teardown)
{
	static const struct {
		const char *arguments, *error;
	} cases[] = {
		{"--set nonsense=1", "unknown key 'nonsense'"},
		{"--set modulus=1020432", "not a prime"},
		{"--set modulus=101",
		 "modulus 101 is too small to hold the sum of 10 models with 4 decimals: "
		 "raise it to a prime of at least "},
		{"--set decimals=12 --set mixing=metropolis",
		 "no prime below 2^44 can hold the sum of 10 models"},
		{"--set decimals=12 --set clipping_range=1e9",
		 "no prime below 2^61 can hold the sum of 10 models"},
		{"--set modulus=2305843009213693951 --set mixing=metropolis",
		 "too large: the engine takes one below 2^44"},
		{"--set id=3", "--set id=3: the launcher gives every learner its own id"},
		{"--set quorum=2", "majority"},
		{"--set weighting=samples", "max_weight"},
		{"--data nowhere", "data: nowhere: No such file"},
		{"--topology nowhere", "nowhere: neither a file nor a topology"},
		{"--topology regular:11", "regular:11: "},
		{"--topology bad.txt", "bad.txt:3: malformed edge \"2_3\""},
		{"--topology never.txt", "never.txt: no step can commit"},
		{"--topology never.txt -n 4", "never.txt: the schedule has 3 learners; -n 4 does not fit"},
		{"--set unsafe_dump_encoding=true", "--set unsafe_dump_encoding=true: use --verify\n"},
		{"--verify --set unsafe_dump_encoding=false",
		 "--set unsafe_dump_encoding=false: use --verify\n"},
		{"--set decimals=3 --set decimals=2", "--set decimals=2: there is a --set decimals=3 too\n"},
		{"--set rounds=3 --rounds 3", "--set rounds=3: there is a --rounds too\n"},
		{"--set seed=3 --seed 2", "--set seed=3: there is a --seed too\n"},
		{"--data digits --set data=digits", "--set data=digits: there is a --data too\n"},
		{"--topology regualr:4",
		 "regualr:4: neither a file nor a topology; did you mean 'regular'?\n"},
		{"--data .", ": no train-images-idx3-ubyte"},
		{"--data few", "images are too few for 10 learners"},
		{"--data few -n 2", "few/train-images-idx3-ubyte: offset 16: "},
		{"--data few -n 2 --set split=by_label", "no train-labels-idx1-ubyte"},
		{"--chaos 0", "--chaos 0: must be"},
		{"--chaos 3 --no-restart",
		 "--chaos and --no-restart: a killed learner must be started again"},
		{"extra", "starling launch: unexpected argument 'extra'"},
		{"-n 1", "--learners 1: must be a whole number from 2 to 2000"},
		{"--rounds x", "--rounds x: must be"},
		{"--run-dir no/such/folder",
		 "no/such/folder: cannot make the run folder: no/such does not exist\n"},
	};
	struct launcher *l = *state;
	launcher_write(l, "bad.txt", "learners 3\nstep 1-2\nstep 2_3\n");
	launcher_folder(l, "few"); /* five images, it says */
	launcher_write_bytes(l, "few/train-images-idx3-ubyte", "\0\0\10\3\0\0\0\5\0\0\0\34\0\0\0\34", 16);
	launcher_write(l, "never.txt", "learners 3\nstep 1-2\nstep 2-3\n");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		launcher_run(l, NULL, cases[i].arguments);
		expect_text(l->err, cases[i].error);
		expect_status(l, 2);
		assert_false(launcher_has(l, "run"));
	}
}

TEST_WITH(test_folder_in_use, setup, teardown)
{
	struct launcher *l = *state;
	launcher_run(l, NULL, "-n 2 --rounds 1");
	expect_status(l, 0);
	launcher_run(l, NULL, "-n 2 --rounds 1");
	expect_status(l, 2);
	expect_text(l->err, "run: exists and is not an empty folder");
	assert_true(launcher_has(l, "run/summary.json"));
}

/* ---- on a terminal ---- */

/* Runs it on a terminal that is so wide; what that got to see. */
static void run_on_terminal(struct launcher *l, unsigned short columns, const char *fault,
			    const char *arguments, char *seen, size_t size_seen)
{
	size_t used = 0;
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
		skip();
	int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(terminal >= 0);
	assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
	launcher_start(l, fault, terminal, arguments);
	close(terminal);
	for (ssize_t n; (n = read(master, seen + used, size_seen - 1 - used)) > 0;)
		used += (size_t)n;
	seen[used] = '\0';
	close(master);
	launcher_wait(l);
}

TEST_WITH(test_bar_on_a_terminal, setup, teardown)
{
	struct launcher *l = *state;
	char seen[65536];
	run_on_terminal(l, 40, "2:stall:2", "-n 3 --rounds 2 --step-seconds 0.5", seen, sizeof seen);
	expect_status(l, 1);
	expect_text(seen, "\rround 2 of 2  DISCOVER  83% 2 of 3…\033[K");
	expect_text(seen, "\r\033[K");
}

TEST_WITH(test_rows_fit_80_columns, setup, teardown)
{
	struct launcher *l = *state;
	char seen[65536];
	run_on_terminal(l, 80, "2:clamp:1", "-n 2 --rounds 1", seen, sizeof seen);
	expect_status(l, 0);
	expect_text(seen, "round learners   edges   steps       MSE  train s aggreg. s        MB  mean\r\n");
	expect_text(seen, "  same,\r\n        clamped 47,000\r\n"); /* a remark is wrapped */
}
