/* Order of the durable writes, and no write after a failed one (ROUND.md §14.1 What is durable before what
 * is sent). */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/real.h"
#include "common/model/checkpoint.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/persist.h"
#include "daemon/learner/tasks.h"
#include "daemon/runtime/vector_memory.h"
#include "test/lib/test.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

static char trace[512];
static const char *broken; /* what fails */

static int said(const char *what)
{
	size_t used = strlen(trace);
	snprintf(trace + used, sizeof trace - used, "%s%s", used > 0 ? ", " : "", what);
	return broken != NULL && strcmp(what, broken) == 0 ? SL_ERR_IO : SL_OK;
}

static void (*while_writing)(void);
static struct sl_view *next_view; /* which the core makes in place of this one, while the worker writes */

/* --- in place of the disk --- */

int __wrap_sl_state_file_sync(struct sl_state_file *state_file, struct sl_error *error)
{
	(void)error;
	assert_int_equal(sl_state_file_key(state_file)[0], 0xb7); /* of the secrets that are recorded next */
	if (next_view != NULL)
		next_view->scale.sigma = 1;
	return said("slot");
}

int __wrap_sl_store_key(struct sl_store *store, uint8_t key[static SL_SEAL_KEY_BYTES], struct sl_error *error)
{
	(void)store;
	(void)error;
	memset(key, 0xb7, SL_SEAL_KEY_BYTES);
	return SL_OK;
}

int __wrap_sl_store_rest(struct sl_store *store, int pages, struct sl_error *error)
{
	(void)store;
	(void)error;
	assert_true(pages > 0);
	return said("rest");
}

int __wrap_sl_store_record(struct sl_store *store, const struct sl_persist *persist, struct sl_error *error)
{
	static const char *const names[] = {"?", "aborted", "?", "released", "signs", "over"};
	(void)store;
	(void)error;
	if (while_writing != NULL)
		while_writing();
	return said(names[persist->what.kind]);
}

static struct sl_ledger ledger;
static uint8_t checkpoint_sum[SL_HASH_BYTES];

int __wrap_sl_store_prepare(struct sl_store *store, const struct sl_persist *persist,
			    const struct sl_dp_round *charge, struct sl_error *error)
{
	(void)store;
	(void)persist;
	(void)error;
	if (charge != NULL)
		sl_ledger_charge(&ledger, 1, 4, 1, charge);
	return said(charge != NULL ? "prepared and charged" : "prepared");
}

const struct sl_ledger *__wrap_sl_store_ledger(const struct sl_store *store)
{
	(void)store;
	return &ledger;
}

void __wrap_sl_budget_take(struct sl_daemon *daemon, const struct sl_ledger *charged)
{
	(void)daemon;
	assert_true(charged->charges == ledger.charges);
}

int __wrap_sl_store_commit_round(struct sl_store *store, const struct sl_store_round *round,
				 struct sl_error *error)
{
	(void)store;
	(void)error;
	assert_memory_equal(round->checkpoint_sum, checkpoint_sum, SL_HASH_BYTES); /* of the files, whole */
	assert_true(round->result_sum[0] == 2);
	return said("row");
}

int __wrap_sl_checkpoint_write_later(const char *folder, const struct sl_checkpoint *checkpoint,
				     const struct sl_tensors *tensors, const void *model,
				     struct sl_error *error);
int __wrap_sl_checkpoint_write_later(const char *folder, const struct sl_checkpoint *checkpoint,
				     const struct sl_tensors *tensors, const void *model,
				     struct sl_error *error)
{
	(void)folder;
	(void)tensors;
	(void)model;
	(void)error;
	memcpy(checkpoint_sum, checkpoint->checksum, SL_HASH_BYTES);
	return said("checkpoint");
}

int __wrap_sl_result_write(const char *folder, const char *run, const struct sl_certificate *certificate,
			   uint64_t n, const uint8_t *z, size_t z_bytes, const uint8_t *strands,
			   sl_round over, uint8_t checksum[static SL_HASH_BYTES], struct sl_error *error)
{
	(void)folder;
	(void)run;
	(void)certificate;
	(void)n;
	(void)z;
	(void)z_bytes;
	(void)strands;
	(void)error;
	assert_int_equal(over, 2); /* the round before the last one on record */
	checksum[0] = 2;
	return said("result");
}

