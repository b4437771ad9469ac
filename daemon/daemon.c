#include "daemon/daemon.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "daemon/checkpoint.h"

/* Who we are, and whether the roster agrees. */

static int load_identity(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_settings *settings = daemon->settings;
	int rc = sl_roster_load(settings->roster, &daemon->roster, error);
	if (rc != SL_OK)
		return rc;
	int self = sl_roster_find(&daemon->roster, settings->id);
	if (self < 0)
		return sl_fail(error, SL_ERR_INVALID, "%s: no line for id %u, which the configuration names", settings->roster,
			       settings->id);
	daemon->self = (uint32_t)self;
	rc = sl_identity_load(settings->identity, &daemon->identity, error);
	if (rc != SL_OK)
		return rc;
	if (memcmp(daemon->identity.pin, daemon->roster.members[self].pin, SL_HASH_BYTES) != 0)
		return sl_fail(error, SL_ERR_INVALID,
			       "%s: the line of id %u pins another key than the one in %s; `starling init --show` prints the right one",
			       settings->roster, settings->id, settings->identity);
	return SL_OK;
}

/* The p bound when configured, for everybody in the roster (protocol 2); FREEZE and encoding check again. */
static int check_p(const struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_settings *s = daemon->settings;
	struct sl_encoding encoding = {.kind = s->encoding, .sigma = s->sigma, .clip = s->clip};
	uint32_t R = daemon->roster.size;
	uint64_t least = 0, limit = UINT64_C(1) << SL_MIXING_P_BITS_MAX;
	uint64_t p = s->p != 0 ? s->p : sl_p_auto(&encoding, R, s->max_weight, SL_MIXING_P_BITS_MAX);
	int sigma = -1;
	bool met = sl_p_bound(p != 0 ? p : limit, &encoding, R, s->max_weight, &least, &sigma);
	if (p == 0 || (!met && least > limit))
		return sl_fail(error, SL_ERR_RANGE,
			       "no p up to 2^44 holds %u learners at sigma %u, clip %g, max_weight %" PRIu64
			       " (p >= %" PRIu64 "); lower sigma to %d, or clip",
			       R, s->sigma, s->clip, s->max_weight, least, sigma);
	if (!met)
		return sl_fail(error, SL_ERR_RANGE,
			       "p: %" PRIu64 " is too small for %u learners at sigma %u, clip %g, max_weight %" PRIu64
			       ": p of at least %" PRIu64 " would do, or sigma of at most %d%s",
			       p, R, s->sigma, s->clip, s->max_weight, least, sigma, sigma < 0 ? " (none)" : "");
	if (p >= limit)
		return sl_fail(error, SL_ERR_RANGE, "p: %" PRIu64 " is above 2^44, the most that mixing: metropolis can carry", p);
	sl_id largest = daemon->roster.members[R - 1].id;
	if (p <= largest || p <= R)
		return sl_fail(error, SL_ERR_RANGE, "p: %" PRIu64 " must be larger than every id (%u) and the roster (%u)", p,
			       largest, R);
	return SL_OK;
}

/* The core's view of the configuration. */

static sl_ms ms(double seconds)
{
	return (sl_ms)llround(seconds * 1000.0);
}

static void set_scope(struct sl_daemon *daemon)
{
	struct sl_scope *scope = &daemon->core_config.scope;
	crypto_generichash(scope->run, sizeof scope->run, (const uint8_t *)daemon->settings->run,
			   strlen(daemon->settings->run), NULL, 0);
	memcpy(scope->roster, daemon->roster.hash, sizeof scope->roster);
}

