/* Newer rosters over links: two learners whose frames are handed over by the test. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/learner/daemon.h"
#include "daemon/membership/group_update.h"
#include "daemon/observe/report_log.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

#define MEMBERS 500u /* whose roster takes several parts */
#define FRAMES_MAX 16u

static uint8_t key[SL_SECRET_KEY_BYTES], other_key[SL_SECRET_KEY_BYTES];
static struct sl_frame *frames[FRAMES_MAX]; /* sent and not handed over */
static uint32_t frame_count, warnings, news;

void __wrap_sl_links_send(struct sl_links *links, uint32_t peer, struct sl_frame *frame)
{
	(void)links;
	(void)peer;
	assert_true(frame_count < FRAMES_MAX);
	frame->references++;
	frames[frame_count++] = frame;
}

void __wrap_sl_links_flush(struct sl_links *links)
{
	(void)links;
}

static enum sl_phase phase;
static sl_ms phase_ms; /* for which it has lasted */

void __wrap_sl_core_status(const struct sl_core *core, struct sl_core_status *status)
{
	(void)core;
	*status = (struct sl_core_status){.phase = phase, .since = uv_hrtime() / 1000000u - phase_ms};
}

void __wrap_sl_report_log_record(struct sl_observe *observe, const struct sl_record *record)
{
	(void)observe;
	news += record->kind == SL_RECORD_NEW_ROSTER;
}

void __wrap_sl_report_log_warn(struct sl_observe *observe, uint32_t peer, const char *why)
{
	(void)observe;
	(void)peer;
	(void)why;
	warnings++;
}

/* A group of two learners; with `more`, of many. */
static void make_group(struct sl_group *group, uint64_t version, bool more)
{
	struct sl_error error;
	*group = (struct sl_group){.name = "ward",
				   .version = version,
				   .start = 2,
				   .next_id = 1,
				   .required = 1,
				   .admin_count = 1,
				   .settings = calloc(1, sizeof *group->settings)};
	memcpy(group->admins[0], key + 32, SL_KEY_BYTES);
	for (uint32_t i = 0; i < (more ? MEMBERS : 2); i++) {
		struct sl_member m = {0};
		sprintf(m.name, "learner-%u", i);
		sprintf(m.address, "learner-%u.example.org:7400", i);
		memcpy(m.pin, &i, sizeof i);
		assert_int_equal(sl_group_add(group, &m, &error), SL_OK);
	}
	sl_group_sign(group, key);
}

struct end {
	struct sl_daemon *daemon;
	struct sl_settings settings;
};

static void end_open(struct end *end, const char *path, uint64_t version, bool more)
{
	struct sl_error error;
	end->daemon = malloc(sizeof *end->daemon);
	snprintf(end->settings.roster, sizeof end->settings.roster, "%s", path);
	sl_daemon_init(end->daemon, &end->settings);
	make_group(&end->daemon->members.group, version, more);
	assert_int_equal(sl_roster_copy(&end->daemon->members.group.roster, &end->daemon->members.roster),
			 SL_OK);
	assert_int_equal(uv_loop_init(&end->daemon->loop), 0);
	assert_int_equal(sl_observe_peers(&end->daemon->observe, &error), SL_OK);
	assert_int_equal(sl_group_update_open(&end->daemon->members, &error), SL_OK);
}

static void end_close(struct end *end)
{
	sl_group_update_close(&end->daemon->members);
	sl_observe_close(&end->daemon->observe);
	sl_group_close(&end->daemon->members.group);
	sl_roster_close(&end->daemon->members.roster);
	uv_loop_close(&end->daemon->loop);
	free(end->daemon);
}

static void hand_from(struct end *to, uint32_t peer, uint32_t i)
{
	sl_group_update_frame(&to->daemon->members, peer, sl_frame_kind(frames[i]->bytes),
			      frames[i]->bytes + SL_FRAME_HEADER_BYTES,
			      frames[i]->size - SL_FRAME_HEADER_BYTES);
}

/* Hand frame `i` to `to`, from peer 0. */
static void hand(struct end *to, uint32_t i)
{
	hand_from(to, 0, i);
}

static void drop(void)
{
	for (uint32_t i = 0; i < frame_count; i++)
		sl_link_frame_release(frames[i]);
	frame_count = 0;
}

