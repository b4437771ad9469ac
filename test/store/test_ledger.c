/* The ledger: what is spent is never on record as less than it is. */
#include "test/lib/test.h"
#include "test/store/open_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DELTA 1e-5
#define FIRST 1u /* start */
#define NEXT 2u

/* --- the charge --- */

/* The ledger has so many charges, and spent as much. */
static void expect_spent(const struct sl_ledger *ledger, uint64_t charges, uint64_t guessed)
{
	struct sl_dp_spent want = {0};
	sl_dp_charge(&want, &made_charge, charges);
	assert_int_equal(ledger->charges, charges);
	assert_int_equal(ledger->guessed, guessed);
	double found = sl_dp_spent_epsilon(&ledger->spent, DELTA, true);
	double least = sl_dp_spent_epsilon(&want, DELTA, true);
	assert_true(found > least * (1 - 1e-9) && found < least * (1 + 1e-9));
}

static void charge(struct sl_ledger *ledger, uint32_t incarnation, sl_round t, sl_attempt a)
{
	sl_ledger_charge(ledger, incarnation, t, a, &made_charge);
	assert_int_equal(ledger->t, t);
	assert_int_equal(ledger->a, a);
	assert_int_equal(ledger->incarnation, incarnation);
	assert_false(ledger->settled);
}

TEST(one_charge_for_each_attempt)
{
	struct sl_ledger ledger = {0};
	charge(&ledger, FIRST, 1, 1);
	expect_spent(&ledger, 1, 0);
	charge(&ledger, FIRST, 1, 2);
	expect_spent(&ledger, 2, 0);
	charge(&ledger, FIRST, 2, 1);
	expect_spent(&ledger, 3, 0);
}

/* A learner that was left out of rounds 2 to 8 knows it: it ran. */
TEST(rounds_without_this_learner_are_free_while_it_runs)
{
	struct sl_ledger ledger = {0};
	charge(&ledger, FIRST, 1, 1);
	charge(&ledger, FIRST, 9, 4);
	expect_spent(&ledger, 2, 0);
}

TEST(a_restart_costs_nothing)
{
	struct sl_ledger ledger = {0};
	charge(&ledger, FIRST, 1, 1);
	ledger.settled = true;
	charge(&ledger, NEXT, 2, 1);
	expect_spent(&ledger, 2, 0);
	charge(&ledger, NEXT + 1, 2, 2);
	expect_spent(&ledger, 3, 0);
}

/* Each case: the last charge, whether its round committed with that attempt, the next charge, in another
 * start, and what is charged besides it. */
