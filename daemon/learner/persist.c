#include "daemon/learner/persist.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/model/checkpoint.h"
#include "daemon/application/application.h"
#include "daemon/learner/account.h"
#include "daemon/learner/budget.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/tasks.h"
#include "daemon/membership/roster_copy.h"
#include "daemon/observe/report_log.h"
#include "daemon/runtime/failpoint.h"

#define HANGS_MS 10000u /* a write that takes longer is reported */

/* A persist action with copies of all that it points to. */
struct record {
	struct sl_task base;
	struct sl_daemon *daemon;
	struct sl_persist persist;
	uint8_t *view;
	struct sl_ready *readys;
	struct sl_abort *aborts;
	struct sl_seen *seen;
	struct sl_secrets secrets;
	struct sl_certificate certificate;
	struct sl_round_head round; /* of it */
	uint32_t *members;
	uint8_t program[SL_HASH_BYTES];
	struct sl_result opened;   /* COMMIT: the result file, opened */
	bool noisy;		   /* PREPARED: of a view with noise, .. */
	struct sl_dp_round charge; /* .. which costs this, unless zeros were sent */
	struct sl_ledger ledger;   /* as it is then */
	bool settled;		   /* COMMIT: the round was of the present roster, or one before it */
	int code;
	struct sl_error error, unkept; /* unkept: COMMIT: why its roster is not kept */
};

static void free_record(struct record *record)
{
	sl_result_close(&record->opened);
	if (record->secrets.shares != NULL)
		sodium_memzero(record->secrets.shares,
			       record->secrets.count * sizeof *record->secrets.shares);
	free(record->secrets.shares);
	free(record->view);
	free(record->readys);
	free(record->aborts);
	free(record->seen);
	free(record->members);
	free(record->certificate.digests);
	sodium_memzero(record, sizeof *record);
	free(record);
}

/* ---- a commit ---- */

/* Return the round whose result is needed no more once round `t` is written, 0: none. That of the round
 * before `t` is needed until `t` is on record. */
static sl_round spare_result(const struct sl_daemon *daemon, sl_round t)
{
	struct sl_store_round last, spare;
	bool found = sl_store_round_before(daemon->store, t, &last, NULL) == SL_OK &&
		     sl_store_round_before(daemon->store, last.t, &spare, NULL) == SL_OK;
	return found ? spare.t : 0;
}

/* Write the committed model from the workspace, with its certificate. */
static int write_result(const struct sl_daemon *daemon, const struct sl_certificate *certificate,
			uint8_t checksum[static SL_HASH_BYTES], struct sl_error *error)
{
	const struct sl_workspace *workspace = &daemon->workspace;
	return sl_result_write(daemon->settings->state, daemon->settings->run, certificate, workspace->n,
			       workspace->committed, sl_workspace_bytes(workspace), workspace->strands,
			       spare_result(daemon, certificate->t), checksum, error);
}

/* Write the model, which is read from the result at the next start if a loss of power takes it
 * (restore.c). Set its checksum in `round`. */
static int write_checkpoint(const struct sl_daemon *daemon, struct sl_store_round *round,
			    struct sl_error *error)
{
	struct sl_checkpoint checkpoint;
	sl_store_round_checkpoint(round, daemon->settings->run, daemon->workspace.n, &checkpoint);
	checkpoint.exponents = sl_workspace_exponents(&daemon->workspace);
	checkpoint.ranges = daemon->workspace.ranges.count;
	sl_checkpoint_sum(&checkpoint, daemon->workspace.strands);
	int rc = sl_checkpoint_write_later(daemon->committed.folder, &checkpoint, &daemon->trainer->tensors,
					   daemon->workspace.committed, error);
	memcpy(round->checkpoint_sum, checkpoint.checksum, SL_HASH_BYTES);
	return rc;
}