/* Have `end` tell its versions to `other`; the answer of that one stays in `frames`. */
static void tell(struct end *end, struct end *other)
{
	drop();
	sl_group_update_link_up(&end->daemon->members, 0);
	assert_int_equal(frame_count, 2);
	struct sl_frame *told[2] = {frames[0], frames[1]};
	frame_count = 0;
	for (uint32_t i = 0; i < 2; i++) {
		sl_group_update_frame(&other->daemon->members, 0, sl_frame_kind(told[i]->bytes),
				      told[i]->bytes + SL_FRAME_HEADER_BYTES,
				      told[i]->size - SL_FRAME_HEADER_BYTES);
		sl_link_frame_release(told[i]);
	}
}

static struct end older, newer;

static int enter(void **state)
{
	const uint8_t seeds[2][crypto_sign_SEEDBYTES] = {{1}, {2}};
	uint8_t public_key[SL_KEY_BYTES];
	int rc = folder_setup(state);
	assert_true(sodium_init() >= 0);
	crypto_sign_seed_keypair(public_key, key, seeds[0]);
	crypto_sign_seed_keypair(public_key, other_key, seeds[1]);
	frame_count = warnings = news = 0;
	end_open(&older, folder_path(*state, "older.yaml"), 1, false);
	end_open(&newer, folder_path(*state, "newer.yaml"), 4, true);
	return rc;
}

static int leave(void **state)
{
	drop();
	end_close(&older);
	end_close(&newer);
	return folder_teardown(state);
}

static uint64_t version_in(const char *path)
{
	struct sl_group group;
	struct sl_error error;
	uint64_t version = 0;
	if (sl_group_load(path, &group, &error) == SL_OK)
		version = group.version;
	sl_group_close(&group);
	return version;
}

TEST_WITH(parts_make_the_roster, enter, leave)
{
	tell(&older, &newer);
	assert_true(frame_count > 1);
	for (uint32_t i = 0, count = frame_count; i < count; i++) {
		assert_int_equal(older.daemon->members.update.version, 1);
		hand(&older, i);
	}
	assert_int_equal(older.daemon->members.update.version, 4);
	assert_int_equal(version_in(older.settings.roster), 4);
	assert_int_equal(news, 1);
	assert_int_equal(warnings, 0);
	assert_true(older.daemon->members.update.take_at > 0);
	assert_false(older.daemon->stopping);
	sl_group_update_look(&older.daemon->members, false); /* it waits for the commit */
	assert_false(older.daemon->stopping);
	sl_group_update_look(&older.daemon->members, true);
	assert_true(older.daemon->stopping && older.daemon->restart_requested);
}

/* A learner that has just committed without the newer roster does not wait for the next commit: its peers
 * have taken it, and may be too few for a quorum with the old one. */
TEST_WITH(taken_at_once_without_an_open_attempt, enter, leave)
{
	static const struct {
		enum sl_phase phase;
		sl_ms lasts_ms;
		bool taken;
	} rows[] = {{SL_PHASE_READY, 0, false},	    {SL_PHASE_CONFIRM, 0, false},
		    {SL_PHASE_TRAIN, 60000, false}, {SL_PHASE_RECOVER, 0, false},
		    {SL_PHASE_SHARE, 0, false},	    {SL_PHASE_TRAIN, 0, true},
		    {SL_PHASE_AGREE, 60000, true},  {SL_PHASE_DISCOVER, 60000, true}};
	char none;
	phase = SL_PHASE_SHARE;
	older.daemon->observe.of.core = (struct sl_core *)&none;
	tell(&older, &newer);
	for (uint32_t i = 0, count = frame_count; i < count; i++)
		hand(&older, i);
	assert_false(older.daemon->stopping);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		phase = rows[i].phase;
		phase_ms = rows[i].lasts_ms;
		sl_group_update_look(&older.daemon->members, false);
		assert_int_equal(older.daemon->stopping, rows[i].taken);
		older.daemon->stopping = older.daemon->restart_requested = false;
	}
	hand(&older, 0); /* a frame is reason to look */
	assert_true(older.daemon->restart_requested);
}

/* The peer told its version before it had the newer one. */
TEST_WITH(not_sent_back, enter, leave)
{
	static const uint8_t first[8] = {1};
	tell(&older, &newer);
	uint32_t parts = frame_count;
	for (uint32_t peer = 0; peer < 2; peer++)
		sl_group_update_frame(&older.daemon->members, peer, SL_FRAME_ROSTER_VERSION, first,
				      sizeof first);
	for (uint32_t i = 0; i < parts; i++)
		hand(&older, i);
	assert_int_equal(older.daemon->members.update.version, 4);
	assert_int_equal(older.daemon->members.update.peers[0].sent, 0);
	assert_int_equal(older.daemon->members.update.peers[1].sent, 4);
	assert_int_equal(frame_count, 2 * parts);
}

