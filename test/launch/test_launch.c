/* Whole runs of the launcher with fake daemons: what it reports and writes, what it finds out, its status,
 * and that it leaves no process behind. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "test/launch/fakes.h"

/* A folder whose control sockets have paths that are too long for an address. */
#define DEEP                                                                                                 \
	"00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" \
	"00000000001"

/* Expect the loss of the first training of every learner, whose record was written before the launcher could
 * hear it. */
static void expect_first_loss(const struct cluster *c)
{
	const json_t *round = json_array_get(json_object_get(c->summary, "rounds"), 0);
	assert_int_equal(json_object_size(json_object_get(round, "metrics")),
			 json_integer_value(json_object_get(c->summary, "learners")));
}

static bool has(const struct cluster *c, const char *file)
{
	return access(cluster_path(c, 0, file), F_OK) == 0;
}

/* ---- runs without a word from outside ---- */

static const struct {
	const char *fault, *arguments, *exact; /* exact: NULL: not looked at */
	int status, restarts, reveals;	       /* reveals: encodings that are left */
	const char *out[3], *err;
} runs[] = {
	/* good ones */
	{NULL,
	 "-n 2 --rounds 2",
	 "++",
	 0,
	 0,
	 0,
	 {"  same\n", "aggreg. s        MB  mean\n",
	  "2 of 2 rounds, all the same (exact by construction; --verify recomputes it); MSE "
	  "0.500000 -> 0.250000\ncost of a round: at most "},
	 ""},
	{NULL,
	 "-n 2 --rounds 1 --run-dir it's",
	 NULL,
	 0,
	 0,
	 0,
	 {"run folder it's\n", "next: ./starling logs 'it'\\''s'\n"},
	 ""},
	{NULL, "-n 2 --rounds 1 --run-dir run/" DEEP, NULL, 0, 0, 0, {NULL}, ""},
	{"1:late:2", "-n 2 --rounds 2", "++", 0, 0, 0, {"MSE 0.500000 -> 0.250000\n"}, ""},
	{"1:clamp:2",
	 "-n 2 --rounds 2",
	 "++",
	 0,
	 0,
	 0,
	 {"  same, clamped 47,000\n", "\nclamped 47,000 parameters in 1 round; the means lack this\n"},
	 ""},
	{"1:round:2", "-n 2 --rounds 2", "++", 0, 0, 0, {"  same, rounded 2\n", "learner-01 (1): "}, ""},
	{"2:linger", "-n 2 --rounds 1", "+", 0, 0, 0, {NULL}, ""},
	/* wrong results */
	{"2:digest:2", "-n 4 --rounds 3", "+-+", 1, 0, 0, {"NOT EXACT"}, ""},
	{"3:margin:1", "-n 4 --rounds 2", "-+", 1, 0, 0, {NULL}, ""},
	{"3:flip:2", "-n 4 --rounds 3", "+++", 0, 0, 0, {NULL}, ""},
	{"3:flip:2",
	 "-n 4 --rounds 3 --verify",
	 "+-+",
	 1,
	 0,
	 4,
	 {"learner-03/state/checkpoints/round-000002.safetensors: parameter 2 is "},
	 "the check of round 2 failed; kept as evidence, and secret: "
	 "run/learner-*/state/trained-000002.model\n"},
	{"1:reveal:3", "-n 4 --rounds 3 --verify", "++-", 1, 0, 4, {"the exact mean is "}, ""},
	/* the schedule */
	{NULL,
	 "--topology split.txt --rounds 1 --step-seconds 0.3",
	 "+",
	 0,
	 0,
	 0,
	 {"warning: step 1 of the schedule is disconnected: 3 parts",
	  "step 1 (disconnected) passed after 0.3 s without a commit: learner-0"},
	 ""},
	{"2:stall:2",
	 "-n 3 --rounds 3 --step-seconds 0.2",
	 NULL,
	 1,
	 0,
	 0,
	 {NULL},
	 "no round committed in 3 steps, the whole schedule"},
	/* the launcher neither waits for the report of a stopped learner nor leaves out its encoding */
	{"2:sleep:2", "-n 3 --rounds 3", "+++", 0, 0, 0, {"  same, 1 absent\n"}, ""},
	{"3:sleep:2", "-n 3 --rounds 2 --verify", "++", 0, 0, 0, {"  exact, 1 absent\n"}, ""},
	/* learners that die and are started again */
	{"2:crash:2",
	 "-n 3 --rounds 3 --verify",
	 "+++",
	 0,
	 1,
	 0,
	 {"learner-02 (2) was killed by SIGKILL in round 2; started again (2nd start)\n"},
	 ""},
	{"2:quit:2",
	 "-n 3 --rounds 3",
	 "+++",
	 0,
	 1,
	 0,
	 {"learner-02 (2) ended with status 0 in round 2; started again (2nd start)\n"},
	 ""},
	{"2:each:1",
	 "-n 3 --rounds 12",
	 "++++++++++++",
	 0,
	 11,
	 0,
	 {"in round 12; started again (12th start)\n"},
	 ""},
	/* what they did not come to say */
	{"2:mute:2", "-n 3 --rounds 3 --verify --set hidden_units=1", "+++", 0, 1, 0, {NULL}, ""},
	{"2:drop:2", "-n 3 --rounds 3", "+++", 0, 0, 0, {NULL}, ""},
	{"2:mute:2", "-n 2 --rounds 2 --set hidden_units=1", "++", 0, 1, 0, {NULL}, ""},
	{"3:redo:2", "-n 3 --rounds 3 --verify", "+++", 0, 1, 0, {NULL}, ""},
	/* learners that die and are not started again */
	{"2:die:2",
	 "-n 3 --rounds 3 --verify --no-restart",
	 NULL,
	 1,
	 0,
	 0,
	 {NULL},
	 "learner-02 (2) ended with status 3 in round 2: the test wants this to end\nlast words of the "
	 "fake\n"},
	{"2:again:2",
	 "-n 3 --rounds 3",
	 NULL,
	 1,
	 9,
	 0,
	 {"; starts again in 4 s (7th start)\n", "; starts again in 5 s (10th start)\n"},
	 "starling launch: learner-02 died 10 times without a commit: learner-02 (2) was killed by SIGKILL "
	 "in "
	 "round 2\n"},
	{"3:early",
	 "-n 3 --rounds 3",
	 NULL,
	 1,
	 2,
	 0,
	 {NULL},
	 "learner-03 died 3 times before it was up: learner-03 (3) was killed by SIGKILL before it was up\n"},
	{"1:usage",
	 "-n 2 --rounds 2",
	 NULL,
	 1,
	 0,
	 0,
	 {NULL},
	 "learner-01 (1) ended with status 2 before it was up\nconfig.yaml:1:1: what"},
	{"1:final:2",
	 "-n 2 --rounds 3",
	 NULL,
	 1,
	 0,
	 0,
	 {NULL},
	 "learner-01 (1) ended with status 1 in round 2: the model is above its clipping_range"},
};

