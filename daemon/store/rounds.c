/* The committed rounds of a store: one row each, the last one in memory. */
#include "daemon/store/records.h"
#include "daemon/store/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/model/checkpoint.h"
#include "daemon/store/result.h"

#define P_END (UINT64_C(1) << 61)

/* Return true if `name` is a file name without a folder. */
static bool named(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t length = strnlen(name, SL_FILE_NAME_BYTES);
	return length > 0 && length < SL_FILE_NAME_BYTES && name[0] != '.' && strspn(name, letters) == length;
}

/* Return the reason why a row is invalid, or NULL; checked before writing and after reading. */
static const char *flaw_of(const struct sl_store_round *round)
{
	if (round->t < 1 || round->t > SL_ROUNDS_MAX)
		return "round out of range";
	if (round->a < 1 || round->a > SL_ATTEMPTS_MAX)
		return "attempt out of range";
	if (round->p <= 2 || round->p >= P_END)
		return "modulus out of range";
	if (round->learners < 2 || round->learners > SL_LEARNERS_MAX)
		return "learners out of range";
	if (round->total_weight > INT64_MAX)
		return "total_weight out of range";
	return named(round->checkpoint) && named(round->result) ? NULL : "a file's name is not one";
}

void sl_store_round_fill(struct sl_store_round *round, const struct sl_certificate *certificate,
			 uint64_t total_weight)
{
	*round = (struct sl_store_round){.t = certificate->t,
					 .a = certificate->a,
					 .p = certificate->round->p,
					 .learners = sl_round_learners(certificate->round),
					 .total_weight = total_weight};
	memcpy(round->view, certificate->view, SL_HASH_BYTES);
	memcpy(round->digest, certificate->digest, SL_HASH_BYTES);
	memcpy(round->roster, certificate->round->roster, SL_HASH_BYTES);
	sl_checkpoint_name(certificate->t, round->checkpoint);
	sl_result_name(certificate->t, round->result);
}

void sl_store_round_checkpoint(const struct sl_store_round *round, const char *run, uint64_t n,
			       struct sl_checkpoint *checkpoint)
{
	*checkpoint = (struct sl_checkpoint){
		.round = round->t, .learners = round->learners, .total_weight = round->total_weight, .n = n};
	snprintf(checkpoint->run, sizeof checkpoint->run, "%s", run);
	memcpy(checkpoint->digest, round->digest, SL_HASH_BYTES);
}

static int write_round(struct sl_store *store, const struct sl_store_round *round)
{
	struct sl_row row = sl_row_begin(&store->database, SL_STATEMENT_PUT_ROUND, "rounds");
	sl_row_put_number(&row, round->t);
	sl_row_put_number(&row, round->a);
	sl_row_put_bytes(&row, round->view, SL_HASH_BYTES);
	sl_row_put_bytes(&row, round->digest, SL_HASH_BYTES);
	sl_row_put_number(&row, round->p);
	sl_row_put_number(&row, round->learners);
	sl_row_put_number(&row, round->total_weight);
	sl_row_put_text(&row, round->checkpoint);
	sl_row_put_bytes(&row, round->checkpoint_sum, SL_HASH_BYTES);
	sl_row_put_text(&row, round->result);
	sl_row_put_bytes(&row, round->result_sum, SL_HASH_BYTES);
	sl_row_put_number(&row, (uint64_t)round->committed_at);
	return sl_row_write(&row);
}

static int read_round(struct sl_database *database, enum sl_statement which, void *context)
{
	struct sl_store_round *round = context;
	struct sl_row row = sl_row_begin(database, which, "rounds");
	round->t = (sl_round)sl_row_number(&row, UINT32_MAX);
	round->a = (sl_attempt)sl_row_number(&row, UINT32_MAX);
	sl_row_bytes(&row, round->view, SL_HASH_BYTES);
	sl_row_bytes(&row, round->digest, SL_HASH_BYTES);
	round->p = sl_row_number(&row, P_END);
	round->learners = (uint32_t)sl_row_number(&row, UINT32_MAX);
	round->total_weight = sl_row_number(&row, INT64_MAX);
	sl_row_text(&row, round->checkpoint, SL_FILE_NAME_BYTES);
	sl_row_bytes(&row, round->checkpoint_sum, SL_HASH_BYTES);
	sl_row_text(&row, round->result, SL_FILE_NAME_BYTES);
	sl_row_bytes(&row, round->result_sum, SL_HASH_BYTES);
	round->committed_at = (int64_t)sl_row_number(&row, UINT64_MAX);
	int rc = sl_row_end(&row);
	const char *flaw = rc == SL_OK ? flaw_of(round) : NULL;
	return flaw == NULL ? rc : sl_database_damaged(database, "rounds", flaw);
}

