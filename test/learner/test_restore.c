/* What a learner continues from when it starts, and which files it refuses. */
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/protocol/view_codec.h"
#include "common/model/checkpoint.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/restore.h"
#include "daemon/learner/roster_change.h"

#define N 3
#define P 2147483647u
#define CLIP_16 UINT64_C(0x4030000000000000) /* the bits of 16.0 */
#define RUN "a"

/* --- a learner with nothing but its records --- */

struct learner {
	struct sl_settings settings;
	struct sl_trainer trainer;
	struct sl_daemon daemon;
	float model[N];
	char log[1024];
};

static struct sl_member members[4];
static uint8_t own_key[crypto_sign_SECRETKEYBYTES];
static uint32_t member_count;

static void initial(const struct sl_trainer *trainer, void *model)
{
	(void)trainer;
	for (int i = 0; i < N; i++)
		((float *)model)[i] = -1;
}

static const struct sl_trainer_ops ops = {.initial = initial};
static const struct sl_tensor tensor = {"model", SL_FLOAT32, 1, {N}};
static const struct sl_tensors tensors = {&tensor, 1};

static int setup(void **state)
{
	member_count = 3;
	for (uint32_t i = 0; i < 4; i++) {
		members[i] = (struct sl_member){.id = i + 1};
		snprintf(members[i].name, sizeof members[i].name, "site-%u", i + 1);
		members[i].pin[0] = (uint8_t)(i + 1);
	}
	return folder_setup(state);
}

static void configure(struct learner *l, const char *folder)
{
	memset(l, 0, sizeof *l);
	snprintf(l->log, sizeof l->log, "%s", folder_path(folder, "log"));
	snprintf(l->settings.state, sizeof l->settings.state, "%s", folder);
	snprintf(l->settings.log, sizeof l->settings.log, "%s", l->log);
	snprintf(l->settings.roster, sizeof l->settings.roster, "roster.yaml");
	strcpy(l->settings.run, RUN);
	l->trainer.ops = &ops;
	l->settings.id = 1;
	l->daemon.settings = &l->settings;
	crypto_sign_keypair(l->daemon.identity.public_key, own_key);
	l->daemon.identity.sign_key = own_key;
	l->daemon.masked_states.folder = l->settings.state;
	l->daemon.trainer = &l->trainer;
	l->daemon.roster = (struct sl_roster){
		.members = members, .size = member_count, .hash = {0x12, 0x34, 0x56, 0x78, 0x9a}};
	l->daemon.workspace.n = N;
	l->daemon.workspace.tensors = tensors;
	l->daemon.workspace.committed = l->model;
}

static void finish(struct learner *l)
{
	sl_result_close(&l->daemon.result);
	sl_masked_states_close(&l->daemon.masked_states);
	sl_store_promises_close(&l->daemon.promises);
	if (l->daemon.log != NULL)
		sl_log_close(l->daemon.log);
	sl_store_close(l->daemon.store);
}

/* As the daemon does it; what was said of it is in the log, or in the error. */
static int start(struct learner *l, struct sl_error *error)
{
	*error = (struct sl_error){0};
	remove(l->log);
	int rc = sl_restore_store(&l->daemon, false, error);
	if (rc == SL_OK)
		rc = sl_log_open(&l->daemon.log, &l->settings, "site-1", error);
	if (rc == SL_OK)
		rc = sl_roster_change_check(l->daemon.store, &l->daemon.roster, &l->settings, error);
	if (rc == SL_OK)
		rc = sl_restore_log_roster(&l->daemon, error);
	if (rc == SL_OK)
		rc = sl_restore_model(&l->daemon, error);
	return rc == SL_OK ? sl_restore_promises(&l->daemon, error) : rc;
}

static void expect_started(struct learner *l, const char *folder)
{
	struct sl_error error;
	configure(l, folder);
	if (start(l, &error) != SL_OK)
		fail_msg("%s", error.text);
}