static int set_core_config(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_settings *s = daemon->settings;
	struct sl_core_config *c = &daemon->core_config;
	uint32_t quorum;
	int rc = sl_settings_quorum(s, daemon->roster.size, &quorum, error);
	daemon->ids = calloc(daemon->roster.size, sizeof *daemon->ids);
	if (rc != SL_OK || daemon->ids == NULL)
		return rc != SL_OK ? rc : sl_fail(error, SL_ERR_NOMEM, "out of memory");
	for (uint32_t i = 0; i < daemon->roster.size; i++)
		daemon->ids[i] = daemon->roster.members[i].id;
	c->self = daemon->self;
	c->roster_size = daemon->roster.size;
	c->ids = daemon->ids;
	c->parameters = (struct sl_parameters){.n = daemon->trainer->ops->parameters(daemon->trainer),
					       .p = s->p,
					       .rounds = s->rounds,
					       .quorum = quorum,
					       .tolerance = s->tolerance,
					       .sigma = s->sigma,
					       .max_weight = s->max_weight,
					       .encoding = (uint64_t)s->encoding,
					       .sharing = (uint64_t)s->sharing,
					       .k = s->k,
					       .k_fixed = s->k_fixed,
					       .degree_max = s->degree_max};
	memcpy(&c->parameters.clip, &s->clip, sizeof s->clip);
	memcpy(c->key, daemon->identity.public_key, SL_KEY_BYTES);
	c->incarnation = daemon->state.incarnation;
	c->told = s->in_range == SL_RANGE_TOLD;
	c->gate_warn = s->gate_warn;
	c->straggler_ms = ms(s->straggler_wait);
	c->silent_ms = ms(s->silent_wait);
	c->flood_ms = ms(s->flood_wait);
	c->ready_ms = ms(s->ready_wait);
	c->stall_ms = ms(s->stall_wait);
	c->settle_ms = ms(s->settle_wait);
	c->linger_ms = ms(s->linger);
	set_scope(daemon);
	return SL_OK;
}

/* Memory. */

static void system_coins(void *context, uint8_t *bytes, size_t n)
{
	(void)context;
	randombytes_buf(bytes, n);
}

static int open_vault(struct sl_daemon *daemon, struct sl_error *error)
{
	struct sl_vault *v = &daemon->vault;
	v->n = daemon->core_config.parameters.n;
	v->scope = daemon->core_config.scope;
	v->clamp = daemon->settings->clamp;
	v->coins_from_os = daemon->settings->coins == SL_COINS_OS;
	v->source = system_coins;
	v->weight = 1;
	v->trained = sodium_allocarray(v->n, sizeof *v->trained);
	v->x = sodium_allocarray(v->n + 1, sizeof *v->x);
	v->s = sodium_allocarray(v->n + 1, sizeof *v->s);
	v->committed = calloc(v->n, sizeof *v->committed);
	if (v->trained == NULL || v->x == NULL || v->s == NULL || v->committed == NULL)
		return sl_fail(error, SL_ERR_NOMEM, "out of memory for a model of %zu parameters", v->n);
	return SL_OK;
}

/* Digests are bound to the run and to the roster. */
static bool signatures_hold(const struct sl_daemon *daemon, const struct sl_proof *proof)
{
	for (uint32_t i = 0; i < proof->count; i++) {
		const struct sl_digest *d = &proof->digests[i];
		uint8_t hash[SL_HASH_BYTES];
		sl_canon_digest(&daemon->core_config.scope, d, hash);
		if (crypto_sign_verify_detached(d->signature, hash, sizeof hash, d->key) != 0)
			return false;
	}
	return true;
}

/* What others may ask for. Without it this learner goes on, and can show nothing before its next commit. */
static void open_result(struct sl_daemon *daemon, sl_round t)
{
	struct sl_error error;
	int rc = sl_result_open(daemon->settings->state, daemon->settings->run, daemon->vault.n, t, &daemon->result, &error);
	if (rc == SL_OK && signatures_hold(daemon, &daemon->result.proof))
		daemon->core_config.proof = &daemon->result.proof;
	else if (rc == SL_OK)
		sl_log(daemon->log, SL_WARN, "result",
		       "the last result was signed under another roster: before the next commit, this learner cannot show it to others",
		       NULL);
	else if (rc != SL_ERR_NOTFOUND)
		sl_log(daemon->log, SL_WARN, "result", error.text, NULL);
}