static void expect_run(const struct cluster *c, size_t k)
{
	print_message("%s %s\n", runs[k].fault != NULL ? runs[k].fault : "", runs[k].arguments);
	expect_outcome(c, runs[k].status, "", runs[k].err);
	for (size_t i = 0; i < 3 && runs[k].out[i] != NULL; i++)
		expect_text(c->outcome.out, runs[k].out[i]);
	if (runs[k].status == 0)
		assert_string_equal(c->outcome.err, "");
	assert_null(strpbrk(c->outcome.out, "\r\033")); /* no terminal */
	if (runs[k].exact != NULL)
		fake_expect_exact(c, runs[k].exact);
	if (runs[k].status == 0 && runs[k].exact != NULL)
		expect_first_loss(c);
	if (c->summary != NULL)
		assert_int_equal(json_integer_value(json_object_get(c->summary, "restarts")),
				 runs[k].restarts);
	assert_int_equal(fake_count_files(c, "trained-"), runs[k].reveals);
	fake_expect_nothing_left(c);
}

/* All at once: they wait more than they compute. */
TEST(runs_end_as_they_should)
{
	enum { COUNT = sizeof runs / sizeof *runs };
	struct cluster *clusters[COUNT];
	cluster_need_numpy();
	for (size_t k = 0; k < COUNT; k++) {
		clusters[k] = cluster_new();
		process_write(cluster_path(clusters[k], 0, "split.txt"), "learners 3\nstep\nstep 1-2 2-3\n");
		if (strstr(runs[k].arguments, DEEP) != NULL)
			fake_make_folder(clusters[k], "run");
		fake_start(clusters[k], runs[k].fault, runs[k].arguments);
	}
	for (size_t k = 0; k < COUNT; k++) {
		cluster_launch_wait(clusters[k]);
		expect_run(clusters[k], k);
		cluster_free(clusters[k], true);
	}
}

