/* Databases damaged by a disk or changed by another program are refused with a reason. */
#include "test/lib/test.h"
#include "test/store/disk.h"
#include "test/store/store_fixture.h"

#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ADVICE                                                                                               \
	"; move the state folder away and start again: the others have the result, and show this learner "   \
	"what it has signed"
#define DAMAGED(why) DATABASE ": file is damaged: " why ADVICE

/* --- verbs --- */

/* Two rounds, and of the third an Abort, an attempt that is over and one that is prepared; opened once. */
static void make(const char *folder)
{
	struct sl_store *store = open_made(folder);
	expect_committed(store, 1);
	expect_committed(store, 2);
	expect_recorded(store, SL_PERSIST_ABORTED, 3, 1, 0);
	expect_recorded(store, SL_PERSIST_PREPARED, 3, 2, 3);
	expect_recorded(store, SL_PERSIST_RELEASED, 3, 2, 3);
	expect_recorded(store, SL_PERSIST_OVER, 3, 2, 3);
	expect_recorded(store, SL_PERSIST_PREPARED, 3, 3, 4);
	sl_store_close(store);
}

static int make_in_folder(void **state)
{
	int rc = folder_setup(state);
	if (rc == 0)
		make(*state);
	return rc;
}

/* A file over an old one is written through to the disk; one in its place is not. */
static void put(const char *folder, const void *bytes, size_t size)
{
	remove(folder_path(folder, DATABASE));
	folder_put(folder, DATABASE, bytes, size);
}

static void hash_number(crypto_generichash_state *hash, uint64_t number)
{
	crypto_generichash_update(hash, (const uint8_t *)&number, sizeof number);
}

static void hash_value(crypto_generichash_state *hash, sqlite3_value *value)
{
	if (sqlite3_value_type(value) == SQLITE_INTEGER) {
		hash_number(hash, (uint64_t)sqlite3_value_int64(value));
		return;
	}
	const void *bytes = sqlite3_value_blob(value);
	size_t size = (size_t)sqlite3_value_bytes(value);
	hash_number(hash, size);
	crypto_generichash_update(hash, bytes, size);
}

/* seal(table, column...): the hash that a row has to have. */
static void seal(sqlite3_context *context, int count, sqlite3_value **values)
{
	crypto_generichash_state hash;
	uint8_t sum[SL_HASH_BYTES];
	crypto_generichash_init(&hash, NULL, 0, sizeof sum);
	for (int i = 0; i < count; i++)
		hash_value(&hash, values[i]);
	crypto_generichash_final(&hash, sum, sizeof sum);
	sqlite3_result_blob(context, sum, sizeof sum, SQLITE_TRANSIENT);
}

