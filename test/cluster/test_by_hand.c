/* Daemons without a launcher: a roster of `starling keygen` lines, three processes, strangers, restarts. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/cluster/process.h"
#include "test/lib/test.h"
#include "tools/lib/ports.h"

#define LEARNERS 3

struct hand {
	char folder[128];
	uint16_t ports[LEARNERS + 1];
	pid_t pids[LEARNERS];
};

static void path_of(const struct hand *h, int i, const char *file, char *path, size_t size)
{
	snprintf(path, size, "%s/%d/%s", h->folder, i, file);
}

static void write_text(const char *path, const char *mode, const char *text)
{
	FILE *file = fopen(path, mode);
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* `starling keygen` in folder i; its line goes to `roster`. */
static void init(struct hand *h, int i, int as_id, const char *roster)
{
	struct outcome o;
	char folder[160], id[12], name[32], address[32], path[256];
	snprintf(folder, sizeof folder, "%s/%d", h->folder, i);
	snprintf(id, sizeof id, "%d", as_id);
	snprintf(name, sizeof name, "site-%d", i);
	snprintf(address, sizeof address, "127.0.0.1:%u", h->ports[i - 1]);
	assert_int_equal(mkdir(folder, 0700), 0);
	const char *argv[] = {process_starling(), "keygen", "--id", id, "--name", name,
			      "--address",	  address,  NULL};
	process_run(&o, folder, 20, argv);
	assert_int_equal(o.status, 0);
	assert_memory_equal(o.out, "- {id: ", 7);
	snprintf(path, sizeof path, "%s/%s", h->folder, roster);
	write_text(path, "a", o.out);
}

static void configure_as(struct hand *h, int i, int id, int rounds, const char *roster, const char *more)
{
	char path[256], text[512];
	path_of(h, i, "starlingd.yaml", path, sizeof path);
	snprintf(text, sizeof text,
		 "run: by-hand\nid: %d\nroster: ../%s\nidentity: identity\nstate: state\nlog: "
		 "log.jsonl\nrounds: %d\nhidden_units: 1\n%s",
		 id, roster, rounds, more);
	write_text(path, "w", text);
}

static void configure(struct hand *h, int i, int rounds, const char *roster, const char *more)
{
	configure_as(h, i, i, rounds, roster, more);
}

static void shell(struct hand *h, const char *command)
{
	struct outcome o;
	process_run(&o, h->folder, 10, (const char *const[]){"/bin/sh", "-c", command, NULL});
	assert_int_equal(o.status, 0);
}

static void stop(pid_t pid)
{
	kill(pid, SIGTERM);
	assert_int_equal(process_wait(pid, 20), 0);
}

static pid_t start(struct hand *h, int i)
{
	char folder[160], log[256];
	snprintf(folder, sizeof folder, "%s/%d", h->folder, i);
	path_of(h, i, "stderr.txt", log, sizeof log);
	const char *argv[] = {process_starlingd(), "--config", "starlingd.yaml", NULL};
	return process_start(folder, log, argv);
}

static void open_hand(struct hand *h)
{
	struct sl_error error;
	memset(h, 0, sizeof *h);
	process_folder(h->folder, sizeof h->folder);
	assert_int_equal(sl_ports_find(h->ports, LEARNERS + 1, &error), 0);
	for (int i = 1; i <= LEARNERS; i++)
		init(h, i, i, "roster.yaml");
}

static void open_configured(struct hand *h, int rounds)
{
	open_hand(h);
	for (int i = 1; i <= LEARNERS; i++)
		configure(h, i, rounds, "roster.yaml", "");
}

static void run_all(struct hand *h)
{
	for (int i = 1; i <= LEARNERS; i++)
		h->pids[i - 1] = start(h, i);
	for (int i = 1; i <= LEARNERS; i++)
		assert_int_equal(process_wait(h->pids[i - 1], 90), 0);
}