/* As --check does it. */
static int look(struct learner *l, const char *folder, struct sl_error *error)
{
	*error = (struct sl_error){0};
	configure(l, folder);
	int rc = sl_restore_store(&l->daemon, true, error);
	return rc == SL_OK ? sl_roster_change_check(l->daemon.store, &l->daemon.roster, &l->settings, error)
			   : rc;
}

static void expect_said(const struct learner *l, const char *text, bool said)
{
	char bytes[8192] = "";
	FILE *file = fopen(l->log, "re");
	assert_non_null(file);
	size_t size = fread(bytes, 1, sizeof bytes - 1, file);
	bytes[size] = '\0';
	fclose(file);
	if ((strstr(bytes, text) != NULL) != said)
		fail_msg("%s '%s' in: %s", said ? "no" : "there is", text, bytes);
}

/* Starts, goes on after round t (0: anew), refuses other attempts up to `promised`, has something to show or
 * not. */
static void expect_start(const char *folder, sl_round t, sl_round committed_through, bool shows,
			 const char *said)
{
	struct learner l;
	expect_started(&l, folder);
	assert_int_equal(l.daemon.core_config.committed, t);
	assert_int_equal(l.daemon.committed_through, committed_through);
	assert_int_equal(l.daemon.core_config.certificate != NULL, shows);
	for (int i = 0; i < N; i++)
		assert_true(l.model[i] == (t == 0 ? -1.0f : (float)t));
	assert_int_equal(l.daemon.core_config.previous[0], t);
	if (said != NULL)
		expect_said(&l, said, true);
	expect_said(&l, "\"level\":\"error\"", committed_through > 0);
	finish(&l);
}

static void expect_refused(const char *folder, int code, const char *text)
{
	struct learner l;
	struct sl_error error;
	configure(&l, folder);
	assert_int_equal(start(&l, &error), code);
	assert_string_equal(error.text, text);
	finish(&l);
}

/* --- rounds --- */

static struct sl_certificate certificate_of(sl_round t)
{
	struct sl_certificate certificate = {.t = t,
					     .a = 2,
					     .p = P,
					     .learners = 3,
					     .decimals = 4,
					     .clipping_range = CLIP_16,
					     .count = 1,
					     .digest = {(uint8_t)t}};
	struct sl_digest *d = &certificate.digests[0];
	uint8_t secret[crypto_sign_SECRETKEYBYTES], hash[SL_HASH_BYTES], seed[crypto_sign_SEEDBYTES] = {0};
	struct sl_scope scope = {0};
	*d = (struct sl_digest){
		.id = 1, .t = t, .a = 2, .p = P, .learners = 3, .decimals = 4, .clipping_range = CLIP_16};
	memcpy(d->digest, certificate.digest, sizeof d->digest);
	crypto_sign_seed_keypair(d->key, secret, seed);
	sl_canonical_message(&scope, &(struct sl_message){SL_MSG_DIGEST, {.digest = *d}}, hash);
	crypto_sign_detached(d->signature, NULL, hash, sizeof hash, secret);
	return certificate;
}

/* The files of round t: N times t. */
static void write_files(const char *folder, sl_round t, struct sl_store_round *round)
{
	struct sl_certificate certificate = certificate_of(t);
	struct sl_checkpoint c = {
		.run = RUN, .round = t, .learners = 3, .total_weight = 3, .n = N, .digest = {(uint8_t)t}};
	float model[N] = {(float)t, (float)t, (float)t};
	uint8_t z[4 * (N + 1)] = {(uint8_t)t};
	sl_store_round_fill(round, &certificate, 3);
	assert_int_equal(sl_checkpoint_write(folder, &c, &tensors, model, NULL), SL_OK);
	memcpy(round->checkpoint_sum, c.checksum, SL_HASH_BYTES);
	assert_int_equal(sl_result_write(folder, RUN, &certificate, N, z, sizeof z, round->result_sum, NULL),
			 SL_OK);
}

