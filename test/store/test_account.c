/* The account of the rounds: a signed chain, of which no crash takes a record (ROUND.md §14.6). */
#include "test/lib/test.h"
#include "test/store/store_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "common/protocol/canonical.h"

#define ACCOUNT "account"
#define ENTRY_BYTES 100u /* of the first round; each round has one more */
#define HEAD_BYTES 48u
#define RECORD_BYTES(t) (HEAD_BYTES + ENTRY_BYTES + (t) + SL_SIG_BYTES)

static uint8_t public_key[SL_KEY_BYTES], sign_key[crypto_sign_SECRETKEYBYTES];

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the linker wraps it */

static unsigned synchronisations; /* SQLite has its own */

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	synchronisations++;
	return __real_fdatasync(fd);
}

static int setup(void **state)
{
	static const uint8_t seed[crypto_sign_SEEDBYTES] = {7};
	crypto_sign_seed_keypair(public_key, sign_key, seed);
	return folder_setup(state);
}

/* --- verbs --- */

static int commit(struct sl_store *store, sl_round t)
{
	uint8_t bytes[ENTRY_BYTES + 100];
	struct sl_account_entry entry = {.bytes = bytes, .size = ENTRY_BYTES + t, .sign_key = sign_key};
	struct sl_store_round round = made_round(t);
	memset(bytes, (int)t, sizeof bytes);
	round.account = &entry;
	return sl_store_commit_round(store, &round, NULL);
}

static void begin(const char *folder, sl_round from, sl_round to)
{
	struct sl_store *store = open_made(folder);
	for (sl_round t = from; t <= to; t++)
		assert_int_equal(commit(store, t), SL_OK);
	sl_store_close(store);
}

static void reopen(const char *folder)
{
	sl_store_close(open_made(folder));
}

static void add(crypto_generichash_state *hash, const void *bytes, size_t size)
{
	crypto_generichash_update(hash, bytes, size);
}

static void hash_begin(crypto_generichash_state *hash, const char *domain)
{
	uint8_t run[SL_RUN_BYTES];
	sl_canonical_run(RUN, run);
	crypto_generichash_init(hash, NULL, 0, SL_HASH_BYTES);
	add(hash, domain, strlen(domain) + 1);
	add(hash, run, sizeof run);
}

/* Expect the record of round t at `bytes`; `link` is that of the record before, then its own. */
static void expect_record(const uint8_t *bytes, sl_round t, uint64_t number, uint8_t link[SL_HASH_BYTES])
{
	crypto_generichash_state hash;
	uint8_t hashed[SL_HASH_BYTES];
	assert_memory_equal(bytes, "SLac", 4);
	assert_int_equal(sl_bytes_get_u32(bytes + 4), RECORD_BYTES(t));
	assert_int_equal(sl_bytes_get_u64(bytes + 8), number);
	assert_memory_equal(bytes + 16, link, SL_HASH_BYTES);
	for (size_t i = 0; i < ENTRY_BYTES + t; i++)
		assert_int_equal(bytes[HEAD_BYTES + i], t);
	crypto_generichash(hashed, sizeof hashed, bytes + HEAD_BYTES, ENTRY_BYTES + t, NULL, 0);
	hash_begin(&hash, "starling account 1");
	add(&hash, bytes + 8, 8 + SL_HASH_BYTES);
	add(&hash, hashed, sizeof hashed);
	crypto_generichash_final(&hash, link, SL_HASH_BYTES);
	assert_int_equal(crypto_sign_verify_detached(bytes + HEAD_BYTES + ENTRY_BYTES + t, link,
						     SL_HASH_BYTES, public_key),
			 0);
}

static size_t size_of(sl_round t)
{
	size_t size = 0;
	for (sl_round of = 1; of <= t; of++)
		size += RECORD_BYTES(of);
	return size;
}

/* Expect the records of rounds 1 to `last`, of which those before `first` are lost. */
static void expect_account(const char *folder, sl_round first, sl_round last)
{
	size_t size;
	uint8_t link[SL_HASH_BYTES] = {0}, *bytes = folder_get(folder, ACCOUNT, &size);
	assert_int_equal(size, size_of(last));
	assert_true(size < size_of(first - 1) || sodium_is_zero(bytes, size_of(first - 1)));
	if (first > 1)
		memcpy(link, bytes + size_of(first - 1) + 16, sizeof link);
	for (sl_round t = first; t <= last; t++)
		expect_record(bytes + size_of(t - 1), t, t, link);
	free(bytes);
}

/* --- cases --- */

