/* The store: what comes back, and which records it refuses. */
#include "test/lib/test.h"
#include "test/store/open_store.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOTHING "aborted 0, over, open 0"

/* --- verbs --- */

static void expect_refused(const char *folder, const struct sl_persist *persist, int code, const char *reason)
{
	struct sl_error error = {0};
	char text[256];
	assert_int_equal(sl_store_record(store, persist, &error), code);
	snprintf(text, sizeof text, DATABASE ": %s", reason);
	assert_string_equal(error.text, folder_path(folder, text));
}

/* --- what comes back --- */

TEST_WITH(a_new_one, setup, teardown)
{
	struct sl_store_round round;
	struct sl_error error;
	assert_int_equal(sl_store_incarnation(store), 1);
	sl_id changed[SL_STORE_CHANGES_NAMED];
	assert_int_equal(sl_store_roster_changes(store, changed), 0);
	assert_int_equal(sl_store_last_round(store, &round, &error), SL_ERR_NOTFOUND);
	assert_string_equal(error.text, folder_path(*state, DATABASE ": no round is committed"));
	expect_promises(store, 1, NOTHING);
	sl_store_close(NULL);
}

/* PREPARED, and RELEASED. */
static void expect_released(sl_round t, sl_attempt a, uint32_t count)
{
	expect_recorded(store, SL_PERSIST_PREPARED, t, a, count);
	expect_recorded(store, SL_PERSIST_RELEASED, t, a, count);
}

TEST_WITH(round_trip, setup, teardown)
{
	expect_recorded(store, SL_PERSIST_ABORTED, 1, 1, 0);
	expect_recorded(store, SL_PERSIST_PREPARED, 1, 2, 3);
	expect_released(2, 1, SL_LEARNERS_MAX);
	expect_released(SL_ROUNDS_MAX, SL_ATTEMPTS_MAX, 3);
	for (int again = 0; again < 2; again++) {
		expect_last(store, 0);
		expect_promises(store, 1, "aborted 1, over, open 2 prepared by 3");
		expect_promises(store, 2, "aborted 0, over, open 1 released by 2000");
		expect_promises(store, 3, NOTHING);
		expect_promises(store, SL_ROUNDS_MAX, "aborted 0, over, open 16777216 released by 3");
		reopen(*state);
	}
	expect_committed(store, 1);
	for (int again = 0; again < 2; again++) {
		expect_last(store, 1);
		expect_promises(store, 2, "aborted 0, over, open 1 released by 2000");
		reopen(*state);
	}
	assert_int_equal(sl_store_incarnation(store), 5);
}

static void expect_seen(uint32_t next, uint32_t count)
{
	struct sl_promises promises;
	assert_int_equal(sl_store_promises(store, 5, &promises, NULL), SL_OK);
	assert_int_equal(promises.seen == NULL ? 0 : promises.seen->next, next);
	assert_int_equal(promises.seen == NULL ? 0 : promises.seen->count, count);
	for (uint32_t k = 0; k < count; k++)
		assert_int_equal(promises.seen->members[k].in, next * 100 + k);
	sl_store_promises_close(&promises);
}

/* The sums that were seen are on record with the record that made them known, and stay. */
TEST_WITH(sums_that_were_seen, setup, teardown)
{
	const uint32_t most = (1 + SL_SEEN_SUMS) * SL_LEARNERS_MAX; /* other learners in each sum */
	struct sl_seen *seen = calloc(1, sizeof *seen + most * sizeof *seen->members);
	struct sl_persist over = made_persist(SL_PERSIST_OVER, 1, 1, 3);
	struct sl_store_round round = made_round(1);
	expect_seen(0, 0);
	expect_recorded(store, SL_PERSIST_PREPARED, 1, 1, 3);
	for (uint32_t next = 1; next <= 2; next++) {
		seen->next = next;
		seen->count = next * most / 2;
		for (uint32_t k = 0; k < seen->count; k++)
			seen->members[k] = (struct sl_seen_member){k + 1, next * 100 + k};
		over.seen = round.seen = seen;
		if (next == 1)
			assert_int_equal(sl_store_record(store, &over, NULL), SL_OK);
		else
			assert_int_equal(sl_store_commit_round(store, &round, NULL), SL_OK);
		expect_seen(next, seen->count);
		reopen(*state);
		expect_seen(next, seen->count);
	}
	free(seen);
}

