/* The in-process runner: every kind of topology and setting against the plain sum, samples, repeatability,
 * errors. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "test/lib/test.h"
#include "tools/host/disk.h"
#include "tools/runner/runner.h"
#include "tools/topology/topology.h"

#define N 12u
#define PARAMETERS 40u
#define ROUNDS 3u

/* The results of a run. */
struct course {
	uint32_t commits, inexact, samples, viewless;
	uint8_t digests[ROUNDS + 1][SL_HASH_BYTES];
	float model[PARAMETERS];
	uint64_t seen; /* a digest of all sampled states */
	uint32_t workers;
	uint64_t iterations;   /* of all views, with k = 0 */
	sl_round burst;	       /* the round whose training fails; 0: none */
	double most;	       /* the size of a parameter, at most */
	uint32_t failures[64]; /* by reason */
	bool partial;	       /* some learners had no state in some exchanges */
};

static double unit(uint32_t learner, sl_round t, size_t l)
{
	uint64_t z = (learner + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ t * UINT64_C(0xbf58476d1ce4e5b9) ^
		     l * UINT64_C(0x94d049bb133111eb);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	return (double)(z >> 11) * 0x1p-52 - 1;
}

static int train(void *context, struct sl_runner_training *training, struct sl_error *error)
{
	const struct course *c = context;
	if (training->t == c->burst)
		return sl_err_set(error, SL_ERR_RANGE, "no model");
	for (size_t l = 0; l < PARAMETERS; l++)
		training->model[l] = (float)(c->most * unit(training->learner, training->t, l));
	return SL_OK;
}

static void committed(void *context, const struct sl_runner_commit *commit)
{
	struct course *c = context;
	static const uint8_t none[SL_HASH_BYTES];
	uint8_t *digest = c->digests[commit->t];
	if (memcmp(digest, none, sizeof none) == 0)
		memcpy(digest, commit->digest, sizeof none);
	assert_memory_equal(digest, commit->digest, sizeof none);
	c->commits++;
	c->inexact += !commit->exact;
	c->viewless += commit->view == NULL;
	c->partial |= commit->view != NULL && !sl_engine_rows[commit->view->engine].to_all;
	memcpy(c->model, commit->model, sizeof c->model);
}

static void sampled(void *context, const struct sl_runner_sample *sample)
{
	struct course *c = context;
	c->samples++;
	for (uint32_t i = 0; i < sample->count; i++) /* in no order */
		c->seen += (sample->raw[i] + sample->learner * UINT64_C(0x9e3779b97f4a7c15)) *
			   (2 * sample->k + 1);
	assert_int_equal(sample->coordinates[0], 0);
}

static void reported(void *context, uint32_t learner, const struct sl_report *report)
{
	struct course *c = context;
	(void)learner;
	assert_int_not_equal(report->kind, SL_REPORT_REJECTED);
	if (report->kind == SL_REPORT_FAILED)
		c->failures[report->reason]++;
	if (report->kind == SL_REPORT_VIEW)
		c->iterations += report->view.exchanges + 1;
}

static void schedule_of(const char *text, uint32_t steps, struct sl_schedule *schedule)
{
	struct sl_error error = {0};
	struct sl_topology_request request = {.text = text, .learners = N, .steps = steps, .seed = 3};
	if (sl_topology_schedule(&request, schedule, &error) != SL_OK)
		fail_msg("%s: %s", text, error.text);
}

/* Run ROUNDS rounds with these settings, "KEY=VALUE KEY=VALUE". */
static int run(const struct sl_schedule *schedule, const char *settings_text, uint64_t seed,
	       struct course *course, struct sl_error *error)
{
	static const uint32_t coordinates[] = {0, PARAMETERS};
	const char *set[8] = {"rounds=3", "privacy_check=warn"};
	char text[256];
	size_t count = 2;
	struct sl_settings settings;
	struct sl_runner *runner;
	snprintf(text, sizeof text, "%s", settings_text);
	for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
		set[count++] = word;
	assert_int_equal(sl_runner_settings(set, count, schedule, &settings, error), SL_OK);
	course->most = course->most != 0 ? course->most : 2;
	struct sl_runner_options options = {.learners = N,
					    .settings = &settings,
					    .schedule = schedule,
					    .parameters = PARAMETERS,
					    .seed = seed,
					    .verify = true,
					    .workers = course->workers,
					    .coordinates = coordinates,
					    .coordinate_count = 2,
					    .train = train,
					    .committed = committed,
					    .sampled = sampled,
					    .reported = reported,
					    .context = course};
	assert_int_equal(sl_runner_open(&options, &runner, error), SL_OK);
	int rc;
	do
		rc = sl_runner_step(runner, error);
	while (rc == SL_PENDING);
	sl_runner_close(runner);
	return rc;
}

static void expect_exact(const struct sl_schedule *schedule, const char *settings)
{
	struct course course = {0};
	struct sl_error error = {0};
	if (run(schedule, settings, 1, &course, &error) != SL_OK)
		fail_msg("%s: %s", settings, error.text);
	assert_int_equal(course.commits, N * ROUNDS);
	assert_int_equal(course.inexact, 0);
	if (!course.partial)
		assert_int_equal(course.samples, course.iterations);
}

TEST(test_topologies)
{
	static const char *const texts[] = {"complete", "ring",	     "line",	     "star",
					    "grid",	"nearest:4", "neighbours:4", "regular:3"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		print_message("%s\n", texts[i]);
		struct sl_schedule schedule;
		schedule_of(texts[i], 2, &schedule);
		expect_exact(&schedule, "");
		expect_exact(&schedule, "sharing=shamir mixing=exact");
		sl_schedule_close(&schedule);
	}
	expect_exact(NULL, "");
}

/* The sum is exact with every field, encoding and sharing, and with a given K. */
TEST(test_settings)
{
	static const char *const texts[] = {"sharing=os",
					    "sharing=shamir",
					    "encoding=paper decimals=6",
					    "iterations=90 iterations_rule=exactly",
					    "modulus=2147483647",
					    "clipping_range=1 clipping=clamp",
					    "quorum=majority",
					    "max_degree=4"};
	struct sl_schedule schedule;
	schedule_of("nearest:6", 1, &schedule);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		print_message("%s\n", texts[i]);
		expect_exact(&schedule, texts[i]);
	}
	sl_schedule_close(&schedule);
}

