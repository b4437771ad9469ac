#include "test/lib/cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "common/config/settings_table.h"
#include "tools/launch/run_fill.h"

#define WORDS_MAX 48u

struct words {
	char text[1024];
	const char *of[WORDS_MAX + 1]; /* ended by NULL */
	size_t count;
};

/* Add the words of `text`, each with `before` in front of it unless NULL. Call it once. */
static void add_words(struct words *words, const char *before, const char *text)
{
	char *save = NULL;
	assert_true(strlen(text) < sizeof words->text);
	for (char *word = strtok_r(strcpy(words->text, text), " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save)) {
		assert_true(words->count + 2 <= WORDS_MAX);
		if (before != NULL)
			words->of[words->count++] = before;
		words->of[words->count++] = word;
	}
}

/* ---- folder ---- */

struct cluster *cluster_new(void)
{
	struct cluster *c = calloc(1, sizeof *c);
	assert_non_null(c);
	c->starling = STARLING_PATH;
	c->usual = "neighbours=roster";
	process_folder(c->folder, sizeof c->folder);
	snprintf(c->run.path, sizeof c->run.path, "%s/run", c->folder);
	c->run.learners = 1;
	return c;
}

void cluster_free(struct cluster *c, bool remove)
{
	for (uint32_t i = 1; i <= CLUSTER_MAX; i++)
		if (c->pids[i - 1] > 0)
			cluster_signal(c, i, SIGKILL);
	if (c->launcher > 0) {
		kill(c->launcher, SIGKILL);
		process_wait(c->launcher);
	}
	if (remove)
		process_remove(c->folder);
	json_decref(c->summary);
	free(c);
}

static size_t completed_before;

int cluster_setup(void **state)
{
	completed_before = test_completed;
	*state = cluster_new();
	return 0;
}

int cluster_teardown(void **state)
{
	cluster_free(*state, test_completed > completed_before);
	return 0;
}

const char *cluster_path(const struct cluster *c, uint32_t i, const char *file)
{
	static char paths[7][PATH_MAX];
	static unsigned turn;
	char *path = paths[turn++ % 7];
	if (i == 0)
		snprintf(path, PATH_MAX, "%s/%s", c->folder, file);
	else
		assert_int_equal(sl_run_folder_path(&c->run, i - 1, file, path), SL_OK);
	return path;
}

void cluster_shell(const struct cluster *c, const char *command)
{
	struct outcome o;
	process_run(&o, c->run.path, (const char *const[]){"/bin/sh", "-ec", command, NULL});
	if (o.status != 0)
		fail_msg("%s: status %d\n%s%s", command, o.status, o.out, o.err);
}

void cluster_copy_programs(struct cluster *c, const char *daemon)
{
	static const char copy[] = "cp \"$0\" starling && cp \"$1\" starlingd && ln -s \"${0%/*}/python\" .";
	struct outcome o;
	process_run(&o, c->folder, (const char *const[]){"/bin/sh", "-c", copy, STARLING_PATH, daemon, NULL});
	assert_int_equal(o.status, 0);
	c->starling = "./starling";
}

/* ---- learners that the test starts ---- */

static void read_ports(struct cluster *c)
{
	char text[8192];
	const char *at = text;
	process_read(cluster_path(c, 0, "run/roster.yaml"), text, sizeof text);
	for (uint32_t i = 0; i < c->run.learners; i++) {
		at = strstr(at, "\"127.0.0.1:") + 1;
		assert_int_equal(sscanf(at, "127.0.0.1:%hu", &c->ports[i]), 1);
	}
}

void cluster_open(struct cluster *c, uint32_t n, const char *settings)
{
	static const struct sl_run_setting usual[] = {
		{"run", "test"},
		{"data", "digits"},
		{"values", "model"}, /* as cluster_expect_exact expects */
		{"hidden_units", "1"},
		{"unsafe_dump_model", "true"},
		{"keep_checkpoints", "all"},
		{"quorum", "all"},
		{"partition", "iid"},
		{"log_level", "debug"}};
	struct sl_error error = {0};
	struct words words = {.count = 0};
	char path[160];
	assert_true(n <= CLUSTER_MAX && sodium_init() >= 0);
	snprintf(path, sizeof path, "%s/run", c->folder);
	add_words(&words, NULL, settings);
	if (sl_run_folder_open(&c->run, path, n, &error) != SL_OK ||
	    sl_run_fill(&c->run, usual, sizeof usual / sizeof *usual, words.of, words.count, &error) != SL_OK)
		fail_msg("%s", error.text);
	read_ports(c);
}

/* Write those of the words "KEY=VALUE" that stand in the roster into it, and remove them with the word before
 * each. */
static void share(const struct cluster *c, uint32_t learner, struct words *words)
{
	char roster[SL_PATH_BYTES] = "roster.yaml";
	size_t left = 3;
	for (size_t i = 4; i < words->count; i += 2)
		if (strncmp(words->of[i], "roster=../", 10) == 0)
			snprintf(roster, sizeof roster, "%s", words->of[i] + 10);
		else if (strncmp(words->of[i], "roster=", 7) == 0)
			snprintf(roster, sizeof roster, "learner-%02u/%s", learner, words->of[i] + 7);
	for (size_t i = 4; i < words->count; i += 2) {
		char key[SL_NAME_BYTES];
		struct sl_error error = {0};
		size_t length = strcspn(words->of[i], "=");
		snprintf(key, sizeof key, "%.*s", (int)length, words->of[i]);
		const struct sl_setting *row = sl_settings_table_find(key);
		if (row == NULL || !row->shared) {
			words->of[left++] = words->of[i - 1];
			words->of[left++] = words->of[i];
		} else if (sl_run_fill_share(&c->run, roster, key, words->of[i] + length + 1, &error) !=
			   SL_OK)
			fail_msg("%s", error.text);
	}
	words->count = left;
	words->of[left] = NULL;
}

static void start(struct cluster *c, uint32_t i, const char *program, const char *settings)
{
	struct words words = {.of = {program, "--config", "config.yaml"}, .count = 3};
	char all[512];
	snprintf(all, sizeof all, "%s %s", c->usual, settings);
	add_words(&words, "--set", all);
	share(c, i, &words);
	assert_int_equal(c->pids[i - 1], 0);
	const char *log = cluster_path(c, i, "stderr.txt");
	c->pids[i - 1] = process_start(cluster_path(c, i, ""), log, log, words.of);
}

void cluster_start(struct cluster *c, uint32_t i, const char *settings)
{
	start(c, i, STARLINGD_PATH, settings);
}

void cluster_start_failing(struct cluster *c, uint32_t i, const char *failpoint)
{
	setenv("STARLING_CRASH", failpoint, 1);
	start(c, i, STARLINGD_TEST_PATH, "");
	unsetenv("STARLING_CRASH");
}

void cluster_start_lying(struct cluster *c, uint32_t i, const char *lie, const char *settings)
{
	setenv("STARLING_LIE", lie, 1);
	start(c, i, INSIDER_PATH, settings);
	unsetenv("STARLING_LIE");
}

void cluster_start_all(struct cluster *c, const char *settings)
{
	for (uint32_t i = 1; i <= c->run.learners; i++)
		cluster_start(c, i, settings);
}

void cluster_signal(struct cluster *c, uint32_t i, int signal)
{
	assert_true(c->pids[i - 1] > 1);
	assert_int_equal(kill(c->pids[i - 1], signal), 0);
	if (signal == SIGKILL)
		cluster_wait(c, i);
}

int cluster_wait(struct cluster *c, uint32_t i)
{
	int status = process_wait(c->pids[i - 1]);
	c->pids[i - 1] = 0;
	return status;
}

static void show_log(const struct cluster *c, uint32_t i)
{
	static const char command[] =
		"tail -n 15 log.jsonl | sed 's/.*\"level\"/\"level\"/' | cut -c1-300; tail stderr.txt";
	struct outcome o;
	process_run(&o, cluster_path(c, i, ""), (const char *const[]){"/bin/sh", "-c", command, NULL});
	print_error("learner %u:\n%s\n", i, o.out);
}

void cluster_end(struct cluster *c, uint32_t i)
{
	cluster_signal(c, i, SIGTERM);
	assert_int_equal(cluster_wait(c, i), 0);
}

void cluster_finish(struct cluster *c)
{
	for (uint32_t i = 1; i <= c->run.learners; i++) {
		int status = c->pids[i - 1] > 0 ? cluster_wait(c, i) : 0;
		if (status == 0)
			continue;
		show_log(c, i);
		fail_msg("learner %u ended with status %d", i, status);
	}
}

void cluster_stop(struct cluster *c)
{
	for (uint32_t i = 1; i <= c->run.learners; i++)
		if (c->pids[i - 1] > 0)
			cluster_signal(c, i, SIGTERM);
	cluster_finish(c);
}

/* Start learner i again if it was killed. Return true if it has ended with status 0. */
static bool tend(struct cluster *c, uint32_t i, int *deaths)
{
	int status;
	if (c->pids[i - 1] == 0)
		return true;
	if (!process_ended(c->pids[i - 1], &status))
		return false;
	c->pids[i - 1] = 0;
	if (status == 0)
		return true;
	if (status != 128 + SIGKILL) {
		show_log(c, i);
		fail_msg("learner %u ended with status %d", i, status);
	}
	++*deaths;
	cluster_start(c, i, "");
	return false;
}

void cluster_expect_round(const struct cluster *c, uint32_t i, uint32_t t)
{
	double end = process_now() + PATIENCE_S;
	while (cluster_last_round(c, i) < t && process_now() < end)
		process_look_again();
	if (cluster_last_round(c, i) < t)
		fail_msg("learner %u has round %u, not %u", i, cluster_last_round(c, i), t);
}

void cluster_expect_commits(const struct cluster *c, uint64_t learners, int more)
{
	int wanted[CLUSTER_MAX];
	double end = process_now() + PATIENCE_S;
	for (uint32_t i = 1; i <= CLUSTER_MAX; i++)
		wanted[i - 1] = (learners & CLUSTER_BIT(i)) == 0 ? 0 : cluster_committed(c, i) + more;
	for (uint32_t i = 1; i <= CLUSTER_MAX; i++) {
		while (wanted[i - 1] > 0 && cluster_committed(c, i) < wanted[i - 1] && process_now() < end)
			process_look_again();
		if (wanted[i - 1] > 0 && cluster_committed(c, i) < wanted[i - 1])
			fail_msg("learner %u has committed %d rounds, not %d", i, cluster_committed(c, i),
				 wanted[i - 1]);
	}
}

void cluster_expect_no_process(const struct cluster *c)
{
	double end = process_now() + PATIENCE_S;
	while (process_alive(c->folder) && process_now() < end)
		process_look_again();
	assert_false(process_alive(c->folder));
}

int cluster_tend(struct cluster *c)
{
	double end = process_now() + PATIENCE_S;
	int deaths = 0;
	for (uint32_t over = 0; over < c->run.learners; process_look_again()) {
		over = 0;
		for (uint32_t i = 1; i <= c->run.learners; i++)
			over += tend(c, i, &deaths);
		if (process_now() < end)
			continue;
		for (uint32_t i = 1; i <= c->run.learners; i++)
			show_log(c, i);
		fail_msg("%u of %u have ended in %g s", over, c->run.learners, PATIENCE_S);
	}
	return deaths;
}

/* ---- logs ---- */

static void expect(const struct cluster *c, uint32_t i, const char *text, const char *other)
{
	if (process_expect(cluster_path(c, i, "log.jsonl"), text, other))
		return;
	show_log(c, i);
	fail_msg("learner %u never logged %s %s", i, text, other != NULL ? other : "");
}

void cluster_expect(const struct cluster *c, uint32_t i, const char *text)
{
	expect(c, i, text, NULL);
}

void cluster_expect_all(const struct cluster *c, const char *text)
{
	for (uint32_t i = 1; i <= c->run.learners; i++)
		cluster_expect(c, i, text);
}

void cluster_expect_phase(const struct cluster *c, uint32_t i, uint32_t round, const char *phase)
{
	char head[64], tail[48];
	snprintf(head, sizeof head, "\"event\":\"phase\",\"text\":\"round %u: ", round);
	snprintf(tail, sizeof tail, "\"phase\":\"%s\"}", phase);
	expect(c, i, head, tail);
}

int cluster_count(const struct cluster *c, uint32_t i, const char *text)
{
	int count = process_count(cluster_path(c, i, "log.jsonl"), text, NULL);
	return count > 0 ? count : 0;
}

int cluster_committed(const struct cluster *c, uint32_t i)
{
	return cluster_count(c, i, "\"event\":\"committed\"");
}

/* ---- learners of a launcher ---- */

void cluster_launch_start(struct cluster *c, const char *arguments)
{
	struct words words = {.of = {c->starling, "launch", "--run-dir", "run"}, .count = 4};
	const char *n = strstr(arguments, "-n ");
	if (strstr(arguments, "--resume") != NULL || strstr(arguments, "--run-dir") != NULL)
		words.count = 2;
	if (n != NULL)
		c->run.learners = (uint32_t)strtoul(n + 3, NULL, 10);
	if (strstr(arguments, "--verify") != NULL)
		cluster_need_numpy();
	add_words(&words, NULL, arguments);
	unlink(cluster_path(c, 0, "out"));
	unlink(cluster_path(c, 0, "err"));
	json_decref(c->summary);
	c->summary = NULL;
	const char *out = c->terminal != NULL ? c->terminal : cluster_path(c, 0, "out");
	c->launcher = process_start(c->folder, out, cluster_path(c, 0, "err"), words.of);
}

void cluster_launch_wait(struct cluster *c)
{
	c->outcome.status = process_wait(c->launcher);
	c->launcher = 0;
	process_read(cluster_path(c, 0, "out"), c->outcome.out, sizeof c->outcome.out);
	process_read(cluster_path(c, 0, "err"), c->outcome.err, sizeof c->outcome.err);
	c->summary = json_load_file(cluster_path(c, 0, "run/summary.json"), 0, NULL);
}

void cluster_launch(struct cluster *c, const char *arguments)
{
	cluster_launch_start(c, arguments);
	cluster_launch_wait(c);
}

void cluster_schedule(const struct cluster *c, const char *text)
{
	process_write(cluster_path(c, 0, "s.txt"), text);
}

void cluster_kill(const struct cluster *c, uint32_t i)
{
	char text[32];
	const char *path = cluster_path(c, i, "pid");
	assert_true(process_expect(path, "\n", NULL));
	process_read(path, text, sizeof text);
	pid_t pid = (pid_t)atoi(text);
	assert_true(pid > 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
}

double cluster_figure(const struct cluster *c, size_t round, const char *field)
{
	const json_t *value =
		json_object_get(json_array_get(json_object_get(c->summary, "rounds"), round), field);
	return json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
}

void cluster_expect_rounds(const struct cluster *c, size_t rounds, bool verified)
{
	expect_outcome(c, 0, "", "");
	assert_int_equal(json_array_size(json_object_get(c->summary, "rounds")), rounds);
	for (size_t r = 0; r < rounds; r++) {
		assert_true(cluster_figure(c, r, "same") == 1);
		assert_true(cluster_figure(c, r, "verified") == verified);
	}
	assert_false(process_alive(c->folder));
}

void cluster_expect_same_checkpoints(const struct cluster *c, uint32_t n, uint32_t round)
{
	char file[64];
	struct outcome o;
	snprintf(file, sizeof file, "state/checkpoints/round-%06u.safetensors", round);
	for (uint32_t i = 2; i <= n; i++) {
		process_run(&o, NULL,
			    (const char *const[]){"/usr/bin/cmp", cluster_path(c, 1, file),
						  cluster_path(c, i, file), NULL});
		if (o.status != 0)
			fail_msg("%s%s", o.out, o.err);
	}
}

void expect_text(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no \"%s\" in:\n%s", part, text);
}

void expect_outcome(const struct cluster *c, int status, const char *out, const char *err)
{
	const struct outcome *o = &c->outcome;
	if (o->status != status || strstr(o->out, out) == NULL || strstr(o->err, err) == NULL)
		fail_msg("status %d, expected %d, \"%s\" and \"%s\" in:\n%s\n%s", o->status, status, out, err,
			 o->out, o->err);
}