/* SQLite's numbers are signed, and end at 2^63. */
TEST_WITH(the_largest_numbers, setup, teardown)
{
	struct sl_store_round round = made_round(SL_ROUNDS_MAX), found;
	round.a = SL_ATTEMPTS_MAX;
	round.learners = SL_LEARNERS_MAX;
	round.total_weight = INT64_MAX;
	memset(round.checkpoint, 'x', sizeof round.checkpoint - 1);
	assert_int_equal(sl_store_commit_round(store, &round, NULL), SL_OK);
	reopen(*state);
	assert_int_equal(sl_store_last_round(store, &found, NULL), SL_OK);
	assert_true(found.t == SL_ROUNDS_MAX && found.a == SL_ATTEMPTS_MAX &&
		    found.learners == SL_LEARNERS_MAX);
	assert_true(found.total_weight == INT64_MAX);
	assert_string_equal(found.checkpoint, round.checkpoint);
}

/* Every way through the diagram, each record twice and read after a restart. */
static void expect_way(const char *folder, sl_attempt a, const enum sl_persist_kind *kinds,
		       const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (int again = 0; again < 2; again++) {
			expect_recorded(store, kinds[i], 1, a, 5);
			expect_promises(store, 1, texts[i]);
			reopen(folder);
			expect_promises(store, 1, texts[i]);
		}
}

TEST_WITH(an_attempt_moves_on, setup, teardown)
{
	static const enum sl_persist_kind completes[] = {SL_PERSIST_PREPARED, SL_PERSIST_RELEASED,
							 SL_PERSIST_SIGNS, SL_PERSIST_OVER},
					  bound[] = {SL_PERSIST_PREPARED, SL_PERSIST_ABORTED, MADE_GIVEN_UP,
						     SL_PERSIST_OVER},
					  at_once[] = {SL_PERSIST_PREPARED, SL_PERSIST_OVER};
	expect_way(*state, 4, completes,
		   (const char *[]){
			   "aborted 0, over, open 4 prepared by 5", "aborted 0, over, open 4 released by 5",
			   "aborted 0, over, open 4 signed released by 5", "aborted 4, over 4 by 5, open 0"},
		   4);
	expect_way(*state, 5, bound,
		   (const char *[]){"aborted 4, over 4 by 5, open 5 prepared by 5",
				    "aborted 4, over 4 by 5, open 5 bound by 5",
				    "aborted 4, over 4 by 5, open 5 given up bound by 5",
				    "aborted 5, over 4 by 5 5 by 5, open 0"},
		   4);
	expect_way(*state, 7, at_once,
		   (const char *[]){"aborted 5, over 4 by 5 5 by 5, open 7 prepared by 5",
				    "aborted 7, over 4 by 5 5 by 5 7 by 5, open 0"},
		   2);
}

/* Without Aborts, by the operator; a model that one of them forbids stays forbidden. */
TEST_WITH(whether_the_model_may_be_used_again, setup, teardown)
{
	struct sl_persist over;
	for (sl_attempt a = 1; a <= 3; a++) {
		expect_released(1, a, 3);
		over = made_persist(SL_PERSIST_OVER, 1, a, a == 2 ? 0 : 3);
		over.reuse = a != 2;
		assert_int_equal(sl_store_record(store, &over, NULL), SL_OK);
		expect_promises(store, 1,
				a == 1	 ? "aborted 1, over 1 by 3, open 0"
				: a == 2 ? "aborted 2, over not again 1 by 3 2 by 0, open 0"
					 : "aborted 3, over not again 1 by 3 2 by 0 3 by 3, open 0");
	}
}

/* Without a Ready: all up to it. */
TEST_WITH(an_abort_covers_what_was_before, setup, teardown)
{
	expect_recorded(store, SL_PERSIST_ABORTED, 1, 3, 0);
	expect_recorded(store, SL_PERSIST_PREPARED, 1, 4, 3);
	expect_recorded(store, SL_PERSIST_ABORTED, 1, 3, 0);
	expect_recorded(store, SL_PERSIST_ABORTED, 1, 1, 0);
	for (int again = 0; again < 2; again++) {
		expect_promises(store, 1, "aborted 3, over, open 4 prepared by 3");
		reopen(*state);
	}
	expect_recorded(store, SL_PERSIST_OVER, 1, 4, 3);
	expect_recorded(store, SL_PERSIST_ABORTED, 1, 6, 0);
	expect_promises(store, 1, "aborted 6, over 4 by 3, open 0");
}

