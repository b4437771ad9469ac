#include "daemon/learner/setup.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "common/model/tensor_bytes.h"
#include "common/protocol/canonical.h"
#include "common/report/modulus.h"
#include "common/setup/core_config.h"
#include "daemon/application/application.h"
#include "daemon/learner/budget.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/forming.h"
#include "daemon/learner/loop.h"
#include "daemon/learner/progress.h"
#include "daemon/learner/restore.h"
#include "daemon/learner/trainer.h"
#include "daemon/learner/validate.h"
#include "daemon/learner/vectors.h"
#include "daemon/runtime/vector_memory.h"
#include "daemon/membership/group_update.h"
#include "daemon/membership/joining.h"
#include "daemon/membership/roster_copy.h"
#include "daemon/net/listen.h"
#include "daemon/observe/report_log.h"
#include "daemon/runtime/descriptors.h"
#include "daemon/runtime/failpoint.h"
#include "daemon/runtime/service.h"

#define ADDRESS_MS 500u /* between two looks at the address to listen on */

/* ---- identity and roster ---- */

static int load_identity(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_settings *settings = daemon->settings;
	int rc = SL_OK;
	if (sl_roster_copy(&daemon->members.group.roster, &daemon->members.roster) != SL_OK)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	int self = sl_roster_find(&daemon->members.roster, settings->id);
	if (self < 0 && settings->id < daemon->members.group.next_id)
		return sl_err_set(error, SL_ERR_INVALID,
				  "%s: learner %u is not in version %" PRIu64
				  " of group %s: it was removed; to take part again, move its folder "
				  "elsewhere, and join "
				  "with a new invitation",
				  settings->roster, settings->id, daemon->members.group.version,
				  daemon->members.group.name);
	if (self < 0)
		return sl_err_set(error, SL_ERR_INVALID,
				  "%s: no line for id %u, which the configuration names", settings->roster,
				  settings->id);
	daemon->members.self = (uint32_t)self;
	rc = sl_identity_load_pinned(settings->identity, daemon->members.roster.members[self].pin,
				     &daemon->members.identity, error);
	if (rc != SL_OK)
		return rc;
	if (memcmp(daemon->members.identity.pin, daemon->members.roster.members[self].pin, SL_HASH_BYTES) !=
	    0)
		return sl_err_set(
			error, SL_ERR_INVALID,
			"%s: the line of id %u pins another key than the one in %s: %s", settings->roster,
			settings->id, settings->identity,
			sl_group_is_signed(&daemon->members.group)
				? "either that key was renewed, and this folder is a copy from before; or "
				  "another key was put here; see FAULTS in starlingd(8)"
				: "`starling keygen --show` prints the right one");
	daemon->listen.on_all =
		sl_listen_choose(settings->listen, daemon->members.roster.members[self].address,
				 settings->discover != SL_DISCOVER_NONE, daemon->listen.address);
	return sl_proxy_set(&daemon->members.proxy, settings->proxy, settings->proxy_credentials_file, error);
}

static int check_modulus(const struct sl_daemon *daemon, struct sl_error *error)
{
	uint32_t size = daemon->members.roster.size;
	return sl_modulus_check(daemon->settings, size, daemon->members.roster.members[size - 1].id, error);
}

/* ---- configuration of the core ---- */

static void set_scope(struct sl_daemon *daemon)
{
	struct sl_scope *scope = &daemon->core_config.scope;
	sl_canonical_run(daemon->settings->run, scope->run);
	memcpy(scope->roster, daemon->members.roster.hash, sizeof scope->roster);
}

