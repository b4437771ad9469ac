/* Read rows of the database that a learner did not write, under checksums that fit. Input: which table, then
 * a length of a byte before each column of bytes; numbers have two bytes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/store/records.h"
#include "daemon/store/row.h"
#include "test/fuzz/fuzz.h"

struct input {
	const uint8_t *at;
	size_t left;
};

static const uint8_t *take(struct input *in, size_t size)
{
	static const uint8_t zeros[4096];
	const uint8_t *at = in->at;
	if (size > in->left)
		return zeros;
	in->at += size;
	in->left -= size;
	return at;
}

/* Put a number: small, or one at the end of a range. */
static void put_number(struct sl_row *row, struct input *in)
{
	const uint8_t *at = take(in, 2);
	sl_row_put_number(row, at[1] < 0xf0 ? at[0] : (uint64_t)1 << (at[0] % 64));
}

static void put_bytes(struct sl_row *row, struct input *in, size_t size)
{
	sl_row_put_bytes(row, take(in, size), size);
}

/* Put bytes of any length: `unit` times a number, and some more. */
static void put_any(struct sl_row *row, struct input *in, size_t unit)
{
	const uint8_t *at = take(in, 2);
	size_t size = unit * (at[0] % 8) + at[1];
	static const uint8_t empty[1] = {0};
	sl_row_put_bytes(row, size <= in->left ? take(in, size) : empty, size <= in->left ? size : 1);
}

static int put_attempt(struct sl_database *database, struct input *in)
{
	struct sl_row row = sl_row_begin(database, SL_STATEMENT_PUT_ATTEMPT, "attempts");
	for (int i = 0; i < 4; i++)
		put_number(&row, in);
	put_bytes(&row, in, SL_HASH_BYTES);
	put_any(&row, in, SL_VIEW_MEMBER_BYTES);
	put_bytes(&row, in, SL_DATABASE_READY_BYTES);
	put_any(&row, in, SL_DATABASE_READY_BYTES);
	put_any(&row, in, SL_SEAL_BYTES);
	return sl_row_write(&row);
}

static int put_over(struct sl_database *database, struct input *in)
{
	struct sl_row row = sl_row_begin(database, SL_STATEMENT_PUT_OVER, "overs");
	for (int i = 0; i < 3; i++)
		put_number(&row, in);
	put_bytes(&row, in, SL_HASH_BYTES);
	put_bytes(&row, in, SL_DATABASE_READY_BYTES);
	put_any(&row, in, SL_DATABASE_ABORT_BYTES);
	return sl_row_write(&row);
}

static int put_seen(struct sl_database *database, struct input *in)
{
	struct sl_row row = sl_row_begin(database, SL_STATEMENT_PUT_SEEN, "seen");
	put_any(&row, in, sizeof(struct sl_seen));
	return sl_row_write(&row);
}

static int put_ledger(struct sl_database *database, struct input *in)
{
	struct sl_row row = sl_row_begin(database, SL_STATEMENT_PUT_LEDGER, "ledger");
	for (int i = 0; i < 5; i++)
		put_number(&row, in);
	put_bytes(&row, in, sizeof(struct sl_dp_spent));
	return sl_row_write(&row);
}

static int put_round(struct sl_database *database, struct input *in)
{
	char names[2][SL_FILE_NAME_BYTES + 8];
	struct sl_row row = sl_row_begin(database, SL_STATEMENT_PUT_ROUND, "rounds");
	put_number(&row, in), put_number(&row, in);
	put_bytes(&row, in, SL_HASH_BYTES), put_bytes(&row, in, SL_HASH_BYTES);
	put_number(&row, in), put_number(&row, in), put_number(&row, in);
	for (int i = 0; i < 2; i++) {
		memcpy(names[i], take(in, sizeof names[i]), sizeof names[i]);
		names[i][sizeof names[i] - 1] = '\0';
		sl_row_put_text(&row, names[i]);
		put_bytes(&row, in, SL_HASH_BYTES);
	}
	put_number(&row, in);
	return sl_row_write(&row);
}

static int put_learner(struct sl_database *database, struct input *in)
{
	struct sl_row row = sl_row_begin(database, SL_STATEMENT_PUT_LEARNER, "learner");
	sl_row_put_text(&row, "run");
	put_bytes(&row, in, SL_HASH_BYTES);
	put_any(&row, in, sizeof(struct sl_store_member));
	put_number(&row, in);
	return sl_row_write(&row);
}

static int put_account(struct sl_database *database, struct input *in)
{
	struct sl_row row = sl_row_begin(database, SL_STATEMENT_PUT_ACCOUNT, "account");
	put_number(&row, in), put_number(&row, in);
	put_bytes(&row, in, SL_HASH_BYTES);
	put_any(&row, in, SL_SIG_BYTES);
	return sl_row_write(&row);
}

static int (*const puts_row[])(struct sl_database *, struct input *) = {
	put_attempt, put_over, put_seen, put_ledger, put_round, put_learner, put_account};
#define TABLES (sizeof puts_row / sizeof puts_row[0])

/* Read all that a learner reads at its start. */
static void read_all(struct sl_store *store)
{
	struct sl_promises promises = {0};
	struct sl_error error = {0};
	sl_store_roster_close(&store->read);
	sl_store_check_learner(store);
	store->recorded = &store->present;
	sl_store_read_last(store);
	sl_store_check_attempts(store);
	sl_store_check_overs(store);
	store->ledger = (struct sl_ledger){0};
	if (sl_store_read_ledger(store) == SL_OK)
		sl_store_settle_ledger(store);
	if (sl_store_promises(store, 1, &promises, &error) == SL_OK && promises.seen != NULL)
		assert(promises.seen->count <= 17 * SL_LEARNERS_MAX);
	sl_store_promises_close(&promises);
	sl_store_account_open(store);
	store->account.number = 0;
	store->ended = false; /* damage ends a store */
}

static struct sl_store *open_one(void)
{
	static struct sl_member members[2] = {{.id = 1, .pin = {1}}, {.id = 2, .pin = {2}}};
	static const struct sl_roster roster = {.members = members, .size = 2};
	const struct sl_store_owner owner = {.run = "run", .pin = {1}, .roster = &roster};
	struct sl_store *store;
	if (sl_store_open(&store, fuzz_folder(), &owner, NULL) != SL_OK)
		abort();
	return store;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static struct sl_store *store;
	struct input in = {bytes, count};
	if (store == NULL)
		store = open_one();
	sl_database_run(&store->database, SL_STATEMENT_BEGIN);
	for (int i = 0; i < 8 && in.left > 0; i++)
		puts_row[*take(&in, 1) % TABLES](&store->database, &in);
	read_all(store);
	sl_database_run(&store->database, SL_STATEMENT_ROLLBACK);
	return 0;
}
