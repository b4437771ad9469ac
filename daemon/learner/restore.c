#include "daemon/learner/restore.h"

#include <dirent.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/compute/job_model.h"
#include "common/model/checkpoint.h"
#include "common/protocol/view_codec.h"
#include "daemon/application/application.h"
#include "daemon/application/tensor_list.h"
#include "daemon/learner/daemon.h"
#include "daemon/membership/roster_copy.h"
#include "daemon/membership/roster_change.h"
#include "daemon/observe/report_log.h"

int sl_restore_store(struct sl_daemon *daemon, bool peek, struct sl_error *error)
{
	struct sl_store_owner owner = {.run = daemon->settings->run, .roster = &daemon->members.roster};
	memcpy(owner.pin, daemon->members.identity.pin, sizeof owner.pin);
	sl_folder_path(daemon->settings->state, SL_CHECKPOINT_FOLDER, daemon->committed.folder);
	int rc = (peek ? sl_store_peek : sl_store_open)(&daemon->store, daemon->settings->state, &owner,
							error);
	daemon->members.host.store = daemon->store;
	return rc == SL_OK && !peek ? sl_folder_make(daemon->committed.folder, error) : rc;
}

int sl_restore_log_roster(struct sl_daemon *daemon, struct sl_error *error)
{
	struct sl_roster_change change;
	struct sl_record record;
	int rc = sl_roster_change_find(daemon->store, &daemon->members.roster, &change, error);
	if (rc != SL_OK || change.count == 0)
		return rc;
	sl_record_init(&record, SL_RECORD_ROSTER);
	record.round = change.since;
	record.changes = change.count;
	record.roster = change.hash;
	record.whom = change.members;
	sl_report_log_record(&daemon->observe, &record);
	return SL_OK;
}

/* ---- the last result ---- */

/* Return true if a member signed `digest` with the key that the roster pins. */
static bool signed_by_member(const struct sl_daemon *daemon, const struct sl_digest *digest)
{
	struct sl_message m = {SL_MSG_DIGEST, {.digest = *digest}};
	uint8_t hash[SL_HASH_BYTES], pin[SL_HASH_BYTES];
	int at = sl_roster_find(&daemon->members.roster, digest->id);
	sl_identity_pin(digest->key, pin);
	sl_canonical_message(&daemon->core_config.scope, &m, hash);
	return at >= 0 && memcmp(pin, daemon->members.roster.members[at].pin, sizeof pin) == 0 &&
	       crypto_sign_verify_detached(digest->signature, hash, sizeof hash, digest->key) == 0;
}

/* Return true if the Round of `certificate` is what h is the hash of. */
static bool shows_view(const struct sl_daemon *daemon, const struct sl_certificate *certificate)
{
	uint8_t h[SL_HASH_BYTES];
	sl_canonical_round(&daemon->core_config.scope, certificate->round, h);
	return memcmp(h, certificate->view, sizeof h) == 0;
}

/* Sign the result, which this learner has committed, with the present key; the place of a digest is free. */
static void sign_again(const struct sl_daemon *daemon, struct sl_certificate *certificate)
{
	struct sl_message m = {
		SL_MSG_DIGEST,
		{.digest = {.id = daemon->settings->id, .t = certificate->t, .a = certificate->a}}};
	memcpy(m.digest.key, daemon->members.identity.public_key, SL_KEY_BYTES);
	memcpy(m.digest.view, certificate->view, SL_HASH_BYTES);
	memcpy(m.digest.digest, certificate->digest, SL_HASH_BYTES);
	sl_daemon_sign(daemon, &m);
	certificate->digests[certificate->count++] = certificate->digests[0];
	certificate->digests[0] = m.digest;
}

/* Drop the digests of learners that the roster has no more, or with another key. If some are dropped and this
 * learner took part, it signs for them; other participants add theirs. Return false if none is left. */
static bool keep_members(const struct sl_daemon *daemon, struct sl_certificate *certificate)
{
	uint32_t before = certificate->count;
	bool own = !sl_round_member(certificate->round, daemon->settings->id);
	certificate->count = 0;
	for (uint32_t i = 0; i < before; i++)
		if (signed_by_member(daemon, &certificate->digests[i])) {
			own |= certificate->digests[i].id == daemon->settings->id;
			certificate->digests[certificate->count++] = certificate->digests[i];
		}
	if (certificate->count < before && !own)
		sign_again(daemon, certificate);
	return certificate->count > 0;
}

