#include "test/store/store_fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void fill(uint8_t *bytes, size_t size, unsigned first)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(first + 3 * i);
}

const struct sl_roster *made_roster(uint32_t size, sl_id shift)
{
	static struct sl_member members[SL_LEARNERS_MAX];
	static struct sl_roster roster = {.members = members};
	roster.size = size;
	for (uint32_t i = 0; i < size; i++) {
		members[i].id = 10 * (i + 1) + shift;
		fill(members[i].pin, sizeof members[i].pin, 2 + i);
	}
	return &roster;
}

struct sl_store_owner made_owner(void)
{
	struct sl_store_owner owner = {.run = RUN, .roster = made_roster(3, 0)};
	fill(owner.pin, sizeof owner.pin, 1);
	return owner;
}

struct sl_store_round made_round(sl_round t)
{
	struct sl_store_round round = {
		.t = t, .a = 5, .p = (UINT64_C(1) << 61) - 1, .learners = 20, .total_weight = 1000 + t};
	fill(round.view, sizeof round.view, 3 + 10 * t);
	fill(round.digest, sizeof round.digest, 4 + 10 * t);
	fill(round.checkpoint_sum, sizeof round.checkpoint_sum, 5 + 10 * t);
	fill(round.result_sum, sizeof round.result_sum, 6 + 10 * t);
	snprintf(round.checkpoint, sizeof round.checkpoint, "round-%06u.safetensors", t);
	snprintf(round.result, sizeof round.result, "result-%06u.safetensors", t);
	return round;
}

static size_t view_bytes(uint32_t count)
{
	return 100 + 16 * (size_t)count;
}

static struct sl_ready made_ready(sl_round t, sl_attempt a, uint32_t i)
{
	struct sl_ready ready = {.id = a + 1000 * i, .t = t, .a = a, .k = UINT64_MAX - i};
	fill(ready.view, sizeof ready.view, 7 + 10 * t + 100 * a);
	fill(ready.deposit, sizeof ready.deposit, 8 + 10 * t + 100 * a + i);
	fill(ready.key_hash, sizeof ready.key_hash, 13 + 10 * t + 100 * a + i);
	fill(ready.challenge_hash, sizeof ready.challenge_hash, 14 + 10 * t + 100 * a + i);
	fill(ready.share_root, sizeof ready.share_root, 15 + 10 * t + 100 * a + i);
	fill(ready.signature, sizeof ready.signature, 9 + 10 * t + 100 * a + i);
	return ready;
}

/* Bytes of which no eight stand anywhere else in a record. */
static void hide(uint8_t *bytes, size_t size, unsigned first)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)((first + i) * (first + i) * 37 >> 3);
}

/* Three neighbours, one of which has given nothing. */
static void make_secrets(struct sl_secrets *secrets, sl_round t, sl_attempt a)
{
	hide(secrets->key, sizeof secrets->key, 16 + 10 * t + 100 * a);
	hide(secrets->challenge, sizeof secrets->challenge, 17 + 10 * t + 100 * a);
	fill(secrets->root, sizeof secrets->root, 15 + 10 * t + 100 * a);
	secrets->count = 3;
	for (uint32_t r = 0; r < 3; r++) {
		secrets->shares[r] = (struct sl_held_share){.size = r == 1 ? 0 : 40 + 32 * r};
		hide(secrets->shares[r].bytes, secrets->shares[r].size, 18 + r + 10 * t + 100 * a);
	}
}

static struct sl_abort made_abort(sl_round t, sl_attempt a, uint32_t i)
{
	struct sl_abort abort_record = {.t = t,
					.a = a,
					.id = a + 1000 * i,
					.incarnation = 7 + i,
					.says = i % 2 == 0 ? SL_ABORT_UNRELEASED : SL_ABORT_UNSIGNED};
	fill(abort_record.key, sizeof abort_record.key, 21 + 10 * t + 100 * a + i);
	fill(abort_record.ready, sizeof abort_record.ready, 22 + 10 * t + 100 * a + i);
	fill(abort_record.signature, sizeof abort_record.signature, 23 + 10 * t + 100 * a + i);
	return abort_record;
}