TEST_WITH(a_chain_of_signed_records, setup, folder_teardown)
{
	struct stat status;
	begin(*state, 1, 3);
	begin(*state, 4, 5);
	expect_account(*state, 1, 5);
	assert_int_equal(stat(folder_path(*state, ACCOUNT), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

TEST_WITH(a_round_without_entry_has_no_record, setup, folder_teardown)
{
	struct sl_store *store = open_made(*state);
	expect_committed(store, 1);
	sl_store_close(store);
	assert_int_equal(access(folder_path(*state, ACCOUNT), F_OK), -1);
}

/* A round that is recorded again, after its model was fetched from peers, is there already. */
TEST_WITH(a_round_has_one_record, setup, folder_teardown)
{
	struct sl_store *store = open_made(*state);
	assert_int_equal(commit(store, 1), SL_OK);
	assert_int_equal(commit(store, 1), SL_OK);
	assert_int_equal(commit(store, 2), SL_OK);
	sl_store_close(store);
	expect_account(*state, 1, 2);
}

/* The end of the process, or a loss of power, leaves any beginning of the file. */
TEST_WITH(a_tail_that_is_lost_is_written_again, setup, folder_teardown)
{
	begin(*state, 1, 3);
	for (size_t left = 0; left <= size_of(3); left += left < size_of(2) ? 31 : 3) {
		assert_int_equal(truncate(folder_path(*state, ACCOUNT), (off_t)left), 0);
		reopen(*state);
		expect_account(*state, 1, 3);
	}
	assert_int_equal(unlink(folder_path(*state, ACCOUNT)), 0);
	begin(*state, 4, 4);
	expect_account(*state, 1, 4);
}

/* Commit five rounds, with the log emptied after each second one, until the end by SIGKILL. */
static void run(const char *folder, sl_round t)
{
	struct sl_store *store = open_made(folder);
	for (int i = 0; i < 5; i++, t++)
		if (commit(store, t) != SL_OK || (t % 2 == 0 && sl_store_rest(store, 0, NULL) != SL_OK))
			_exit(1);
	for (;;)
		pause();
}

TEST_WITH(a_kill_at_any_moment_takes_no_record, setup, folder_teardown)
{
	struct sl_store_round last = {0};
	unsigned seed = (unsigned)time(NULL);
	print_message("seed %u\n", seed);
	srand48((long)seed);
	for (int i = 0; i < 20; i++) {
		int status;
		pid_t child = fork();
		if (child == 0)
			run(*state, last.t + 1);
		usleep((useconds_t)(lrand48() % 30000));
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		struct sl_store *store = open_made(*state);
		sl_store_last_round(store, &last, NULL);
		sl_store_close(store);
		if (last.t > 0)
			expect_account(*state, 1, last.t);
	}
}

TEST_WITH(bytes_that_are_wrong_or_too_many_do_not_stay, setup, folder_teardown)
{
	static const uint8_t junk[3000] = {1};
	begin(*state, 1, 3);
	folder_put(*state, ACCOUNT, junk, sizeof junk);
	reopen(*state);
	expect_account(*state, 1, 3);
}

/* Lose the file: the newest record alone is in the database. */
static void expect_newest_alone(const char *folder, sl_round t)
{
	size_t size;
	assert_int_equal(truncate(folder_path(folder, ACCOUNT), 10), 0);
	reopen(folder);
	uint8_t *bytes = folder_get(folder, ACCOUNT, &size);
	assert_int_equal(size, size_of(t));
	assert_true(sodium_is_zero(bytes + 10, size_of(t - 1) - 10));
	assert_memory_equal(bytes + size_of(t - 1), "SLac", 4);
	free(bytes);
}

/* Those before the newest one are in the file only. */
TEST_WITH(records_leave_the_database_when_the_file_has_them, setup, folder_teardown)
{
	struct sl_store *store = open_made(*state);
	synchronisations = 0;
	for (sl_round t = 1; t <= 3; t++)
		assert_int_equal(commit(store, t), SL_OK);
	assert_int_equal(sl_store_rest(store, 1000000, NULL), SL_OK); /* there is nothing to empty yet */
	assert_int_equal(commit(store, 4), SL_OK);
	sl_store_close(store);
	assert_int_equal(synchronisations, 0);
	assert_int_equal(truncate(folder_path(*state, ACCOUNT), 0), 0);
	store = open_made(*state);
	expect_account(*state, 1, 4);
	assert_int_equal(commit(store, 5), SL_OK);
	synchronisations = 0;
	assert_int_equal(sl_store_rest(store, 0, NULL), SL_OK);
	assert_int_equal(synchronisations, 1);
	assert_int_equal(commit(store, 6), SL_OK);
	sl_store_close(store);
	expect_account(*state, 1, 6);
	expect_newest_alone(*state, 6);
}

/* Its log does not grow enough to be emptied. */
TEST_WITH(a_start_has_the_file_synchronised, setup, folder_teardown)
{
	begin(*state, 1, 3);
	synchronisations = 0;
	begin(*state, 4, 4);
	assert_int_equal(synchronisations, 1);
	expect_newest_alone(*state, 4);
}

/* A folder in the place of the file: nothing can be written. */
TEST_WITH(a_record_that_cannot_be_written_ends_the_store, setup, folder_teardown)
{
	struct sl_store *store = open_made(*state);
	assert_int_equal(mkdir(folder_path(*state, ACCOUNT), 0700), 0);
	assert_int_equal(commit(store, 1), SL_ERR_IO);
	assert_int_equal(commit(store, 2), SL_ERR_IO);
	sl_store_close(store);
	assert_int_equal(rmdir(folder_path(*state, ACCOUNT)), 0);
	store = open_made(*state);
	expect_last(store, 0);
	sl_store_close(store);
}

/* The database is new, and the account is not: it is kept, and another one begins behind it. */
TEST_WITH(an_account_that_is_not_known_is_kept, setup, folder_teardown)
{
	begin(*state, 1, 2);
	assert_int_equal(unlink(folder_path(*state, DATABASE)), 0);
	assert_int_equal(unlink(folder_path(*state, "has-records")), 0);
	begin(*state, 1, 1);
	size_t size;
	uint8_t link[SL_HASH_BYTES] = {0}, *bytes = folder_get(*state, ACCOUNT, &size);
	assert_int_equal(size, size_of(2) + RECORD_BYTES(1));
	expect_record(bytes + size_of(2), 1, 1, link);
	free(bytes);
}