/* Return the reason why the result must not be served to peers, or NULL. */
static const char *flaw_of(struct sl_daemon *daemon, const struct sl_store_round *round)
{
	struct sl_result *result = &daemon->result;
	if (memcmp(result->checksum, round->result_sum, SL_HASH_BYTES) != 0 ||
	    memcmp(result->certificate.digest, round->digest, SL_HASH_BYTES) != 0)
		return "its file is not the one that was committed";
	if (result->bytes != sl_workspace_bytes(&daemon->workspace))
		return "its model has other tensors";
	if (!shows_view(daemon, &result->certificate))
		return "it does not show its view";
	return keep_members(daemon, &result->certificate)
		       ? NULL
		       : "the members that signed it are gone, and it is of a round without this learner";
}

/* Open the result of `round` for requests of peers. Without it the learner continues and cannot answer
 * requests before its next commit. */
static void open_result(struct sl_daemon *daemon, const struct sl_store_round *round)
{
	const struct sl_settings *s = daemon->settings;
	struct sl_error error;
	int rc = sl_result_open(s->state, s->run, daemon->workspace.n, round->t, &daemon->result, &error);
	const char *flaw = rc == SL_OK ? flaw_of(daemon, round) : error.text;
	if (flaw == NULL) {
		daemon->core_config.certificate = &daemon->result.certificate;
		return;
	}
	sl_result_close(&daemon->result);
	sl_report_log_attempt(&daemon->observe, SL_RECORD_RESULT, round->t, 0, flaw);
}

/* ---- the last model ---- */

static void begin_after(struct sl_daemon *daemon, sl_round t, const uint8_t digest[static SL_HASH_BYTES])
{
	daemon->core_config.committed = t;
	memcpy(daemon->core_config.previous, digest, SL_HASH_BYTES);
	sl_report_log_round(&daemon->observe, SL_RECORD_RESUMED, t);
}

/* Return a round before `before` whose checkpoint is there, 0: none; `delete`: delete all of these. */
static sl_round look_through(const struct sl_daemon *daemon, sl_round before, bool delete)
{
	DIR *folder = opendir(daemon->committed.folder);
	const struct dirent *entry;
	sl_round t, found = 0;
	while (folder != NULL && (found == 0 || delete) && (entry = readdir(folder)) != NULL) {
		if (sscanf(entry->d_name, "round-%7" SCNu32 ".safetensors", &t) != 1 || t == 0 || t >= before)
			continue;
		found = t;
		if (delete)
			sl_checkpoint_delete(daemon->committed.folder, t);
	}
	if (folder != NULL)
		closedir(folder);
	return found;
}

/* Log that a checkpoint without a record is ignored: one that was copied here. */
static void log_ignored(struct sl_daemon *daemon)
{
	char path[SL_FOLDER_PATH_BYTES + SL_FILE_NAME_BYTES], name[SL_FILE_NAME_BYTES];
	sl_round t = look_through(daemon, UINT32_MAX, false);
	if (t == 0)
		return;
	sl_checkpoint_name(t, name);
	snprintf(path, sizeof path, "%s/%s", daemon->committed.folder, name);
	sl_report_log_reason(&daemon->observe, SL_RECORD_IGNORED, path);
}

/* Delete the checkpoints that are too many since `keep_checkpoints` is lower: a commit deletes the next one
 * only. */
static void sweep(const struct sl_daemon *daemon)
{
	struct sl_store_round oldest;
	uint32_t kept = daemon->settings->keep_checkpoints;
	if (kept != SL_CHECKPOINTS_ALL && daemon->committed.through == 0 &&
	    sl_store_round_back(daemon->store, kept - 1, &oldest) == SL_OK)
		look_through(daemon, oldest.t, true);
}

/* Let the exponents of the checkpoint be those of the workspace. */
static void set_exponents(const struct sl_daemon *daemon, struct sl_checkpoint *checkpoint)
{
	checkpoint->exponents = sl_workspace_exponents(&daemon->workspace);
	checkpoint->ranges = daemon->workspace.ranges.count;
}

/* Begin with the initial model: with that of the last start, if it was kept, so that an attempt of the first
 * round can be finished. */