/* Goes on from the newest checkpoint of this run, or from the initial model. */
static int open_model(struct sl_daemon *daemon, struct sl_error *error)
{
	struct sl_checkpoint checkpoint;
	struct sl_vault *v = &daemon->vault;
	int rc = sl_checkpoint_latest(daemon->settings->state, daemon->settings->run, v->n, &checkpoint, v->committed, error);
	if (rc == SL_ERR_NOTFOUND) {
		daemon->trainer->ops->initial(daemon->trainer, v->committed);
		return SL_OK;
	}
	if (rc != SL_OK)
		return rc;
	daemon->core_config.committed = checkpoint.round;
	memcpy(daemon->core_config.previous, checkpoint.digest, SL_HASH_BYTES);
	open_result(daemon, checkpoint.round);
	char text[128];
	snprintf(text, sizeof text, "continuing after round %u, from its checkpoint", checkpoint.round);
	sl_log(daemon->log, SL_INFO, "resumed", text, "{s:i}", "round", (int)checkpoint.round);
	return SL_OK;
}

static int open_core(struct sl_daemon *daemon, struct sl_error *error)
{
	uint32_t R = daemon->roster.size;
	size_t bytes = sl_core_bytes(&daemon->core_config);
	struct sl_arena arena;
	daemon->core_memory = malloc(bytes);
	daemon->keys = calloc(R, sizeof *daemon->keys);
	daemon->key_known = calloc(R, sizeof *daemon->key_known);
	daemon->checked = calloc(R, sizeof *daemon->checked);
	daemon->complaints = calloc(R, sizeof *daemon->complaints);
	daemon->link_faults = calloc(R, sizeof *daemon->link_faults);
	if (daemon->core_memory == NULL || daemon->complaints == NULL || daemon->link_faults == NULL || daemon->keys == NULL || daemon->key_known == NULL || daemon->checked == NULL)
		return sl_fail(error, SL_ERR_NOMEM, "out of memory for a roster of %u", R);
	memcpy(daemon->keys[daemon->self], daemon->identity.public_key, SL_KEY_BYTES); /* own records come back */
	daemon->key_known[daemon->self] = true;
	sl_arena_init(&arena, daemon->core_memory, bytes);
	daemon->core = sl_core_init(&daemon->core_config, &arena);
	return daemon->core != NULL ? SL_OK : sl_fail(error, SL_ERR_NOMEM, "the core does not fit its memory");
}

/* The loop. */

static void on_up(void *context, uint32_t peer)
{
	((struct sl_daemon *)context)->link_faults[peer] = NULL;
	sl_happening_new(context, SL_EVENT_LINK_UP)->event.peer = peer;
}

static void on_down(void *context, uint32_t peer, bool dialled, const char *why)
{
	struct sl_daemon *daemon = context;
	const struct sl_member *member = &daemon->roster.members[peer];
	char text[256];
	snprintf(text, sizeof text, "link to %s (%u, %s) %s: %s", member->name, member->id, member->address,
		 dialled ? "failed" : "down", why);
	bool news = dialled && (daemon->link_faults[peer] == NULL || strcmp(daemon->link_faults[peer], why) != 0);
	if (dialled)
		daemon->link_faults[peer] = why;
	if (!daemon->stopping)
		sl_log(daemon->log, news ? SL_WARN : SL_DEBUG, "link_down", text, "{s:I, s:s}", "peer", (json_int_t)member->id, "reason", why);
	sl_happening_new(daemon, SL_EVENT_LINK_DOWN)->event.peer = peer;
}

static void on_frame(void *context, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size)
{
	sl_inbox_frame(context, peer, kind, payload, size);
}

static void on_refused(void *context, const char *address, int expected, const uint8_t *pin)
{
	struct sl_daemon *daemon = context;
	char shown[SL_PIN_TEXT_BYTES], text[512];
	sl_pin_text(pin, shown);
	if (expected >= 0)
		snprintf(text, sizeof text, "%s answered for %s (%u) with another key, %s: refused", address,
			 daemon->roster.members[expected].name, daemon->roster.members[expected].id, shown);
	else
		snprintf(text, sizeof text, "%s connected with a key that has no place here, %s: refused", address, shown);
	sl_log(daemon->log, SL_WARN, "refused", text, "{s:s, s:s}", "address", address, "key", shown);
}

static void on_prepare(uv_prepare_t *handle)
{
	sl_turn(handle->data);
}

