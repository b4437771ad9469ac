#include "test/chaos/group.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>
#include <sodium.h>

#include "common/base/bytes.h"
#include "tools/launch/run_fill.h"
#include "tools/launch/verify.h"

#define SETTINGS_MAX 32u
#define ARGUMENTS_MAX 16u
#define LINE_BYTES 1024u
#define ANY_ROUND 0u

void group_path(const struct group *group, uint32_t i, const char *file, char *path, size_t size)
{
	char whole[PATH_MAX];
	sl_run_folder_path(&group->run, i - 1, file, whole);
	snprintf(path, size, "%s", whole);
}

/* ---- the folder ---- */

/* "- {id: 2, name: ..., address: "127.0.0.1:10054", key: ...}", with another port. */
static void put_member(FILE *out, const char *line, uint16_t port)
{
	const char *colon = strstr(line, "127.0.0.1:") + strlen("127.0.0.1:");
	fprintf(out, "%.*s%u%s", (int)(colon - line), line, port, colon + strspn(colon, "0123456789"));
}

static void write_roster(struct group *g, uint32_t i, char lines[][LINE_BYTES])
{
	char path[PATH_MAX];
	group_path(g, i, "roster.yaml", path, sizeof path);
	FILE *out = fopen(path, "we");
	assert_non_null(out);
	for (uint32_t j = 1; j <= g->n; j++)
		put_member(out, lines[j - 1], j == i ? g->ports[i - 1] : proxy_port(g->proxy, i, j));
	fclose(out);
}

static void write_rosters(struct group *g)
{
	static char lines[PROXY_LEARNERS_MAX][LINE_BYTES];
	char path[192];
	snprintf(path, sizeof path, "%s/run/roster.yaml", g->folder);
	FILE *in = fopen(path, "re");
	assert_non_null(in);
	for (uint32_t i = 0; i < g->n; i++) {
		unsigned port = 0;
		assert_non_null(fgets(lines[i], LINE_BYTES, in));
		assert_int_equal(sscanf(strstr(lines[i], "127.0.0.1:"), "127.0.0.1:%u", &port), 1);
		g->ports[i] = (uint16_t)port;
	}
	fclose(in);
	g->proxy = proxy_open(g->ports, g->n);
	for (uint32_t i = 1; i <= g->n; i++)
		write_roster(g, i, lines);
}

void group_open(struct group *group, uint32_t n, const char *const *settings)
{
	static const struct sl_run_setting usual[] = {
		{"run", "chaos"},
		{"data", "digits"},
		{"hidden_units", "1"},
		{"mixing", "metropolis"},
		{"unsafe_dump_encoding", "true"},
		{"log_level", "debug"},
	};
	char path[192];
	struct sl_error error = {0};
	size_t count = 0;
	*group = (struct group){.n = n, .program = process_starlingd(), .crashing = STARLINGD_TEST_PATH};
	process_folder(group->folder, sizeof group->folder);
	snprintf(path, sizeof path, "%s/run", group->folder);
	while (settings[count] != NULL)
		count++;
	if (sodium_init() < 0 || sl_run_folder_open(&group->run, path, n, &error) != SL_OK ||
	    sl_run_fill(&group->run, usual, sizeof usual / sizeof *usual, settings, count, &error) != SL_OK)
		fail_msg("%s", error.text);
	write_rosters(group);
}

void group_close(struct group *group)
{
	for (uint32_t i = 1; i <= group->n; i++)
		if (group->pids[i - 1] > 0)
			group_signal(group, i, SIGKILL);
	proxy_close(group->proxy);
	process_remove(group->folder);
}

/* ---- processes ---- */

void group_start(struct group *group, uint32_t i, const char *crash)
{
	char folder[PATH_MAX], log[PATH_MAX], listen[64];
	snprintf(listen, sizeof listen, "listen=127.0.0.1:%u", group->ports[i - 1]);
	group_path(group, i, "", folder, sizeof folder);
	group_path(group, i, "stderr.txt", log, sizeof log);
	const char *argv[] = {crash != NULL ? group->crashing : group->program,
			      "--config",
			      "config.yaml",
			      "--set",
			      "neighbours=roster",
			      "--set",
			      "roster=roster.yaml",
			      "--set",
			      listen,
			      NULL};
	if (crash != NULL)
		setenv("STARLING_CRASH", crash, 1);
	else
		unsetenv("STARLING_CRASH");
	group->pids[i - 1] = process_start(folder, log, argv);
	unsetenv("STARLING_CRASH");
}