TEST_WITH(it_does_not_move_back, setup, teardown)
{
	struct sl_persist persist;
#define REFUSED(kind, a, count, reason)                                                                      \
	persist = made_persist(kind, 7, a, count);                                                           \
	expect_refused(*state, &persist, SL_ERR_REFUSED, "attempt " reason)
	REFUSED(SL_PERSIST_RELEASED, 1, 4, "1 of round 7 is not recorded as released: it is not prepared");
	REFUSED(SL_PERSIST_ABORTED, 1, 4, "1 of round 7 is not recorded as aborted: it is not prepared");
	REFUSED(MADE_GIVEN_UP, 1, 4, "1 of round 7 is not recorded as aborted: it is not open");
	REFUSED(SL_PERSIST_OVER, 1, 4, "1 of round 7 is not recorded as over: it is not open");
	expect_recorded(store, SL_PERSIST_PREPARED, 7, 1, 4);
	REFUSED(SL_PERSIST_ABORTED, 1, 0,
		"1 of round 7 is not recorded as aborted: one that is open would be aborted with it");
	REFUSED(SL_PERSIST_ABORTED, 2, 0,
		"2 of round 7 is not recorded as aborted: one that is open would be aborted with it");
	REFUSED(SL_PERSIST_PREPARED, 2, 4, "2 of round 7 is not recorded as prepared: another one is open");
	REFUSED(SL_PERSIST_OVER, 2, 4, "2 of round 7 is not recorded as over: it is not open");
	REFUSED(SL_PERSIST_SIGNS, 1, 4,
		"1 of round 7 is not recorded as signed: it is neither released nor bound");
	REFUSED(MADE_GIVEN_UP, 1, 4,
		"1 of round 7 is not recorded as aborted: it is neither released nor bound");
	expect_recorded(store, SL_PERSIST_RELEASED, 7, 1, 4);
	REFUSED(SL_PERSIST_PREPARED, 1, 4, "1 of round 7 is not recorded as prepared: it went further");
	REFUSED(SL_PERSIST_ABORTED, 1, 4, "1 of round 7 is not recorded as aborted: it is not prepared");
	expect_recorded(store, SL_PERSIST_SIGNS, 7, 1, 4);
	REFUSED(MADE_GIVEN_UP, 1, 4, "1 of round 7 is not recorded as aborted: the other vote stands");
	expect_recorded(store, SL_PERSIST_OVER, 7, 1, 4);
	REFUSED(SL_PERSIST_RELEASED, 1, 4, "1 of round 7 is not recorded as released: it is not prepared");
	REFUSED(SL_PERSIST_PREPARED, 1, 4, "1 of round 7 is not recorded as prepared: it is over");
	expect_recorded(store, SL_PERSIST_PREPARED, 7, 2, 4);
	expect_recorded(store, SL_PERSIST_ABORTED, 7, 2, 4);
	REFUSED(SL_PERSIST_PREPARED, 2, 4, "2 of round 7 is not recorded as prepared: it went further");
	REFUSED(SL_PERSIST_RELEASED, 2, 4, "2 of round 7 is not recorded as released: it is not prepared");
	REFUSED(SL_PERSIST_PREPARED, 3, 4, "3 of round 7 is not recorded as prepared: another one is open");
	expect_recorded(store, SL_PERSIST_OVER, 7, 2, 4);
	expect_recorded(store, SL_PERSIST_ABORTED, 7, 3, 0);
	REFUSED(SL_PERSIST_PREPARED, 3, 4, "3 of round 7 is not recorded as prepared: it was aborted");
	expect_recorded(store, SL_PERSIST_PREPARED, 7, 4, 4); /* a refusal is not the end */
	reopen(*state);
	expect_promises(store, 7, "aborted 3, over 1 by 4 2 by 4, open 4 prepared by 4");
#undef REFUSED
}