struct sl_persist made_persist(enum sl_persist_kind kind, sl_round t, sl_attempt a, uint32_t count)
{
	static uint8_t views[4][100 + 16 * SL_LEARNERS_MAX];
	static struct sl_ready readys[4][SL_LEARNERS_MAX + 1];
	static struct sl_abort aborts[4][SL_LEARNERS_MAX + 1];
	static struct sl_held_share shares[4][3];
	static struct sl_secrets secrets[4];
	static unsigned turns;
	unsigned turn = turns++ % 4;
	bool given_up = kind == MADE_GIVEN_UP;
	kind = given_up ? SL_PERSIST_ABORTED : kind;
	struct sl_persist persist = {.what = {.kind = kind, .t = t, .a = a}};
	fill(views[turn], sizeof views[turn], 11 + 10 * t + 100 * a);
	for (uint32_t i = 0; i < count; i++) {
		readys[turn][i] = made_ready(t, a, i);
		aborts[turn][i] = made_abort(t, a, i);
	}
	if (kind == SL_PERSIST_PREPARED) {
		secrets[turn].shares = shares[turn];
		make_secrets(&secrets[turn], t, a);
		persist.secrets = &secrets[turn];
		persist.view = views[turn];
		persist.view_bytes = view_bytes(count);
	}
	if (kind == SL_PERSIST_PREPARED || kind == SL_PERSIST_RELEASED) {
		persist.readys = readys[turn];
		persist.ready_count = kind == SL_PERSIST_PREPARED ? 1 : count;
	}
	if (kind == SL_PERSIST_OVER) {
		persist.aborts = aborts[turn];
		persist.abort_count = count;
		persist.reuse = true;
	}
	persist.ready = kind == SL_PERSIST_ABORTED && count > 0;
	if (kind == SL_PERSIST_ABORTED)
		persist.what.says = given_up	    ? SL_ABORT_UNSIGNED
				    : persist.ready ? SL_ABORT_UNRELEASED
						    : SL_ABORT_PROMISES;
	return persist;
}

