/* Which warnings the status shows no more, since another record says that they are over. */
#include <string.h>

#include "daemon/observe/observe.h"
#include "daemon/observe/status.h"
#include "test/lib/test.h"

static struct sl_member members[] = {{.id = 3, .name = "ana", .address = "10.0.0.3:7400"},
				     {.id = 8, .name = "bo"}};
static struct sl_observed_peer peers[2];
static const struct sl_roster roster = {.members = members, .size = 2};
static struct sl_observe observe;

static void note(enum sl_record_kind kind, uint32_t peer)
{
	struct sl_record record;
	sl_record_init(&record, kind);
	sl_record_peer(&record, &roster, peer);
	record.reason = "why";
	record.overdue = true; /* a wait is a warning */
	sl_status_note(&observe, &record);
}

/* Return true if the status shows a problem of this kind, of those that can be over. */
static bool shows(enum sl_record_kind kind)
{
	return observe.notes.passing.at[0] != '\0' && observe.notes.passing.kind == kind;
}

static void begin(void)
{
	memset(&observe, 0, sizeof observe);
	memset(peers, 0, sizeof peers);
	observe.of.roster = &roster;
	observe.peers = peers;
}

TEST(warnings_end_with_the_record_that_says_so)
{
	static const enum sl_record_kind pairs[][2] = {
		{SL_RECORD_WAITING, SL_RECORD_COMMITTED},
		{SL_RECORD_WAITING_LOST, SL_RECORD_COMMITTED},
		{SL_RECORD_ATTEMPT_FAILED, SL_RECORD_COMMITTED},
		{SL_RECORD_ATTEMPT_OVER_AT_START, SL_RECORD_CAUGHT_UP},
		{SL_RECORD_ROSTER, SL_RECORD_COMMITTED},
		{SL_RECORD_IGNORED, SL_RECORD_CAUGHT_UP},
		{SL_RECORD_DAMAGED, SL_RECORD_CAUGHT_UP},
		{SL_RECORD_ABSTAINS, SL_RECORD_COMMITTED},
		{SL_RECORD_COMMAND, SL_RECORD_TRAINED_ONLY},
		{SL_RECORD_APPLICATION_WARNING, SL_RECORD_TRAINED},
		{SL_RECORD_NO_ADDRESS, SL_RECORD_LISTENING},
		{SL_RECORD_NO_ADDRESS, SL_RECORD_LISTENING_ON_ALL},
		{SL_RECORD_DISCOVERY_FAILED, SL_RECORD_DISCOVERY},
		{SL_RECORD_EVALUATED_FAILED, SL_RECORD_EVALUATED},
		{SL_RECORD_RELOADED_NOTHING, SL_RECORD_RELOADED},
		{SL_RECORD_BACKUP_FAILED, SL_RECORD_BACKUP},
	};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		begin();
		note(pairs[i][0], 0);
		note(SL_RECORD_PHASE, 0);
		assert_true(shows(pairs[i][0]));
		note(pairs[i][1], 0);
		assert_false(shows(pairs[i][0]));
	}
}

/* A commit says nothing of a link; what another peer does says nothing, either. */
TEST(a_failed_link_ends_when_it_is_up)
{
	begin();
	note(SL_RECORD_LINK_FAILED, 1);
	note(SL_RECORD_COMMITTED, 0);
	note(SL_RECORD_LINK_DOWN, 1);
	sl_status_linked(&observe, 0);
	assert_true(shows(SL_RECORD_LINK_FAILED));
	sl_status_linked(&observe, 1);
	assert_false(shows(SL_RECORD_LINK_FAILED));
	note(SL_RECORD_WAITING, 1);
	sl_status_linked(&observe, 1);
	assert_true(shows(SL_RECORD_WAITING));
}

/* Another problem, of a peer or not, hides it for a time only. */
TEST(a_failed_link_is_shown_while_it_is_down)
{
	static const enum sl_record_kind kinds[] = {SL_RECORD_LINK_FAILED, SL_RECORD_WAITING};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		begin();
		note(SL_RECORD_LINK_FAILED, 0);
		peers[0].fault = (struct sl_link_fault){.count = 1, .said = {"no route"}};
		note(kinds[i], 1);
		if (kinds[i] == SL_RECORD_LINK_FAILED)
			sl_status_linked(&observe, 1);
		else
			note(SL_RECORD_COMMITTED, 0);
		assert_true(shows(SL_RECORD_LINK_FAILED));
		assert_string_equal(observe.notes.passing.text,
				    "link to ana (3), 10.0.0.3:7400, failed: no route");
		peers[0].fault.count = 0;
		sl_status_linked(&observe, 0);
		assert_false(shows(SL_RECORD_LINK_FAILED));
	}
}

/* What no record takes back is shown until the end; one that passes does not hide it for good. */
TEST(some_warnings_last)
{
	static const enum sl_record_kind kinds[] = {
		SL_RECORD_NOT_LOCKED, SL_RECORD_UNSAFE_DUMP_MODEL, SL_RECORD_STATE_FOLDER_REMOTE,
		SL_RECORD_PRIVACY,    SL_RECORD_EVIDENCE,	   SL_RECORD_LEDGER_GAP};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		begin();
		note(kinds[i], 0);
		note(SL_RECORD_WAITING, 1);
		note(SL_RECORD_TRAINED, 0);
		note(SL_RECORD_COMMITTED, 0);
		assert_string_not_equal(observe.notes.lasting.at, "");
		assert_int_equal(observe.notes.lasting.kind, kinds[i]);
		assert_string_equal(observe.notes.passing.at, "");
	}
}