/* Set what the learner sends to a peer with another model. */
static int set_tensors(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_tensors *tensors = &daemon->trainer->tensors;
	struct sl_model *model = &daemon->core_config.model;
	daemon->memory.tensors = malloc(SL_TENSOR_BYTES_MAX);
	if (daemon->memory.tensors == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	model->count = tensors->count;
	model->size = sl_tensor_bytes_write(tensors, daemon->memory.tensors, SL_TENSOR_BYTES_MAX);
	model->tensors = daemon->memory.tensors;
	return SL_OK;
}

/* Lay out the vectors with limbs, and set what the core knows of them. */
static int open_ranges(struct sl_daemon *daemon, struct sl_error *error)
{
	struct sl_core_config *c = &daemon->core_config;
	struct sl_ranges *ranges = &daemon->workspace.ranges;
	const struct sl_tensors *tensors = &daemon->trainer->tensors;
	c->model_bytes = sl_tensors_bytes(tensors, c->parameters.n);
	if (!sl_values_have_limbs(c->parameters.values))
		return SL_OK;
	daemon->memory.ranges = calloc(1, sl_ranges_memory(tensors));
	if (daemon->memory.ranges == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory for %u tensors", tensors->count);
	sl_ranges_set(ranges, tensors, c->parameters.n, daemon->memory.ranges);
	c->model_bytes += sl_ranges_bytes(ranges);
	c->layout = ranges->layout;
	bool updates = c->parameters.values == SL_VALUES_UPDATE;
	uint32_t bits = updates ? (uint32_t)c->parameters.update_bits : SL_EXACT_BITS;
	return c->parameters.n + 1 + sl_layout_extra(&c->layout, updates, bits) <= SL_ELEMENTS_MAX
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_RANGE,
				    "a model of %" PRIu64 " parameters in %u tensors is too large",
				    c->parameters.n, ranges->count);
}

static int set_core_config(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_settings *s = daemon->settings;
	struct sl_core_config *c = &daemon->core_config;
	uint32_t quorum;
	int rc = sl_settings_quorum(s, daemon->members.roster.size, &quorum, error);
	daemon->memory.ids = calloc(daemon->members.roster.size, sizeof *daemon->memory.ids);
	if (rc != SL_OK || daemon->memory.ids == NULL)
		return rc != SL_OK ? rc : sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	for (uint32_t i = 0; i < daemon->members.roster.size; i++)
		daemon->memory.ids[i] = daemon->members.roster.members[i].id;
	c->self = daemon->members.self;
	c->roster_size = daemon->members.roster.size;
	c->ids = daemon->memory.ids;
	sl_core_config_set(c, s, daemon->trainer->ops->parameters(daemon->trainer),
			   sl_tensor_bytes_hash(&daemon->trainer->tensors), quorum);
	if (sl_settings_has_application(s))
		sl_core_config_values(c, s, sl_application_values(daemon->trainer));
	rc = sl_core_config_check(c, s, error);
	if (rc == SL_OK)
		rc = open_ranges(daemon, error);
	if (rc != SL_OK)
		return rc;
	memcpy(c->key, daemon->members.identity.public_key, SL_KEY_BYTES);
	randombytes_buf(&daemon->training.nonce, sizeof daemon->training.nonce);
	c->incarnation = sl_store_incarnation(daemon->store);
	sl_budget_open(daemon);
	set_scope(daemon);
	return set_tensors(daemon, error);
}

/* ---- memory ---- */

static void system_randomness(void *context, uint8_t *bytes, size_t n)
{
	(void)context;
	randombytes_buf(bytes, n);
}

static int open_workspace(struct sl_daemon *daemon, struct sl_error *error)
{
	struct sl_workspace *v = &daemon->workspace;
	size_t room = sl_core_secret_bytes(&daemon->core_config);
	void *secrets = daemon->core_config.secrets = sodium_malloc(room);
	bool locked = secrets != NULL && sodium_mlock(secrets, room) == 0 &&
		      sodium_mlock(&v->secrets, sizeof v->secrets) == 0 &&
		      sodium_mlock(&v->noise, sizeof v->noise) == 0; /* models may take what is left */
	v->n = daemon->core_config.parameters.n;
	v->tensors = daemon->trainer->tensors;
	daemon->memory.begins = calloc(v->tensors.count + 1, sizeof *daemon->memory.begins);
	if (daemon->memory.begins != NULL)
		sl_tensors_begin(&v->tensors, daemon->memory.begins);
	v->tensors.begins = daemon->memory.begins;
	v->scope = daemon->core_config.scope;
	v->clamp = daemon->settings->clipping == SL_CLIPPING_CLAMP;
	v->zeros_allowed = daemon->settings->rounded_to_zero == SL_ROUNDED_WARN;
	v->randomness_from_os = daemon->settings->sharing == SL_SHARING_OS;
	v->source = system_randomness;
	v->weight = 1;
	int rc = sl_vectors_open(v, daemon->settings->state);
	if (secrets == NULL || daemon->memory.begins == NULL || rc != SL_OK)
		return sl_err_set(error, SL_ERR_NOMEM,
				  "no memory, or no room in the state folder, for %zu parameters", v->n);
	size_t bytes = sl_workspace_model_bytes(v);
	if (!locked || (!sl_vector_memory_paged(bytes) && sodium_mlock(v->trained, bytes) != 0))
		sl_report_log_reason(&daemon->observe, SL_RECORD_NOT_LOCKED,
				     locked ? "models" : "keys and models");
	return SL_OK;
}

static int open_core(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_roster *roster = &daemon->members.roster;
	size_t bytes = sl_core_bytes(&daemon->core_config);
	struct sl_arena arena;
	daemon->memory.core = calloc(1, bytes);
	if (daemon->memory.core == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory for a roster of %u", roster->size);
	int rc = sl_observe_peers(&daemon->observe, error);
	if (rc == SL_OK)
		rc = sl_verify_open(&daemon->verifier, roster, daemon->settings->state, error);
	if (rc != SL_OK)
		return rc;
	sl_keys_learn(&daemon->verifier.keys, daemon->members.self,
		      daemon->members.identity.public_key); /* own records return by the flood */
	sl_arena_init_zeros(&arena, daemon->memory.core, bytes);
	daemon->core = daemon->observe.of.core = sl_core_init(&daemon->core_config, &arena);
	return daemon->core != NULL ? SL_OK
				    : sl_err_set(error, SL_ERR_NOMEM, "the core does not fit its memory");
}

/* Log settings that weaken privacy, a file system that may lose records, and a copied folder. */
static void warn(struct sl_daemon *daemon)
{
	bool remote;
	const char *state = daemon->settings->state, *kind = sl_folder_kind(state, &remote);
	if (kind != NULL)
		sl_report_log_reason(&daemon->observe,
				     remote ? SL_RECORD_STATE_FOLDER_REMOTE : SL_RECORD_STATE_FOLDER, kind);
	if (kind == NULL || !remote) {
		bool copied;
		int mark = sl_folder_open_mark(state, &copied);
		if (copied)
			sl_report_log_reason(&daemon->observe, SL_RECORD_COPIED, NULL);
		sl_failpoint_reach(SL_FAILPOINT_BEFORE_OWN_MARK);
		sl_folder_own(mark);
	}
	if (daemon->settings->unsafe_dump_model)
		sl_report_log_reason(&daemon->observe, SL_RECORD_UNSAFE_DUMP_MODEL, NULL);
}

/* Load and check the configuration and everything that it names, for a start and for --check (`peek`). */
static int validate(struct sl_daemon *daemon, bool peek, struct sl_error *error)
{
	int rc = load_identity(daemon, error);
	if (rc == SL_OK && sl_group_is_forming(&daemon->members.group))
		return SL_OK; /* what follows needs all learners */
	if (rc == SL_OK)
		rc = check_modulus(daemon, error);
	if (rc == SL_OK)
		rc = sl_validate(daemon->settings, &daemon->members.roster, daemon->members.self, error);
	if (rc == SL_PENDING && !peek)
		rc = SL_OK; /* await_address */
	if (rc == SL_OK && !sl_settings_has_application(daemon->settings))
		rc = sl_trainer_open(daemon->settings, daemon->members.self, daemon->members.roster.size,
				     &daemon->trainer, error);
	if (rc == SL_OK)
		rc = sl_restore_store(daemon, peek, error);
	return rc == SL_OK ? sl_roster_copy_check(&daemon->members, error) : rc;
}

/* Wait until the address of the setting `listen` is there: this learner may start before the network does.
 * SL_PENDING: told to end meanwhile. */
static int await_address(struct sl_daemon *daemon, struct sl_error *error)
{
	bool said = false;
	int rc;
	while ((rc = sl_listen_check(daemon->listen.address, error)) == SL_PENDING && !daemon->stopping) {
		if (!said)
			sl_report_log_reason(&daemon->observe, SL_RECORD_NO_ADDRESS, error->text);
		said = true;
		sl_progress_wait(daemon, error->text);
		uv_sleep(ADDRESS_MS);
		uv_run(&daemon->loop, UV_RUN_NOWAIT);
	}
	return rc;
}

static int open_all(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_settings *s = daemon->settings;
	int rc = sl_log_open(&daemon->observe.log, s, error);
	if (rc == SL_OK)
		rc = validate(daemon, false, error);
	if (rc == SL_OK)
		sl_log_name(daemon->observe.log, daemon->members.roster.members[daemon->members.self].name);
	if (rc == SL_OK && sl_group_is_forming(&daemon->members.group)) {
		sl_loop_signals(daemon);
		rc = await_address(daemon, error);
		return rc == SL_OK ? sl_forming_open(daemon, error) : rc;
	}
	if (rc == SL_OK)
		sl_log_bus_error(daemon->observe.log);
	if (rc == SL_OK)
		rc = sl_restore_log_roster(daemon, error);
	if (rc == SL_OK)
		rc = sl_roster_copy_take(&daemon->members, error);
	if (rc == SL_OK)
		rc = sl_group_update_open(&daemon->members, error);
	if (rc == SL_OK) {
		sl_loop_signals(daemon);
		rc = await_address(daemon, error);
	}
	if (rc == SL_OK)
		rc = sl_learner_trainer_open(daemon, error);
	daemon->observe.of.trainer = daemon->trainer;
	if (rc == SL_OK)
		rc = set_core_config(daemon, error);
	if (rc == SL_OK)
		rc = open_workspace(daemon, error);
	if (rc == SL_OK)
		rc = sl_restore_model(daemon, error);
	if (rc == SL_OK)
		rc = sl_restore_promises(daemon, error);
	if (rc == SL_OK)
		rc = open_core(daemon, error);
	if (rc == SL_OK)
		rc = sl_loop_open(daemon, error);
	if (rc == SL_OK && sl_settings_has_application(s))
		rc = sl_application_serve(daemon->trainer, error);
	if (rc == SL_OK)
		rc = sl_loop_listen(daemon, error);
	if (rc == SL_OK)
		rc = sl_identity_hold(s->identity, &daemon->members.identity, error);
	if (rc == SL_OK)
		warn(daemon);
	if (rc == SL_OK)
		sl_learner_trainer_show(daemon);
	if (rc == SL_OK)
		sl_service_ready();
	return rc;
}

#if defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Keep models and keys out of core files and from other processes of this user. The leak sanitizer needs
 * access. */
static void forbid_core_files(void)
{
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	if (!SANITIZED)
		prctl(PR_SET_DUMPABLE, 0);
}

static int begin(struct sl_daemon *daemon, const struct sl_settings_source *source,
		 struct sl_settings *settings, struct sl_error *error)
{
	sl_daemon_init(daemon, settings);
	daemon->source = *source;
	daemon->masked_states.folder = settings->state;
	sl_event_queue_init(&daemon->event_queue);
	int rc = uv_loop_init(&daemon->loop);
	if (rc != 0)
		return sl_err_set(error, SL_ERR_IO, "cannot start the event loop: %s", uv_strerror(rc));
	daemon->loop.data = daemon;
	return sl_group_load_settings(source->path, source->overrides, source->count, settings,
				      &daemon->members.group, error);
}

int sl_setup_check(struct sl_daemon *daemon, const struct sl_settings_source *source,
		   struct sl_settings *settings, struct sl_error *error)
{
	int rc = begin(daemon, source, settings, error);
	return rc == SL_OK ? validate(daemon, true, error) : rc;
}

int sl_setup_open(struct sl_daemon *daemon, const struct sl_settings_source *source,
		  struct sl_settings *settings, struct sl_error *error)
{
	forbid_core_files();
	sl_descriptors_raise();
	sl_service_alive(); /* of a learner that starts itself again */
	int rc = begin(daemon, source, settings, error);
	if (rc == SL_OK)
		rc = open_all(daemon, error);
	bool failed = rc != SL_OK && rc != SL_PENDING;
	if (failed && daemon->observe.log == NULL) /* the configuration or the roster cannot be used */
		sl_log_open(&daemon->observe.log, settings, NULL);
	if (failed && daemon->observe.log != NULL && !sl_log_is_standard(daemon->observe.log))
		sl_report_log_reason(&daemon->observe, SL_RECORD_FATAL,
				     error->text); /* the caller prints it, too */
	return rc;
}

static void close_members(struct sl_membership *members)
{
	sl_mdns_free(members->mdns);
	sl_joining_close(members);
	sl_identity_close(&members->identity);
	sl_roster_close(&members->roster);
	sl_group_update_close(members);
	sl_group_close(&members->group);
}

void sl_setup_close(struct sl_daemon *daemon)
{
	sl_loop_close(daemon);
	sl_control_free(daemon->control);
	sl_links_free(daemon->links);
	sl_tls_close(&daemon->tls);
	sl_result_close(&daemon->result);
	sl_result_close(&daemon->committed.next);
	sl_event_queue_close(&daemon->event_queue);
	if (daemon->core != NULL)
		sl_event_queue_free_buffers(sl_core_held(daemon->core)); /* shares of others: wiped */
	free(daemon->memory.core);
	sodium_free(daemon->core_config.secrets);
	sl_verify_close(&daemon->verifier);
	free(daemon->memory.tensors);
	free(daemon->memory.ids);
	free(daemon->training.due);
	sl_vectors_free(&daemon->workspace);
	free(daemon->memory.ranges);
	free(daemon->memory.begins);
	if (daemon->trainer != NULL)
		daemon->trainer->ops->close(daemon->trainer);
	if (daemon->other_model)
		sl_learner_trainer_forget(daemon);
	sl_observe_close(&daemon->observe);
	if (daemon->committed.checkpoint[0] != '\0') /* which a commit leaves to the system */
		sl_folder_sync(daemon->committed.folder, daemon->committed.checkpoint);
	sl_masked_states_close(&daemon->masked_states);
	sl_store_promises_close(&daemon->promises);
	sl_store_close(daemon->store);
	close_members(&daemon->members);
}