void run_sql(const char *folder, const char *sql)
{
	sqlite3 *db;
	char *why = NULL;
	assert_int_equal(sqlite3_open(folder_path(folder, DATABASE), &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", sql, why);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

struct sl_store *open_made(const char *folder)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *store;
	struct sl_error error = {0};
	assert_ok(sl_store_open(&store, folder, &owner, &error), error);
	return store;
}

void expect_open(const char *folder, int code, const char *what)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *store = (struct sl_store *)&owner;
	struct sl_error error = {0};
	int rc = sl_store_open(&store, folder, &owner, &error);
	if (rc != code)
		fail_msg("%d instead of %d: %s", rc, code, error.text);
	if (what != NULL)
		assert_string_equal(error.text, folder_path(folder, what));
	if (code != SL_OK) {
		assert_int_equal(error.code, code);
		assert_null(store);
	}
	sl_store_close(store);
}

const struct sl_dp_round made_charge = {
	.dimension = 1000, .sensitivity = 128, .sigma = 320, .shares = 4, .sampled = 0.1, .beta = 1e-16};

int record_made(struct sl_store *store, const struct sl_persist *persist, struct sl_error *error)
{
	return persist->what.kind == SL_PERSIST_PREPARED
		       ? sl_store_prepare(store, persist, &made_charge, error)
		       : sl_store_record(store, persist, error);
}

void expect_recorded(struct sl_store *store, enum sl_persist_kind kind, sl_round t, sl_attempt a,
		     uint32_t count)
{
	struct sl_persist persist = made_persist(kind, t, a, count);
	struct sl_error error = {0};
	assert_ok(record_made(store, &persist, &error), error);
}

void expect_committed(struct sl_store *store, sl_round t)
{
	struct sl_store_round round = made_round(t);
	struct sl_error error = {0};
	assert_ok(sl_store_commit_round(store, &round, &error), error);
}

void expect_last(struct sl_store *store, sl_round t)
{
	struct sl_store_round found, want = made_round(t);
	struct sl_error error = {0};
	memset(&found, 0xa5, sizeof found);
	int rc = sl_store_last_round(store, &found, &error);
	assert_int_equal(rc, t == 0 ? SL_ERR_NOTFOUND : SL_OK);
	if (t == 0)
		return;
	assert_true(found.t == want.t && found.a == want.a && found.p == want.p);
	assert_true(found.learners == want.learners && found.total_weight == want.total_weight);
	assert_memory_equal(found.view, want.view, sizeof want.view);
	assert_memory_equal(found.digest, want.digest, sizeof want.digest);
	assert_memory_equal(found.checkpoint_sum, want.checkpoint_sum, sizeof want.checkpoint_sum);
	assert_memory_equal(found.result_sum, want.result_sum, sizeof want.result_sum);
	assert_string_equal(found.checkpoint, want.checkpoint);
	assert_string_equal(found.result, want.result);
	assert_in_range(found.committed_at, time(NULL) - 600, time(NULL));
}

static void expect_secrets_as_made(const struct sl_secrets *found, const struct sl_secrets *made)
{
	assert_memory_equal(found->key, made->key, sizeof made->key);
	assert_memory_equal(found->challenge, made->challenge, sizeof made->challenge);
	assert_memory_equal(found->root, made->root, sizeof made->root);
	assert_int_equal(found->count, made->count);
	for (uint32_t r = 0; r < made->count; r++) {
		assert_int_equal(found->shares[r].size, made->shares[r].size);
		assert_memory_equal(found->shares[r].bytes, made->shares[r].bytes, made->shares[r].size);
	}
}

/* The bytes of the open one; returns how many learners its view has. */
static size_t expect_open_as_made(sl_round t, const struct sl_promises *promises)
{
	const struct sl_open *open = &promises->open;
	size_t count = (open->view_bytes - 100) / 16;
	struct sl_persist made = made_persist(SL_PERSIST_PREPARED, t, promises->a, (uint32_t)count);
	assert_int_equal(open->view_bytes, made.view_bytes);
	assert_memory_equal(open->view, made.view, made.view_bytes);
	assert_int_equal(open->ready_count, open->state == SL_OPEN_RELEASED ? count : 1);
	for (uint32_t i = 0; i < open->ready_count; i++)
		assert_memory_equal(&open->readys[i], &made.readys[i], sizeof made.readys[i]);
	expect_secrets_as_made(open->secrets, made.secrets);
	return count;
}

static void expect_over_as_made(sl_round t, const struct sl_over *over)
{
	struct sl_ready ready = made_ready(t, over->a, 0);
	assert_memory_equal(&over->ready, &ready, sizeof ready);
	for (uint32_t i = 0; i < over->count; i++) {
		struct sl_abort made = made_abort(t, over->a, i);
		assert_memory_equal(&over->aborts[i], &made, sizeof made);
	}
}

void expect_promises(struct sl_store *store, sl_round t, const char *text)
{
	static const char *const states[] = {[SL_OPEN_PREPARED] = "prepared",
					     [SL_OPEN_RELEASED] = "released",
					     [SL_OPEN_ABORTED] = "bound"};
	static const char *const votes[] = {"", " signed", " given up"};
	char found[512];
	struct sl_promises promises;
	struct sl_error error = {0};
	assert_ok(sl_store_promises(store, t, &promises, &error), error);
	int used = snprintf(found, sizeof found, "aborted %u, over%s", promises.aborted,
			    promises.reuse ? "" : " not again");
	for (uint32_t i = 0; i < promises.over_count; i++) {
		expect_over_as_made(t, &promises.over[i]);
		used += snprintf(found + used, sizeof found - (size_t)used, " %u by %u", promises.over[i].a,
				 promises.over[i].count);
	}
	used += snprintf(found + used, sizeof found - (size_t)used, ", open %u", promises.a);
	if (promises.a != 0)
		snprintf(found + used, sizeof found - (size_t)used, "%s %s by %zu", votes[promises.open.vote],
			 states[promises.open.state], expect_open_as_made(t, &promises));
	sl_store_promises_close(&promises);
	assert_null(promises.over);
	assert_null(promises.secrets.shares);
	assert_string_equal(found, text);
}