static void on_check(uv_check_t *handle)
{
	sl_turn(handle->data);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct sl_daemon *daemon = handle->data;
	sl_log(daemon->log, SL_INFO, "stopping", number == SIGINT ? "interrupted" : "terminated", NULL);
	sl_daemon_stop(daemon, 0);
}

static int open_loop(struct sl_daemon *daemon, struct sl_error *error)
{
	uv_loop_t *loop = &daemon->loop;
	uv_prepare_init(loop, &daemon->before);
	uv_check_init(loop, &daemon->after);
	uv_timer_init(loop, &daemon->alarm);
	uv_idle_init(loop, &daemon->busy);
	uv_signal_init(loop, &daemon->interrupt);
	uv_signal_init(loop, &daemon->terminate);
	daemon->before.data = daemon->after.data = daemon->alarm.data = daemon;
	daemon->interrupt.data = daemon->terminate.data = daemon;
	uv_prepare_start(&daemon->before, on_prepare);
	uv_check_start(&daemon->after, on_check);
	uv_signal_start(&daemon->interrupt, on_signal, SIGINT);
	uv_signal_start(&daemon->terminate, on_signal, SIGTERM);
	int rc = sl_worker_open(&daemon->compute, loop);
	if (rc == 0)
		rc = sl_worker_open(&daemon->train, loop);
	return rc == 0 ? SL_OK : sl_fail(error, SL_ERR_IO, "cannot start a thread: %s", uv_strerror(rc));
}

static int open_network(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_settings *s = daemon->settings;
	const char *address = s->listen[0] != '\0' ? s->listen : daemon->roster.members[daemon->self].address;
	struct sl_links_config config = {.loop = &daemon->loop,
					 .roster = &daemon->roster,
					 .self = daemon->self,
					 .tls = &daemon->tls,
					 .listen = address,
					 .handler = {.context = daemon,
						     .up = on_up,
						     .down = on_down,
						     .frame = on_frame,
						     .refused = on_refused}};
	int rc = sl_tls_open(&daemon->tls, &daemon->identity, &daemon->roster, error);
	if (rc == SL_OK)
		rc = sl_links_open(&daemon->links, &config, error);
	if (rc == SL_OK)
		rc = sl_control_open(&daemon->control, daemon, s->control, error);
	if (rc != SL_OK)
		return rc;
	char text[SL_ADDRESS_BYTES + 32];
	snprintf(text, sizeof text, "listening on %s", address);
	sl_log(daemon->log, SL_INFO, "listening", text, "{s:s, s:i}", "address", address, "incarnation",
	       (int)daemon->state.incarnation);
	return SL_OK;
}

/* What a configuration allows and its operator should know. */
static void warn(struct sl_daemon *daemon)
{
	if (daemon->core_config.parameters.quorum < daemon->roster.size)
		sl_log(daemon->log, SL_WARN, "quorum",
		       "quorum is less than the roster: until releases are made durable, a learner that crashes while mixing can "
		       "let two groups commit different models (which they notice, and stop); quorum: all is safe",
		       NULL);
	if (daemon->settings->unsafe_reveal)
		sl_log(daemon->log, SL_WARN, "unsafe_reveal",
		       "unsafe_reveal is set: this learner writes its secret encoding to disk in every round; never do this with "
		       "real data",
		       NULL);
}

static int open_all(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_settings *s = daemon->settings;
	int rc = load_identity(daemon, error);
	if (rc == SL_OK)
		rc = check_p(daemon, error);
	if (rc == SL_OK)
		rc = sl_autoencoder_open(s, daemon->self, daemon->roster.size, &daemon->trainer, error);
	if (rc == SL_OK)
		rc = sl_state_open(&daemon->state, s->state, error);
	if (rc == SL_OK)
		rc = sl_log_open(&daemon->log, s, daemon->roster.members[daemon->self].name, error);
	if (rc == SL_OK)
		rc = set_core_config(daemon, error);
	if (rc == SL_OK)
		rc = open_vault(daemon, error);
	if (rc == SL_OK)
		rc = open_model(daemon, error);
	if (rc == SL_OK)
		rc = open_core(daemon, error);
	if (rc == SL_OK)
		rc = open_loop(daemon, error);
	if (rc == SL_OK)
		rc = open_network(daemon, error);
	if (rc == SL_OK)
		warn(daemon);
	return rc;
}

