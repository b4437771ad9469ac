/* What learners with differential privacy spend: it is on record before anything is seen, never lowered, and
 * the budget ends the run. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/report/status_table.h"
#include "test/lib/cluster.h"

#define N 4u
#define ONE 2u /* the learner that is killed or set back */
#define PRIVATE                                                                                              \
	"trainer=noise noise_parameters=20 dp=learner dp_clip=1 dp_noise=2 dp_delta=0.01 stall_timeout=4 "   \
	"unsafe_dump_model=false "
#define ROUNDS_MOST 10000u

/* --- verbs --- */

/* Return a number of the status of a running learner. */
static double spent(struct cluster *c, uint32_t i, const char *name)
{
	char folder[32];
	snprintf(folder, sizeof folder, "run/learner-%02u", i);
	process_run(&c->outcome, c->folder,
		    (const char *const[]){STARLING_PATH, "status", "--json", folder, NULL});
	json_t *document = json_loads(c->outcome.out, 0, NULL);
	const json_t *learner = json_array_get(json_object_get(document, "learners"), 0);
	const json_t *dp = json_object_get(json_object_get(learner, "status"), "dp");
	assert_true(json_is_object(dp));
	size_t rows = 0;
#define X(field, meaning) rows += json_object_get(dp, #field) != NULL;
	SL_STATUS_DP_FIELDS(X)
#undef X
	assert_int_equal(rows, json_object_size(dp));
	assert_true(rows > 0);
	double value = json_number_value(json_object_get(dp, name));
	json_decref(document);
	return value;
}

/* What a log tells of the charges of a learner. */
struct told {
	uint32_t charges, rounds; /* rounds: with a charge */
	double epsilon;		  /* of the last one */
	bool lowered;
};

static struct told told(const struct cluster *c, uint32_t i)
{
	static bool charged[ROUNDS_MOST];
	struct told told = {0};
	memset(charged, 0, sizeof charged);
	FILE *log = fopen(cluster_path(c, i, "log.jsonl"), "re");
	char line[8192];
	assert_non_null(log);
	while (fgets(line, sizeof line, log) != NULL) {
		const char *round = strstr(line, "\"round\":"),
			   *epsilon = strstr(line, "\"epsilon_unsampled\":");
		if (strstr(line, "\"event\":\"charged\"") == NULL || round == NULL || epsilon == NULL)
			continue;
		unsigned t = (unsigned)strtoul(round + 8, NULL, 10);
		double now = strtod(epsilon + 20, NULL);
		assert_true(t < ROUNDS_MOST);
		told.lowered |= now <= told.epsilon;
		told.epsilon = now;
		told.charges++;
		told.rounds += !charged[t];
		charged[t] = true;
	}
	fclose(log);
	return told;
}

static void start_and_await(struct cluster *c, uint32_t i)
{
	cluster_start(c, i, "");
	cluster_expect_round(c, i, cluster_last_round(c, 1) + 2);
}

/* --- killed about the record --- */

/* Wait until learner i charges nothing any more; return the charges on record without a guess. */
static double settled(struct cluster *c, uint32_t i)
{
	double charges = -1, before = -2, until = process_now() + PATIENCE_S;
	while (charges != before && process_now() < until) {
		before = charges;
		process_look_again();
		charges = spent(c, i, "charges") - spent(c, i, "guessed");
	}
	return charges;
}

static void fail_at(struct cluster *c, const char *failpoint)
{
	cluster_start_failing(c, ONE, failpoint);
	assert_int_equal(cluster_wait(c, ONE), 128 + SIGKILL);
}