static void commit(const char *folder, sl_round t)
{
	struct learner l;
	struct sl_store_round round;
	struct sl_error error = {0};
	expect_started(&l, folder);
	write_files(folder, t, &round);
	if (sl_store_commit_round(l.daemon.store, &round, &error) != SL_OK)
		fail_msg("%s", error.text);
	sl_result_forget(folder, RUN, t);
	finish(&l);
}

/* Ends in other bytes than it did. */
static void damage(const char *folder, const char *name)
{
	size_t size;
	uint8_t *bytes = folder_get(folder, name, &size);
	bytes[size - 1] ^= 1;
	folder_put(folder, name, bytes, size);
	free(bytes);
}

/* --- what it goes on from --- */

TEST_WITH(a_new_learner, setup, folder_teardown)
{
	expect_start(*state, 0, 0, false, NULL);
	expect_start(*state, 0, 0, false, NULL);
}

TEST_WITH(the_last_round, setup, folder_teardown)
{
	commit(*state, 1);
	commit(*state, 2);
	expect_start(*state, 2, 0, true, "continuing after round 2, from its checkpoint");
}

/* The power went between the files and their row. */
TEST_WITH(files_without_a_row_are_ignored, setup, folder_teardown)
{
	struct sl_store_round round;
	expect_start(*state, 0, 0, false, NULL);
	write_files(*state, 1, &round);
	expect_start(*state, 0, 0, false, "round-000001.safetensors is ignored: a checkpoint is no record");
	commit(*state, 1);
	write_files(*state, 2, &round);
	expect_start(*state, 1, 0, true, NULL); /* the result of round 1 went only after the row of round 2 */
}

TEST_WITH(a_damaged_checkpoint_falls_back, setup, folder_teardown)
{
	for (sl_round t = 1; t <= 3; t++)
		commit(*state, t);
	damage(*state, "round-000003.safetensors");
	expect_start(*state, 2, 3, false,
		     "round-000003.safetensors: damaged: the model does not match its checksum; going on "
		     "from the checkpoint of "
		     "round 2 until a peer sends the result of round 3 or a later one");
	remove(folder_path(*state, "round-000002.safetensors"));
	expect_start(*state, 1, 3, false, "going on from the checkpoint of round 1");
	damage(*state, "round-000001.safetensors");
	expect_start(*state, 0, 3, false,
		     "going on from the initial model until a peer sends the result of round 3");
	commit(*state, 3); /* a peer did */
	expect_start(*state, 3, 0, true, NULL);
}

/* Whole, of that round, and of another history. */
TEST_WITH(another_checkpoint_is_not_believed, setup, folder_teardown)
{
	struct sl_checkpoint other = {
		.run = RUN, .round = 2, .learners = 3, .total_weight = 3, .n = N, .digest = {2}};
	float model[N] = {7, 7, 7};
	commit(*state, 1);
	commit(*state, 2);
	assert_int_equal(sl_checkpoint_write(*state, &other, &tensors, model, NULL), SL_OK);
	expect_start(*state, 1, 2, false,
		     "round-000002.safetensors: is not the checkpoint that was committed");
	commit(*state, 2);
	expect_start(*state, 2, 0, true, NULL);
	other.digest[0] = 9;
	model[0] = model[1] = model[2] = 2;
	assert_int_equal(sl_checkpoint_write(*state, &other, &tensors, model, NULL), SL_OK);
	expect_start(*state, 1, 2, false,
		     "round-000002.safetensors: is not the checkpoint that was committed");
}

TEST_WITH(another_model_is_the_configurations_fault, setup, folder_teardown)
{
	struct learner l;
	struct sl_error error;
	commit(*state, 1);
	configure(&l, *state);
	static const struct sl_tensor other = {"model", SL_FLOAT32, 1, {N - 1}};
	l.daemon.workspace.n = N - 1;
	l.daemon.workspace.tensors = (struct sl_tensors){&other, 1};
	assert_int_equal(start(&l, &error), SL_ERR_INVALID);
	assert_string_equal(
		error.text,
		folder_path(*state,
			    "round-000001.safetensors: its tensors are not those of this run's model"));
	finish(&l);
}