static uint32_t on_record; /* rounds, up to 9 */
static uint32_t asked;	   /* how often for one of them */

int __wrap_sl_store_round_back(struct sl_store *store, uint32_t back, struct sl_store_round *round)
{
	(void)store;
	asked++;
	round->t = 9 - back;
	return back < on_record ? SL_OK : SL_ERR_NOTFOUND;
}

uint32_t __wrap_sl_store_roster_changes(struct sl_store *store, sl_id *ids)
{
	(void)store;
	(void)ids;
	return 0;
}

int __wrap_sl_store_round_before(struct sl_store *store, sl_round t, struct sl_store_round *round,
				 struct sl_error *error)
{
	(void)store;
	(void)error;
	round->t = t - 1;
	return SL_OK;
}

void __wrap_sl_checkpoint_delete(const char *folder, sl_round t);
void __wrap_sl_checkpoint_delete(const char *folder, sl_round t)
{
	char text[32];
	(void)folder;
	snprintf(text, sizeof text, "delete checkpoint %u", t);
	said(text);
}

void __wrap_sl_result_forget(const char *folder, sl_round t)
{
	char text[32];
	(void)folder;
	snprintf(text, sizeof text, "delete result %u", t);
	said(text);
}

int __wrap_sl_result_show(const char *folder, const char *run, uint64_t n, sl_round t,
			  struct sl_result *result, struct sl_error *error)
{
	(void)folder;
	(void)run;
	(void)n;
	(void)t;
	(void)result;
	(void)error;
	return SL_ERR_NOTFOUND;
}

void __wrap_sl_tasks_evaluate(struct sl_daemon *daemon, const struct sl_trainer_commit *commit)
{
	(void)daemon;
	(void)commit;
}

void __wrap_sl_tasks_fatal(struct sl_daemon *daemon, const char *text)
{
	(void)text;
	daemon->stopping = true;
	said("fatal");
}

int __wrap_sl_roster_copy_keep(const struct sl_membership *m, const uint8_t hash[static SL_HASH_BYTES],
			       struct sl_error *error)
{
	(void)m;
	assert_int_equal(hash[0], 0x4b); /* that of the round */
	return said("roster") == SL_OK ? SL_OK : sl_err_set(error, SL_ERR_IO, "warned");
}

void __wrap_sl_report_log_reason(struct sl_observe *observe, enum sl_record_kind kind, const char *reason)
{
	(void)observe;
	assert_int_equal(kind, SL_RECORD_UNKEPT_ROSTER);
	said(reason);
}

/* --- a learner that writes --- */

static struct sl_daemon *learner_;
static uint8_t page_of_key[SL_STATE_FILE_KEY_ROOM];

static int setup(void **state)
{
	static const struct sl_settings settings = {
		.id = 1, .state = "no such folder", .keep_checkpoints = 5, .dp_sampling = 0.5};
	static struct sl_trainer trainer;
	struct sl_daemon *daemon = learner_ = calloc(1, sizeof *daemon);
	(void)state;
	daemon->settings = &settings;
	daemon->trainer = &trainer;
	daemon->workspace.n = 3;
	daemon->workspace.s = calloc(4, sizeof(uint64_t));
	daemon->masked_states.current = (struct sl_state_file){.slots = 3, .map = page_of_key};
	sl_event_queue_init(&daemon->event_queue);
	uv_loop_init(&daemon->loop);
	sl_worker_open(&daemon->compute, &daemon->loop);
	trace[0] = '\0';
	while_writing = NULL;
	next_view = NULL;
	broken = NULL;
	on_record = 9;
	return 0;
}

static int teardown(void **state)
{
	struct sl_daemon *daemon = learner_;
	(void)state;
	sl_event_queue_close(&daemon->event_queue);
	free(daemon->workspace.s);
	free(daemon);
	return 0;
}