static int begin_anew(struct sl_daemon *daemon, struct sl_error *error)
{
	struct sl_workspace *workspace = &daemon->workspace;
	struct sl_checkpoint kept = {.n = workspace->n};
	struct sl_error none;
	snprintf(kept.run, sizeof kept.run, "%s", daemon->settings->run);
	set_exponents(daemon, &kept);
	bool is_kept = workspace->ranges.count > 0 ||
		       daemon->core_config.parameters.values == SL_VALUES_NOISY_UPDATE;
	bool found = is_kept && sl_checkpoint_read(daemon->committed.folder, kept.run, 0, &workspace->tensors,
						   &kept, workspace->committed, &none) == SL_OK;
	if (!found)
		daemon->trainer->ops->initial(daemon->trainer, workspace->committed);
	daemon->core_config.parameters.initial = is_kept ? sl_job_model_begin(workspace) : 0;
	if (found || daemon->core_config.parameters.initial == 0)
		return SL_OK;
	return sl_checkpoint_write(daemon->committed.folder, &kept, &workspace->tensors, workspace->committed,
				   error);
}

/* Read the model of `round` into the workspace. SL_ERR_FORMAT: the file is not the one that was committed;
 * SL_ERR_NOTFOUND: it is missing. */
static int read_model(struct sl_daemon *daemon, const struct sl_store_round *round, struct sl_error *error)
{
	const struct sl_settings *s = daemon->settings;
	struct sl_checkpoint found;
	set_exponents(daemon, &found);
	int rc = sl_checkpoint_read(daemon->committed.folder, s->run, round->t, &daemon->workspace.tensors,
				    &found, daemon->workspace.committed, error);
	if (rc != SL_OK)
		return rc;
	if (memcmp(found.checksum, round->checkpoint_sum, SL_HASH_BYTES) != 0 ||
	    memcmp(found.digest, round->digest, SL_HASH_BYTES) != 0)
		return sl_err_set(error, SL_ERR_FORMAT, "%s/%s: is not the checkpoint that was committed",
				  daemon->committed.folder, round->checkpoint);
	return SL_OK;
}

/* Take the model from the result of its round. SL_ERR_FORMAT: not the one that was committed. */
static int take_model(struct sl_daemon *daemon, const struct sl_result *result,
		      const struct sl_checkpoint *checkpoint, const struct sl_store_round *round)
{
	struct sl_workspace *workspace = &daemon->workspace;
	struct sl_checkpoint taken = *checkpoint;
	if (result->bytes != sl_workspace_bytes(workspace) ||
	    memcmp(result->checksum, round->result_sum, SL_HASH_BYTES) != 0)
		return SL_ERR_FORMAT;
	memcpy(workspace->committed, result->model, result->bytes);
	sl_canonical_strands(workspace->committed, result->bytes, workspace->strands);
	sl_checkpoint_sum(&taken, workspace->strands);
	bool same = memcmp(taken.checksum, round->checkpoint_sum, SL_HASH_BYTES) == 0;
	return same ? SL_OK : SL_ERR_FORMAT;
}

/* Read the model of the last round from its checkpoint, or take it from the result, say so and write the
 * checkpoint again: a commit does not synchronise it. An error is that of the checkpoint. */
static int read_last(struct sl_daemon *daemon, const struct sl_store_round *round, struct sl_error *error)
{
	const struct sl_settings *s = daemon->settings;
	struct sl_result result;
	struct sl_checkpoint checkpoint;
	int rc = read_model(daemon, round, error);
	if ((rc != SL_ERR_FORMAT && rc != SL_ERR_NOTFOUND) ||
	    sl_result_open(s->state, s->run, daemon->workspace.n, round->t, &result, NULL) != SL_OK)
		return rc;
	sl_store_round_checkpoint(round, s->run, daemon->workspace.n, &checkpoint);
	set_exponents(daemon, &checkpoint);
	if (take_model(daemon, &result, &checkpoint, round) == SL_OK) {
		sl_report_log_attempt(&daemon->observe, SL_RECORD_DECODED, round->t, 0, error->text);
		rc = sl_checkpoint_write(daemon->committed.folder, &checkpoint, &daemon->workspace.tensors,
					 daemon->workspace.committed, error);
	}
	sl_result_close(&result);
	return rc;
}

/* Set *values to those of the committed round `t`; without its result, let the application state all anew. */
static void restore_values(const struct sl_daemon *daemon, sl_round t, struct sl_tensors *tensors,
			   enum sl_values *values)
{
	const struct sl_settings *s = daemon->settings;
	struct sl_result result;
	uint64_t n = sl_tensor_list_elements(tensors);
	if (sl_result_open(s->state, s->run, n, t, &result, NULL) == SL_OK) {
		uint64_t had = result.certificate.round->values;
		bool updates = had == SL_VALUES_UPDATE || had == SL_VALUES_NOISY_UPDATE;
		*values = updates ? SL_VALUES_UPDATE : SL_VALUES_MODEL;
		sl_result_close(&result);
	} else {
		free((void *)tensors->items);
		*tensors = (struct sl_tensors){0};
	}
}

