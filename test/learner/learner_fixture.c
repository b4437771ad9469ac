#include "test/learner/learner_fixture.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/learner/restore.h"
#include "daemon/membership/roster_change.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

#define LEARNER_ROSTER                                                                                       \
	{                                                                                                    \
		0x12, 0x34, 0x56, 0x78, 0x9a                                                                 \
	}
#define CLIP_16 UINT64_C(0x4030000000000000) /* the bits of 16.0 */

struct sl_member learner_members[4];
uint32_t learner_member_count;
static uint8_t own_key[crypto_sign_SECRETKEYBYTES];

static void initial(const struct sl_trainer *trainer, void *model)
{
	(void)trainer;
	for (int i = 0; i < ELEMENTS; i++)
		((float *)model)[i] = -1;
}

static const struct sl_trainer_ops ops = {.initial = initial};
static const struct sl_tensor tensor = {
	.name = "model", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {ELEMENTS}};
const struct sl_tensors learner_tensors = {.items = &tensor, .count = 1};

int learner_setup(void **state)
{
	learner_member_count = 3;
	for (uint32_t i = 0; i < 4; i++) {
		learner_members[i] = (struct sl_member){.id = i + 1};
		snprintf(learner_members[i].name, sizeof learner_members[i].name, "site-%u", i + 1);
		learner_members[i].pin[0] = (uint8_t)(i + 1);
	}
	return folder_setup(state);
}

void learner_configure(struct learner *l, const char *folder)
{
	memset(l, 0, sizeof *l);
	snprintf(l->log, sizeof l->log, "%s", folder_path(folder, "log"));
	snprintf(l->settings.state, sizeof l->settings.state, "%s", folder);
	snprintf(l->settings.log, sizeof l->settings.log, "%s", l->log);
	snprintf(l->settings.roster, sizeof l->settings.roster, "roster.yaml");
	strcpy(l->settings.run, RUN);
	l->trainer.ops = &ops;
	l->settings.id = 1;
	sl_daemon_init(&l->daemon, &l->settings);
	crypto_sign_keypair(l->daemon.members.identity.public_key, own_key);
	l->daemon.members.identity.sign_key = own_key;
	l->daemon.masked_states.folder = l->settings.state;
	l->daemon.trainer = &l->trainer;
	l->daemon.members.roster = (struct sl_roster){
		.members = learner_members, .size = learner_member_count, .hash = LEARNER_ROSTER};
	l->daemon.workspace.n = ELEMENTS;
	l->daemon.core_config.parameters.n = ELEMENTS;
	l->daemon.workspace.tensors = learner_tensors;
	l->daemon.workspace.committed = l->model;
}

void learner_finish(struct learner *l)
{
	sl_result_close(&l->daemon.result);
	sl_masked_states_close(&l->daemon.masked_states);
	sl_store_promises_close(&l->daemon.promises);
	sl_observe_close(&l->daemon.observe);
	sl_store_close(l->daemon.store);
}

/* As the daemon does it; what was said of it is in the log, or in the error. */
int learner_start(struct learner *l, struct sl_error *error)
{
	*error = (struct sl_error){0};
	remove(l->log);
	int rc = sl_restore_store(&l->daemon, false, error);
	if (rc == SL_OK)
		rc = sl_log_open(&l->daemon.observe.log, &l->settings, error);
	if (rc == SL_OK)
		rc = sl_roster_change_check(l->daemon.store, &l->daemon.members.roster, &l->settings, error);
	if (rc == SL_OK)
		rc = sl_restore_log_roster(&l->daemon, error);
	if (rc == SL_OK)
		rc = sl_restore_model(&l->daemon, error);
	return rc == SL_OK ? sl_restore_promises(&l->daemon, error) : rc;
}

void learner_open_worker(struct learner *l)
{
	struct sl_daemon *daemon = &l->daemon;
	sl_event_queue_init(&daemon->event_queue);
	uv_loop_init(&daemon->loop);
	sl_worker_open(&daemon->compute, &daemon->loop);
}