/* ---- the program that recomputes means ---- */

/* Run with this program as python3; NULL: with none on PATH. */
static void run_with_python(struct cluster *c, const char *program)
{
	char path[PATH_MAX];
	const char *usual = getenv("PATH");
	cluster_need_numpy(); /* before PATH is another one */
	cluster_copy_programs(c, FAKE_DAEMON_PATH);
	fake_make_folder(c, "bin");
	if (program != NULL) {
		process_write(cluster_path(c, 0, "bin/python3"), program);
		assert_int_equal(chmod(cluster_path(c, 0, "bin/python3"), 0755), 0);
	}
	char *kept = strdup(usual);
	snprintf(path, sizeof path, "%s", cluster_path(c, 0, "bin"));
	setenv("PATH", path, 1);
	fake_run(c, NULL, "-n 2 --rounds 2 --verify");
	setenv("PATH", kept, 1);
	free(kept);
	assert_int_equal(c->outcome.status, 1);
}

/* Nothing is started, and no folder is left. */
CLUSTER_TEST(verify_without_numpy)
{
	run_with_python(c, "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n");
	expect_text(c->outcome.err, "starling launch --verify: /usr/bin/python3 has no numpy: ");
	assert_false(has(c, "run"));
}

CLUSTER_TEST(verify_without_python)
{
	run_with_python(c, NULL);
	assert_string_equal(c->outcome.err,
			    "starling launch: --verify: python3 cannot be started: no such file or directory "
			    "(Debian: apt-get install python3)\n");
	assert_false(has(c, "run"));
}

CLUSTER_TEST(verify_that_ends_ends_the_run)
{
	run_with_python(c, "#!/bin/sh\necho '{\"ready\": true}'\nread line\nexit 3\n");
	expect_text(c->outcome.err, "--verify: python3, which recomputes the means, has ended (status 3)");
	fake_expect_nothing_left(c);
}

/* ---- what it writes ---- */

CLUSTER_TEST(summary_of_three_rounds)
{
	fake_run(c, NULL, "-n 4 --rounds 3 --verify --json --set decimals=4 --set stall_timeout=15");
	expect_outcome(c, 0, "", "");
	json_t *printed = json_loads(c->outcome.out, 0, NULL);
	assert_true(json_equal(c->summary, printed));
	json_decref(printed);
	assert_int_equal(json_integer_value(json_object_get(c->summary, "learners")), 4);
	assert_string_equal(json_string_value(json_object_get(c->summary, "topology")), "complete");
	assert_true(json_is_true(json_object_get(c->summary, "verified")));
	assert_true(json_number_value(json_object_get(c->summary, "mse_first")) == 0.5);
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = {"steps",  "bytes",	 "train_s",
						    "absent", "clamped", "rounded"};
		static const double values[] = {33, 4000, 0.25, 0, 0, 0};
		assert_true(cluster_figure(c, i, "round") == (double)i + 1);
		assert_true(cluster_figure(c, i, "step") == (double)i + 1);
		for (size_t f = 0; f < sizeof names / sizeof *names; f++)
			assert_true(cluster_figure(c, i, names[f]) == values[f]);
	}
	fake_expect_exact(c, "+++");
	assert_true(has(c, "run/schedule.txt"));
	fake_await(c, "run/roster.yaml", "decimals: \"4\"");
	fake_await(c, "run/roster.yaml", "rounds: \"3\"");
	fake_await(c, "run/roster.yaml", "stall_timeout: \"15\"");
}