static int committed(struct hand *h, int i)
{
	char path[256];
	path_of(h, i, "log.jsonl", path, sizeof path);
	return process_count(path, "\"event\":\"committed\"");
}

static void compare_checkpoints(struct hand *h, const char *file)
{
	struct outcome o;
	char first[256], other[256], name[64];
	snprintf(name, sizeof name, "state/%s", file);
	path_of(h, 1, name, first, sizeof first);
	for (int i = 2; i <= LEARNERS; i++) {
		path_of(h, i, name, other, sizeof other);
		process_run(&o, NULL, 10, (const char *const[]){"/usr/bin/cmp", first, other, NULL});
		assert_int_equal(o.status, 0);
	}
}

TEST(three_by_hand_commit_and_continue)
{
	struct hand h;
	open_configured(&h, 2);
	run_all(&h);
	for (int i = 1; i <= LEARNERS; i++)
		assert_int_equal(committed(&h, i), 2);
	compare_checkpoints(&h, "round-000002.safetensors");
	for (int i = 1; i <= LEARNERS; i++) /* again, for two more rounds: from the checkpoints */
		configure(&h, i, 4, "roster.yaml", "");
	run_all(&h);
	for (int i = 1; i <= LEARNERS; i++)
		assert_int_equal(committed(&h, i), 4);
	compare_checkpoints(&h, "round-000004.safetensors");
	process_remove(h.folder);
}

/* Started seconds apart, the dials of the first have backed off: still every link stands in the first round.
 */
TEST(staggered_start_misses_no_edge)
{
	struct hand h;
	char log[256], refused[64];
	open_configured(&h, 1);
	for (int i = 1; i <= LEARNERS; i++) {
		h.pids[i - 1] = start(&h, i);
		path_of(&h, 1, "log.jsonl", log, sizeof log);
		snprintf(refused, sizeof refused, "waiting for site-2 (2), site-3 (3)");
		if (i == 1)
			assert_true(process_expect(log, refused, 30));
		if (i == 2)
			assert_true(process_expect(log, "the quorum is 3; missing: site-3 (3)", 30));
	}
	for (int i = 1; i <= LEARNERS; i++)
		assert_int_equal(process_wait(h.pids[i - 1], 90), 0);
	assert_int_equal(process_count(log, "3 learners, 3 edges"), 1);
	process_remove(h.folder);
}

/* Folder 4 is somebody else, who calls itself learner 1 and knows where learner 3 is. */
TEST(stranger_is_refused_once)
{
	struct hand h;
	char log[256], its_log[256];
	open_hand(&h);
	init(&h, 4, 1, "stranger.yaml");
	shell(&h, "grep 'id: 3,' roster.yaml >> stranger.yaml");
	configure(&h, 3, 1, "roster.yaml", "");
	configure_as(&h, 4, 1, 1, "stranger.yaml", "privacy_check: warn\n"); /* its roster has two learners */
	pid_t three = start(&h, 3), stranger = start(&h, 4);
	path_of(&h, 3, "log.jsonl", log, sizeof log);
	path_of(&h, 4, "log.jsonl", its_log, sizeof its_log);
	assert_true(process_expect(log, "a key that is not in the roster", 20));
	assert_true(process_expect(its_log, "\"event\":\"waiting\"",
				   30)); /* it has tried several times by then */
	assert_int_equal(process_count(log, "\"event\":\"refused\""), 1);
	stop(three);
	stop(stranger);
	process_remove(h.folder);
}

/* Learner 1 has another pin for learner 3 than the key that 3 shows. */
TEST(wrong_key_is_refused_once)
{
	struct hand h;
	char log[256];
	open_hand(&h);
	shell(&h, "sed '/id: 3,/s/.\\(..\\)$/0\\1/; /id: 3,/s/sha256:./sha256:0/; /id: "
		  "3,/s/sha256:0./sha256:0f/' roster.yaml > wrong.yaml");
	configure(&h, 1, 1, "wrong.yaml", "");
	configure(&h, 3, 1, "roster.yaml", "");
	pid_t one = start(&h, 1), three = start(&h, 3);
	path_of(&h, 1, "log.jsonl", log, sizeof log);
	assert_true(process_expect(log, "answered for site-3 (3) with another key", 20));
	assert_true(process_expect(log, "\"event\":\"waiting\"", 30));
	assert_int_equal(process_count(log, "answered for site-3 (3) with another key"),
			 1); /* which may have dialled, too, as a stranger */
	stop(one);
	stop(three);
	process_remove(h.folder);
}

