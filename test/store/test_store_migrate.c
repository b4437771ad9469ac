/* Records of an earlier format. test/data/store/format-4.sql is the dump of a database that the last version
 * of that format made from the records of store_fixture.c: two rounds, and of the third an Abort and, unless
 * it is taken out, an attempt that is over. */
#include "test/lib/test.h"
#include "test/store/store_fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_4 SL_SOURCE_ROOT "/test/data/store/format-4.sql"
#define EARLIER(format)                                                                                      \
	DATABASE ": written by an earlier version of starlingd (format " format "; this one has 11), and "
/* An attempt, whose row no version of another format reads. */
#define OPEN_ATTEMPT "INSERT INTO attempts VALUES (3, 3, 1, 0, x'00', x'00', x'00', x'00', x'00', x'00')"

/* --- verbs --- */

/* Make the database of the earlier version. */
static int make_in_folder(void **state)
{
	static char sql[65536];
	if (folder_setup(state) != 0)
		return -1;
	FILE *file = fopen(FORMAT_4, "re");
	size_t size = file == NULL ? 0 : fread(sql, 1, sizeof sql - 1, file);
	if (file != NULL)
		fclose(file);
	assert_true(size > 0 && size < sizeof sql - 1);
	sql[size] = '\0';
	run_sql(*state, sql);
	return 0;
}

static int make_without_over(void **state)
{
	if (make_in_folder(state) != 0)
		return -1;
	run_sql(*state, "DELETE FROM overs");
	return 0;
}

static void expect_format(const char *folder, int format)
{
	sqlite3 *db;
	sqlite3_stmt *statement;
	assert_int_equal(sqlite3_open(folder_path(folder, DATABASE), &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(statement, 0), format);
	assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Expect the two rounds, and what was promised in the third. */
static void expect_records(struct sl_store *store)
{
	struct sl_store_round found, want = made_round(2);
	struct sl_error error = {0};
	assert_int_equal(sl_store_last_round(store, &found, &error), SL_OK);
	assert_int_equal(found.t, 2);
	assert_memory_equal(found.digest, want.digest, sizeof want.digest);
	assert_string_equal(found.checkpoint, want.checkpoint);
	assert_int_equal(sl_store_round_before(store, 2, &found, &error), SL_OK);
	assert_int_equal(found.t, 1);
	expect_promises(store, 3, "aborted 1, over, open 0");
}

/* --- cases --- */

TEST_WITH(records_of_the_format_before_are_taken_over, make_without_over, folder_teardown)
{
	expect_format(*state, 4);
	struct sl_store *store = open_made(*state);
	expect_records(store);
	expect_recorded(store, SL_PERSIST_PREPARED, 3, 3, 4);
	sl_store_close(store);
	expect_format(*state, 11);
	run_sql(*state, "PRAGMA user_version = 9"); /* an attempt whose deposits have other masks */
	expect_open(*state, SL_ERR_FORMAT,
		    EARLIER("9") "it has an attempt that is open, which only learners of that version can "
				 "end: run that version until the next commit");
	expect_format(*state, 9);
	run_sql(*state, "PRAGMA user_version = 11");
	store = open_made(*state);
	expect_promises(store, 3, "aborted 1, over, open 3 prepared by 4");
	expect_committed(store, 3);
	sl_store_close(store);
}

TEST_WITH(an_open_attempt_stays_with_its_version, make_without_over, folder_teardown)
{
	run_sql(*state, OPEN_ATTEMPT);
	for (int i = 0; i < 2; i++)
		expect_open(
			*state, SL_ERR_FORMAT,
			EARLIER("4") "it has an attempt that is open, which only learners of that version "
				     "can end: run that version until the next commit");
	expect_format(*state, 4);
	run_sql(*state, "DELETE FROM attempts");
	expect_open(*state, SL_OK, NULL);
	expect_format(*state, 11);
}

TEST_WITH(aborts_of_three_kinds_stay_with_their_version, make_in_folder, folder_teardown)
{
	expect_open(
		*state, SL_ERR_FORMAT,
		EARLIER("7") "it has attempts of a round that has not committed: run that version until the "
			     "next commit");
	expect_format(*state, 4);
}

/* What is refused for another reason is left as it is, so that the version before can use it. */
TEST_WITH(records_of_another_run_stay_as_they_are, make_without_over, folder_teardown)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *store;
	owner.run = "another";
	assert_int_equal(sl_store_open(&store, *state, &owner, NULL), SL_ERR_REFUSED);
	expect_format(*state, 4);
	run_sql(*state, "UPDATE rounds SET p = p + 2 WHERE t = 2");
	expect_open(*state, SL_ERR_FORMAT, NULL);
	expect_format(*state, 4);
}

TEST_WITH(a_look_changes_nothing, make_without_over, folder_teardown)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *store;
	struct sl_error error = {0};
	for (int i = 0; i < 2; i++) {
		assert_ok(sl_store_peek(&store, *state, &owner, &error), error);
		expect_records(store);
		sl_store_close(store);
		expect_format(*state, 4);
	}
	run_sql(*state, OPEN_ATTEMPT);
	assert_int_equal(sl_store_peek(&store, *state, &owner, &error), SL_ERR_FORMAT);
	assert_non_null(strstr(error.text, "it has an attempt that is open"));
}

TEST_WITH(other_formats_are_refused_with_the_remedy, make_without_over, folder_teardown)
{
	run_sql(*state, "PRAGMA user_version = 3");
	expect_open(*state, SL_ERR_FORMAT,
		    EARLIER("3") "no longer taken over: run that version, or name another state folder");
	expect_format(*state, 3);
	run_sql(*state, "PRAGMA user_version = 12");
	expect_open(*state, SL_ERR_FORMAT,
		    DATABASE
		    ": written by a later version of starlingd (format 12; this one has 11); install that "
		    "version again");
	expect_format(*state, 12);
}