static void persist(enum sl_persist_kind kind)
{
	static uint32_t members[6];
	struct sl_round_head round = {
		.t = 4, .a = 1, .p = 2147483647, .count = 6, .members = members, .roster = {0x4b}};
	struct sl_certificate certificate = {.t = 4, .a = 1, .round = &round};
	struct sl_held_share share = {.size = SL_KEY_SHARE_BYTES};
	struct sl_secrets secrets = {.count = 1, .shares = &share};
	struct sl_abort aborts[2] = {{.id = 2}, {.id = 3}};
	struct sl_ready ready = {.id = 1};
	uint8_t view = 0;
	struct sl_persist p = {.what = {.kind = kind, .t = 4, .a = 1}};
	if (kind == SL_PERSIST_COMMIT)
		p.certificate = &certificate;
	if (kind == SL_PERSIST_PREPARED) {
		p.view = &view;
		p.view_bytes = 1;
		p.readys = &ready;
		p.ready_count = 1;
		p.secrets = &secrets;
	}
	if (kind == SL_PERSIST_OVER) {
		p.aborts = aborts;
		p.abort_count = 2;
	}
	sl_persist_add(learner_, &p);
}

/* Check that the writes are those of `text`, and that the core gets `durable` SL_EVENT_DURABLE. */
static void expect(const char *text, uint32_t durable)
{
	sl_worker_close(&learner_->compute);
	uv_run(&learner_->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&learner_->loop), 0);
	assert_string_equal(trace, text);
	uint32_t heard = 0;
	for (const struct sl_queued_event *h = learner_->event_queue.first; h != NULL; h = h->next)
		heard += h->event.kind == SL_EVENT_DURABLE;
	assert_int_equal(heard, durable);
}

TEST_WITH(own_state_before_its_record, setup, teardown)
{
	persist(SL_PERSIST_PREPARED);
	persist(SL_PERSIST_RELEASED);
	expect("slot, prepared, released", 2);
}

/* --- differential privacy --- */

/* Prepares an attempt of a view with noise. */
static void prepare_noisy(uint64_t weight)
{
	static struct sl_view view;
	static struct sl_layout layout;
	view = (struct sl_view){.t = 4,
				.a = 1,
				.n = 6,
				.agreed = {.n = 3,
					   .values = SL_VALUES_NOISY,
					   .encoding = SL_ENCODING_WEIGHTED,
					   .max_weight = 1,
					   .tolerance = 2,
					   .dp_unit = SL_DP_RECORD,
					   .dp_clip = sl_real_bits(1),
					   .dp_noise = sl_real_bits(5)}};
	sl_view_set_encoding(&view, &layout);
	ledger = (struct sl_ledger){.t = 3, .a = 1, .incarnation = 1};
	learner_->core_config.parameters.values = SL_VALUES_NOISY;
	learner_->workspace_view = &view;
	learner_->workspace.weight = weight;
	next_view = &view;
	persist(SL_PERSIST_PREPARED);
}

TEST_WITH(an_attempt_is_charged_with_its_record, setup, teardown)
{
	prepare_noisy(1);
	expect("slot, prepared and charged", 1);
	assert_int_equal(ledger.charges, 1);
	/* z = 5: mu = 1 / 5, and rounding adds to it */
	assert_true(ledger.spent.mu2 > 0.04 && ledger.spent.mu2 < 0.08);
	assert_true(ledger.spent.rdp[0] < ledger.spent.mu2 / 2); /* the sampling counts */
}

TEST_WITH(zeros_are_not_charged, setup, teardown)
{
	prepare_noisy(0);
	expect("slot, prepared", 1);
	assert_int_equal(ledger.charges, 0);
}

TEST_WITH(the_end_of_an_attempt, setup, teardown)
{
	persist(SL_PERSIST_PREPARED);
	persist(SL_PERSIST_OVER);
	expect("slot, prepared, over", 2);
}