static int write_row(struct sl_daemon *daemon, struct record *record, struct sl_store_round *round,
		     struct sl_error *error)
{
	struct sl_account_entry entry;
	sl_roster_copy_keep(&daemon->members, record->round.roster, &record->unkept);
	sl_account_fill(daemon, round, &record->certificate, record->program, &entry);
	round->account = &entry;
	int rc = sl_store_commit_round(daemon->store, round, error);
	free((void *)entry.bytes);
	return rc;
}

/* Write the files, then the row that makes them valid. */
static int commit(struct sl_daemon *daemon, struct record *record, struct sl_error *error)
{
	struct sl_store_round round;
	sl_store_round_fill(&round, &record->certificate, record->persist.total_weight);
	round.seen = record->seen;
	sl_failpoint_reach(SL_FAILPOINT_BEFORE_COMMIT_FILES);
	int rc = write_checkpoint(daemon, &round, error);
	if (rc == SL_OK)
		rc = write_result(daemon, &record->certificate, round.result_sum, error);
	sl_failpoint_reach(SL_FAILPOINT_BETWEEN_FILES_AND_ROW);
	if (rc == SL_OK)
		rc = write_row(daemon, record, &round, error);
	if (rc == SL_OK)
		sl_failpoint_reach(SL_FAILPOINT_AFTER_COMMIT_ROW);
	return rc;
}

/* Open the result for requests of peers. Without it the learner continues and cannot answer them. */
static void open_result(struct record *record)
{
	const struct sl_daemon *daemon = record->daemon;
	if (sl_result_show(daemon->settings->state, daemon->settings->run, daemon->workspace.n,
			   record->certificate.t, &record->opened, NULL) != SL_OK)
		record->opened = (struct sl_result){0};
}

/* Look at what the store has after the commit. */
static void look_at_commit(struct record *record)
{
	sl_id ids[SL_STORE_CHANGES_NAMED];
	open_result(record);
	record->settled = sl_store_roster_changes(record->daemon->store, ids) == 0;
}

/* ---- promises ---- */

/* Make the own deposit, and the key of the secrets, durable before the row that commits to the deposit and
 * holds the secrets. */
static int prepare(struct sl_daemon *daemon, const struct record *record, struct sl_error *error)
{
	bool charged = record->noisy && daemon->workspace.weight > 0;
	struct sl_state_file *file = &daemon->masked_states.current;
	uint8_t key[SL_SEAL_KEY_BYTES];
	int rc = sl_store_key(daemon->store, key, error);
	if (rc == SL_OK)
		sl_state_file_put_key(file, key);
	sodium_memzero(key, sizeof key);
	if (rc == SL_OK)
		rc = sl_state_file_sync(file, error);
	sl_failpoint_reach(SL_FAILPOINT_BEFORE_PREPARED);
	if (rc == SL_OK)
		rc = sl_store_prepare(daemon->store, &record->persist, charged ? &record->charge : NULL,
				      error);
	sl_failpoint_reach(SL_FAILPOINT_AFTER_PREPARED);
	return rc;
}

static int release(struct sl_daemon *daemon, const struct record *record, struct sl_error *error)
{
	sl_failpoint_reach(SL_FAILPOINT_BEFORE_RELEASED);
	int rc = sl_store_record(daemon->store, &record->persist, error);
	sl_failpoint_reach(SL_FAILPOINT_AFTER_RELEASED);
	return rc;
}

static int end(struct sl_daemon *daemon, const struct record *record, struct sl_error *error)
{
	int rc = sl_store_record(daemon->store, &record->persist, error);
	if (record->persist.what.kind == SL_PERSIST_ABORTED)
		sl_failpoint_reach(SL_FAILPOINT_AFTER_ABORTED);
	if (record->persist.what.kind == SL_PERSIST_OVER)
		sl_failpoint_reach(SL_FAILPOINT_AFTER_OVER);
	return rc;
}

static int execute_out(struct record *record)
{
	struct sl_daemon *daemon = record->daemon;
	switch (record->persist.what.kind) {
	case SL_PERSIST_COMMIT:
		return commit(daemon, record, &record->error);
	case SL_PERSIST_PREPARED:
		return prepare(daemon, record, &record->error);
	case SL_PERSIST_RELEASED:
		return release(daemon, record, &record->error);
	default:
		return end(daemon, record, &record->error);
	}
}

