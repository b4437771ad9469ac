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
	l->daemon.core_config.parameters.n = N;
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
	static uint32_t ids[6] = {1, 0, 2, 0, 3, 0};
	static struct sl_round_head round;
	static struct sl_digest own;
	struct sl_certificate certificate = {
		.t = t, .a = 2, .round = &round, .count = 1, .digest = {(uint8_t)t}, .digests = &own};
	struct sl_digest *d = &own;
	uint8_t secret[crypto_sign_SECRETKEYBYTES], hash[SL_HASH_BYTES], seed[crypto_sign_SEEDBYTES] = {0};
	struct sl_scope scope = {0};
	round = (struct sl_round_head){.t = t,
				       .a = 2,
				       .p = P,
				       .parameters = {.n = N,
						      .rounds = 1,
						      .quorum = 3,
						      .tolerance = 1,
						      .decimals = 4,
						      .clipping_range = CLIP_16,
						      .max_weight = 1,
						      .max_degree = 16},
				       .count = 6,
				       .members = ids};
	sl_canonical_round(&scope, &round, certificate.view);
	*d = (struct sl_digest){.id = 1, .t = t, .a = 2};
	memcpy(d->view, certificate.view, sizeof d->view);
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

/* Round 2 again, with the result of `certificate`. */
static void write_result_of(const char *folder, const struct sl_certificate *certificate)
{
	struct learner l;
	struct sl_store_round round;
	uint8_t z[4 * (N + 1)] = {2};
	expect_started(&l, folder);
	write_files(folder, 2, &round);
	assert_int_equal(sl_result_write(folder, RUN, certificate, N, z, sizeof z, round.result_sum, NULL),
			 SL_OK);
	assert_int_equal(sl_store_commit_round(l.daemon.store, &round, NULL), SL_OK);
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
	certificate = certificate_of(2);
	struct sl_round_head another = *certificate.round; /* not that of h */
	another.edges[0] ^= 1;
	certificate.round = &another;
	write_result_of(*state, &certificate);
	expect_start(*state, 2, 0, false, "it does not show its view");
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

/* After round 1, in this state; the deposit of this learner is all fives. */
static void leave_open(const char *folder, enum sl_open_state as)
{
	struct learner l;
	struct sl_error error;
	struct sl_state_file state_file;
	struct sl_scope scope = {0};
	struct sl_round_head round;
	struct sl_held_share shares[2] = {{.size = SL_KEY_SHARE_BYTES, .bytes = {9}}, {.size = 0}};
	struct sl_secrets secrets = {.key = {7}, .count = 2, .shares = shares};
	uint8_t bytes[1024];
	uint32_t ids[6];
	struct sl_ready readys[3] = {
		{.id = 1, .t = 2, .a = 3}, {.id = 2, .t = 2, .a = 3}, {.id = 3, .t = 2, .a = 3}};
	commit(folder, 1);
	expect_started(&l, folder);
	assert_int_equal(sl_state_file_open(&state_file, folder, 2, 3, 3, SLOT, &error), SL_OK);
	assert_int_equal(sl_state_file_reserve(&state_file, 0, &error), SL_OK);
	memset(state_file.base, 5, 4 * (N + 1));
	sl_canonical_deposit(&scope, state_file.base, 4 * (N + 1), readys[0].deposit);
	sl_state_file_close(&state_file);
	struct sl_persist persist = {.view = bytes,
				     .view_bytes = write_view(bytes, sizeof bytes),
				     .readys = readys,
				     .ready_count = 1,
				     .secrets = &secrets,
				     .ready = true};
	assert_int_equal(sl_view_round(&scope, bytes, persist.view_bytes, 3, ids, &round), SL_OK);
	for (int i = 0; i < 3; i++)
		sl_canonical_round(&scope, &round, readys[i].view);
	record(l.daemon.store, SL_PERSIST_PREPARED, &persist);
	persist.ready_count = 3;
	if (as == SL_OPEN_RELEASED)
		record(l.daemon.store, SL_PERSIST_RELEASED, &persist);
	if (as == SL_OPEN_ABORTED)
		record(l.daemon.store, SL_PERSIST_ABORTED, &persist);
	finish(&l);
}

/* Starts; the core is told of an attempt that is open in this state. */
static void expect_open(const char *folder, enum sl_open_state as, const char *said)
{
	struct learner l;
	expect_started(&l, folder);
	const struct sl_core_config *config = &l.daemon.core_config;
	assert_int_equal(config->aborted, 0);
	assert_non_null(config->open);
	assert_int_equal(config->open->state, as);
	assert_int_equal(config->open->ready_count, as == SL_OPEN_RELEASED ? 3 : 1);
	assert_int_equal(config->open->secrets->key[0], 7);
	assert_int_equal(config->open->secrets->shares[0].bytes[0], 9);
	assert_non_null(l.daemon.workspace.state_file.base);
	assert_int_equal(l.daemon.workspace.state_file.slot_bytes, SLOT);
	assert_int_equal(access(folder_path(folder, file_2_3), F_OK), 0);
	if (said != NULL)
		expect_said(&l, said, true);
	finish(&l);
}

TEST_WITH(one_that_was_prepared_goes_on, setup, folder_teardown)
{
	leave_open(*state, SL_OPEN_PREPARED);
	folder_put(*state, "attempt-000002-000002.states", "left", 4);
	expect_open(*state, SL_OPEN_PREPARED, NULL);
	expect_open(*state, SL_OPEN_PREPARED, NULL);
	assert_int_not_equal(access(folder_path(*state, "attempt-000002-000002.states"), F_OK), 0);
}

TEST_WITH(one_that_was_released_goes_on, setup, folder_teardown)
{
	leave_open(*state, SL_OPEN_RELEASED);
	expect_open(*state, SL_OPEN_RELEASED, NULL);
	remove(folder_path(*state, file_2_3));
	expect_open(*state, SL_OPEN_RELEASED, NULL); /* its keepers have what is gone */
}

TEST_WITH(one_that_was_aborted_stays_bound, setup, folder_teardown)
{
	leave_open(*state, SL_OPEN_ABORTED);
	expect_open(*state, SL_OPEN_ABORTED, NULL);
}

/* Its Ready may have left: it stays with the attempt, and does not release. */
TEST_WITH(a_prepared_deposit_that_is_lost_is_aborted, setup, folder_teardown)
{
	leave_open(*state, SL_OPEN_PREPARED);
	damage(*state, file_2_3); /* beyond the deposit: no matter */
	expect_open(*state, SL_OPEN_PREPARED, NULL);
	remove(folder_path(*state, file_2_3));
	expect_open(*state, SL_OPEN_ABORTED, "its own deposit is gone or damaged");
	expect_open(*state, SL_OPEN_ABORTED, NULL);
}

/* The ids mean other learners now, and the learner is Ready in that attempt. */
TEST_WITH(another_roster_or_model_waits_for_the_attempt, setup, folder_teardown)
{
	struct learner l;
	struct sl_error error;
	for (int what = 0; what < 3; what++) {
		leave_open(*state, what == 2 ? SL_OPEN_PREPARED : SL_OPEN_RELEASED);
		configure(&l, *state);
		l.daemon.core_config.scope.roster[0] = what == 0;
		l.daemon.core_config.parameters.model = what > 0;
		assert_int_equal(start(&l, &error), SL_ERR_REFUSED);
		assert_string_equal(
			error.text,
			"round 2 attempt 3 was begun under another roster or with another model (setting "
			"hidden_units), and must end first: put back what was there until round 2 has "
			"committed");
		finish(&l);
		expect_open(*state, what == 2 ? SL_OPEN_PREPARED : SL_OPEN_RELEASED, NULL);
		assert_int_equal(folder_teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
}

/* What is over comes back with the Aborts that end it, and whether the model may be used again. */
TEST_WITH(what_is_over_is_remembered, setup, folder_teardown)
{
	struct learner l;
	struct sl_abort aborts[2] = {{.t = 2, .a = 3, .id = 1}, {.t = 2, .a = 3, .id = 2}};
	for (int reuse = 1; reuse >= 0; reuse--) {
		struct sl_persist over = {.aborts = aborts, .abort_count = 2, .reuse = reuse};
		leave_open(*state, SL_OPEN_PREPARED);
		expect_started(&l, *state);
		record(l.daemon.store, SL_PERSIST_OVER, &over);
		finish(&l);
		expect_started(&l, *state);
		const struct sl_core_config *config = &l.daemon.core_config;
		assert_null(config->open);
		assert_int_equal(config->aborted, 3);
		assert_int_equal(config->over_count, 1);
		assert_true(config->over[0].a == 3 && config->over[0].count == 2);
		assert_true(config->over[0].ready.id == 1 && config->over[0].aborts[1].id == 2);
		assert_int_equal(config->reuse, reuse);
		assert_int_equal(l.daemon.used_up, reuse ? 0 : 2);
		assert_int_not_equal(access(folder_path(*state, file_2_3), F_OK), 0);
		finish(&l);
		assert_int_equal(folder_teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
}

/* The deposits of a round that is committed serve nobody. */
TEST_WITH(deposits_of_other_attempts_go, setup, folder_teardown)
{
	commit(*state, 1);
	folder_put(*state, "attempt-000001-000002.states", "left", 4); /* rounds here commit in attempt 2 */
	expect_start(*state, 1, 0, true, NULL);
	assert_int_not_equal(access(folder_path(*state, "attempt-000001-000002.states"), F_OK), 0);
}

/* A model that cannot be read goes back behind what was promised: that waits until the model is there again.
 */
TEST_WITH(promises_wait_for_their_round, setup, folder_teardown)
{
	leave_open(*state, SL_OPEN_RELEASED);
	damage(*state, "round-000001.safetensors");
	struct learner l;
	expect_started(&l, *state);
	assert_int_equal(l.daemon.committed_through, 1);
	assert_null(l.daemon.core_config.open);
	finish(&l);
	commit(*state, 1);
	expect_open(*state, SL_OPEN_RELEASED, NULL);
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