/* Reported after 10 s, and again when the time has doubled. */
static void hang(void)
{
	sl_ms since = atomic_load(&learner_->observe.writing.since_ms);
	uint64_t seconds;
	assert_null(sl_persist_hangs(learner_, since + 9999, &seconds));
	assert_string_equal(sl_persist_hangs(learner_, since + 10000, &seconds), "RELEASED");
	assert_int_equal(seconds, 10);
	assert_null(sl_persist_hangs(learner_, since + 19999, &seconds));
	assert_non_null(sl_persist_hangs(learner_, since + 20000, &seconds));
	assert_null(sl_persist_hangs(learner_, since + 39999, &seconds));
	assert_non_null(sl_persist_hangs(learner_, since + 40000, &seconds));
	said("reported");
}

TEST_WITH(a_write_that_hangs_is_reported, setup, teardown)
{
	uint64_t seconds;
	while_writing = hang;
	persist(SL_PERSIST_RELEASED);
	expect("reported, released", 1);
	assert_null(sl_persist_hangs(learner_, UINT64_MAX / 2, &seconds));
}

TEST_WITH(files_before_their_row, setup, teardown)
{
	asked = 0;
	persist(SL_PERSIST_COMMIT);
	expect("checkpoint, result, roster, row, delete checkpoint 4, delete checkpoint 0, delete result 2, "
	       "rest",
	       1);
	assert_int_equal(asked, 1);
}

/* With the initial model, which is the first of those that are kept. */
TEST_WITH(the_initial_model_is_one_too_many, setup, teardown)
{
	on_record = learner_->settings->keep_checkpoints;
	persist(SL_PERSIST_COMMIT);
	expect("checkpoint, result, roster, row, delete checkpoint 0, delete result 2, rest", 1);
}

TEST_WITH(the_initial_model_is_kept, setup, teardown)
{
	on_record = learner_->settings->keep_checkpoints - 1;
	persist(SL_PERSIST_COMMIT);
	expect("checkpoint, result, roster, row, delete result 2, rest", 1);
}

/* Of large results the disk holds two only while one takes the place of the other. */
TEST_WITH(large_files, setup, teardown)
{
	learner_->workspace.n = SL_VECTOR_MEMORY_PAGED / sizeof(float);
	persist(SL_PERSIST_COMMIT);
	expect("checkpoint, result, roster, row, delete checkpoint 4, delete checkpoint 0, delete result 3, "
	       "rest",
	       1);
}

TEST_WITH(in_the_order_asked_for, setup, teardown)
{
	persist(SL_PERSIST_ABORTED);
	persist(SL_PERSIST_SIGNS);
	assert_int_equal(learner_->training.used_up, 0);
	persist(SL_PERSIST_OVER);
	assert_int_equal(learner_->training.used_up, 4); /* its model may not be used again */
	persist(SL_PERSIST_ABORTED);
	expect("aborted, signs, over, aborted", 4);
}

TEST_WITH(no_record_of_what_is_not_there, setup, teardown)
{
	broken = "slot";
	persist(SL_PERSIST_PREPARED);
	persist(SL_PERSIST_ABORTED);
	expect("slot, fatal", 0);
}

TEST_WITH(no_row_without_its_files, setup, teardown)
{
	broken = "result";
	persist(SL_PERSIST_COMMIT);
	persist(SL_PERSIST_ABORTED);
	expect("checkpoint, result, fatal", 0);
}

TEST_WITH(no_row_without_its_model, setup, teardown)
{
	broken = "checkpoint";
	persist(SL_PERSIST_COMMIT);
	expect("checkpoint, fatal", 0);
}

TEST_WITH(nothing_is_forgotten_without_its_successor, setup, teardown)
{
	broken = "row";
	persist(SL_PERSIST_COMMIT);
	expect("checkpoint, result, roster, row, fatal", 0);
}

/* Each round tries again; the first one of the roster says so. */
TEST_WITH(a_round_goes_on_without_a_copy_of_its_roster, setup, teardown)
{
	on_record = 0;
	broken = "roster";
	persist(SL_PERSIST_COMMIT);
	persist(SL_PERSIST_COMMIT);
	expect("checkpoint, result, roster, row, delete result 2, rest, checkpoint, result, roster, row, "
	       "delete result 2, rest, warned",
	       2);
}
