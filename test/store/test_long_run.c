/* A run of many rounds: what is on record is bounded, and is what is needed. */
#include "test/lib/test.h"
#include "test/store/disk.h"
#include "test/store/open_store.h"

#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SETTLED 2000u /* rounds: from here on nothing grows */
#define FILE_BYTES_MOST (512u << 10)

static size_t entry_bytes; /* of the account, in each round; 0: it has none */

/* Without a disk that is waited for. */
static int setup_fast(void **state)
{
	disk_on(1);
	return setup(state);
}

static int teardown_fast(void **state)
{
	sl_store_close(store);
	store = NULL;
	disk_off();
	disk_restart(DISK_ALL); /* frees what the disk knows, and writes what is left into the folder */
	return teardown(state);
}

static off_t size_of(const char *folder)
{
	struct stat status;
	assert_int_equal(stat(folder_path(folder, DATABASE), &status), 0);
	return status.st_size;
}

/* A commit, with a record of the account. */
static void expect_entered(sl_round t)
{
	static const uint8_t bytes[2048], sign_key[crypto_sign_SECRETKEYBYTES];
	struct sl_account_entry entry = {.bytes = bytes, .size = entry_bytes, .sign_key = sign_key};
	struct sl_store_round round = made_round(t);
	round.account = entry_bytes > 0 ? &entry : NULL;
	assert_int_equal(sl_store_commit_round(store, &round, NULL), SL_OK);
}

/* An attempt that is over in every seventh round, and one that commits. One in a hundred is charged. */
static void expect_round(sl_round t)
{
	struct sl_persist persist = made_persist(SL_PERSIST_PREPARED, t, 5, 3);
	if (t % 7 == 0) {
		struct sl_persist first = made_persist(SL_PERSIST_PREPARED, t, 4, 3);
		assert_int_equal(sl_store_prepare(store, &first, NULL, NULL), SL_OK);
		expect_recorded(store, SL_PERSIST_RELEASED, t, 4, 3);
		expect_recorded(store, SL_PERSIST_OVER, t, 4, 3);
	}
	assert_int_equal(sl_store_prepare(store, &persist, t % 100 == 1 ? &made_charge : NULL, NULL), SL_OK);
	expect_entered(t);
	assert_int_equal(sl_store_rest(store, SL_STORE_LOG_PAGES, NULL), SL_OK);
}

static void expect_back(uint32_t back, sl_round t)
{
	struct sl_store_round found, want = made_round(t);
	assert_int_equal(sl_store_round_back(store, back, &found), SL_OK);
	assert_int_equal(found.t, t);
	assert_memory_equal(found.digest, want.digest, sizeof want.digest);
}

static void expect_none_back(uint32_t back)
{
	struct sl_store_round found;
	assert_int_equal(sl_store_round_back(store, back, &found), SL_ERR_NOTFOUND);
}

/* The bytes of the database, with an empty log. */
static off_t rested(const char *folder)
{
	assert_int_equal(sl_store_rest(store, 0, NULL), SL_OK);
	return size_of(folder);
}

static void expect_bounded(const char *folder, sl_round rounds)
{
	for (sl_round t = 1; t <= SETTLED; t++)
		expect_round(t);
	off_t bytes = rested(folder);
	sqlite3_int64 memory = sqlite3_memory_used();
	for (sl_round t = SETTLED + 1; t <= rounds; t++)
		expect_round(t);
	assert_in_range(bytes, 1, FILE_BYTES_MOST);
	assert_in_range(rested(folder), 1, bytes + bytes / 50);
	assert_in_range(sqlite3_memory_used(), 1, memory + memory / 50);
	for (int again = 0; again < 2; again++, reopen(folder)) {
		assert_int_equal(sl_store_ledger(store)->charges, rounds / 100);
		expect_last(store, rounds);
		expect_back(SL_STORE_ROUNDS - 1, rounds + 1 - SL_STORE_ROUNDS);
		expect_none_back(SL_STORE_ROUNDS);
	}
}

TEST_WITH(neither_the_file_nor_the_memory_grows, setup_fast, teardown_fast)
{
	entry_bytes = 1000; /* of ten learners */
	expect_bounded(*state, 10000);
	entry_bytes = 0;
}

TEST_NIGHTLY(a_million_rounds)
{
	void *folder;
	assert_int_equal(setup_fast(&folder), 0);
	expect_bounded(folder, 1000000);
	assert_int_equal(teardown_fast(&folder), 0);
}

/* A learner that was away has the rounds before it went. */
TEST_WITH(rounds_that_were_skipped_do_not_count, setup_fast, teardown_fast)
{
	for (sl_round t = 1; t <= SL_STORE_ROUNDS; t++)
		expect_committed(store, t);
	expect_committed(store, 1000000);
	expect_back(SL_STORE_ROUNDS - 1, 2);
	expect_none_back(SL_STORE_ROUNDS);
}

/* It shows that the attempt that was charged is the one that committed: else another one would be charged. */
TEST_WITH(the_round_of_the_last_charge_stays, setup_fast, teardown_fast)
{
	expect_committed(store, 1);
	expect_recorded(store, SL_PERSIST_PREPARED, 2, 5, 3);
	for (sl_round t = 2; t <= SL_STORE_ROUNDS + 3; t++)
		expect_committed(store, t);
	reopen(*state);
	assert_true(sl_store_ledger(store)->settled);
	expect_back(SL_STORE_ROUNDS, 2);
	expect_none_back(SL_STORE_ROUNDS + 1);
	expect_recorded(store, SL_PERSIST_PREPARED, SL_STORE_ROUNDS + 4, 5, 3);
	expect_committed(store, SL_STORE_ROUNDS + 4);
	expect_none_back(SL_STORE_ROUNDS);
}