/* Change the database as a program that hashes the rows again. */
static void tamper(const char *folder, const char *sql)
{
	static const char seals[] =
		"UPDATE learner SET sum = seal('learner', run, pin, members, incarnation);"
		"UPDATE rounds SET sum = seal('rounds', t, a, view, digest, p, learners, total_weight, "
		"checkpoint, "
		"checkpoint_sum, result, result_sum, committed_at);"
		"UPDATE attempts SET sum = seal('attempts', t, a, state, vote, h, view, ready, readys, "
		"secrets);"
		"UPDATE overs SET sum = seal('overs', t, a, reuse, h, ready, aborts);"
		"UPDATE aborts SET sum = seal('aborts', t, a);"
		"UPDATE ledger SET sum = seal('ledger', t, a, incarnation, charges, guessed, spent)";
	sqlite3 *db;
	char *why = NULL;
	assert_int_equal(sqlite3_open(folder_path(folder, DATABASE), &db), SQLITE_OK);
	sqlite3_create_function(db, "seal", -1, SQLITE_UTF8, NULL, seal, NULL, NULL);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK ||
	    sqlite3_exec(db, seals, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", sql, why);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void expect_damaged(const char *folder, const char *table, const char *reason)
{
	char text[256];
	snprintf(text, sizeof text, DAMAGED("%s: %s"), table, reason);
	expect_open(folder, SL_ERR_FORMAT, text);
}

/* Each case is a change of the made one. */
static void expect_each(const char *folder, void (*hand)(const char *, const char *), const char *table,
			const char *const (*cases)[2], size_t count)
{
	char sql[160];
	size_t size;
	uint8_t *bytes = folder_get(folder, DATABASE, &size);
	for (size_t i = 0; i < count; i++) {
		snprintf(sql, sizeof sql, "UPDATE %s SET %s", table, cases[i][0]);
		hand(folder, sql);
		expect_damaged(folder, table, cases[i][1]);
		put(folder, bytes, size);
	}
	free(bytes);
}
#define EXPECT_EACH(hand, table, cases)                                                                      \
	expect_each(*state, hand, table, cases, sizeof(cases) / sizeof(cases)[0])

/* --- cut, flipped, of another program --- */

TEST_WITH(an_empty_one_is_not_a_new_one, make_in_folder, folder_teardown)
{
	put(*state, "", 0);
	expect_open(*state, SL_ERR_FORMAT, DAMAGED("it is empty"));
}

/* Return true if the store opens with the recorded rows; false if it is refused. */
static bool opens_as_made(const char *folder)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *store;
	struct sl_error error = {0};
	int rc = sl_store_open(&store, folder, &owner, &error);
	if (rc == SL_OK) {
		assert_int_equal(sl_store_incarnation(store), 2);
		sl_id changed[SL_STORE_CHANGES_NAMED];
		assert_int_equal(sl_store_roster_changes(store, changed), 0);
		expect_last(store, 2);
		/* without its row, all rounds are charged again (ledger.h) */
		const struct sl_ledger *ledger = sl_store_ledger(store);
		assert_true(ledger->charges == 4 || (ledger->charges == 0 && ledger->t == 0));
		struct sl_promises promises;
		rc = sl_store_promises(store, 3, &promises, &error);
		sl_store_promises_close(&promises);
		if (rc == SL_OK)
			expect_promises(store, 3, "aborted 2, over 2 by 3, open 3 prepared by 4");
	}
	sl_store_close(store);
	if ((rc != SL_OK && rc != SL_ERR_FORMAT && rc != SL_ERR_IO) || strchr(error.text, '\n') != NULL)
		fail_msg("%d: %s", rc, error.text);
	return rc == SL_OK;
}

TEST_WITH(cut_anywhere, make_in_folder, folder_teardown)
{
	size_t size;
	uint8_t *bytes = folder_get(*state, DATABASE, &size);
	for (size_t n = 1; n < size; n += n % 512 < 2 ? 1 : 509) {
		put(*state, bytes, n);
		disk_on(n);
		/* The end of the last page holds nothing. */
		assert_true(!opens_as_made(*state) || n + 4096 > size);
		disk_off();
		disk_restart(DISK_ALL);
	}
	free(bytes);
}

/* A bit of a quarter of the bytes that are written, and of a few of the rest; others in each run. Few bits do
 * not matter: counters and reserved bytes. */
TEST_WITH(any_bit_flipped, make_in_folder, folder_teardown)
{
	size_t size, flips = 0, harmless = 0;
	uint8_t *bytes = folder_get(*state, DATABASE, &size);
	long seed = (long)time(NULL);
	print_message("seed %ld\n", seed);
	srand48(seed);
	for (size_t i = 0; i < size; i++) {
		uint8_t kept = bytes[i];
		long bit = lrand48();
		if (lrand48() % (kept == 0 && i % 4096 >= 100 ? 64 : 4) != 0)
			continue;
		bytes[i] = (uint8_t)(kept ^ 1u << bit % 8);
		put(*state, bytes, size);
		disk_on(i);
		harmless += opens_as_made(*state);
		flips++;
		disk_off();
		disk_restart(DISK_ALL);
		bytes[i] = kept;
	}
	print_message("%zu of %zu do not matter\n", harmless, flips);
	free(bytes);
}

TEST_WITH(not_a_database, make_in_folder, folder_teardown)
{
	char bytes[8192];
	memset(bytes, 'x', sizeof bytes);
	put(*state, bytes, sizeof bytes);
	expect_open(*state, SL_ERR_FORMAT, DAMAGED("file is not a database"));
	put(*state, bytes, 1);
	expect_open(*state, SL_ERR_FORMAT, DAMAGED("not a learner's records"));
}

TEST_WITH(another_programs_database, make_in_folder, folder_teardown)
{
	remove(folder_path(*state, DATABASE));
	run_sql(*state, "CREATE TABLE learner (x)");
	expect_open(*state, SL_ERR_FORMAT, DAMAGED("not a learner's records"));
	run_sql(*state, "PRAGMA journal_mode = WAL");
	expect_open(*state, SL_ERR_FORMAT, DAMAGED("not a learner's records"));
}

TEST_WITH(no_file_at_all, make_in_folder, folder_teardown)
{
	const char *path = folder_path(*state, DATABASE);
	remove(path);
	assert_int_equal(mkdir(path, 0700), 0);
	expect_open(*state, SL_ERR_FORMAT, DAMAGED("it is not a regular file"));
	remove(path);
	assert_int_equal(mkfifo(path, 0600), 0); /* without a writer */
	expect_open(*state, SL_ERR_FORMAT, DAMAGED("it is not a regular file"));
}

TEST_WITH(other_tables, make_in_folder, folder_teardown)
{
	static const char *const changes[] = {
		"CREATE TABLE more (x)",
		"CREATE INDEX more ON rounds (a)",
		"CREATE VIEW more AS SELECT * FROM rounds",
		"CREATE TRIGGER more AFTER INSERT ON attempts BEGIN DELETE FROM attempts; END",
		"DROP TABLE attempts",
		"ALTER TABLE attempts ADD COLUMN more ANY",
		"ALTER TABLE rounds RENAME COLUMN a TO b",
	};
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		remove(folder_path(*state, "has-records"));
		remove(folder_path(*state, DATABASE));
		make(*state);
		run_sql(*state, changes[i]);
		expect_open(*state, SL_ERR_FORMAT, DAMAGED("its tables are not those of a learner"));
	}
}