/* Find the last round before `limit`; SL_ERR_NOTFOUND. */
static int find_before(struct sl_store *store, int64_t limit, struct sl_store_round *round)
{
	sl_database_bind(&store->database, SL_STATEMENT_ROUND, 1, limit);
	return sl_database_each(&store->database, SL_STATEMENT_ROUND, read_round, round);
}

int sl_store_read_last(struct sl_store *store)
{
	struct sl_store_round last;
	int rc = find_before(store, INT64_MAX, &last);
	if (rc == SL_OK)
		store->last = last;
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

/* Note that `round` is on record. */
static void settle(struct sl_ledger *ledger, const struct sl_store_round *round)
{
	ledger->settled |= ledger->t == round->t && ledger->a == round->a;
}

int sl_store_settle_ledger(struct sl_store *store)
{
	struct sl_store_round round;
	int rc = find_before(store, (int64_t)store->ledger.t + 1, &round);
	if (rc == SL_OK)
		settle(&store->ledger, &round);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

/* Return true for the same result of the same view. Signers and time may differ. */
static bool same(const struct sl_store_round *a, const struct sl_store_round *b)
{
	return a->t == b->t && a->a == b->a && a->p == b->p && a->learners == b->learners &&
	       a->total_weight == b->total_weight && memcmp(a->view, b->view, SL_HASH_BYTES) == 0 &&
	       memcmp(a->digest, b->digest, SL_HASH_BYTES) == 0 &&
	       memcmp(a->checkpoint_sum, b->checkpoint_sum, SL_HASH_BYTES) == 0;
}

/* Remove the rounds before the newest ones, but not that of the last charge: it may settle the ledger. */
static int forget_rounds(struct sl_store *store)
{
	sl_database_bind(&store->database, SL_STATEMENT_FORGET_ROUNDS, 1, SL_STORE_ROUNDS - 1);
	return sl_database_run(&store->database, SL_STATEMENT_FORGET_ROUNDS);
}

/* Remove the attempts of all rounds up to `t`. */
static int forget_through(struct sl_store *store, sl_round t)
{
	static const enum sl_statement all[] = {SL_STATEMENT_FORGET_ATTEMPTS, SL_STATEMENT_FORGET_OVERS,
						SL_STATEMENT_FORGET_ABORTS};
	int rc = SL_OK;
	for (size_t i = 0; i < sizeof all / sizeof *all && rc == SL_OK; i++) {
		sl_database_bind(&store->database, all[i], 1, t);
		rc = sl_database_run(&store->database, all[i]);
	}
	return rc;
}

/* Record the present roster as the one of the last commit. A round of an earlier one does not count: learners
 * of that may still be in the middle of the next round (GROUP.md §12.1 Roster changes). */
static int put_roster(struct sl_store *store, const struct sl_store_round *round)
{
	sl_id changed[SL_STORE_CHANGES_NAMED];
	bool earlier = memcmp(round->roster, store->present.hash, SL_HASH_BYTES) != 0;
	if (earlier || sl_store_roster_changes(store, changed) == 0)
		return SL_OK;
	store->recorded = &store->present;
	return sl_store_put_learner(store);
}

/* Record a later round in one transaction. A failure ends the store and is rolled back when the file is
 * closed or opened again. */
static int add(struct sl_store *store, const struct sl_store_round *round)
{
	int rc = sl_database_run(&store->database, SL_STATEMENT_BEGIN);
	if (rc == SL_OK)
		rc = write_round(store, round);
	if (rc == SL_OK)
		rc = forget_rounds(store);
	if (rc == SL_OK)
		rc = forget_through(store, round->t);
	if (rc == SL_OK)
		rc = put_roster(store, round);
	if (rc == SL_OK && round->seen != NULL)
		rc = sl_store_put_seen(store, round->seen);
	if (rc == SL_OK && round->account != NULL)
		rc = sl_store_account_put(store, round->account);
	if (rc == SL_OK)
		rc = sl_database_run(&store->database, SL_STATEMENT_COMMIT);
	if (rc == SL_OK) {
		store->last = *round;
		settle(&store->ledger, round);
	}
	store->last.seen = NULL;
	store->last.account = NULL;
	if (rc == SL_OK && round->account != NULL)
		rc = sl_store_account_write(store);
	return rc == SL_OK ? sl_store_erase_key(store, false) : rc;
}

static bool same_files(const struct sl_store_round *a, const struct sl_store_round *b)
{
	return memcmp(a->result_sum, b->result_sum, SL_HASH_BYTES) == 0 &&
	       strcmp(a->checkpoint, b->checkpoint) == 0 && strcmp(a->result, b->result) == 0;
}

/* Record a known round again, with the present files. */
static int again(struct sl_store *store, const struct sl_store_round *round,
		 const struct sl_store_round *found)
{
	int rc = same_files(round, found) ? SL_OK : write_round(store, round);
	if (rc == SL_OK && round->t == store->last.t)
		store->last = *round;
	return rc;
}

static int commit(struct sl_store *store, const struct sl_store_round *given)
{
	struct sl_store_round round = *given;
	const char *flaw = flaw_of(&round);
	round.committed_at = time(NULL);
	if (flaw != NULL)
		return sl_err_set(&store->database.error, SL_ERR_INVALID, "%s: not recorded: %s",
				  store->database.path, flaw);
	if (round.t > store->last.t)
		return add(store, &round);
	struct sl_store_round found;
	int rc = find_before(store, (int64_t)round.t + 1, &found);
	if (rc == SL_OK && same(&round, &found))
		return again(store, &round, &found);
	if (rc != SL_OK && rc != SL_ERR_NOTFOUND)
		return rc;
	return sl_err_set(&store->database.error, SL_ERR_REFUSED,
			  "%s: round %" PRIu32 " is not recorded: round %" PRIu32 " is committed already",
			  store->database.path, round.t, store->last.t);
}

int sl_store_commit_round(struct sl_store *store, const struct sl_store_round *round, struct sl_error *error)
{
	int rc = sl_store_enter(store);
	return sl_store_leave(store, rc == SL_OK ? commit(store, round) : rc, error);
}

int sl_store_rest(struct sl_store *store, int pages, struct sl_error *error)
{
	int rc = sl_store_enter(store);
	if (rc == SL_OK && store->database.log_pages > pages)
		rc = sl_store_account_sync(store);
	return sl_store_leave(store, rc == SL_OK ? sl_database_rest(&store->database, pages) : rc, error);
}

int sl_store_round_back(struct sl_store *store, uint32_t back, struct sl_store_round *round)
{
	int rc = sl_store_enter(store);
	struct sl_store_round found;
	if (rc == SL_OK) {
		sl_database_bind(&store->database, SL_STATEMENT_ROUND_BACK, 1, back);
		rc = sl_database_each(&store->database, SL_STATEMENT_ROUND_BACK, read_round, &found);
	}
	if (rc == SL_OK)
		*round = found;
	return sl_store_leave(store, rc, NULL);
}

int sl_store_round_before(struct sl_store *store, sl_round t, struct sl_store_round *round,
			  struct sl_error *error)
{
	int rc = sl_store_enter(store);
	struct sl_store_round found;
	if (rc == SL_OK)
		rc = find_before(store, t, &found);
	if (rc == SL_ERR_NOTFOUND)
		sl_err_set(&store->database.error, rc, "%s: no round before %" PRIu32 " is committed",
			   store->database.path, t);
	if (rc == SL_OK)
		*round = found;
	return sl_store_leave(store, rc, error);
}

int sl_store_last_round(struct sl_store *store, struct sl_store_round *round, struct sl_error *error)
{
	int rc = sl_store_enter(store);
	if (rc == SL_OK && store->last.t == 0)
		rc = sl_err_set(&store->database.error, SL_ERR_NOTFOUND, "%s: no round is committed",
				store->database.path);
	if (rc == SL_OK)
		*round = store->last;
	return sl_store_leave(store, rc, error);
}