/* ---- the task ---- */

static void run(struct sl_task *base)
{
	struct record *record = (struct record *)base;
	if (atomic_load(&record->daemon->failed)) {
		record->code = sl_err_set(&record->error, SL_ERR_REFUSED, "not written: the learner stopped");
		return;
	}
	atomic_store(&record->daemon->observe.writing.kind, record->persist.what.kind);
	atomic_store(&record->daemon->observe.writing.since_ms, sl_clock_ms());
	record->code = execute_out(record);
	record->ledger = *sl_store_ledger(record->daemon->store);
	atomic_store(&record->daemon->observe.writing.since_ms, 0);
	if (record->code != SL_OK)
		atomic_store(&record->daemon->failed, true); /* later records depend on this one */
	else if (record->persist.what.kind == SL_PERSIST_COMMIT)
		look_at_commit(record);
}

const char *sl_persist_hangs(struct sl_daemon *daemon, sl_ms now, uint64_t *seconds)
{
	static const char *const names[] = {
		[SL_PERSIST_ABORTED] = "ABORTED",   [SL_PERSIST_PREPARED] = "PREPARED",
		[SL_PERSIST_RELEASED] = "RELEASED", [SL_PERSIST_SIGNS] = "SIGNS",
		[SL_PERSIST_OVER] = "OVER",	    [SL_PERSIST_COMMIT] = "COMMIT"};
	struct sl_writing *writing = &daemon->observe.writing;
	sl_ms since = atomic_load(&writing->since_ms);
	if (since == 0 || now < since + HANGS_MS) {
		writing->report_at = 0;
		return NULL;
	}
	if (now < writing->report_at)
		return NULL;
	writing->report_at = now + (now - since);
	*seconds = (now - since) / 1000;
	return names[atomic_load(&writing->kind)];
}

static void committed(struct record *record)
{
	struct sl_daemon *daemon = record->daemon;
	if (record->unkept.code != SL_OK && !daemon->members.settled)
		sl_report_log_reason(&daemon->observe, SL_RECORD_UNKEPT_ROSTER, record->unkept.text);
	sl_checkpoint_name(record->certificate.t, daemon->committed.checkpoint);
	sl_result_close(&daemon->committed.next);
	daemon->committed.next = record->opened; /* shown once the core knows that it is durable */
	record->opened = (struct sl_result){0};
	daemon->members.settled |= record->settled;
	const struct sl_parameters *own = &daemon->core_config.parameters;
	uint64_t values = record->round.values;
	uint32_t learners = sl_round_learners(&record->round);
	struct sl_trainer_commit commit = {
		.round = record->certificate.t,
		.learners = learners,
		.total_weight = record->persist.total_weight,
		.cut = daemon->observe.notes.cut,
		.decimals = sl_trainer_decimals(own, values),
		.clipping_range = sl_trainer_range(own, values),
		.noise = sl_budget_noise(daemon, learners, record->persist.total_weight),
		.spent = daemon->observe.spent.epsilon};
	sl_tasks_evaluate(daemon, &commit);
}

static void done(struct sl_task *base)
{
	struct record *record = (struct record *)base;
	struct sl_daemon *daemon = record->daemon;
	if (record->code == SL_OK) {
		if (record->persist.what.kind == SL_PERSIST_COMMIT)
			committed(record);
		sl_budget_take(daemon, &record->ledger);
		sl_event_queue_add(&daemon->event_queue, SL_EVENT_DURABLE)->event.durable =
			record->persist.what;
	} else if (!daemon->stopping) { /* otherwise the reason is logged already */
		sl_tasks_fatal(daemon, record->error.text);
	}
	free_record(record);
}