/* Another number of decimals at one learner: everybody names it, with both values, and nobody shares. */
TEST(differing_parameter_is_named)
{
	struct hand h;
	char log[256];
	open_hand(&h);
	for (int i = 1; i <= LEARNERS; i++)
		configure(&h, i, 1, "roster.yaml", i == 2 ? "decimals: 3\n" : "");
	for (int i = 1; i <= LEARNERS; i++)
		h.pids[i - 1] = start(&h, i);
	path_of(&h, 1, "log.jsonl", log, sizeof log);
	assert_true(process_expect(log, "site-2 (2) has decimals 3, this learner 4", 30));
	path_of(&h, 3, "log.jsonl", log, sizeof log);
	assert_true(process_expect(log, "site-2 (2) has decimals 3, this learner 4", 30));
	for (int i = 1; i <= LEARNERS; i++) {
		stop(h.pids[i - 1]);
		assert_int_equal(committed(&h, i), 0);
	}
	process_remove(h.folder);
}

/* A learner that starts late joins; one that is killed in between and started again is let back in. */
TEST(late_and_restarted_learners_join)
{
	struct hand h;
	char log[256];
	open_configured(&h, 2);
	h.pids[0] = start(&h, 1);
	h.pids[1] = start(&h, 2);
	path_of(&h, 1, "log.jsonl", log, sizeof log);
	assert_true(process_expect(log, "2 learners are connected and the quorum is 3", 30));
	kill(h.pids[1], SIGKILL);
	process_wait(h.pids[1], 10);
	h.pids[2] = start(&h, 3);
	h.pids[1] = start(&h, 2);
	for (int i = 1; i <= LEARNERS; i++)
		assert_int_equal(process_wait(h.pids[i - 1], 120), 0);
	compare_checkpoints(&h, "round-000002.safetensors");
	process_remove(h.folder);
}

static void expect_log(struct hand *h, int i, const char *text, double seconds)
{
	char log[256];
	path_of(h, i, "log.jsonl", log, sizeof log);
	if (!process_expect(log, text, seconds))
		fail_msg("learner %d never said \"%s\"", i, text);
}

/* A learner that comes with an old checkpoint is named by everybody, is shown what it missed, and goes on. */
TEST(stale_checkpoint_is_named_and_mended)
{
	struct hand h;
	open_configured(&h, 2);
	run_all(&h);
	shell(&h, "rm 3/state/round-000002.safetensors");
	for (int i = 1; i <= LEARNERS; i++) {
		configure(&h, i, 4, "roster.yaml", "");
		h.pids[i - 1] = start(&h, i);
	}
	expect_log(&h, 1, "site-3 (3): it is in round 2 (its last committed model is ", 40);
	expect_log(&h, 2, "site-3 (3): it is in round 2 (its last committed model is ", 40);
	expect_log(&h, 3, "caught up with round 2 from site-", 40);
	for (int i = 1; i <= LEARNERS; i++)
		assert_int_equal(process_wait(h.pids[i - 1], 120), 0);
	compare_checkpoints(&h, "round-000002.safetensors");
	compare_checkpoints(&h, "round-000004.safetensors");
	process_remove(h.folder);
}

