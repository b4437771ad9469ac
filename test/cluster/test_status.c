/* `starling status`, `stop` and `reload` with real learners. */
#include <signal.h>
#include <string.h>

#include "common/report/status_table.h"
#include "test/lib/cluster.h"

#define N 4u

static void command(struct cluster *c, const char *name, const char *option, const char *value)
{
	process_run(&c->outcome, c->folder, (const char *const[]){STARLING_PATH, name, option, value, NULL});
}

/* Return what `starling status --json` says of the run; the caller frees it. */
static json_t *status_of(struct cluster *c)
{
	command(c, "status", "--json", "run");
	json_t *document = json_loads(c->outcome.out, 0, NULL);
	if (!json_is_object(document))
		fail_msg("no status: %s%s", c->outcome.out, c->outcome.err);
	assert_int_equal(json_integer_value(json_object_get(document, "exit_status")), c->outcome.status);
	return document;
}

static const json_t *learner(const json_t *document, uint32_t i)
{
	return json_array_get(json_object_get(document, "learners"), i - 1);
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));
	return value != NULL ? value : "";
}

/* Return true if learner 1 waits for learner 3 alone, and says for what. */
static bool awaits_3(const json_t *document)
{
	const json_t *status = json_object_get(learner(document, 1), "status"),
		     *awaits = json_object_get(status, "awaits");
	return json_array_size(awaits) == 1 && json_integer_value(json_array_get(awaits, 0)) == 3 &&
	       strncmp(text(status, "waits_for"), "to ", 3) == 0;
}

static void expect_state(struct cluster *c, uint32_t i, const char *state,
			 bool (*also)(const json_t *document))
{
	double end = process_now() + PATIENCE_S;
	for (bool found = false; !found;) {
		json_t *document = status_of(c);
		found = strcmp(text(learner(document, i), "state"), state) == 0 &&
			(also == NULL || also(document));
		json_decref(document);
		if (process_now() > end)
			fail_msg("learner %u never was %s as expected; the last: %s", i, state,
				 c->outcome.out);
		process_look_again();
	}
}

/* Wait until `starling status` prints `part`. */
static void expect_print(struct cluster *c, const char *option, const char *value, const char *part)
{
	double end = process_now() + PATIENCE_S;
	for (bool found = false; !found;) {
		command(c, "status", option, value);
		found = strstr(c->outcome.out, part) != NULL;
		if (process_now() > end)
			fail_msg("never printed \"%s\"; the last: %s", part, c->outcome.out);
		process_look_again();
	}
}

/* Expect every field of the tables, and none besides. */
static void expect_fields(struct cluster *c)
{
	command(c, "status", "--json", "run/learner-01");
	json_t *document = json_loads(c->outcome.out, 0, NULL);
	const json_t *status = json_object_get(learner(document, 1), "status"),
		     *commit = json_object_get(status, "last_commit"),
		     *peer = json_array_get(json_object_get(status, "peers"), 0);
	size_t missing = 0, rows = 0;
#define ROW(object, field) rows++, missing += json_object_get(object, #field) == NULL;
#define X(field, meaning) ROW(status, field)
	SL_STATUS_FIELDS(X)
#undef X
#define X(field, meaning) ROW(commit, field)
	SL_STATUS_COMMIT_FIELDS(X)
#undef X
#define X(field, meaning) ROW(peer, field)
	SL_STATUS_PEER_FIELDS(X)
#undef X
	assert_int_equal(missing, 0);
	assert_int_equal(json_object_size(status) + json_object_size(commit) + json_object_size(peer), rows);
	json_decref(document);
}