/* The log has each charge but the one after whose record it died. */
CLUSTER_TEST(killed_about_the_record)
{
	cluster_open(c, N, "rounds=9000 " PRIVATE);
	for (uint32_t i = 1; i <= N; i++)
		if (i != ONE)
			cluster_start(c, i, "");
	fail_at(c, "before-prepared:3");
	assert_int_equal(told(c, ONE).charges, 2);
	fail_at(c, "after-prepared:3");
	assert_int_equal(told(c, ONE).charges, 4);
	start_and_await(c, ONE);
	cluster_signal(c, 1, SIGSTOP); /* all wait for it */
	double charges = settled(c, ONE);
	struct told log = told(c, ONE);
	assert_false(log.lowered);
	assert_true(charges == log.charges + 1);
	process_run(&c->outcome, c->folder, (const char *const[]){STARLING_PATH, "status", "run", NULL});
	expect_text(c->outcome.out, "privacy spent: epsilon ");
	expect_text(c->outcome.out, " at delta 0.01, by learner-0");
	cluster_signal(c, 1, SIGCONT);
	cluster_stop(c);
}

/* --- a state folder that has lost charges --- */

/* Run on with the state folder that `command` makes of the present one: at least one charge for each round.
 */
static void expect_covered(struct cluster *c, const char *command)
{
	cluster_end(c, ONE);
	struct told before = told(c, ONE);
	cluster_shell(c, command);
	start_and_await(c, ONE);
	struct told after = told(c, ONE);
	double charges = spent(c, ONE, "charges"), epsilon = spent(c, ONE, "epsilon_unsampled");
	assert_true(charges >= after.rounds);
	assert_true(after.rounds > before.rounds && epsilon >= after.epsilon * (1 - 1e-9));
	assert_true(spent(c, ONE, "guessed") > 0);
	assert_true(cluster_count(c, ONE, "\"event\":\"ledger_gap\"") > 0);
}

CLUSTER_TEST(a_disk_that_was_set_back)
{
	cluster_open(c, N, "rounds=9000 " PRIVATE);
	cluster_start_all(c, "");
	cluster_expect_round(c, ONE, 2);
	cluster_end(c, ONE);
	cluster_shell(c, "cp -a learner-02/state learner-02/kept");
	start_and_await(c, ONE);
	cluster_expect_round(c, ONE, cluster_last_round(c, ONE) + 3);
	expect_covered(c, "cd learner-02; mv state lost; mv kept state");
	cluster_stop(c);
}

CLUSTER_TEST(a_restored_backup)
{
	cluster_open(c, N, "rounds=9000 " PRIVATE);
	cluster_start_all(c, "");
	cluster_expect_round(c, ONE, 2);
	process_run(&c->outcome, c->folder,
		    (const char *const[]){STARLING_PATH, "backup", "--control", "run/learner-02/control.sock",
					  NULL});
	assert_int_equal(c->outcome.status, 0);
	cluster_expect_round(c, ONE, cluster_last_round(c, ONE) + 3);
	expect_covered(c, "cd learner-02; mv state lost; cp -a lost/backup state");
	cluster_stop(c);
}

CLUSTER_TEST(an_emptied_folder)
{
	cluster_open(c, N, "rounds=9000 " PRIVATE);
	cluster_start_all(c, "");
	cluster_expect_round(c, ONE, 4);
	expect_covered(c, "cd learner-02; mv state lost");
	cluster_stop(c);
}

/* --- the budget --- */

/* All have spent as much: with it, they end, in order. */
static void expect_end(struct cluster *c, const char *mode, int zeros)
{
	char arguments[256];
	snprintf(arguments, sizeof arguments,
		 "-n 4 --rounds 6 --set trainer=noise --set noise_parameters=20 --set dp=learner "
		 "--set dp_clip=1 --set dp_noise=1.2 --set dp_epsilon=5 --set dp_delta=0.01 "
		 "--set quorum=all --set dp_spent=%s",
		 mode);
	cluster_launch(c, arguments);
	expect_outcome(c, 0, "stopped after round 4 of 6 as a privacy budget is spent", "");
	for (uint32_t i = 1; i <= N; i++) {
		assert_int_equal(told(c, i).charges, 4);
		assert_true(told(c, i).epsilon > 4.5 && told(c, i).epsilon <= 5);
	}
	assert_int_equal(cluster_count(c, 1, "\"event\":\"budget_zeros\""), zeros);
}

CLUSTER_TEST(the_budget_ends_the_run)
{
	expect_end(c, "end", 0);
}

CLUSTER_TEST(zeros_of_all_end_the_run)
{
	expect_end(c, "zeros", 1);
}