/* Another checkpoint of the same round: nobody shares, and everybody says which models differ. */
TEST(other_history_is_named)
{
	struct hand h;
	open_configured(&h, 1);
	for (int i = 1; i <= LEARNERS; i++)
		configure(&h, i, 1, "roster.yaml", "seed: 2\n");
	run_all(&h);
	shell(&h, "mv 3/state 3/kept && rm -r 1/state 1/log.jsonl 2/state");
	for (int i = 1; i <= LEARNERS; i++)
		configure(&h, i, 1, "roster.yaml", "seed: 3\n");
	h.pids[0] = start(&h, 1); /* one start more makes another view */
	expect_log(&h, 1, "listening", 20);
	stop(h.pids[0]);
	run_all(&h);
	shell(&h, "rm -r 3/state && mv 3/kept 3/state");
	for (int i = 1; i <= LEARNERS; i++) {
		configure(&h, i, 3, "roster.yaml", "");
		h.pids[i - 1] = start(&h, i);
	}
	expect_log(&h, 1, "site-3 (3) starts round 2 from another committed model: ", 40);
	expect_log(&h, 2, "site-3 (3) starts round 2 from another committed model: ", 40);
	expect_log(&h, 3, " starts round 2 from another committed model: ", 40);
	for (int i = 1; i <= LEARNERS; i++) {
		stop(h.pids[i - 1]);
		assert_int_equal(committed(&h, i), i == 1 ? 1 : 2); /* as before */
	}
	process_remove(h.folder);
}

/* A roster that names somebody more: everybody says whose it is, and how many learners it has. */
TEST(other_roster_is_named)
{
	struct hand h;
	open_hand(&h);
	init(&h, 4, 4, "more.yaml");
	shell(&h, "cat roster.yaml >> more.yaml");
	for (int i = 1; i <= LEARNERS; i++)
		configure(&h, i, 1, i == 3 ? "more.yaml" : "roster.yaml", i == 3 ? "quorum: 3\n" : "");
	for (int i = 1; i <= LEARNERS; i++)
		h.pids[i - 1] = start(&h, i);
	expect_log(&h, 1, "site-3 (3) has another roster: 4 learners (", 40);
	expect_log(&h, 2, "site-3 (3) has another roster: 4 learners (", 40);
	expect_log(&h, 3, "has another roster: 3 learners (", 40);
	for (int i = 1; i <= LEARNERS; i++) {
		stop(h.pids[i - 1]);
		assert_int_equal(committed(&h, i), 0);
	}
	process_remove(h.folder);
}

/* Two of three are enough: the third comes late, is shown what it missed, and is in a later round. */
TEST(late_learner_catches_up)
{
	struct hand h;
	open_hand(&h);
	for (int i = 1; i <= LEARNERS; i++)
		configure(&h, i, 40, "roster.yaml", "quorum: majority\nprivacy_check: warn\nepochs: 20\n");
	h.pids[0] = start(&h, 1);
	h.pids[1] = start(&h, 2);
	expect_log(&h, 1, "round 3 committed: 2 learners", 60);
	h.pids[2] = start(&h, 3);
	expect_log(&h, 3, "caught up with round ", 60);
	expect_log(&h, 1, "committed: 3 learners", 60);
	for (int i = 1; i <= LEARNERS; i++)
		assert_int_equal(process_wait(h.pids[i - 1], 300),
				 0); /* 40 rounds of a sanitized build, beside others */
	compare_checkpoints(&h, "round-000040.safetensors");
	process_remove(h.folder);
}

TEST(second_daemon_on_one_state_refuses)
{
	struct hand h;
	char log[256];
	open_hand(&h);
	configure(&h, 1, 1, "roster.yaml", "");
	h.pids[0] = start(&h, 1);
	path_of(&h, 1, "log.jsonl", log, sizeof log);
	assert_true(process_expect(log, "\"event\":\"listening\"", 20));
	assert_int_equal(process_wait(start(&h, 1), 20), 1);
	path_of(&h, 1, "stderr.txt", log, sizeof log);
	assert_int_equal(process_count(log, "another starlingd is running"), 1);
	stop(h.pids[0]);
	process_remove(h.folder);
}