/* The same seed gives the same run with any number of workers; another seed gives other states and the same
 * sums. */
TEST(test_repeatable)
{
	struct course first = {.workers = 1}, again = {.workers = 4}, other = {0};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	schedule_of("regular:4", ROUNDS, &schedule);
	assert_int_equal(run(&schedule, "", 1, &first, &error), SL_OK);
	assert_int_equal(run(&schedule, "", 1, &again, &error), SL_OK);
	assert_int_equal(run(&schedule, "", 2, &other, &error), SL_OK);
	again.workers = first.workers;
	assert_memory_equal(&first, &again, sizeof first);
	assert_memory_equal(first.model, other.model, sizeof first.model);
	assert_int_not_equal(first.seen, other.seen);
	sl_schedule_close(&schedule);
}

/* A part below the quorum commits nothing; the other part commits, and the learners that return catch up. */
TEST(test_parts)
{
	static const struct sl_edge ring[N] = {{0, 1}, {1, 2}, {2, 3}, {3, 4},	{4, 5},	  {5, 6},
					       {6, 7}, {7, 8}, {8, 9}, {9, 10}, {10, 11}, {0, 11}};
	static const struct sl_edge parted[] = {{0, 1}, {1, 2}, {2, 3}, {3, 4},	 {4, 5},   {5, 6},
						{6, 7}, {0, 7}, {8, 9}, {9, 10}, {10, 11}, {8, 11}};
	struct course course = {0};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	sl_schedule_init(&schedule, N);
	assert_int_equal(sl_schedule_add(&schedule, ring, N), SL_OK);
	assert_int_equal(sl_schedule_add(&schedule, parted, N), SL_OK);
	assert_int_equal(run(&schedule, "quorum=majority", 1, &course, &error), SL_OK);
	assert_int_equal(course.viewless, 4);
	assert_int_equal(course.inexact, 4);
	assert_int_equal(course.commits, N * ROUNDS);
	sl_schedule_close(&schedule);
}