TEST(the_gap_is_charged)
{
	const struct {
		sl_round t0;
		sl_attempt a0;
		bool settled;
		sl_round t;
		sl_attempt a;
		uint64_t gap;
	} cases[] = {
		/* an emptied folder */
		{0, 0, false, 1, 1, 0},
		{0, 0, false, 1, 3, 0},
		{0, 0, false, 8, 1, 7},
		{0, 0, false, 8, 3, 7},
		{0, 0, false, 1000000, 16777216, 999999},
		/* after a commit */
		{3, 2, true, 4, 1, 0},
		{3, 2, true, 4, 3, 0},
		{3, 2, true, 9, 1, 5},
		/* in the middle of a round: there may have been another attempt */
		{3, 2, false, 4, 1, 1},
		{3, 2, false, 9, 2, 6},
		{3, 2, false, 3, 3, 0},
		{3, 2, false, 3, 7, 0},
		{3, 2, false, 3, 1, 0},
		{3, 2, false, 2, 5, 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sl_ledger ledger = {.t = cases[i].t0,
					   .a = cases[i].a0,
					   .incarnation = FIRST,
					   .settled = cases[i].settled};
		uint32_t next = cases[i].t0 == 0 ? FIRST : NEXT;
		assert_int_equal(sl_ledger_gap(&ledger, next, cases[i].t), cases[i].gap);
		charge(&ledger, next, cases[i].t, cases[i].a);
		expect_spent(&ledger, cases[i].gap + 1, cases[i].gap);
		assert_int_equal(sl_ledger_gap(&ledger, next, cases[i].t + 5), 0); /* once */
	}
}

/* --- on record --- */

static void expect_ledger(uint64_t charges, uint64_t guessed)
{
	expect_spent(sl_store_ledger(store), charges, guessed);
}

static void commit(sl_round t, sl_attempt a)
{
	struct sl_store_round round = made_round(t);
	round.a = a;
	assert_int_equal(sl_store_commit_round(store, &round, NULL), SL_OK);
}

/* Prepares attempt a of round t, and commits it. */
static void take_part(sl_round t, sl_attempt a)
{
	expect_recorded(store, SL_PERSIST_PREPARED, t, a, 3);
	commit(t, a);
}

TEST_WITH(nothing_is_charged_without_dp, setup, teardown)
{
	struct sl_persist persist = made_persist(SL_PERSIST_PREPARED, 1, 1, 3);
	assert_int_equal(sl_store_prepare(store, &persist, NULL, NULL), SL_OK);
	assert_int_equal(sl_store_ledger(store)->t, 0);
	reopen(*state);
	assert_int_equal(sl_store_ledger(store)->t, 0);
}

/* Whatever becomes of the attempt. */
TEST_WITH(nothing_is_taken_back, setup, teardown)
{
	expect_recorded(store, SL_PERSIST_PREPARED, 1, 1, 3);
	expect_ledger(1, 0);
	expect_recorded(store, SL_PERSIST_RELEASED, 1, 1, 3);
	expect_recorded(store, SL_PERSIST_OVER, 1, 1, 3);
	expect_ledger(1, 0);
	take_part(1, 2);
	for (int again = 0; again < 2; again++, reopen(*state))
		expect_ledger(2, 0);
	take_part(2, 1);
	expect_ledger(3, 0);
}

TEST_WITH(a_repeated_record_is_charged_once, setup, teardown)
{
	for (int again = 0; again < 2; again++)
		expect_recorded(store, SL_PERSIST_PREPARED, 1, 1, 3);
	expect_ledger(1, 0);
	reopen(*state);
	expect_recorded(store, SL_PERSIST_PREPARED, 1, 1, 3);
	expect_ledger(1, 0);
}

TEST_WITH(a_refused_record_is_not_charged, setup, teardown)
{
	struct sl_persist persist = made_persist(SL_PERSIST_PREPARED, 1, 2, 3);
	expect_recorded(store, SL_PERSIST_PREPARED, 1, 1, 3);
	assert_int_equal(sl_store_prepare(store, &persist, &made_charge, NULL), SL_ERR_REFUSED);
	expect_ledger(1, 0);
	reopen(*state);
	expect_ledger(1, 0);
}

/* --- a folder that has lost charges: what is on record afterwards is not below the truth --- */

#define TRUTH 6u /* attempts that were prepared before and after */

TEST_WITH(a_disk_that_was_set_back, setup, teardown)
{
	static const char *const names[] = {DATABASE, DATABASE "-wal", "attempt.key"};
	uint8_t *bytes[3];
	size_t sizes[3];
	take_part(1, 1);
	sl_store_close(store);
	for (int i = 0; i < 3; i++)
		bytes[i] = i == 1 ? NULL : folder_get(*state, names[i], &sizes[i]);
	store = open_made(*state);
	for (sl_round t = 2; t < TRUTH; t++)
		take_part(t, 1);
	expect_ledger(TRUTH - 1, 0);
	sl_store_close(store);
	for (int i = 0; i < 3; i++) {
		remove(folder_path(*state, names[i]));
		if (bytes[i] != NULL)
			folder_put(*state, names[i], bytes[i], sizes[i]);
		free(bytes[i]);
	}
	store = open_made(*state);
	expect_ledger(1, 0);
	take_part(TRUTH, 1);
	expect_ledger(TRUTH, TRUTH - 2);
}

/* In the middle of a round, in which another attempt is prepared, and not known any more. */
TEST_WITH(a_disk_that_was_set_back_in_a_round, setup, teardown)
{
	size_t size;
	expect_recorded(store, SL_PERSIST_PREPARED, 1, 1, 3);
	sl_store_close(store);
	uint8_t *bytes = folder_get(*state, DATABASE, &size);
	store = open_made(*state);
	expect_recorded(store, SL_PERSIST_RELEASED, 1, 1, 3);
	expect_recorded(store, SL_PERSIST_OVER, 1, 1, 3);
	take_part(1, 2);
	expect_ledger(2, 0);
	sl_store_close(store);
	remove(folder_path(*state, DATABASE "-wal"));
	remove(folder_path(*state, DATABASE));
	folder_put(*state, DATABASE, bytes, size);
	free(bytes);
	store = open_made(*state);
	expect_ledger(1, 0);
	commit(1, 2); /* as a peer shows */
	take_part(2, 1);
	expect_ledger(3, 1);
}

/* Zeros are prepared without a charge, and committed or not. */
static void send_zeros(sl_round t, bool commits)
{
	struct sl_persist persist = made_persist(SL_PERSIST_PREPARED, t, 1, 3);
	assert_int_equal(sl_store_prepare(store, &persist, NULL, NULL), SL_OK);
	if (commits)
		commit(t, 1);
}

TEST_WITH(rounds_of_zeros_are_in_no_gap, setup, teardown)
{
	take_part(1, 1);
	for (sl_round t = 2; t <= 5; t++)
		send_zeros(t, true);
	expect_ledger(1, 0);
	reopen(*state); /* with a larger budget */
	take_part(6, 1);
	expect_ledger(2, 0);
	reopen(*state);
	send_zeros(7, true); /* this start does not know what was before it */
	reopen(*state);
	take_part(8, 1);
	expect_ledger(4, 1);
	send_zeros(9, false); /* a disk that was set back to here may have forgotten an attempt of it */
	reopen(*state);
	commit(9, 2);
	take_part(10, 1);
	expect_ledger(6, 2);
}

/* A start of a learner that has its own attempt on record as that of the commit, before or after the start.
 */
TEST_WITH(a_start_in_a_round, setup, teardown)
{
	expect_recorded(store, SL_PERSIST_PREPARED, 1, 1, 3);
	reopen(*state);
	commit(1, 1);
	take_part(2, 1);
	expect_ledger(2, 0);
	reopen(*state);
	take_part(3, 1);
	expect_ledger(3, 0);
}

TEST_WITH(a_restored_backup, setup, teardown)
{
	void *folder;
	struct sl_error error;
	assert_int_equal(folder_setup(&folder), 0);
	take_part(1, 1);
	take_part(2, 1);
	expect_recorded(store, SL_PERSIST_PREPARED, 3, 1, 3); /* and is not in the backup, but charged */
	assert_int_equal(sl_store_backup(store, folder, &error), SL_OK);
	commit(3, 1);
	for (sl_round t = 4; t < TRUTH; t++)
		take_part(t, 1);
	sl_store_close(store);
	store = open_made(folder);
	expect_ledger(3, 0);
	take_part(TRUTH, 1);
	expect_ledger(TRUTH + 1, TRUTH - 3); /* as the copy does not know which attempt committed round 3 */
	sl_store_close(store);
	store = open_made(*state);
	assert_int_equal(folder_teardown(&folder), 0);
}

TEST_WITH(an_emptied_folder, setup, teardown)
{
	for (sl_round t = 1; t < TRUTH; t++)
		take_part(t, 1);
	sl_store_close(store);
	folder_teardown(state);
	assert_int_equal(folder_setup(state), 0);
	store = open_made(*state);
	assert_int_equal(sl_store_ledger(store)->t, 0);
	take_part(TRUTH, 2);
	expect_ledger(TRUTH, TRUTH - 1); /* nobody has shown it a Ready of attempt 1 of that round */
}