TEST_WITH(it_does_not_become_another, setup, teardown)
{
	struct sl_persist released = made_persist(SL_PERSIST_RELEASED, 7, 1, 4);
	struct sl_ready *readys = (struct sl_ready *)released.readys;
	expect_recorded(store, SL_PERSIST_PREPARED, 7, 1, 4);
	for (int i = 0; i < 4; i++)
		readys[i].view[31]++;
	expect_refused(*state, &released, SL_ERR_REFUSED,
		       "attempt 1 of round 7 is not recorded as released: it has another view");
	expect_promises(store, 7, "aborted 0, over, open 1 prepared by 4");
	expect_recorded(store, SL_PERSIST_RELEASED, 7, 1, 4);
}

TEST_WITH(rounds_only_go_up, setup, teardown)
{
	struct sl_store_round round = made_round(4);
	struct sl_persist prepared = made_persist(SL_PERSIST_PREPARED, 4, 9, 4),
			  aborted = made_persist(SL_PERSIST_ABORTED, 3, 9, 4);
	struct sl_error error;
	expect_committed(store, 4);
	expect_committed(store, 4);
	expect_refused(*state, &prepared, SL_ERR_REFUSED,
		       "attempt 9 of round 4 is not recorded as prepared: the round is committed");
	expect_refused(*state, &aborted, SL_ERR_REFUSED,
		       "attempt 9 of round 3 is not recorded as aborted: the round is committed");
	round.digest[0]++;
	assert_int_equal(sl_store_commit_round(store, &round, &error), SL_ERR_REFUSED);
	assert_string_equal(
		error.text,
		folder_path(*state, DATABASE ": round 4 is not recorded: round 4 is committed already"));
	round = made_round(3);
	assert_int_equal(sl_store_commit_round(store, &round, &error), SL_ERR_REFUSED);
	assert_string_equal(
		error.text,
		folder_path(*state, DATABASE ": round 3 is not recorded: round 4 is committed already"));
	reopen(*state);
	assert_int_equal(sl_store_commit_round(store, &round, &error), SL_ERR_REFUSED);
	expect_last(store, 4);
	expect_committed(store, 9);
	reopen(*state);
	expect_last(store, 9);
}

/* Each field of the round that is last counts. */
TEST_WITH(one_result_of_a_round, setup, teardown)
{
	const struct sl_store_round good = made_round(4);
	struct sl_store_round bad;
	expect_committed(store, 4);
#define ANOTHER(change)                                                                                      \
	do {                                                                                                 \
		bad = good;                                                                                  \
		change;                                                                                      \
		assert_int_equal(sl_store_commit_round(store, &bad, NULL), SL_ERR_REFUSED);                  \
	} while (0)
	ANOTHER(bad.a++);
	ANOTHER(bad.p--);
	ANOTHER(bad.learners++);
	ANOTHER(bad.total_weight++);
	ANOTHER(bad.view[31]++);
	ANOTHER(bad.digest[31]++);
	ANOTHER(bad.checkpoint_sum[31]++);
	expect_last(store, 4);
}

/* A damaged model, fetched again from a peer with other signatures. */
TEST_WITH(the_same_result_with_the_files_of_now, setup, teardown)
{
	struct sl_store_round round = made_round(4), found;
	for (sl_round t = 3; t <= 5; t++)
		expect_committed(store, t);
	round.result_sum[31]++;
	strcpy(round.result, "another");
	assert_int_equal(sl_store_commit_round(store, &round, NULL), SL_OK);
	for (int again = 0; again < 2; again++) {
		expect_last(store, 5);
		assert_int_equal(sl_store_round_before(store, 5, &found, NULL), SL_OK);
		assert_int_equal(found.t, 4);
		assert_string_equal(found.result, "another");
		reopen(*state);
	}
	round = made_round(5);
	round.result_sum[31]++;
	assert_int_equal(sl_store_commit_round(store, &round, NULL), SL_OK);
	assert_int_equal(sl_store_last_round(store, &found, NULL), SL_OK);
	assert_memory_equal(found.result_sum, round.result_sum, SL_HASH_BYTES);
}