/* No round can commit: the run ends with an error. */
TEST(test_refused)
{
	struct course course = {0};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	schedule_of("ring", 1, &schedule);
	assert_int_equal(run(&schedule, "privacy_check=enforce tolerance=2", 1, &course, &error),
			 SL_ERR_REFUSED);
	assert_string_equal(error.text, "no round committed in 3 steps");
	assert_true(course.failures[SL_REASON_TOLERANCE] > 0);
	assert_int_equal(course.commits, 0);
	sl_schedule_close(&schedule);
}

TEST(test_unfit_models)
{
	struct course course = {.most = 20}, burst = {.burst = 2};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	schedule_of("complete", 1, &schedule);
	assert_int_equal(run(&schedule, "clipping_range=16", 1, &course, &error), SL_ERR_RANGE);
	assert_string_equal(error.text, "learner 1 ended in round 1 (out of range)");
	assert_true(course.failures[SL_REASON_CLIP] > 0);
	assert_int_equal(run(&schedule, "", 1, &burst, &error), SL_ERR_RANGE);
	assert_string_equal(error.text, "no model");
	assert_in_range(burst.commits, 1, N);
	sl_schedule_close(&schedule);
}

static void expect_refusal(struct sl_runner_options *options, const char *text)
{
	struct sl_error error = {0};
	struct sl_runner *runner = (struct sl_runner *)options;
	assert_int_not_equal(sl_runner_open(options, &runner, &error), SL_OK);
	assert_string_equal(error.text, text);
	assert_null(runner);
}

TEST(test_bad_options)
{
	struct sl_settings settings;
	struct sl_error error = {0};
	static const char *const set[] = {"quorum=20"};
	static const char *const wrong[] = {"decimls=3"};
	struct sl_schedule schedule;
	schedule_of("ring", 1, &schedule);
	assert_int_equal(sl_runner_settings(wrong, 1, &schedule, &settings, &error), SL_ERR_INVALID);
	assert_string_equal(error.text, "--set decimls=3: unknown key 'decimls'; did you mean 'decimals'?");
	assert_int_equal(sl_runner_settings(set, 1, &schedule, &settings, &error), SL_OK);
	struct sl_runner_options options = {
		.learners = N, .settings = &settings, .schedule = &schedule, .parameters = 1, .train = train};
	expect_refusal(&options, "quorum: 20 is more than the 12 learners in the roster");
	options.parameters = 0;
	expect_refusal(&options, "0 parameters: from 1 to 1073741824 are possible");
	options.learners = 1;
	expect_refusal(&options, "1 learners: from 2 to 2000 are possible");
	options.learners = 13;
	expect_refusal(&options, "13 learners, and a schedule of 12");
	sl_schedule_close(&schedule);
}

static void record(struct sl_host_disk *disk, const struct sl_persist *persist, bool whole)
{
	struct sl_persist copy = sl_host_disk_copy(persist, whole);
	sl_host_disk_write(disk, &copy, NULL);
	sl_host_disk_drop(&copy);
}

/* An attempt with a Ready ends. The runner's records are for no restart: they have no Readys and Aborts, and
 * count none. */
static void end_of_an_attempt(bool whole)
{
	struct sl_host_disk disk = {.t = 0};
	const struct sl_ready ready = {.id = 7, .t = 1, .a = 2};
	const struct sl_abort aborts[2] = {{.id = 8}, {.id = 9}};
	const struct sl_secrets secrets = {.count = 0};
	record(&disk,
	       &(struct sl_persist){.what = {.kind = SL_PERSIST_PREPARED, .t = 1, .a = 2},
				    .readys = &ready,
				    .ready_count = 1,
				    .secrets = &secrets},
	       whole);
	record(&disk,
	       &(struct sl_persist){
		       .what = {.kind = SL_PERSIST_OVER, .t = 1, .a = 2}, .aborts = aborts, .abort_count = 2},
	       whole);
	assert_int_equal(disk.over_count, 1);
	assert_int_equal(disk.over[0].a, 2);
	assert_int_equal(disk.over[0].ready.id, whole ? 7 : 0);
	assert_int_equal(disk.over[0].count, whole ? 2 : 0);
	assert_int_equal(disk.aborted, 2);
	assert_int_equal(disk.open.a, 0);
	assert_false(disk.reuse);
	sl_host_disk_free(&disk);
}

TEST(test_end_of_an_attempt)
{
	end_of_an_attempt(true);
	end_of_an_attempt(false);
}