CLUSTER_TEST(two_at_once_have_two_folders)
{
	struct outcome o;
	cluster_copy_programs(c, FAKE_DAEMON_PATH);
	/* the usual name, for this second and the next ten minutes */
	for (time_t t = time(NULL), end = t + 600; t < end; t++) {
		char name[64];
		struct tm tm;
		strftime(name, sizeof name, "run-%Y%m%d-%H%M%S", localtime_r(&t, &tm));
		fake_make_folder(c, name);
	}
	process_run(&o, c->folder,
		    (const char *const[]){"./starling", "launch", "-n", "2", "--rounds", "1", "--set",
					  "privacy_check=warn", NULL});
	assert_int_equal(o.status, 0);
	expect_text(o.out, "-2\n");
}

/* ---- bad input: one line, status 2, nothing left behind ---- */

static const struct {
	const char *arguments, *error;
} bad[] = {
	{"--set nonsense=1", "unknown key 'nonsense'"},
	{"--set modulus=1020432", "not a prime"},
	{"--set modulus=101", "modulus 101 is too small to hold the sum of 10 models with 4 decimals: "
			      "raise it to a prime of at least "},
	{"--set decimals=12 --set mixing=metropolis", "no prime below 2^44 can hold the sum of 10 models"},
	{"--set decimals=12 --set clipping_range=1e9", "no prime below 2^61 can hold the sum of 10 models"},
	{"--set modulus=2305843009213693951 --set mixing=metropolis",
	 "too large: the engine takes one below 2^44"},
	{"--set id=3", "--set id=3: the launcher gives every learner its own id"},
	{"--set quorum=2", "too small for 10 learners"},
	{"--set weighting=samples", "max_weight"},
	{"--data nowhere", "data: nowhere: No such file"},
	{"--topology nowhere", "nowhere: neither a file nor a topology"},
	{"--topology regular:11", "regular:11: "},
	{"--topology bad.txt", "bad.txt:3: malformed edge \"2_3\""},
	{"--topology never.txt --set quorum=all", "never.txt: no step can commit"},
	{"--topology never.txt -n 4", "never.txt: the schedule has 3 learners; -n 4 does not fit"},
	{"--set unsafe_dump_model=true", "--set unsafe_dump_model=true: use --verify\n"},
	{"--verify --set unsafe_dump_model=false", "--set unsafe_dump_model=false: use --verify\n"},
	{"--set decimals=3 --set decimals=2", "--set decimals=2: there is a --set decimals=3 too\n"},
	{"--set rounds=3 --rounds 3", "--set rounds=3: there is a --rounds too\n"},
	{"--set seed=3 --seed 2", "--set seed=3: there is a --seed too\n"},
	{"--data digits --set data=digits", "--set data=digits: there is a --data too\n"},
	{"--topology regualr:4", "regualr:4: neither a file nor a topology; did you mean 'regular'?\n"},
	{"--data .", ": no train-images-idx3-ubyte"},
	{"--data few", "images are too few for 10 learners"},
	{"--data few -n 2", "few/train-images-idx3-ubyte: offset 16: "},
	{"--data few -n 2 --set partition=by_label", "no train-labels-idx1-ubyte"},
	{"--set decimals=3x", "decimals"},
	{"--set encoding=paper --set weighting=samples --set max_weight=9000", "paper"},
	{"--topology range.txt", "range.txt:2"},
	{"--topology loop.txt", "loop.txt:2"},
	{"--topology none.txt", "none.txt"},
	{"-n 5 --topology star --set privacy_check=enforce", "no step of star tolerates 1 colluding learner"},
	{"--topology never.txt --set privacy_check=enforce",
	 "no step of never.txt tolerates 1 colluding learner"},
	{"-n 2 --set privacy_check=enforce", "2 learners are too few for tolerance 1"},
	{"--chaos 0", "--chaos 0: must be"},
	{"--chaos 3 --no-restart", "--chaos and --no-restart: a killed learner must be started again"},
	{"-n 4 --lose 2 --set quorum=majority",
	 "--lose 2: fewer than the quorum of 3 learners would be left; lose fewer"},
	{"-n 4 --lose 1 -- true", "--lose and a command: leave one of them out"},
	{"extra", "starling launch: unexpected argument 'extra'; a command of your own follows --, as in"},
	{"-n 1", "--learners 1: must be a whole number from 2 to 2000"},
	{"--rounds x", "--rounds x: must be"},
	{"--run-dir no/such/folder", "no/such/folder: cannot make the run folder: no/such does not exist\n"},
};