TEST_WITH(earlier_rounds_stay, setup, teardown)
{
	struct sl_store_round found = {.t = 77};
	struct sl_error error;
	static const sl_round committed[] = {2, 3, 9};
	for (int i = 0; i < 3; i++)
		expect_committed(store, committed[i]);
	reopen(*state);
	sl_round t = SL_ROUNDS_MAX;
	for (int i = 2; i >= 0; i--, t = found.t) {
		struct sl_store_round want = made_round(committed[i]);
		assert_int_equal(sl_store_round_before(store, t, &found, &error), SL_OK);
		assert_int_equal(found.t, want.t);
		assert_memory_equal(found.checkpoint_sum, want.checkpoint_sum, SL_HASH_BYTES);
	}
	assert_int_equal(sl_store_round_before(store, 2, &found, &error), SL_ERR_NOTFOUND);
	assert_string_equal(error.text, folder_path(*state, DATABASE ": no round before 2 is committed"));
	assert_int_equal(found.t, 2);
}

TEST_WITH(a_commit_forgets_what_was_before, setup, teardown)
{
	for (sl_round t = 1; t <= 4; t++) {
		expect_recorded(store, SL_PERSIST_ABORTED, t, 1, 0);
		expect_released(t, 2, 3);
	}
	expect_committed(store, 3);
	for (int again = 0; again < 2; again++) {
		expect_promises(store, 1, NOTHING);
		expect_promises(store, 2, NOTHING);
		expect_promises(store, 3, NOTHING);
		expect_promises(store, 4, "aborted 1, over, open 2 released by 3");
		reopen(*state);
	}
}

/* --- what could not be read back --- */

TEST_WITH(only_what_can_be_read_is_written, setup, teardown)
{
	struct sl_persist bad;
	expect_recorded(store, SL_PERSIST_PREPARED, 8, 1, 2);
#define NOT_RECORDED(kind, t, change, reason)                                                                \
	do {                                                                                                 \
		bad = made_persist(kind, t, 1, 2);                                                           \
		change;                                                                                      \
		expect_refused(*state, &bad, SL_ERR_INVALID, "not recorded: " reason);                       \
	} while (0)
	for (int kind = SL_PERSIST_ABORTED; kind <= SL_PERSIST_OVER; kind++) {
		static const char out[] = "not recorded: kind, round or attempt out of range";
		bad = made_persist((enum sl_persist_kind)kind, 7, 1, 2);
		for (int i = 0; i < 4; i++) {
			bad.what.t = i == 0 ? 0 : i == 1 ? SL_ROUNDS_MAX + 1 : 7;
			bad.what.a = i == 2 ? 0 : i == 3 ? SL_ATTEMPTS_MAX + 1 : 1;
			expect_refused(*state, &bad, SL_ERR_INVALID, out);
		}
	}
	NOT_RECORDED(SL_PERSIST_COMMIT, 7, (void)0, "kind, round or attempt out of range");
	NOT_RECORDED(SL_PERSIST_PREPARED, 7, bad.what.kind = 0, "kind, round or attempt out of range");
	NOT_RECORDED(SL_PERSIST_PREPARED, 7, bad.view_bytes = 0, "the view is too long, or none");
	NOT_RECORDED(SL_PERSIST_PREPARED, 7, bad.ready_count = 0, "the Readys are not of one view");
	NOT_RECORDED(SL_PERSIST_PREPARED, 7, bad.secrets = NULL, "no secrets");
	NOT_RECORDED(SL_PERSIST_PREPARED, 7, bad.secrets->shares[2].size = SL_KEY_SHARE_BYTES_MAX + 1,
		     "the secrets are not those of an attempt");
	NOT_RECORDED(SL_PERSIST_OVER, 8, ((struct sl_abort *)bad.aborts)[1].a++,
		     "the Aborts are not of one attempt");
	NOT_RECORDED(SL_PERSIST_OVER, 8, ((struct sl_abort *)bad.aborts)[1].t++,
		     "the Aborts are not of one attempt");
	NOT_RECORDED(SL_PERSIST_PREPARED, 7, bad.ready_count = 2, "the Readys are too few or too many");
	NOT_RECORDED(SL_PERSIST_RELEASED, 8, bad.ready_count = 1, "the Readys are too few or too many");
	NOT_RECORDED(SL_PERSIST_RELEASED, 8, ((struct sl_ready *)bad.readys)[1].a++,
		     "the Readys are not of one view");
	NOT_RECORDED(SL_PERSIST_RELEASED, 8, ((struct sl_ready *)bad.readys)[1].t++,
		     "the Readys are not of one view");
	NOT_RECORDED(SL_PERSIST_RELEASED, 8, ((struct sl_ready *)bad.readys)[1].view[0]++,
		     "the Readys are not of one view");
	reopen(*state);
	expect_promises(store, 7, NOTHING);
	expect_promises(store, 8, "aborted 0, over, open 1 prepared by 2");
}