TEST_WITH(a_result_need_not_be_there, setup, folder_teardown)
{
	struct sl_store_round other;
	commit(*state, 1);
	commit(*state, 2);
	damage(*state, "result-000002.safetensors");
	expect_start(*state, 2, 0, false,
		     "the result of round 2 cannot be shown to others before the next commit: ");
	write_files(*state, 2, &other);
	expect_start(*state, 2, 0, true, NULL);
	struct sl_certificate certificate = certificate_of(2);
	uint8_t z[4 * (N + 1)] = {9}, sum[SL_HASH_BYTES];
	assert_int_equal(sl_result_write(*state, RUN, &certificate, N, z, sizeof z, sum, NULL), SL_OK);
	expect_start(*state, 2, 0, false, "its file is not the one that was committed");
	remove(folder_path(*state, "result-000002.safetensors"));
	expect_start(*state, 2, 0, false, "no result of round 2");
}

/* --- an attempt that was cut short --- */

#define SLOT 4096u
static const char *const file_2_3 = "attempt-000002-000003.states";

/* Attempt 3 of round 2, of learners 1, 2 and 3, without edges. */
static size_t write_view(uint8_t *bytes, size_t size)
{
	struct sl_writer w = {.bytes = bytes, .size = size};
	struct sl_parameters parameters = {.n = N};
	static const uint8_t previous[SL_HASH_BYTES] = {1};
	sl_bytes_put_u64(&w, 2);
	sl_bytes_put_u64(&w, 3);
	sl_bytes_put_u64(&w, P);
#define X(name, ...) sl_bytes_put_u64(&w, parameters.name);
	SL_PARAMETERS(X)
#undef X
	sl_bytes_put(&w, previous, sizeof previous);
	sl_bytes_put_u64(&w, 3);
	for (uint64_t id = 1; id <= 3; id++) {
		sl_bytes_put_u64(&w, id);
		sl_bytes_put_u64(&w, 1);
	}
	return w.used;
}

static void record(struct sl_store *store, enum sl_persist_kind kind, const struct sl_persist *more)
{
	struct sl_persist persist = *more;
	struct sl_error error;
	persist.what = (struct sl_durable){.kind = kind, .t = 2, .a = 3};
	if (sl_store_record(store, &persist, &error) != SL_OK)
		fail_msg("%s", error.text);
}

/* After round 1; the masked state of this learner is all fives. */
static void leave_open(const char *folder, bool released)
{
	struct learner l;
	struct sl_error error;
	struct sl_state_file state_file;
	struct sl_scope scope = {0};
	uint8_t bytes[1024], *slot;
	struct sl_ready readys[3] = {
		{.id = 1, .t = 2, .a = 3}, {.id = 2, .t = 2, .a = 3}, {.id = 3, .t = 2, .a = 3}};
	commit(folder, 1);
	expect_started(&l, folder);
	assert_int_equal(sl_state_file_open(&state_file, folder, 2, 3, 3, SLOT, &error), SL_OK);
	assert_int_equal(sl_state_file_reserve(&state_file, 0, &error), SL_OK);
	slot = state_file.base;
	memset(slot, 5, SL_NONCE_BYTES + 4 * (N + 1));
	sl_canonical_commitment(&scope, slot + SL_NONCE_BYTES, 4 * (N + 1), slot, readys[0].commitment);
	sl_state_file_close(&state_file);
	struct sl_persist persist = {.view = bytes,
				     .view_bytes = write_view(bytes, sizeof bytes),
				     .readys = readys,
				     .ready_count = 1};
	for (int i = 0; i < 3; i++)
		sl_canonical_view(&scope, bytes, persist.view_bytes, readys[i].view);
	record(l.daemon.store, SL_PERSIST_PREPARED, &persist);
	persist.ready_count = 3;
	if (released)
		record(l.daemon.store, SL_PERSIST_RELEASED, &persist);
	finish(&l);
}