/* A learner that is stopped is awaited by the others, and does not answer itself. */
CLUSTER_TEST(a_stopped_learner_is_awaited)
{
	cluster_open(c, N, "rounds=1000000 quorum=all trainer=noise noise_parameters=10");
	cluster_start_all(c, "");
	cluster_expect_all(c, "round 2 committed");
	expect_state(c, 1, "running", NULL);
	expect_fields(c);
	cluster_signal(c, 3, SIGSTOP);
	expect_state(c, 3, "silent", awaits_3);
	assert_int_equal(c->outcome.status, 1);
	expect_print(c, "run", NULL, "    waits for learner-03 (3) to ");
	expect_outcome(c, 1, "?learner-03", "");
	expect_text(c->outcome.out, " commit    loss   MB\n"); /* the trainer has no held-out error */
	expect_print(c, "--control", cluster_path(c, 1, "control.sock"), ", awaited");
	expect_text(c->outcome.out, "second-hand, as learner-01 has heard last:");
	expect_text(c->outcome.out, "~learner-03");
	cluster_signal(c, 3, SIGCONT);
	expect_state(c, 3, "running", NULL);
	command(c, "stop", "run", NULL);
	expect_outcome(c, 0, "learner-01: ended\nlearner-02: ended\nlearner-03: ended\nlearner-04: ended\n",
		       "");
	cluster_finish(c);
	command(c, "status", "run", NULL);
	expect_outcome(c, 2, "xlearner-01", "");
	expect_text(c->outcome.out, " stopping: ended by command");
	command(c, "stop", "run", NULL);
	expect_outcome(c, 0, "learner-04: is not running", "");
	command(c, "reload", "run", NULL);
	expect_outcome(c, 1, "", "learner-01: is not running");
}

/* Return true if learner 1 shows a warning of a wait or a failed attempt. */
static bool shows_wait(struct cluster *c)
{
	json_t *document = status_of(c);
	const json_t *problem =
		json_object_get(json_object_get(learner(document, 1), "status"), "last_problem");
	const char *event = text(problem, "event");
	bool shows = strcmp(event, "waiting") == 0 || strcmp(event, "attempt_failed") == 0;
	json_decref(document);
	return shows;
}

static void expect_wait(struct cluster *c, bool shown)
{
	for (double end = process_now() + PATIENCE_S; shows_wait(c) != shown; process_look_again())
		if (process_now() > end)
			fail_msg("a warning of a wait is %s: %s", shown ? "not there" : "there for ever",
				 c->outcome.out);
}

/* What kept a learner waiting at the start is no warning any more when rounds go on. */
CLUSTER_TEST(a_warning_of_the_start_is_over)
{
	cluster_open(c, N,
		     "rounds=1000000 straggler_timeout=1 stall_timeout=60 trainer=noise noise_parameters=10");
	cluster_start(c, 1, "");
	expect_wait(c, true);
	for (uint32_t i = 2; i <= N; i++)
		cluster_start(c, i, "");
	cluster_expect_all(c, "round 2 committed");
	expect_wait(c, false);
	cluster_stop(c);
}

/* The present folder, if it has learners; a folder without one. A learner reloads its files. */
CLUSTER_TEST(where_the_learners_are)
{
	cluster_open(c, N, "rounds=1 straggler_timeout=1 stall_timeout=5");
	process_run(&c->outcome, c->folder,
		    (const char *const[]){STARLING_PATH, "status", "run", "run", NULL});
	expect_outcome(c, 2, "", "give one run folder");
	command(c, "status", "nowhere", NULL);
	expect_outcome(c, 2, "", "nowhere: No such file or directory");
	command(c, "stop", c->folder, NULL);
	expect_outcome(c, 2, "", "no learner in it");
	cluster_start(c, 1, "");
	cluster_expect(c, 1, "listening");
	process_run(&c->outcome, c->run.path, (const char *const[]){STARLING_PATH, "status", NULL});
	expect_text(c->outcome.out, "run folder ");
	expect_state(c, 1, "overdue", NULL); /* it is alone */
	assert_int_equal(c->outcome.status, 1);
	cluster_shell(c, "mv learner-01/log.jsonl learner-01/old.jsonl");
	command(c, "reload", "run", NULL);
	expect_outcome(c, 0, "learner-01: reloaded\n", "");
	cluster_expect(c, 1, "reloaded"); /* in a new file */
	cluster_shell(c, "sed -i.old '$d; s/settings: {/settings: {tolerance: 2, /' roster.yaml");
	command(c, "reload", "run", NULL);
	expect_outcome(c, 1, "", "3 learners are too few for tolerance: 2"); /* it goes on */
	cluster_shell(c, "mv roster.yaml.old roster.yaml && sed -i 's/learner-04/zoe/' roster.yaml");
	command(c, "reload", "run", NULL);
	assert_int_equal(c->outcome.status, 0);
	process_run(&c->outcome, cluster_path(c, 1, ""),
		    (const char *const[]){STARLING_PATH, "status", NULL});
	expect_text(c->outcome.out, "learner-01");
	expect_text(c->outcome.out, "~learner-04");
	process_run(&c->outcome, c->run.path, (const char *const[]){STARLING_PATH, "stop", NULL});
	assert_int_equal(c->outcome.status, 0);
	cluster_finish(c);
}