int sl_restore_tensors(struct sl_daemon *daemon, struct sl_tensors *tensors, enum sl_values *values,
		       sl_round *committed, struct sl_error *error)
{
	const struct sl_settings *s = daemon->settings;
	struct sl_store_round round = {0};
	struct sl_error damage;
	int rc = sl_store_last_round(daemon->store, &round, error);
	*tensors = (struct sl_tensors){0};
	*values = SL_VALUES_MODEL;
	*committed = rc == SL_OK ? round.t : 0;
	while (rc == SL_OK &&
	       sl_checkpoint_tensors(daemon->committed.folder, s->run, round.t, tensors, &damage) != SL_OK)
		rc = sl_store_round_before(daemon->store, round.t, &round, error);
	if (rc == SL_OK && s->values == SL_VALUES_AUTO)
		restore_values(daemon, *committed, tensors, values);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

/* Log that the committed model cannot be read. The learner still refuses other attempts of the recorded
 * rounds. */
static void log_damage(struct sl_daemon *daemon, const char *why, sl_round after)
{
	struct sl_record record;
	sl_record_init(&record, SL_RECORD_DAMAGED);
	record.committed = daemon->committed.through;
	record.round = after;
	record.reason = why;
	record.model = after == 0 ? "the initial model"
				  : sl_record_words(&record, "the checkpoint of round %" PRIu32, after);
	sl_report_log_record(&daemon->observe, &record);
}

/* Read the newest recorded model that is readable. */
static int read_rounds(struct sl_daemon *daemon, const struct sl_store_round *last, struct sl_error *error)
{
	struct sl_store_round round = *last;
	struct sl_error first = {0};
	int rc = read_last(daemon, &round, error);
	while (rc == SL_ERR_FORMAT || rc == SL_ERR_NOTFOUND) {
		if (daemon->committed.through == 0)
			first = *error;
		daemon->committed.through = last->t;
		rc = sl_store_round_before(daemon->store, round.t, &round, error);
		if (rc != SL_OK)
			break;
		rc = read_model(daemon, &round, error);
	}
	if (rc != SL_OK && rc != SL_ERR_NOTFOUND)
		return rc;
	if (daemon->committed.through > 0)
		log_damage(daemon, first.text, rc == SL_OK ? round.t : 0);
	if (rc == SL_ERR_NOTFOUND) {
		return begin_anew(daemon, error);
	}
	sl_checkpoint_link(daemon->committed.folder, round.t); /* after a loss of power or of the folder */
	begin_after(daemon, round.t, round.digest);
	if (daemon->committed.through == 0)
		open_result(daemon, &round);
	return SL_OK;
}

/* ---- an attempt that was cut short ---- */

/* Read the part of the view that its state file depends on. SL_ERR_REFUSED: roster, run or model differ from
 * those of the view. */
static int open_view(const struct sl_daemon *daemon, struct sl_view *view)
{
	const struct sl_open *open = &daemon->promises.open;
	const struct sl_core_config *config = &daemon->core_config;
	uint64_t p;
	size_t edges;
	*view = (struct sl_view){.agreed = config->parameters};
	if (!sl_roster_copy_fits(&config->scope, open) ||
	    sl_view_read_head(open->view, open->view_bytes, view, &p, &edges) != SL_OK ||
	    sl_field_init(&view->field, p) != SL_OK || view->agreed.n != config->parameters.n ||
	    view->agreed.model != config->parameters.model || view->t != config->committed + 1)
		return SL_ERR_REFUSED;
	sl_view_set_encoding(view, &config->layout);
	for (view->self = 0; view->self < view->n; view->self++) {
		sl_id id;
		uint32_t incarnation;
		sl_view_read_member(open->view, view->self, &id, &incarnation);
		if (id == daemon->settings->id)
			return SL_OK;
	}
	return SL_ERR_REFUSED;
}

/* Return true if the own deposit has the hash in the own Ready. */
static bool own_is_whole(const struct sl_daemon *daemon, const struct sl_view *view)
{
	const struct sl_open *open = &daemon->promises.open;
	uint8_t hash[SL_HASH_BYTES];
	sl_canonical_deposit(&daemon->core_config.scope,
			     sl_slot_state(&daemon->workspace.state_file, view->self),
			     sl_slot_state_bytes(view), daemon->workspace.state_file.used, hash);
	for (uint32_t i = 0; i < open->ready_count; i++)
		if (open->readys[i].id == daemon->settings->id)
			return memcmp(open->readys[i].deposit, hash, SL_HASH_BYTES) == 0;
	return false;
}

/* Abort the open attempt, which this learner has not released. Its Ready may have left: the learner stays
 * bound to it, and fetches its own deposit from its keepers. */
static int abort_attempt(struct sl_daemon *daemon, struct sl_error *error)
{
	struct sl_persist aborted = {.what = {.kind = SL_PERSIST_ABORTED,
					      .t = daemon->core_config.committed + 1,
					      .a = daemon->promises.a,
					      .says = SL_ABORT_UNRELEASED},
				     .ready = true};
	sl_report_log_attempt(&daemon->observe, SL_RECORD_ATTEMPT_OVER_AT_START, aborted.what.t,
			      aborted.what.a, "its own deposit is gone or damaged");
	daemon->promises.open.state = SL_OPEN_ABORTED;
	return sl_store_record(daemon->store, &aborted, error);
}

/* An attempt in which this learner is Ready must end first (ROUND.md §9.3 Rule A). */
static int refuse_view(const struct sl_daemon *daemon, struct sl_error *error)
{
	return sl_err_set(error, SL_ERR_REFUSED,
			  "round %" PRIu32 " attempt %" PRIu32
			  " was begun with another model (setting hidden_units), or under a roster of which "
			  "state/roster.yaml is no copy any more, and "
			  "must end first: put back what was there until round %" PRIu32 " has committed",
			  daemon->core_config.committed + 1, daemon->promises.a,
			  daemon->core_config.committed + 1);
}

/* Open the secrets of the attempt, which are sealed under a key that is kept twice (seal.h). */
static int open_secrets(struct sl_daemon *daemon, struct sl_error *error)
{
	return sl_store_open_secrets(daemon->store, &daemon->promises,
				     sl_state_file_key(&daemon->masked_states.current), error);
}

/* Open the state file of the attempt and set the attempt in the core's configuration. Deposits lost here are
 * fetched from peers. */
static int open_attempt(struct sl_daemon *daemon, struct sl_error *error)
{
	struct sl_view view;
	if (open_view(daemon, &view) != SL_OK)
		return refuse_view(daemon, error);
	int rc = sl_masked_states_open(&daemon->masked_states, &daemon->workspace, &view, error);
	if (rc == SL_OK)
		rc = open_secrets(daemon, error);
	if (rc != SL_OK)
		return rc;
	daemon->core_config.open = &daemon->promises.open;
	if (daemon->promises.open.state != SL_OPEN_PREPARED || own_is_whole(daemon, &view))
		return SL_OK;
	return abort_attempt(daemon, error);
}

int sl_restore_promises(struct sl_daemon *daemon, struct sl_error *error)
{
	struct sl_core_config *config = &daemon->core_config;
	const struct sl_promises *promises = &daemon->promises;
	if (daemon->committed.through > 0)
		return SL_OK; /* the records bind after the model has been fetched and the program restarted
				 (events.c) */
	int rc = sl_store_promises(daemon->store, config->committed + 1, &daemon->promises, error);
	if (rc != SL_OK)
		return rc;
	config->aborted = promises->aborted;
	config->seen = promises->seen;
	config->reuse = promises->reuse;
	config->over = promises->over;
	config->over_count = promises->over_count;
	daemon->training.used_up = promises->reuse ? 0 : config->committed + 1;
	bool used = promises->a != 0 || !promises->reuse || promises->over_count > 0;
	if (used && sl_settings_has_application(daemon->settings))
		sl_application_bind(daemon->trainer);
	return promises->a != 0 ? open_attempt(daemon, error) : SL_OK;
}

int sl_restore_model(struct sl_daemon *daemon, struct sl_error *error)
{
	struct sl_store_round last;
	int rc = sl_store_last_round(daemon->store, &last, error);
	if (rc == SL_OK) {
		sl_result_sweep(daemon->settings->state, daemon->settings->run, last.t);
		rc = read_rounds(daemon, &last, error);
		if (rc == SL_OK)
			sweep(daemon);
		return rc;
	}
	if (rc != SL_ERR_NOTFOUND)
		return rc;
	log_ignored(daemon);
	return begin_anew(daemon, error); /* a file without a row does not count */
}