TEST_WITH(a_peer_that_has_it_gets_nothing, enter, leave)
{
	tell(&newer, &older);
	assert_int_equal(frame_count, 0);
	tell(&newer, &newer);
	assert_int_equal(frame_count, 0);
}

static void expect_program(const char *want, const char *text)
{
	sl_group_update_frame(&newer.daemon->members, 0, SL_FRAME_PROGRAM, (const uint8_t *)text,
			      strlen(text));
	assert_string_equal(newer.daemon->observe.peers[0].program, want);
}

/* What is no version is not shown; neither is that of a link before. */
TEST_WITH(the_version_of_the_program, enter, leave)
{
	assert_string_equal(newer.daemon->observe.peers[0].program, "");
	tell(&older, &newer);
	assert_string_equal(newer.daemon->observe.peers[0].program, SL_VERSION);
	assert_string_equal(newer.daemon->observe.peers[1].program, "");
	expect_program("0.2.0~rc1", "0.2.0~rc1");
	static const char *const wrong[] = {"0.3.0 ", "0.3\n", "\x1b[2J", "\xc3\xa9",
					    "0123456789012345678901234567890."};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		expect_program("0.2.0~rc1", wrong[i]);
	expect_program("012345678901234567890123456789.", "012345678901234567890123456789.");
	sl_group_update_link_up(&newer.daemon->members, 0);
	assert_string_equal(newer.daemon->observe.peers[0].program, "");
}

/* A peer that tells its old version again and again gets the roster once for each link. */
TEST_WITH(once_for_each_link, enter, leave)
{
	tell(&older, &newer);
	uint32_t parts = frame_count;
	tell(&older, &newer);
	assert_int_equal(frame_count, 0);
	sl_group_update_link_up(&newer.daemon->members, 0);
	tell(&older, &newer);
	assert_int_equal(frame_count, parts);
}

TEST_WITH(parts_out_of_order_are_dropped, enter, leave)
{
	tell(&older, &newer);
	hand(&older, 1);
	hand(&older, 0);
	hand(&older, 0); /* it begins again */
	for (uint32_t i = 2; i < frame_count; i++)
		hand(&older, i);
	assert_int_equal(older.daemon->members.update.version, 1);
	for (uint32_t i = 0; i < frame_count; i++)
		hand(&older, i);
	assert_int_equal(older.daemon->members.update.version, 4);
	assert_int_equal(warnings, 0);
}

static void expect_nothing(const uint8_t *payload, size_t size)
{
	sl_group_update_frame(&older.daemon->members, 0, SL_FRAME_ROSTER_PART, payload, size);
	assert_int_equal(older.daemon->members.update.version, 1);
	assert_null(older.daemon->members.update.peers[0].parts.bytes);
}

TEST_WITH(bad_sizes, enter, leave)
{
	static const uint8_t huge[9] = {0, 0, 0, 0, 1, 0, 16, 0, 'x'}, none[9] = {0},
			     longer[10] = {0, 0, 0, 0, 1};
	expect_nothing(huge, sizeof huge);
	expect_nothing(none, sizeof none);
	expect_nothing(huge, 8);
	expect_nothing(huge, 0);
	sl_group_update_frame(&older.daemon->members, 0, SL_FRAME_ROSTER_VERSION, huge, 7);
	sl_group_update_frame(&older.daemon->members, 0, SL_FRAME_ROSTER_PART, longer, sizeof longer);
	assert_int_equal(older.daemon->members.update.peers[0].parts.have, 0);
	assert_int_equal(warnings, 0);
}

TEST_WITH(parts_that_do_not_follow, enter, leave)
{
	static const uint8_t first[13] = {0, 0, 0, 0, 10}, other_size[12] = {5, 0, 0, 0, 11},
			     gap[12] = {6, 0, 0, 0, 10}, twice[12] = {4, 0, 0, 0, 10};
	const uint8_t *const wrong[] = {other_size, gap, twice};
	const struct sl_group_parts *parts = &older.daemon->members.update.peers[0].parts;
	sl_group_update_frame(&older.daemon->members, 0, SL_FRAME_ROSTER_PART, first, sizeof first);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		sl_group_update_frame(&older.daemon->members, 0, SL_FRAME_ROSTER_PART, wrong[i],
				      sizeof other_size);
		assert_int_equal(parts->have, 5);
	}
}