/* --- rows --- */

static void expect_first(const char *folder, const char *sql, const char *want)
{
	sqlite3 *db;
	sqlite3_stmt *statement;
	assert_int_equal(sqlite3_open(folder_path(folder, DATABASE), &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(statement, 0), want);
	assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The sums computed by another program. */
TEST_WITH(the_exact_file, make_in_folder, folder_teardown)
{
	expect_first(*state, "PRAGMA application_id", "1397515362");
	expect_first(*state, "PRAGMA user_version", "11");
	expect_first(*state, "SELECT lower(hex(sum)) FROM learner",
		     "bf1a7d25394d4e3bc58f16348dc3e0f02c30469f898c69aa889a78d71ec82667");
	expect_first(*state, "SELECT lower(hex(sum)) FROM aborts",
		     "d3e0d778f0baba9cb6ace2207a2003ac17dc04db79c0cf467d4d300ef42700cd");
	expect_first(*state, "SELECT lower(hex(sum)) FROM overs",
		     "1c1585e0f81f42f29d3c2baf2388e4c05553c3a3deab332bdc51fd1077427ff2");
	expect_first(*state, "SELECT hex(readys) FROM attempts WHERE a = 3",
		     "03000000FFFFFFFFFFFFFFFF5255585B5E6164676A6D707376797C7F8285888B8E9194979A9DA0A3A6A9AC"
		     "AF575A5D606366696C6F7275787B7E8184878A8D909396999C9FA2A5A8ABAEB1B4585B5E6164676A6D7073"
		     "76797C7F8285888B8E9194979A9DA0A3A6A9ACAFB2B5595C5F6265686B6E7174777A7D808386898C8F9295"
		     "989B9EA1A4A7AAADB0B3B65356595C5F6265686B6E7174777A7D808386898C8F9295989B9EA1A4A7AAADB0"
		     "B3B6B9BCBFC2C5C8CBCED1D4D7DADDE0E3E6E9ECEFF2F5F8FBFE0104070A0D10");
	tamper(*state, "UPDATE rounds SET committed_at = 1700000000");
	expect_first(*state, "SELECT lower(hex(sum)) FROM rounds WHERE t = 2",
		     "7f32216e4220864720ddfad5615083edad7ea4cb0165ec2f2d266c828d554e29");
	expect_open(*state, SL_OK, NULL); /* our seal is the store's */
}

#define UNSEALED "a row does not match its checksum"

/* Change one column of every row of `table`. */
static void change_column(const char *folder, const char *table, const char *column)
{
	char sql[512];
	snprintf(sql, sizeof sql,
		 "UPDATE %1$s SET %2$s = CASE typeof(%2$s) WHEN 'integer' THEN min(%2$s + 7, 1 << 30) "
		 "WHEN 'text' THEN 'x' ELSE zeroblob(length(%2$s)) END",
		 table, column);
	run_sql(folder, sql);
}

TEST_WITH(rows_match_their_sums, make_in_folder, folder_teardown)
{
	static const char *const columns[][13] = {
		{"learner", "run", "pin", "members", "incarnation", "sum"},
		{"rounds", "t", "a", "view", "digest", "p", "learners", "total_weight", "checkpoint",
		 "checkpoint_sum", "result", "result_sum", "committed_at"},
		{"attempts", "t", "a", "h", "view", "ready", "readys", "secrets"},
		{"aborts", "t", "a"},
		{"overs", "t", "a", "h", "ready", "aborts"},
	};
	size_t size;
	uint8_t *bytes = folder_get(*state, DATABASE, &size);
	for (size_t i = 0; i < 5; i++)
		for (size_t k = 1; k < 13 && columns[i][k] != NULL; k++) {
			change_column(*state, columns[i][0], columns[i][k]);
			expect_damaged(*state, columns[i][0], UNSEALED);
			put(*state, bytes, size);
		}
	run_sql(*state, "UPDATE attempts SET state = 3");
	expect_damaged(*state, "attempts", UNSEALED);
	put(*state, bytes, size);
	run_sql(*state, "UPDATE attempts SET vote = 1");
	expect_damaged(*state, "attempts", UNSEALED);
	put(*state, bytes, size);
	run_sql(*state, "UPDATE overs SET reuse = 0");
	expect_damaged(*state, "overs", UNSEALED);
	put(*state, bytes, size);
	run_sql(*state, "UPDATE ledger SET charges = 1");
	expect_damaged(*state, "ledger", UNSEALED);
	free(bytes);
}

#define AT_A_TIME 60u /* rounds with attempts of all learners are more than SQLite keeps in memory */

/* Met while the learner runs: that is the end. */
TEST_WITH(damage_on_the_way, make_in_folder, folder_teardown)
{
	struct sl_error error, again;
	disk_on(1);
	struct sl_store *store = open_made(*state);
	for (sl_round t = 7; t < 7 + AT_A_TIME; t++) {
		expect_recorded(store, SL_PERSIST_PREPARED, t, 1, SL_LEARNERS_MAX);
		expect_recorded(store, SL_PERSIST_RELEASED, t, 1, SL_LEARNERS_MAX);
	}
	size_t size;
	uint8_t *bytes = folder_get(*state, DATABASE, &size);
	for (uint8_t *at = bytes;
	     (at = memmem(at, (size_t)(bytes + size - at), "\x81\x4f\x12\x00", 4)) != NULL; at++)
		*at ^= 1; /* the id 1200001 */
	folder_put(*state, DATABASE, bytes, size);
	free(bytes);
	struct sl_persist persist = made_persist(SL_PERSIST_OVER, 7, 1, SL_LEARNERS_MAX);
	assert_int_equal(sl_store_record(store, &persist, &error), SL_ERR_FORMAT);
	assert_string_equal(error.text, folder_path(*state, DAMAGED("attempts: " UNSEALED)));
	persist = made_persist(SL_PERSIST_PREPARED, 100, 1, 2);
	assert_int_equal(sl_store_record(store, &persist, &again), SL_ERR_FORMAT);
	assert_string_equal(again.text, error.text);
	sl_store_close(store);
	disk_off();
	disk_restart(DISK_ALL);
}

TEST_WITH(the_learner_is_there, make_in_folder, folder_teardown)
{
	run_sql(*state, "DELETE FROM learner");
	expect_open(*state, SL_ERR_FORMAT, DAMAGED("learner: the row is missing"));
}

static const char *const number = "a number is out of range", *const many = "bytes are too many, or none",
			 *const length = "a hash has another length",
			 *const text = "a text is too long, or none";

/* Each with a right checksum, so that it is this rule which speaks. */
TEST_WITH(hostile_attempts, make_in_folder, folder_teardown)
{
	const char *const cases[][2] = {
		{"t = 0", "round out of range"},
		{"t = 1000001", "round out of range"},
		{"t = 4294967299", number},
		{"a = 16777217", "attempt out of range"},
		{"a = 0", "attempt out of range"},
		{"a = -1", number},
		{"a = 4294967297", number},
		{"state = 0", "unknown state"},
		{"state = 4", number},
		{"state = -1", number},
		{"vote = 4", number},
		{"h = zeroblob(31)", length},
		{"h = zeroblob(33)", many},
		{"h = x''", many},
		{"view = x''", many},
		{"ready = zeroblob(203)", length},
		{"readys = x''", many},
		{"readys = zeroblob(203)", "the Readys are not a list"},
		{"readys = zeroblob(408)", "the Readys are too few or too many"},
		{"state = 2", "the Readys are too few or too many"},
		{"readys = zeroblob(408204)", many},
		{"view = zeroblob(32100000)", many},
		{"secrets = x''", many},
		{"secrets = zeroblob(139)", "the secrets are not those of an attempt"},
	};
	EXPECT_EACH(tamper, "attempts", cases);
}

/* More than SQLite itself is told to take. */
TEST_WITH(a_huge_one, make_in_folder, folder_teardown)
{
	run_sql(*state, "UPDATE attempts SET view = zeroblob(50000000)");
	expect_open(*state, SL_ERR_FORMAT, DAMAGED("string or blob too big"));
}

TEST_WITH(hostile_aborts, make_in_folder, folder_teardown)
{
	const char *const cases[][2] = {
		{"t = 0", "round or attempt out of range"},
		{"t = 1000001", "round or attempt out of range"},
		{"t = 4294967299", number},
		{"a = 0", "round or attempt out of range"},
		{"a = 16777217", "round or attempt out of range"},
		{"a = -1", number},
	};
	EXPECT_EACH(tamper, "aborts", cases);
}

TEST_WITH(hostile_overs, make_in_folder, folder_teardown)
{
	const char *const cases[][2] = {
		{"t = 0", "round out of range"},
		{"t = 4294967299", number},
		{"a = 16777217", "attempt out of range"},
		{"a = -1", number},
		{"reuse = 2", number},
		{"h = zeroblob(31)", length},
		{"ready = zeroblob(203)", length},
		{"aborts = x''", many},
		{"aborts = zeroblob(3)", "the Aborts are not a list"},
		{"aborts = zeroblob(5)", "the Aborts are not a list"},
		{"aborts = zeroblob(144)", "the Aborts are not a list"},
		{"aborts = zeroblob(280005)", many},
	};
	EXPECT_EACH(tamper, "overs", cases);
}

TEST_WITH(hostile_ledgers, make_in_folder, folder_teardown)
{
	const char *const cases[][2] = {
		{"t = 0", "round or attempt out of range"},
		{"t = 1000001", "round or attempt out of range"},
		{"t = 4294967299", number},
		{"a = 0", "round or attempt out of range"},
		{"a = 16777217", "round or attempt out of range"},
		{"incarnation = -1", number},
		{"guessed = charges", "more charges are guessed than were made"},
		{"spent = zeroblob(2071)", length},
		{"spent = zeroblob(2073)", many},
		{"spent = CAST(zeroblob(2064) || x'9a9999999999b9bf' AS BLOB)",
		 "a number is below 0, or none"},
		{"spent = CAST(zeroblob(2064) || x'000000000000f87f' AS BLOB)",
		 "a number is below 0, or none"},
	};
	EXPECT_EACH(tamper, "ledger", cases);
}

/* Rows that the rules never allow together. */
TEST_WITH(two_that_are_open, make_in_folder, folder_teardown)
{
	struct sl_promises promises;
	struct sl_error error;
	tamper(*state, "INSERT INTO attempts SELECT t, a + 1, state, vote, h, view, ready, readys, secrets, "
		       "sum FROM attempts");
	struct sl_store *store = open_made(*state);
	assert_int_equal(sl_store_promises(store, 3, &promises, &error), SL_ERR_FORMAT);
	assert_string_equal(error.text,
			    folder_path(*state, DAMAGED("attempts: more than one of a round is open")));
	assert_null(promises.view);
	sl_store_close(store);
}

TEST_WITH(hostile_rounds, make_in_folder, folder_teardown)
{
	static const char *const name = "a file's name is not one";
	const char *const cases[][2] = {
		{"t = 1000001 WHERE t = 2", "round out of range"},
		{"t = 4294967298 WHERE t = 2", number},
		{"t = t - 2", "round out of range"},
		{"a = 0", "attempt out of range"},
		{"a = 16777217", "attempt out of range"},
		{"a = -5", number},
		{"view = zeroblob(31)", length},
		{"digest = zeroblob(33)", many},
		{"p = 2", "modulus out of range"},
		{"p = 2305843009213693952", "modulus out of range"},
		{"p = -7", number},
		{"learners = 1", "learners out of range"},
		{"learners = 2001", "learners out of range"},
		{"learners = 4294967298", number},
		{"total_weight = -1", number},
		{"checkpoint = ''", name},
		{"checkpoint = '../round'", name},
		{"result = '/etc/passwd'", name},
		{"result = 'a' || char(0) || 'b'", text},
		{"result = printf('%.64c', 'x')", text},
	};
	EXPECT_EACH(tamper, "rounds", cases);
}

TEST_WITH(hostile_learners, make_in_folder, folder_teardown)
{
	const char *const cases[][2] = {
		{"run = printf('%.64c', 'x')", text},
		{"pin = zeroblob(16)", length},
		{"incarnation = -1", number},
		{"incarnation = 4294967296", number},
		{"incarnation = 4294967295", "no start can be counted any more"},
		{"members = x''", many},
		{"members = zeroblob(36)", "the roster is too short"},
		{"members = zeroblob(37)", "the roster is no list of members"},
		{"members = zeroblob(72)", "the roster's ids are not ascending"},
		{"members = zeroblob(72036)", many},
	};
	EXPECT_EACH(tamper, "learner", cases);
}

/* STRICT tables take no other type; a change of the pages is found by the check of the whole file. */
TEST_WITH(other_types, make_in_folder, folder_teardown)
{
	run_sql(*state,
		"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, ' STRICT,', '')");
	run_sql(*state, "UPDATE attempts SET state = 'x'");
	run_sql(*state,
		"PRAGMA writable_schema = 1; "
		"UPDATE sqlite_schema SET sql = replace(sql, 'WITHOUT', 'STRICT, WITHOUT') WHERE name "
		"IN ('attempts', 'overs')");
	expect_open(*state, SL_ERR_FORMAT, DAMAGED("non-INTEGER value in attempts.state"));
}