void group_start_all(struct group *group)
{
	for (uint32_t i = 1; i <= group->n; i++)
		group_start(group, i, NULL);
}

int group_wait(struct group *group, uint32_t i, double seconds)
{
	int status = process_wait(group->pids[i - 1], seconds);
	group->pids[i - 1] = 0;
	return status;
}

bool group_ended(struct group *group, uint32_t i, int *status)
{
	int raw;
	if (waitpid(group->pids[i - 1], &raw, WNOHANG) <= 0)
		return false;
	process_forget(group->pids[i - 1]);
	group->pids[i - 1] = 0;
	*status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
	return true;
}

void group_signal(struct group *group, uint32_t i, int signal)
{
	assert_true(group->pids[i - 1] > 1);
	assert_int_equal(kill(group->pids[i - 1], signal), 0);
	if (signal == SIGKILL)
		group_wait(group, i, 10);
}

static void show_log(const struct group *group, uint32_t i)
{
	static const char command[] =
		"tail -n 15 log.jsonl | sed 's/.*\"level\"/\"level\"/' | cut -c1-300; tail stderr.txt";
	char folder[PATH_MAX];
	struct outcome o;
	group_path(group, i, "", folder, sizeof folder);
	process_run(&o, folder, 10, (const char *const[]){"/bin/sh", "-c", command, NULL});
	print_error("learner %u:\n%s\n", i, o.out);
}

void group_finish(struct group *group, double seconds)
{
	bool good = true;
	for (uint32_t i = 1; i <= group->n; i++) {
		int status = group_wait(group, i, seconds);
		if (status != 0) {
			print_error("learner %u ended with status %d\n", i, status);
			good = false;
		}
	}
	for (uint32_t i = 1; i <= group->n && !good; i++)
		show_log(group, i);
	assert_true(good);
}

/* Whether it has ended, if it is not to be started again. */
static bool tend(struct group *group, uint32_t i, int *deaths)
{
	int status;
	if (group->pids[i - 1] == 0)
		return true;
	if (!group_ended(group, i, &status))
		return false;
	if (status == 0)
		return true;
	if (status != 128 + SIGKILL) {
		show_log(group, i);
		fail_msg("learner %u ended with status %d", i, status);
	}
	++*deaths;
	group_start(group, i, NULL);
	return false;
}

int group_tend(struct group *group, double seconds)
{
	double end = process_now() + seconds;
	int deaths = 0;
	for (uint32_t over = 0; over < group->n; process_look_again()) {
		over = 0;
		for (uint32_t i = 1; i <= group->n; i++)
			over += tend(group, i, &deaths);
		if (process_now() < end)
			continue;
		for (uint32_t i = 1; i <= group->n; i++)
			show_log(group, i);
		fail_msg("%u of %u have ended in %g s", over, group->n, seconds);
	}
	return deaths;
}

/* ---- what they say ---- */

int group_count(const struct group *group, uint32_t i, const char *text)
{
	char log[PATH_MAX];
	group_path(group, i, "log.jsonl", log, sizeof log);
	return process_count(log, text);
}

void group_expect(const struct group *group, uint32_t i, const char *text, double seconds)
{
	char log[PATH_MAX];
	group_path(group, i, "log.jsonl", log, sizeof log);
	if (process_expect(log, text, seconds))
		return;
	show_log(group, i);
	fail_msg("learner %u never said %s", i, text);
}

/* ---- what they committed ---- */

static json_t *next_record(FILE *log)
{
	char *line = NULL;
	size_t room = 0;
	json_t *record = NULL;
	while (record == NULL && getline(&line, &room, log) > 0)
		record = json_loads(line, 0,
				    NULL); /* the last line of one that was killed may be half a record */
	free(line);
	return record;
}

/* Calls `each` for the records of learner i about round t, or all of them. */
static void for_records(const struct group *group, uint32_t i, uint32_t t,
			void (*each)(void *context, uint32_t i, const char *event, const json_t *record),
			void *context)
{
	char path[PATH_MAX];
	group_path(group, i, "log.jsonl", path, sizeof path);
	FILE *log = fopen(path, "re");
	assert_non_null(log);
	for (json_t *record; (record = next_record(log)) != NULL; json_decref(record)) {
		const char *event = json_string_value(json_object_get(record, "event"));
		if (event != NULL &&
		    (t == ANY_ROUND || json_integer_value(json_object_get(record, "round")) == t))
			each(context, i, event, record);
	}
	fclose(log);
}

/* A round, from all logs: which attempt committed, and who was in its view. */
struct committed {
	json_int_t attempt, learners;
	bool said;
	uint64_t who[1], has[1], passed[1];
	char digest[2 * SL_HASH_BYTES + 1];
};