TEST_WITH(only_rounds_that_can_be_read_are_written, setup, teardown)
{
	struct sl_store_round bad;
	struct sl_error error;
	char text[128];
#define NOT_COMMITTED(change, reason)                                                                        \
	do {                                                                                                 \
		bad = made_round(7);                                                                         \
		change;                                                                                      \
		assert_int_equal(sl_store_commit_round(store, &bad, &error), SL_ERR_INVALID);                \
		snprintf(text, sizeof text, DATABASE ": not recorded: %s", reason);                          \
		assert_string_equal(error.text, folder_path(*state, text));                                  \
	} while (0)
	NOT_COMMITTED(bad.t = 0, "round out of range");
	NOT_COMMITTED(bad.t = SL_ROUNDS_MAX + 1, "round out of range");
	NOT_COMMITTED(bad.a = 0, "attempt out of range");
	NOT_COMMITTED(bad.a = SL_ATTEMPTS_MAX + 1, "attempt out of range");
	NOT_COMMITTED(bad.p = 2, "modulus out of range");
	NOT_COMMITTED(bad.p = UINT64_C(1) << 61, "modulus out of range");
	NOT_COMMITTED(bad.learners = 1, "learners out of range");
	NOT_COMMITTED(bad.learners = SL_LEARNERS_MAX + 1, "learners out of range");
	NOT_COMMITTED(bad.total_weight = UINT64_C(1) << 63, "total_weight out of range");
	NOT_COMMITTED(bad.checkpoint[0] = '\0', "a file's name is not one");
	NOT_COMMITTED(strcpy(bad.checkpoint, "../x"), "a file's name is not one");
	NOT_COMMITTED(strcpy(bad.checkpoint, ".."), "a file's name is not one");
	NOT_COMMITTED(strcpy(bad.result, "x/y"), "a file's name is not one");
	NOT_COMMITTED(strcpy(bad.result, "x\n"), "a file's name is not one");
	NOT_COMMITTED((memset(bad.result, 'x', sizeof bad.result), bad.checkpoint_sum[0] = 0),
		      "a file's name is not one");
	reopen(*state);
	expect_last(store, 0);
}

/* --- one call at a time --- */

static void *use(void *nothing)
{
	for (;;)
		expect_promises(store, 1, "aborted 0, over, open 1 prepared by 2000");
	return nothing;
}

TEST_WITH(two_calls_at_once_are_a_bug, setup, teardown)
{
	int status;
	pthread_t thread;
	expect_recorded(store, SL_PERSIST_PREPARED, 1, 1, SL_LEARNERS_MAX);
	pid_t child = fork();
	if (child == 0) {
		fclose(stderr);
		signal(SIGABRT, SIG_DFL);
		alarm(600); /* should the test fail */
		if (pthread_create(&thread, NULL, use, NULL) == 0)
			use(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* Opened on one thread, used on another, closed on the first: the daemon's way. */
static void *work(void *nothing)
{
	expect_released(1, 1, 2);
	expect_committed(store, 1);
	return nothing;
}

TEST_WITH(another_thread, setup, teardown)
{
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	expect_last(store, 1);
}

/* A copy of a store in use has its rounds and nothing of its attempts; a copy that cannot be made ends
 * nothing. */
TEST_WITH(a_backup, setup, teardown)
{
	void *folder;
	struct sl_error error;
	assert_int_equal(folder_setup(&folder), 0);
	expect_committed(store, 1);
	expect_recorded(store, SL_PERSIST_PREPARED, 2, 3, 4);
	assert_int_equal(sl_store_backup(store, folder_path(folder, "none"), &error), SL_ERR_REFUSED);
	assert_int_equal(sl_store_backup(store, folder, &error), SL_OK);
	assert_int_equal(sl_store_backup(store, folder, &error), SL_ERR_REFUSED); /* over no file */
	expect_promises(store, 2, "aborted 0, over, open 3 prepared by 4");
	struct sl_store *copy = open_made(folder);
	assert_int_equal(sl_store_incarnation(copy), 2);
	expect_last(copy, 1);
	expect_promises(copy, 2, NOTHING);
	sl_store_close(copy);
	assert_int_equal(folder_teardown(&folder), 0);
}
