/* What a learner waits for in each phase, and what it knows of peers and losses. */
#include <stdio.h>

#include "common/base/bytes.h"
#include "test/core/driver.h"
#include "test/lib/test.h"

/* Expect that the learner waits for `wait`, of the learners with these ids: "2 3". */
static void expect(struct driver *p, enum sl_wait wait, const char *ids)
{
	uint64_t set[1];
	char text[64] = "";
	enum sl_wait found = sl_core_awaits(p->core, set);
	for (uint32_t i = 0; i < p->config.roster_size; i++)
		if (sl_bit(set, i))
			sprintf(text + strlen(text), "%s%u", *text != '\0' ? " " : "", p->ids[i]);
	assert_string_equal(sl_wait_words(found), sl_wait_words(wait));
	assert_string_equal(text, ids);
}

TEST(what_is_awaited)
{
	static const struct {
		struct driver *(*begin)(struct driver *p); /* NULL: the core starts */
		const char *script;
		enum sl_wait wait;
		const char *ids;
	} rows[] = {
		{NULL, "link up 2", SL_WAIT_TRAINING, ""},
		{NULL, "trained", SL_WAIT_READINESS, "2 3"},
		{NULL, "link up 2\nhello t1 ready from 2\ntrained", SL_WAIT_READINESS, "3"},
		{NULL, "link up all\nhello t1 failing from 2\ntrained", SL_WAIT_RETRAINING, "2"},
		{NULL, "link up all\nhello t1 failing from 2\nhello t1 training from 2\ntrained",
		 SL_WAIT_READINESS, "2 3"},
		{NULL, "link up all\nhello t1 ready from all\nlink state m5 from all\ntrained", SL_WAIT_MODEL,
		 "2 3"},
		{NULL, "link up all\nhello t1 ready from all\ntrained\nlink state from 2",
		 SL_WAIT_LINK_STATES, "3"},
		{driver_agree, "", SL_WAIT_ARITHMETIC, ""},
		{driver_share, "share 0 from 3\ngather done\nkey share from 3", SL_WAIT_SHARES, "2"},
		{driver_ready, "check done\nready from 2\ncheck done", SL_WAIT_READYS, "3"},
		{driver_ready, "ready from all", SL_WAIT_ARITHMETIC, ""},
		{driver_ready, "ready from all\ncheck done\ncheck done", SL_WAIT_DISK, ""},
		{driver_release, "key from 3", SL_WAIT_STATES, "2"},
		{driver_mix, "", SL_WAIT_ARITHMETIC, ""},
		{driver_confirm, "", SL_WAIT_DIGESTS, "2 3"},
		{driver_confirm, "digest from 2", SL_WAIT_DISK, ""}, /* a commit needs two */
		{driver_release, "link down 3\nkey from 2", SL_WAIT_DEPOSITS, "3"},
		{NULL, "link up 2\nhello t5 ready from 2\ntrained", SL_WAIT_RESULT, "2"},
	};
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct driver *p = driver_new(3, 4);
		p->config.parameters.rounds = 9;
		if (rows[k].begin != NULL)
			rows[k].begin(p);
		if (*rows[k].script != '\0')
			play(p, "%s", rows[k].script);
		expect(p, rows[k].wait, rows[k].ids);
		driver_free(p);
	}
}

/* A failed training is told once, and over when a model is trained. */
TEST(training_fails)
{
	struct driver *p = driver_new(3, 4);
	play(p, "link up 2\n"
		"hello t1 ready from 2\n"
		"training failed -> hello t1 failing to 2\n"
		"training failed\n"
		"link up 3 -> hello t1 failing to 3\n"
		"trained -> DISCOVER, links 2 3, hello t1 ready to 2 3\n"
		"training failed");
	driver_free(p);
}

/* The attempt of 1 and 2 is refused; only 3 can cure that. */
TEST(who_is_lacking)
{
	struct driver *p = driver_new(3, 4);
	p->config.parameters.quorum = 3;
	play(p, "link up 2\n"
		"link down 3\n"
		"hello t1 ready from 2\n"
		"trained\n"
		"link state names 1 from 2 -> FAILED quorum 2 of 3, missing 3, wipe, DISCOVER, *");
	expect(p, SL_WAIT_READINESS, "3");
	driver_free(p);
}

/* The time after which a wait is too long starts anew with each message of the attempt. */
TEST(deadline)
{
	struct driver *p = driver_share(driver_new(3, 4));
	struct sl_core_status before = driver_status(p), after;
	assert_int_equal(before.deadline, p->now + p->config.stall_timeout_ms);
	play(p, "deadline +1000\nkey share from 2");
	after = driver_status(p);
	assert_int_equal(after.deadline, before.deadline + 1000);
	assert_int_equal(after.since, before.since);
	driver_free(p);
}

/* A learner that may wait for a straggler is not overdue. */
TEST(deadline_of_link_states)
{
	struct driver *p = driver_new(3, 4);
	struct sl_core_status status;
	play(p, "link up 2 3\n"
		"hello t1 ready from 2 3\n"
		"trained\n"
		"link state from 2");
	sl_core_status(p->core, &status);
	assert_int_equal(status.deadline,
			 p->now + p->config.straggler_timeout_ms + p->config.stall_timeout_ms);
	driver_free(p);
}

/* --- losses --- */

TEST(losses_seen)
{
	uint32_t losses;
	struct driver *p = driver_agree(driver_new(8, 4));
	assert_false(sl_core_tolerates(p->core, &losses));
	play(p, "analysis done");
	assert_true(sl_core_tolerates(p->core, &losses));
	uint32_t all = losses;
	driver_free(p);
	p = driver_release(driver_new(8, 4));
	play(p, "link down 3");
	assert_true(sl_core_tolerates(p->core, &losses));
	assert_int_equal(losses, all - 1);
	driver_free(p);
}

TEST(peers)
{
	struct sl_core_peer peer;
	struct driver *p = driver_share(driver_new(3, 4));
	play(p, "hello t1 a1 open from 2");
	sl_core_peer(p->core, 1, &peer);
	assert_true(peer.linked && peer.heard && peer.participant && peer.neighbour);
	assert_int_equal(peer.t, 1);
	assert_int_equal(peer.status, SL_PEER_STATUS_OPEN);
	play(p, "link down 3");
	sl_core_peer(p->core, 2, &peer);
	assert_true(!peer.linked && peer.heard); /* what it said last */
	driver_free(p);
}