/* Another admin has signed it: it is reported, and nothing is stored or sent on. */
TEST_WITH(a_roster_of_another_admin, enter, leave)
{
	memcpy(newer.daemon->members.group.admins[0], other_key + 32, SL_KEY_BYTES);
	sl_group_sign(&newer.daemon->members.group, other_key);
	sl_group_update_close(&newer.daemon->members);
	struct sl_error error;
	assert_int_equal(sl_group_update_open(&newer.daemon->members, &error), SL_OK);
	tell(&older, &newer);
	for (uint32_t i = 0; i < frame_count; i++)
		hand(&older, i);
	assert_int_equal(older.daemon->members.update.version, 1);
	assert_int_equal(version_in(older.settings.roster), 0);
	assert_int_equal(warnings, 1);
	assert_int_equal(news, 0);
}

/* After a roster that was refused, the peer is not heard for a while, on its next link either. */
TEST_WITH(a_peer_with_a_wrong_roster_is_not_heard, enter, leave)
{
	static const uint8_t wrong[] = {0, 0, 0, 0, 1, 0, 0, 0, 'x'};
	sl_group_update_frame(&older.daemon->members, 0, SL_FRAME_ROSTER_PART, wrong, sizeof wrong);
	assert_int_equal(warnings, 1);
	tell(&older, &newer);
	for (uint32_t i = 0; i < frame_count; i++)
		hand(&older, i);
	assert_int_equal(older.daemon->members.update.version, 1);
	assert_null(older.daemon->members.update.peers[0].parts.bytes);
	older.daemon->members.update.peers[0].quiet_until = 0;
	for (uint32_t i = 0; i < frame_count; i++)
		hand(&older, i);
	assert_int_equal(older.daemon->members.update.version, 4);
	assert_int_equal(warnings, 1);
}

/* Have peer 1 send no more than the beginning of a roster, again and again. */
static void begin_again(void)
{
	static const uint8_t first[9] = {0, 0, 0, 0, 0, 0, 1, 0, 'x'};
	sl_group_update_frame(&older.daemon->members, 1, SL_FRAME_ROSTER_PART, first, sizeof first);
}

/* As many peers as the tolerance, and at least one, do not keep the roster of another peer out. */
TEST_WITH(a_peer_that_begins_all_the_time, enter, leave)
{
	tell(&older, &newer);
	for (uint32_t i = 0, count = frame_count; i < count; i++) {
		begin_again();
		hand(&older, i);
	}
	assert_int_equal(older.daemon->members.update.version, 4);
	assert_int_equal(older.daemon->members.update.arriving, 1);
}

/* A peer whose roster was dropped is told the version again, and sends it again. */
TEST_WITH(what_was_dropped_is_sent_again, enter, leave)
{
	older.daemon->members.update.arriving_max = 1;
	begin_again();
	tell(&older, &newer);
	uint32_t parts = frame_count;
	for (uint32_t i = 0; i < parts; i++)
		hand(&older, i);
	drop();
	sl_group_update_look(&older.daemon->members, false);
	assert_int_equal(frame_count, 0);
	older.daemon->loop.time += SL_GROUP_PARTS_MS;
	newer.daemon->loop.time += SL_GROUP_PARTS_MS;
	sl_group_update_look(&older.daemon->members, false);
	assert_int_equal(frame_count, 1);
	for (uint32_t i = 0; i < 2; i++) /* the second time is too soon */
		hand(&newer, 0);
	assert_int_equal(frame_count, 1 + parts);
	begin_again(); /* this gives it no further time */
	for (uint32_t i = 1; i <= parts; i++)
		hand(&older, i);
	assert_int_equal(older.daemon->members.update.version, 4);
	drop();
	older.daemon->loop.time += SL_GROUP_PARTS_MS;
	sl_group_update_look(&older.daemon->members, false);
	assert_int_equal(frame_count, 0);
}

/* Reading takes long: a roster that is here already is no reason to read the peer's next one at once. */
TEST_WITH(a_peer_that_sends_the_same_again, enter, leave)
{
	tell(&older, &newer);
	uint32_t parts = frame_count;
	for (uint32_t from = 0; from < 2; from++)
		for (uint32_t i = 0; i < parts; i++)
			hand_from(&older, from, i);
	assert_int_equal(older.daemon->members.update.peers[0].quiet_until, 0);
	assert_true(older.daemon->members.update.peers[1].quiet_until > 0);
	assert_int_equal(warnings, 0);
}