CLUSTER_TEST(bad_input)
{
	static const char *const schedules[][2] = {
		{"bad.txt", "learners 3\nstep 1-2\nstep 2_3\n"},
		{"never.txt", "learners 3\nstep 1-2\nstep 2-3\n"},
		{"range.txt", "learners 4\nstep 1-2 2-9\n"},
		{"loop.txt", "learners 4\nstep 1-1\n"},
		{"none.txt", ""},
	};
	for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++)
		process_write(cluster_path(c, 0, schedules[i][0]), schedules[i][1]);
	fake_make_folder(c, "few"); /* the header tells of five images */
	FILE *images = fopen(cluster_path(c, 0, "few/train-images-idx3-ubyte"), "we");
	assert_non_null(images);
	assert_int_equal(fwrite("\0\0\10\3\0\0\0\5\0\0\0\34\0\0\0\34", 1, 16, images), 16);
	fclose(images);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		fake_run(c, NULL, bad[i].arguments);
		expect_outcome(c, 2, "", bad[i].error);
		const char *newline = strchr(c->outcome.err, '\n');
		assert_true(newline != NULL && newline[1] == '\0');
		assert_false(has(c, "run"));
	}
}

/* ---- on a terminal ---- */

/* Runs it on a terminal that is so wide; what that got to see. */
static void run_on_terminal(struct cluster *c, unsigned short columns, const char *fault,
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
	c->terminal = ptsname(master);
	fake_start(c, fault, arguments);
	close(terminal);
	for (ssize_t n; (n = read(master, seen + used, size_seen - 1 - used)) > 0;)
		used += (size_t)n;
	seen[used] = '\0';
	close(master);
	cluster_launch_wait(c);
}

CLUSTER_TEST(bar_on_a_terminal)
{
	char seen[65536];
	run_on_terminal(c, 40, "2:stall:2", "-n 3 --rounds 2 --step-seconds 0.5", seen, sizeof seen);
	expect_outcome(c, 1, "", "");
	expect_text(seen, "\rround 2 of 2  DISCOVER  83% 2 of 3…\033[K");
	expect_text(seen, "\r\033[K");
}

CLUSTER_TEST(rows_fit_80_columns)
{
	char seen[65536];
	run_on_terminal(c, 80, "2:clamp:1", "-n 2 --rounds 1", seen, sizeof seen);
	expect_outcome(c, 0, "", "");
	expect_text(seen, "round learners   edges   steps       MSE  train s aggreg. s        MB  mean\r\n");
	expect_text(seen, "  same,\r\n        clamped 47,000\r\n"); /* a remark is wrapped */
}