/* Sign the own Digest: the core leaves signing to the daemon. */
static void sign_digest(const struct sl_daemon *daemon, struct sl_certificate *certificate)
{
	for (uint32_t i = 0; i < certificate->count; i++) {
		struct sl_message m = {.kind = SL_MSG_DIGEST, .digest = certificate->digests[i]};
		if (m.digest.id != daemon->settings->id)
			continue;
		sl_daemon_sign(daemon, &m);
		certificate->digests[i] = m.digest;
	}
}

/* Sign the own Aborts, likewise. */
static void sign_aborts(const struct sl_daemon *daemon, struct sl_abort *aborts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct sl_message m = {.kind = SL_MSG_ABORT, .abort = aborts[i]};
		if (m.abort.id != daemon->settings->id)
			continue;
		sl_daemon_sign(daemon, &m);
		aborts[i] = m.abort;
	}
}

static void *copy(const void *bytes, size_t size)
{
	void *to = size == 0 ? NULL : malloc(size);
	if (to == NULL && size > 0)
		abort();
	if (to != NULL)
		memcpy(to, bytes, size);
	return to;
}

static void copy_certificate(struct record *record, const struct sl_certificate *certificate)
{
	record->certificate = *certificate;
	record->round = *certificate->round;
	record->round.members = record->members =
		copy(record->round.members, record->round.count * sizeof *record->members);
	record->certificate.round = &record->round;
	record->certificate.digests =
		copy(certificate->digests, certificate->count * sizeof *certificate->digests);
	sign_digest(record->daemon, &record->certificate);
}

static void copy_secrets(struct record *record, const struct sl_secrets *secrets)
{
	record->secrets = *secrets;
	record->secrets.shares = copy(secrets->shares, secrets->count * sizeof *secrets->shares);
	record->persist.secrets = &record->secrets;
}

/* Keep what the view of a PREPARED costs: the core owns the view, and may make another one meanwhile. */
static void price(struct record *record)
{
	const struct sl_daemon *daemon = record->daemon;
	record->noisy = sl_values_are_noisy(daemon->core_config.parameters.values);
	if (!record->noisy)
		return;
	assert(memcmp(daemon->workspace_view->h, record->readys[0].view, SL_HASH_BYTES) == 0);
	record->charge = sl_view_charge(daemon->workspace_view, daemon->settings->dp_sampling);
}

void sl_persist_add(struct sl_daemon *daemon, const struct sl_persist *persist)
{
	struct record *record = calloc(1, sizeof *record);
	if (record == NULL)
		abort();
	record->base.run = run;
	record->base.done = done;
	record->daemon = daemon;
	record->persist = *persist;
	record->persist.view = record->view = copy(persist->view, persist->view_bytes);
	record->persist.readys = record->readys =
		copy(persist->readys, persist->ready_count * sizeof *persist->readys);
	record->persist.aborts = record->aborts =
		copy(persist->aborts, persist->abort_count * sizeof *persist->aborts);
	sign_aborts(daemon, record->aborts, persist->abort_count);
	record->persist.seen = record->seen =
		copy(persist->seen, persist->seen == NULL ? 0 : sl_seen_size(persist->seen));
	record->persist.certificate = &record->certificate;
	if (persist->certificate != NULL)
		copy_certificate(record, persist->certificate);
	if (persist->secrets != NULL)
		copy_secrets(record, persist->secrets);
	if (persist->what.kind == SL_PERSIST_OVER && !persist->reuse)
		daemon->training.used_up = persist->what.t;
	if (persist->what.kind == SL_PERSIST_PREPARED)
		price(record);
	if (persist->what.kind == SL_PERSIST_PREPARED && sl_settings_has_application(daemon->settings))
		sl_application_bind(daemon->trainer);
	if (persist->what.kind == SL_PERSIST_COMMIT && sl_settings_has_application(daemon->settings))
		sl_application_program(daemon->trainer, record->program);
	sl_worker_add(&daemon->compute, &record->base);
	if (persist->what.kind == SL_PERSIST_COMMIT)
		sl_tasks_forget(daemon, persist->what.t);
}