void learner_close_worker(struct learner *l)
{
	struct sl_daemon *daemon = &l->daemon;
	sl_worker_close(&daemon->compute);
	uv_run(&daemon->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&daemon->loop), 0);
	assert_false(atomic_load(&daemon->failed));
	sl_event_queue_close(&daemon->event_queue);
	sl_result_close(&daemon->committed.next);
}

void learner_expect_started(struct learner *l, const char *folder)
{
	struct sl_error error;
	learner_configure(l, folder);
	assert_ok(learner_start(l, &error), error);
}

/* As --check does it. */
int learner_look(struct learner *l, const char *folder, struct sl_error *error)
{
	*error = (struct sl_error){0};
	learner_configure(l, folder);
	int rc = sl_restore_store(&l->daemon, true, error);
	return rc == SL_OK ? sl_roster_change_check(l->daemon.store, &l->daemon.members.roster, &l->settings,
						    error)
			   : rc;
}

void learner_expect_said(const struct learner *l, const char *text, bool said)
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
void learner_expect_start(const char *folder, sl_round t, sl_round committed_through, bool shows,
			  const char *said)
{
	struct learner l;
	learner_expect_started(&l, folder);
	assert_int_equal(l.daemon.core_config.committed, t);
	assert_int_equal(l.daemon.committed.through, committed_through);
	assert_int_equal(l.daemon.core_config.certificate != NULL, shows);
	for (int i = 0; i < ELEMENTS; i++)
		assert_true(l.model[i] == (t == 0 ? -1.0f : (float)t));
	assert_int_equal(l.daemon.core_config.previous[0], t);
	if (said != NULL)
		learner_expect_said(&l, said, true);
	learner_expect_said(&l, "\"level\":\"error\"", committed_through > 0);
	learner_finish(&l);
}

void learner_expect_refused(const char *folder, int code, const char *text)
{
	struct learner l;
	struct sl_error error;
	learner_configure(&l, folder);
	assert_int_equal(learner_start(&l, &error), code);
	assert_string_equal(error.text, text);
	learner_finish(&l);
}

/* --- rounds --- */

struct sl_certificate learner_certificate(sl_round t)
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
				       .roster = LEARNER_ROSTER,
				       .p = MODULUS,
				       .n = ELEMENTS,
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

/* The files of round t: ELEMENTS times t. */
void learner_write_files(const char *folder, sl_round t, struct sl_store_round *round)
{
	struct sl_certificate certificate = learner_certificate(t);
	struct sl_checkpoint c = {.run = RUN,
				  .round = t,
				  .learners = 3,
				  .total_weight = 3,
				  .n = ELEMENTS,
				  .digest = {(uint8_t)t}};
	float model[ELEMENTS] = {(float)t, (float)t, (float)t};
	uint8_t other[4 * ELEMENTS] = {(uint8_t)t};
	sl_store_round_fill(round, &certificate, 3);
	assert_int_equal(sl_checkpoint_write(folder_path(folder, SL_CHECKPOINT_FOLDER), &c, &learner_tensors,
					     model, NULL),
			 SL_OK);
	memcpy(round->checkpoint_sum, c.checksum, SL_HASH_BYTES);
	assert_int_equal(sl_result_write(folder, RUN, &certificate, ELEMENTS, other, sizeof other, NULL, 0,
					 round->result_sum, NULL),
			 SL_OK);
}

void learner_commit(const char *folder, sl_round t)
{
	struct learner l;
	struct sl_store_round round;
	struct sl_error error = {0};
	learner_expect_started(&l, folder);
	learner_write_files(folder, t, &round);
	assert_ok(sl_store_commit_round(l.daemon.store, &round, &error), error);
	sl_result_sweep(folder, RUN, t);
	learner_finish(&l);
}

/* Ends in other bytes than it did. */
void learner_damage(const char *folder, const char *name)
{
	size_t size;
	uint8_t *bytes = folder_get(folder, name, &size);
	bytes[size - 1] ^= 1;
	folder_put(folder, name, bytes, size);
	free(bytes);
}