/* Starts; the core is told of an attempt that is open (and released) or aborted, or of nothing. */
static void expect_open(const char *folder, sl_attempt aborted, uint32_t released, bool open,
			const char *said)
{
	struct learner l;
	expect_started(&l, folder);
	const struct sl_core_config *config = &l.daemon.core_config;
	assert_int_equal(config->aborted, aborted);
	assert_int_equal(config->released_count, released);
	if (released > 0)
		assert_int_equal(config->released[0], 3);
	assert_int_equal(config->open != NULL, open);
	assert_int_equal(l.daemon.workspace.state_file.base != NULL, open);
	if (open) {
		assert_int_equal(config->open->released, released > 0);
		assert_int_equal(config->open->ready_count, released > 0 ? 3 : 1);
		assert_int_equal(l.daemon.workspace.state_file.slot_bytes, SLOT);
	}
	assert_int_equal(access(folder_path(folder, file_2_3), F_OK) == 0, open);
	if (said != NULL)
		expect_said(&l, said, true);
	finish(&l);
}

TEST_WITH(one_that_was_prepared_goes_on, setup, folder_teardown)
{
	leave_open(*state, false);
	folder_put(*state, "attempt-000002-000002.states", "left", 4);
	expect_open(*state, 0, 0, true, NULL);
	expect_open(*state, 0, 0, true, NULL);
	assert_int_not_equal(access(folder_path(*state, "attempt-000002-000002.states"), F_OK), 0);
}

TEST_WITH(one_that_was_released_goes_on, setup, folder_teardown)
{
	leave_open(*state, true);
	expect_open(*state, 0, 1, true, NULL);
	remove(folder_path(*state, file_2_3));
	expect_open(*state, 0, 1, true, NULL); /* the others may have what is gone */
}

/* It was never released, so that no peer has it. */
TEST_WITH(a_prepared_state_that_is_lost_is_given_up, setup, folder_teardown)
{
	leave_open(*state, false);
	damage(*state, file_2_3); /* beyond the state: no matter */
	expect_open(*state, 0, 0, true, NULL);
	remove(folder_path(*state, file_2_3));
	expect_open(*state, 3, 0, false,
		    "round 2 attempt 3, which a restart interrupted, is aborted: its own masked state is "
		    "gone or damaged");
	expect_open(*state, 3, 0, false, NULL);
}

/* The ids mean other learners now. */
TEST_WITH(another_roster_does_not_forget_what_was_released, setup, folder_teardown)
{
	struct learner l;
	struct sl_error error;
	leave_open(*state, true);
	configure(&l, *state);
	l.daemon.core_config.scope.roster[0] = 1;
	assert_int_equal(start(&l, &error), SL_ERR_REFUSED);
	assert_string_equal(error.text,
			    "round 2 attempt 3 was released under another roster or model size (setting "
			    "hidden_units), and "
			    "must be finished first: put back what was there until round 2 has committed");
	finish(&l);
	expect_open(*state, 0, 1, true, NULL);
}

TEST_WITH(another_roster_gives_up_what_was_prepared, setup, folder_teardown)
{
	struct learner l;
	struct sl_error error;
	leave_open(*state, false);
	configure(&l, *state);
	l.daemon.core_config.scope.roster[0] = 1;
	assert_int_equal(start(&l, &error), SL_OK);
	assert_int_equal(l.daemon.core_config.aborted, 3);
	assert_null(l.daemon.core_config.open);
	const struct sl_certificate *shown =
		l.daemon.core_config.certificate; /* signed again, by the own key */
	assert_int_equal(shown->count, 1);
	assert_memory_equal(shown->digests[0].key, l.daemon.identity.public_key, SL_KEY_BYTES);
	finish(&l);
	expect_open(*state, 3, 0, false, NULL);
}