#if defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* A link is a descriptor; the soft limit is often 1,024. */
static void raise_descriptors(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Models and keys do not go into core files, nor to another process of this user. The leak sanitizer must look. */
static void forbid_core_files(void)
{
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	if (!SANITIZED)
		prctl(PR_SET_DUMPABLE, 0);
}

static void begin(struct sl_daemon *daemon, const struct sl_settings *settings)
{
	memset(daemon, 0, sizeof *daemon);
	daemon->settings = settings;
	daemon->state.lock = -1;
	daemon->inbox_end = &daemon->inbox;
	uv_loop_init(&daemon->loop);
}

int sl_daemon_check(struct sl_daemon *daemon, const struct sl_settings *settings, struct sl_error *error)
{
	uint32_t quorum;
	begin(daemon, settings);
	int rc = load_identity(daemon, error);
	if (rc == SL_OK)
		rc = check_p(daemon, error);
	if (rc == SL_OK)
		rc = sl_settings_quorum(settings, daemon->roster.size, &quorum, error);
	return rc == SL_OK ? sl_autoencoder_open(settings, daemon->self, daemon->roster.size, &daemon->trainer, error) : rc;
}

int sl_daemon_open(struct sl_daemon *daemon, const struct sl_settings *settings, struct sl_error *error)
{
	begin(daemon, settings);
	forbid_core_files();
	raise_descriptors();
	return open_all(daemon, error);
}

void sl_daemon_stop(struct sl_daemon *daemon, int status)
{
	if (daemon->stopping)
		return;
	daemon->stopping = true;
	daemon->status = status;
	atomic_store(&daemon->stop_training, true);
	uv_stop(&daemon->loop);
}

int sl_daemon_run(struct sl_daemon *daemon)
{
	sl_happening_new(daemon, SL_EVENT_START);
	if (!daemon->stopping)
		uv_run(&daemon->loop, UV_RUN_DEFAULT);
	return daemon->status;
}

/* Closing: whatever open reached. */

static void close_handle(uv_handle_t *handle, void *argument)
{
	(void)argument;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static void close_loop(struct sl_daemon *daemon)
{
	daemon->stopping = true;
	atomic_store(&daemon->stop_training, true);
	if (daemon->compute.back.loop != NULL)
		sl_worker_close(&daemon->compute); /* first: a last commit asks for its evaluation, which is still said */
	if (daemon->train.back.loop != NULL)
		sl_worker_close(&daemon->train);
	daemon->closed = true;
	if (daemon->control != NULL)
		sl_control_close(daemon->control);
	if (daemon->links != NULL)
		sl_links_close(daemon->links);
	uv_run(&daemon->loop, UV_RUN_NOWAIT);
	uv_walk(&daemon->loop, close_handle, NULL);
	uv_run(&daemon->loop, UV_RUN_DEFAULT);
	uv_loop_close(&daemon->loop);
}

void sl_daemon_close(struct sl_daemon *daemon)
{
	close_loop(daemon);
	sl_control_free(daemon->control);
	sl_links_free(daemon->links);
	sl_tls_close(&daemon->tls);
	sl_result_close(&daemon->result);
	sl_result_close(&daemon->next_result);
	sl_inbox_close(daemon);
	if (daemon->core != NULL)
		sl_buffers_free(sl_core_held(daemon->core)); /* shares of others: wiped */
	free(daemon->core_memory);
	free(daemon->keys);
	free(daemon->key_known);
	free(daemon->checked);
	free(daemon->complaints);
	free(daemon->link_faults);
	free(daemon->ids);
	sodium_free(daemon->vault.trained);
	sodium_free(daemon->vault.x);
	sodium_free(daemon->vault.s);
	sodium_free(daemon->vault.scratch.base);
	free(daemon->vault.committed);
	if (daemon->trainer != NULL)
		daemon->trainer->ops->close(daemon->trainer);
	if (daemon->log != NULL)
		sl_log_close(daemon->log);
	sl_state_close(&daemon->state);
	sl_identity_close(&daemon->identity);
	sl_roster_close(&daemon->roster);
}
