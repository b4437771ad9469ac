/* A learner that released and is lost for good holds up its round, until an operator says that it is. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/cluster/process.h"
#include "test/lib/test.h"
#include "tools/lib/control_query.h"
#include "tools/lib/ports.h"

#define LEARNERS 4

struct site {
	char folder[128]; /* with learner-01/ .. */
	pid_t pids[LEARNERS];
};

static void path_of(const struct site *s, int i, const char *file, char *path, size_t size)
{
	snprintf(path, size, "%s/learner-%02d/%s", s->folder, i, file);
}

static void write_text(const char *path, const char *mode, const char *text)
{
	FILE *file = fopen(path, mode);
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make(const struct site *s, int i, uint16_t port)
{
	struct outcome o;
	char folder[192], id[12], name[32], address[32], path[256], text[512];
	path_of(s, i, "", folder, sizeof folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(id, sizeof id, "%d", i);
	snprintf(name, sizeof name, "site-%d", i);
	snprintf(address, sizeof address, "127.0.0.1:%u", port);
	process_run(&o, folder, 20,
		    (const char *const[]){process_starling(), "keygen", "--id", id, "--name", name,
					  "--address", address, NULL});
	assert_int_equal(o.status, 0);
	snprintf(path, sizeof path, "%s/roster.yaml", s->folder);
	write_text(path, "a", o.out);
	path_of(s, i, "starlingd.yaml", path, sizeof path);
	snprintf(text, sizeof text,
		 "run: lost\nid: %d\nroster: ../roster.yaml\nidentity: identity\nstate: state\ncontrol: "
		 "control.sock\nlog: log.jsonl\n"
		 "rounds: 1\nhidden_units: 1\nquorum: majority\nserve_after_end: 1\nneighbours: "
		 "control\nhello_timeout: 5\n",
		 i);
	write_text(path, "w", text);
}

/* The last one dies at `point`. */
static void start(struct site *s, const char *point)
{
	char folder[192], log[256], crash[64];
	for (int i = 1; i <= LEARNERS; i++) {
		path_of(s, i, "", folder, sizeof folder);
		path_of(s, i, "stderr.txt", log, sizeof log);
		snprintf(crash, sizeof crash, "STARLING_CRASH=%s", i == LEARNERS ? point : "");
		s->pids[i - 1] =
			process_start(folder, log,
				      (const char *const[]){"/usr/bin/env", crash, STARLINGD_TEST_PATH,
							    "--config", "starlingd.yaml", NULL});
	}
}

static void expect_log(const struct site *s, int i, const char *text)
{
	char log[256];
	path_of(s, i, "log.jsonl", log, sizeof log);
	if (!process_expect(log, text, 60))
		fail_msg("learner %d never said \"%s\"", i, text);
}

/* They look for each other once all listen, so that nobody is left out of the round. */
static void meet(const struct site *s)
{
	static struct sl_control_query asked[LEARNERS];
	memset(asked, 0, sizeof asked);
	json_t *peers = json_array();
	for (int i = 1; i <= LEARNERS; i++) {
		expect_log(s, i, "\"event\":\"listening\"");
		path_of(s, i, "", asked[i - 1].folder, sizeof asked->folder);
		strcpy(asked[i - 1].socket, "control.sock");
		json_array_append_new(peers, json_integer(i));
	}
	json_t *request = json_pack("{s:s, s:i, s:o}", "op", "range", "step", 1, "peers", peers);
	sl_control_query_all(asked, LEARNERS, request, 20000);
	for (int i = 0; i < LEARNERS; i++) {
		assert_non_null(asked[i].reply);
		json_decref(asked[i].reply);
	}
	json_decref(request);
}

static void open_site(struct site *s, const char *point)
{
	struct sl_error error;
	uint16_t ports[LEARNERS];
	process_folder(s->folder, sizeof s->folder);
	assert_int_equal(sl_ports_find(ports, LEARNERS, &error), 0);
	for (int i = 1; i <= LEARNERS; i++)
		make(s, i, ports[i - 1]);
	start(s, point);
	meet(s);
}

static void give_command(const struct site *s, struct outcome *o, const char *round, const char *yes)
{
	process_run(o, NULL, 30,
		    (const char *const[]){process_starling(), "abort", "--round", round, "--run", s->folder,
					  yes, NULL});
}

static void expect_said(const struct outcome *o, int status, const char *out, const char *err)
{
	if (o->status != status || strstr(o->out, out) == NULL || strstr(o->err, err) == NULL)
		print_error("%d\n%s%s", o->status, o->out, o->err);
	assert_int_equal(o->status, status);
	assert_non_null(strstr(o->out, out));
	assert_non_null(strstr(o->err, err));
}

/* Its masked state never left, and it never comes back. */
TEST(a_lost_learner_holds_up_its_round_until_it_is_aborted)
{
	struct site s;
	struct outcome o;
	open_site(&s, "after-released");
	assert_int_equal(process_wait(s.pids[LEARNERS - 1], 60), 128 + SIGKILL);
	for (int i = 1; i < LEARNERS; i++)
		expect_log(&s, i, "no linked learner has the masked state of site-4 (4)");
	give_command(&s, &o, "1", NULL);
	expect_said(&o, 2, "", "confirm with --yes");
	give_command(&s, &o, "2", "--yes");
	expect_said(&o, 1, "", "learner-01: this learner is in another round");
	kill(s.pids[2], SIGSTOP);
	give_command(&s, &o, "1", "--yes");
	kill(s.pids[2], SIGCONT);
	expect_said(&o, 0, "learner-02: attempt ", "learner-04: not running");
	expect_said(&o, 0, "learner-01: attempt ", "learner-03: does not answer; left out");
	assert_non_null(strstr(o.out, " of round 1 is aborted"));
	assert_non_null(strstr(o.err, ", RECOVER; no learner in reach has the masked state of site-4 (4)"));
	give_command(&s, &o, "1", "--yes"); /* the others have nothing to abort */
	expect_said(&o, 0, "learner-03: attempt ", "learner-01: no attempt of that round is open here");
	for (int i = 1; i < LEARNERS; i++) {
		expect_log(&s, i, "\"event\":\"model_invalidated\"");
		assert_int_equal(process_wait(s.pids[i - 1], 60), 0);
		expect_log(&s, i, "round 1 committed: 3 learners");
	}
	process_run(&o, NULL, 30,
		    (const char *const[]){process_starling(), "abort", "--round", "1", "--run", "/proc/self",
					  "--yes", NULL});
	expect_said(&o, 2, "", "no learner in it: no NAME/control.sock");
	process_remove(s.folder);
}

/* Any other kill is a pause. */
TEST(one_that_comes_back_ends_the_pause)
{
	struct site s;
	struct outcome o;
	char folder[192], log[256];
	open_site(&s, "after-released");
	assert_int_equal(process_wait(s.pids[LEARNERS - 1], 60), 128 + SIGKILL);
	for (int i = 1; i < LEARNERS; i++)
		expect_log(&s, i, "\"event\":\"recovering\"");
	path_of(&s, LEARNERS, "", folder, sizeof folder);
	path_of(&s, LEARNERS, "stderr.txt", log, sizeof log);
	s.pids[LEARNERS - 1] = process_start(
		folder, log, (const char *const[]){process_starlingd(), "--config", "starlingd.yaml", NULL});
	for (int i = 1; i <= LEARNERS; i++) {
		assert_int_equal(process_wait(s.pids[i - 1], 60), 0);
		expect_log(&s, i, "round 1 committed: 4 learners");
	}
	expect_log(&s, LEARNERS, "this learner had released its masked state");
	give_command(&s, &o, "1", "--yes");
	expect_said(&o, 1, "", "learner-01: not running");
	process_remove(s.folder);
}