/* Not those of the round that is committed; the next commit takes them. */
TEST_WITH(the_masked_states_of_the_last_round_stay, setup, folder_teardown)
{
	commit(*state, 1);
	folder_put(*state, "attempt-000001-000002.states", "kept", 4); /* rounds here commit in attempt 2 */
	folder_put(*state, "attempt-000001-000001.states", "left", 4);
	expect_start(*state, 1, 0, true, NULL);
	assert_int_equal(access(folder_path(*state, "attempt-000001-000002.states"), F_OK), 0);
	assert_int_not_equal(access(folder_path(*state, "attempt-000001-000001.states"), F_OK), 0);
}

/* A model that cannot be read goes back behind what was promised: that waits until the model is there again.
 */
TEST_WITH(promises_wait_for_their_round, setup, folder_teardown)
{
	leave_open(*state, true);
	damage(*state, "round-000001.safetensors");
	struct learner l;
	expect_started(&l, *state);
	assert_int_equal(l.daemon.committed_through, 1);
	assert_int_equal(l.daemon.core_config.released_count, 0);
	finish(&l);
	commit(*state, 1);
	expect_open(*state, 0, 1, true, NULL);
}

/* --- another roster --- */

TEST_WITH(one_change_is_said, setup, folder_teardown)
{
	member_count = 4;
	expect_start(*state, 0, 0, false, NULL);
	member_count = 3;
	expect_start(*state, 0, 0, false, NULL);
	commit(*state, 1);
	expect_start(*state, 1, 0, true, NULL);
	member_count = 4;
	expect_start(*state, 1, 0, true,
		     "the roster is not that of round 1, which committed last: site-4 (4)");
	member_count = 2;
	expect_start(*state, 1, 0, true, "which committed last: 3 (gone)");
}

TEST_WITH(two_changes_are_confirmed, setup, folder_teardown)
{
	struct learner l;
	struct sl_error error;
	commit(*state, 1);
	member_count = 4;
	members[1].pin[5] ^= 1;
	expect_refused(*state, SL_ERR_REFUSED,
		       "roster.yaml: 2 members came, went or have another key since round 1 committed: "
		       "site-2 (2), site-4 (4); if "
		       "that is meant, start once with --set accept_roster=12345678");
	static const char *const given[] = {"12345678", "123456789a", "12345679"};
	for (int i = 0; i < 3; i++) {
		configure(&l, *state);
		strcpy(l.settings.accept_roster, given[i]);
		assert_int_equal(start(&l, &error), i < 2 ? SL_OK : SL_ERR_REFUSED);
		finish(&l);
	}
}

/* --check finds the same beside a learner that runs, and before the first start; it counts no start and
 * leaves nothing. */
TEST_WITH(a_check_finds_two_changes, setup, folder_teardown)
{
	struct learner l, running;
	struct sl_error error;
	assert_int_equal(look(&l, *state, &error), SL_OK);
	assert_null(l.daemon.store);
	assert_int_equal(folder_count(*state), 0);
	finish(&l);
	commit(*state, 1);
	expect_started(&running, *state);
	uint32_t starts = sl_store_incarnation(running.daemon.store);
	size_t files = folder_count(*state);
	member_count = 4;
	assert_int_equal(look(&l, *state, &error), SL_OK);
	finish(&l);
	members[1].pin[5] ^= 1;
	assert_int_equal(look(&l, *state, &error), SL_ERR_REFUSED);
	assert_non_null(strstr(
		error.text,
		"2 members came, went or have another key since round 1 committed: site-2 (2), site-4 (4)"));
	strcpy(l.settings.accept_roster, "12345678");
	assert_int_equal(sl_roster_change_check(l.daemon.store, &l.daemon.roster, &l.settings, &error),
			 SL_OK);
	finish(&l);
	assert_int_equal(folder_count(*state), files);
	finish(&running);
	members[1].pin[5] ^= 1;
	member_count = 3;
	expect_started(&running, *state);
	assert_int_equal(sl_store_incarnation(running.daemon.store), starts + 1);
	finish(&running);
}