static void set_attempt(struct committed *c, const json_t *record)
{
	c->attempt = json_integer_value(json_object_get(record, "attempt"));
	c->learners = json_integer_value(json_object_get(record, "learners"));
}

static void find_commit(void *context, uint32_t i, const char *event, const json_t *record)
{
	struct committed *c = context;
	if (strcmp(event, "fatal") == 0)
		fail_msg("learner %u: %s", i, json_string_value(json_object_get(record, "text")));
	if (strcmp(event, "view") == 0 && !c->said &&
	    json_integer_value(json_object_get(record, "attempt")) >= c->attempt)
		set_attempt(c, record); /* the last one, where everybody died before it could say so */
	if (strcmp(event, "committed") != 0 && strcmp(event, "caught_up") != 0)
		return;
	const char *digest = json_string_value(json_object_get(record, "digest"));
	c->has[0] |= UINT64_C(1) << (i - 1);
	if (c->digest[0] == '\0')
		snprintf(c->digest, sizeof c->digest, "%s", digest);
	assert_string_equal(c->digest, digest); /* no two models of one round, ever */
	if (strcmp(event, "committed") != 0)
		return;
	set_attempt(c, record);
	c->said = true;
}

static void find_members(void *context, uint32_t i, const char *event, const json_t *record)
{
	struct committed *c = context;
	if (strcmp(event, "view") == 0 &&
	    json_integer_value(json_object_get(record, "attempt")) == c->attempt)
		c->who[0] |= UINT64_C(1) << (i - 1);
}

static void expect_exact(const struct group *group, uint32_t t)
{
	struct committed c = {0};
	struct sl_error error = {0};
	for (uint32_t i = 1; i <= group->n; i++)
		for_records(group, i, t, find_commit, &c);
	assert_true(c.attempt > 0);
	for (uint32_t i = 1; i <= group->n; i++)
		for_records(group, i, t, find_members, &c);
	assert_int_equal(__builtin_popcountll(c.who[0]), c.learners);
	c.passed[0] = ~c.has[0];
	const struct sl_verify verify = {
		.folder = &group->run,
		.encoding = {.kind = SL_ENCODING_WEIGHTED, .decimals = 4, .clipping_range = 16, .weight = 1},
		.round = t,
		.who = c.who,
		.passed = c.passed,
	};
	if (sl_verify_round(&verify, &error) != SL_OK)
		fail_msg("round %u: %s", t, error.text);
}

static void find_last(void *context, uint32_t i, const char *event, const json_t *record)
{
	uint32_t *last = context;
	json_int_t t = json_integer_value(json_object_get(record, "round"));
	(void)i;
	if ((strcmp(event, "committed") == 0 || strcmp(event, "caught_up") == 0) && t > *last)
		*last = (uint32_t)t;
}

uint32_t group_committed(const struct group *group)
{
	uint32_t least = UINT32_MAX;
	for (uint32_t i = 1; i <= group->n; i++) {
		uint32_t last = 0;
		for_records(group, i, ANY_ROUND, find_last, &last);
		least = last < least ? last : least;
	}
	return least;
}

void group_expect_exact(const struct group *group, uint32_t rounds)
{
	for (uint32_t t = 1; t <= rounds; t++)
		expect_exact(group, t);
}

/* A line that ends with "phase":"MIX"} has both. */
static bool has_entered(const struct group *group, uint32_t i, const char *round, const char *phase)
{
	char path[PATH_MAX], end[48], *line = NULL;
	size_t room = 0;
	bool found = false;
	group_path(group, i, "log.jsonl", path, sizeof path);
	FILE *log = fopen(path, "re");
	snprintf(end, sizeof end, "\"phase\":\"%s\"}", phase);
	while (log != NULL && !found && getline(&line, &room, log) > 0)
		found = strstr(line, "\"event\":\"phase\"") != NULL && strstr(line, round) != NULL &&
			strstr(line, end) != NULL;
	free(line);
	if (log != NULL)
		fclose(log);
	return found;
}

void group_expect_phase(const struct group *group, uint32_t i, uint32_t round, const char *phase,
			double seconds)
{
	char text[64];
	double end = process_now() + seconds;
	snprintf(text, sizeof text, "\"round\":%u,", round);
	while (!has_entered(group, i, text, phase)) {
		if (process_now() > end) {
			show_log(group, i);
			fail_msg("learner %u never came to %s in round %u", i, phase, round);
		}
		process_look_again();
	}
}
