#include "tools/libstarlingcore/core.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/compute/job_model.h"
#include "common/core/execute.h"
#include "common/wire/codec.h"
#include "common/wire/frame.h"
#include "tools/host/heap.h"
#include "tools/host/packet.h"
#include "tools/libstarlingcore/log.h"

#define RELAY_MS 500u

struct starling_core_job {
	struct starling_core *core;
	struct sl_work *work;
};

struct starling_core {
	struct sl_hosted host;
	const struct starling_core_duties *duties;
	void *context;
	const struct starling_core_member *members;
	const uint8_t *secret;
	sl_id *ids;
	unsigned char *wanted;
	struct sl_work *written, **written_end; /* records that are not durable yet, oldest first */
	struct starling_core_job job;		/* work is not NULL: the job that runs */
	sl_round training;			/* the round of which a model is awaited; 0: none */
	sl_round used_up;    /* the round of which a model may have been released in vain; 0: none */
	bool started, begun; /* the record of the start is written; it is durable, and the core runs */
	bool busy;	     /* in a call: duties must not call */
	struct sl_actions actions;
};

/* --- duties --- */

static void give_back(struct sl_buffer *list)
{
	for (const struct sl_buffer *b = list; b != NULL; b = b->next)
		sodium_memzero(b->bytes, b->size);
	sl_packet_give_back(list);
}

static void drop(void *shell, const struct sl_action *action)
{
	(void)shell;
	give_back(action->buffers);
}

static void ask(void *shell, const struct sl_action *action)
{
	struct starling_core *c = shell;
	if (action->kind == SL_ACTION_PERSIST && action->persist.what.kind == SL_PERSIST_OVER &&
	    !action->persist.reuse)
		c->used_up = action->persist.what.t;
	sl_hosted_ask(&c->host, action, true);
}

static void send_frame(struct starling_core *c, const uint64_t *to, const struct sl_message *message,
		       const struct sl_payload *payload)
{
	struct sl_packet *packet = sl_packet_new(&c->host, message, payload);
	size_t size = sl_codec_bytes(&packet->message);
	uint8_t *frame = sl_heap_zeroed(1, size);
	if (frame == NULL)
		abort();
	sl_codec_encode(&packet->message, frame, size, NULL);
	for (uint32_t j = 0; j < c->host.config.roster_size; j++)
		if (sl_bit(to, j))
			c->duties->send(c->context, j, frame, size);
	if (message->kind >= SL_MSG_SHARE)
		sodium_memzero(packet->bytes, message->chunk.size);
	sodium_memzero(frame, size);
	sl_heap_give(frame);
	sl_packet_drop(packet);
}

static void send_message(void *shell, const struct sl_action *action)
{
	struct starling_core *c = shell;
	struct sl_message message = action->send.message;
	struct sl_payload payload = action->send.payload;
	uint8_t hash[SL_HASH_BYTES], *signature = sl_message_role(&message, SL_ROLE_SIGNATURE);
	if (action->send.own && sl_canonical_message(&c->host.config.scope, &message, hash))
		crypto_sign_detached(signature, NULL, hash, sizeof hash, c->secret);
	if (!sl_source_by_neighbour(payload.source)) {
		send_frame(c, action->send.to, &message, &payload);
		return;
	}
	for (; payload.row < c->host.view->degree; payload.row++) {
		uint64_t to[SL_LEARNERS_MAX / 64] = {0};
		sl_bit_set(to, sl_view_peer(c->host.view, payload.row));
		send_frame(c, to, &message, &payload);
	}
}

static void links(void *shell, const struct sl_action *action)
{
	struct starling_core *c = shell;
	for (uint32_t j = 0; j < c->host.config.roster_size; j++)
		c->wanted[j] = sl_bit(action->to, j);
	if (c->duties->links != NULL)
		c->duties->links(c->context, c->wanted);
}

static void report(void *shell, const struct sl_action *action)
{
	const struct starling_core *c = shell;
	const struct sl_report *r = &action->report;
	const char *what = r->kind == SL_REPORT_PHASE ? sl_phase_name(r->phase) : sl_report_name(r->kind);
	const char *why = r->kind == SL_REPORT_REJECTED ? r->rejected.text
			  : r->reason != SL_REASON_NONE ? sl_report_reason_name(r->reason)
							: NULL;
	bool peer = r->kind != SL_REPORT_PHASE && r->set == NULL && r->peer != c->host.config.self;
	if (c->duties->report != NULL)
		c->duties->report(c->context, r->t, what, why, peer ? r->peer : UINT32_MAX);
}

static void stop(void *shell, const struct sl_action *action)
{
	struct starling_core *c = shell;
	c->host.stopped = true;
	c->duties->stop(c->context, action->code);
}

/* --- work: in the order in which it was asked for --- */

static void put(struct starling_core *c, struct sl_work *work)
{
	size_t size;
	uint8_t *bytes = sl_log_write(&c->host, &work->record, &size);
	work->next = NULL;
	*c->written_end = work;
	c->written_end = &work->next;
	c->duties->record(c->context, bytes, size, work->record.what.kind == SL_PERSIST_COMMIT);
	sodium_memzero(bytes, size);
	sl_heap_give(bytes);
}

static void begin_training(struct starling_core *c, sl_round t)
{
	struct sl_workspace *w = &c->host.workspace;
	c->training = t;
	memcpy(w->trained, w->committed, sl_workspace_model_bytes(w));
	c->duties->train(c->context, t, t == c->used_up, w->trained);
}

/* Do all work up to the next job. */
static void go_on(struct starling_core *c)
{
	while (!c->host.stopped && c->job.work == NULL && c->host.work != NULL &&
	       c->host.work->kind != SL_WORK_JOB) {
		struct sl_work *work = sl_hosted_take(&c->host);
		if (work->kind == SL_WORK_PERSIST) {
			put(c, work);
			continue;
		}
		if (work->kind == SL_WORK_TRAIN)
			begin_training(c, work->t);
		else
			sl_hosted_run(&c->host, work);
		sl_hosted_done(work);
	}
}

static int step(struct starling_core *c, struct sl_event *event, uint64_t now)
{
	static const struct sl_duties duties = {.of = {[SL_ACTION_COMPUTE] = ask,
						       [SL_ACTION_PERSIST] = ask,
						       [SL_ACTION_WIPE] = ask,
						       [SL_ACTION_SEND] = send_message,
						       [SL_ACTION_TRAIN] = ask,
						       [SL_ACTION_LINKS] = links,
						       [SL_ACTION_DROP] = drop,
						       [SL_ACTION_REPORT] = report,
						       [SL_ACTION_STOP] = stop}};
	event->now = now;
	c->busy = true;
	int rc = sl_core_run(c->host.core, event, &c->actions, &duties, c);
	go_on(c);
	c->busy = false;
	return rc;
}

/* Return SL_OK if a call may be made now. */
static int enter(const struct starling_core *c)
{
	return c->busy ? SL_ERR_BUSY : c->begun ? SL_OK : SL_ERR_INVALID;
}

struct starling_core_job *starling_core_job(struct starling_core *c)
{
	if (c->busy || c->job.work != NULL || c->host.stopped || c->host.work == NULL)
		return NULL;
	c->job = (struct starling_core_job){c, sl_hosted_take(&c->host)};
	return &c->job;
}

void starling_core_run(struct starling_core_job *job)
{
	sl_hosted_run(&job->core->host, job->work);
}

int starling_core_done(struct starling_core_job *job, uint64_t now)
{
	struct starling_core *c = job->core;
	struct sl_work *work = job->work;
	struct sl_event event;
	int rc = enter(c);
	if (rc != SL_OK || work == NULL || !work->ran)
		return rc != SL_OK ? rc : SL_ERR_INVALID;
	job->work = NULL;
	give_back(work->job.buffers);
	sl_hosted_event(&c->host, work, &event);
	rc = step(c, &event, now);
	sl_hosted_done(work);
	return rc;
}

int starling_core_durable(struct starling_core *c, uint64_t now)
{
	struct sl_work *work = c->written;
	struct sl_event event = {.kind = SL_EVENT_START};
	if (c->busy || work == NULL)
		return c->busy ? SL_ERR_BUSY : SL_ERR_INVALID;
	c->begun = true;
	c->written = work->next;
	if (c->written == NULL)
		c->written_end = &c->written;
	if (work->record.what.kind != 0) {
		sl_hosted_event(&c->host, work, &event);
		sl_hosted_run(&c->host, work);
	}
	if (event.durable.kind == SL_PERSIST_COMMIT) {
		c->busy = true;
		c->duties->committed(c->context, event.durable.t, c->host.workspace.committed);
		c->busy = false;
	}
	int rc = step(c, &event, now);
	sl_hosted_done(work);
	return rc;
}

/* --- events --- */

int starling_core_link(struct starling_core *c, uint32_t peer, int up, uint64_t now)
{
	struct sl_event event = {.kind = up ? SL_EVENT_LINK_UP : SL_EVENT_LINK_DOWN, .peer = peer};
	int rc = enter(c);
	return rc != SL_OK ? rc : step(c, &event, now);
}

int starling_core_trained(struct starling_core *c, uint32_t round, uint64_t weight, uint64_t now)
{
	struct sl_event event = {.kind = SL_EVENT_TRAINED};
	int rc = enter(c);
	if (rc != SL_OK || c->training != round || round == 0)
		return rc != SL_OK ? rc : SL_ERR_INVALID;
	c->training = 0;
	c->host.workspace.weight = weight;
	sl_job_model_add_rest(&c->host.workspace);
	return step(c, &event, now);
}

int starling_core_tick(struct starling_core *c, uint64_t now)
{
	struct sl_event event = {.kind = SL_EVENT_DEADLINE};
	int rc = enter(c);
	if (rc != SL_OK || starling_core_deadline(c) > now)
		return rc;
	return step(c, &event, now);
}

uint64_t starling_core_deadline(const struct starling_core *c)
{
	return c->begun ? sl_core_deadline(c->host.core) : SL_NEVER;
}

/* Return SL_OK if `m` has no signature or the right one; SL_PENDING: its signer floods, and is not heard. */
static int check_signature(const struct starling_core *c, const struct sl_message *m, uint64_t now)
{
	const uint8_t *signature = sl_message_role(m, SL_ROLE_SIGNATURE),
		      *shown = sl_message_role(m, SL_ROLE_KEY);
	const sl_id *id = sl_message_role(m, SL_ROLE_SIGNER);
	uint8_t hash[SL_HASH_BYTES];
	if (signature == NULL)
		return SL_OK;
	for (uint32_t i = 0; i < c->host.config.roster_size; i++) {
		const uint8_t *key = c->members[i].key;
		if (c->ids[i] != *id)
			continue;
		if (sl_core_ignores(c->host.core, i, now))
			return SL_PENDING;
		sl_canonical_message(&c->host.config.scope, m, hash);
		bool right = (shown == NULL || memcmp(shown, key, SL_KEY_BYTES) == 0) &&
			     crypto_sign_verify_detached(signature, hash, sizeof hash, key) == 0;
		return right ? SL_OK : SL_ERR_CRYPTO;
	}
	return SL_ERR_CRYPTO;
}

/* Return the kind of the one frame that the bytes are, or 0. */
static uint32_t kind_of(const uint8_t *frame, size_t size)
{
	uint8_t header[SL_FRAME_HEADER_BYTES];
	uint32_t kind = size < sizeof header ? 0 : sl_frame_kind(frame);
	if (sl_message_type(kind) == NULL || size - sizeof header > sl_frame_limit(kind))
		return 0;
	sl_frame_header(header, kind, size - sizeof header);
	return memcmp(frame, header, sizeof header) == 0 ? kind : 0;
}

int starling_core_receive(struct starling_core *c, uint32_t peer, const void *frame, size_t size,
			  uint64_t now)
{
	struct sl_decoded decoded;
	const char *why;
	int rc = enter(c);
	uint32_t kind = kind_of(frame, size);
	if (rc != SL_OK || kind == 0)
		return rc != SL_OK ? rc : SL_ERR_FORMAT;
	rc = sl_codec_decode(kind, (const uint8_t *)frame + SL_FRAME_HEADER_BYTES,
			     size - SL_FRAME_HEADER_BYTES, &decoded, &why);
	if (rc != SL_OK)
		return rc;
	const struct sl_message *m = &decoded.message;
	bool other_run =
		kind == SL_MSG_HELLO && memcmp(m->hello.run, c->host.config.scope.run, SL_RUN_BYTES) != 0;
	if (sl_core_wants(c->host.core, m))
		rc = other_run ? SL_ERR_CRYPTO : check_signature(c, m, now);
	else
		rc = SL_PENDING;
	if (rc == SL_OK) {
		struct sl_packet *packet = sl_packet_copy(m);
		struct sl_event event = sl_packet_event(packet, peer);
		rc = step(c, &event, now);
		sl_packet_drop(packet);
	}
	sl_codec_close(&decoded);
	return rc == SL_PENDING ? SL_OK : rc;
}

/* --- life --- */

static void random_bytes(void *context, uint8_t *bytes, size_t n)
{
	(void)context;
	randombytes_buf(bytes, n);
}

/* Write the hash of the members and of the options that all learners share: with others, a core has another
 * roster. */
static void hash_roster(const struct starling_core_options *o, const struct sl_parameters *p,
			uint8_t hash[static SL_HASH_BYTES])
{
	const uint64_t shared[] = {p->rounds, p->quorum, p->tolerance, p->max_weight, o->learners};
	crypto_generichash_state state;
	crypto_generichash_init(&state, NULL, 0, SL_HASH_BYTES);
	crypto_generichash_update(&state, (const uint8_t *)shared, sizeof shared);
	crypto_generichash_update(&state, (const uint8_t *)o->members, o->learners * sizeof *o->members);
	crypto_generichash_final(&state, hash, SL_HASH_BYTES);
}

static struct sl_core_config configure(const struct starling_core_options *o)
{
	const double range = 1;
	struct sl_core_config config = {.self = o->self,
					.roster_size = o->learners,
					.straggler_timeout_ms = 60000,
					.stall_timeout_ms = 10000,
					.serve_after_end_ms = 30000,
					.relay_ms = RELAY_MS,
					.reuse = true};
	config.parameters = (struct sl_parameters){
		.n = o->elements,
		.rounds = o->rounds,
		.quorum = o->quorum != 0 ? o->quorum : sl_view_quorum_least(o->learners, 0),
		.tolerance = o->tolerance != 0 ? o->tolerance : 1,
		.max_weight = o->max_weight != 0 ? o->max_weight : 1,
		.encoding = SL_ENCODING_WEIGHTED,
		.sharing = SL_SHARING_SEEDED,
		.mixing = SL_ENGINE_AUTO,
		.max_degree = 16,
		.privacy_check = 1,
		.values = SL_VALUES_EXACT};
	memcpy(&config.parameters.clipping_range, &range, sizeof range);
	memcpy(config.key, o->members[o->self].key, SL_KEY_BYTES);
	sl_canonical_run(o->run, config.scope.run);
	hash_roster(o, &config.parameters, config.scope.roster);
	return config;
}

static bool is_valid(const struct starling_core_options *o)
{
	bool good = o->learners >= 3 && o->learners <= SL_LEARNERS_MAX && o->self < o->learners &&
		    o->elements >= 1 && o->elements < SL_ELEMENTS_MAX && o->rounds >= 1 &&
		    o->rounds <= SL_ROUNDS_MAX && o->quorum <= o->learners && o->tolerance <= o->learners - 2;
	for (uint32_t i = 0; good && i < o->learners; i++)
		good = o->members[i].id > (i > 0 ? o->members[i - 1].id : 0);
	return good;
}

struct starling_core *starling_core_open(const struct starling_core_options *options,
					 const struct starling_core_duties *duties, void *context)
{
	if (sodium_init() < 0 || !is_valid(options))
		return NULL;
	struct starling_core *c = sl_heap_zeroed(1, sizeof *c);
	struct sl_core_config config = configure(options);
	if (c == NULL || sl_hosted_open(&c->host, &config, NULL, 0) != SL_OK)
		abort();
	c->ids = sl_heap_zeroed(options->learners, sizeof *c->ids);
	c->wanted = sl_heap_zeroed(options->learners, 1);
	if (c->ids == NULL || c->wanted == NULL)
		abort();
	for (uint32_t i = 0; i < options->learners; i++)
		c->ids[i] = options->members[i].id;
	c->host.config.ids = c->ids;
	c->host.disk.reuse = true;
	c->host.workspace.source = random_bytes;
	c->members = options->members;
	c->secret = options->secret;
	c->duties = duties;
	c->context = context;
	c->written_end = &c->written;
	return c;
}

int starling_core_restore(struct starling_core *c, const void *record, size_t size)
{
	return c->started ? SL_ERR_INVALID : sl_log_read(&c->host, record, size);
}

int starling_core_start(struct starling_core *c)
{
	if (c->started)
		return SL_ERR_INVALID;
	c->host.config.incarnation++;
	c->used_up = c->host.disk.reuse ? 0 : c->host.disk.certificate.t + 1;
	sl_host_disk_read(&c->host.disk, &c->host.config);
	if (sl_hosted_start(&c->host) != SL_OK)
		abort();
	struct sl_work *work = sl_heap_zeroed(1, sizeof *work);
	if (work == NULL)
		abort();
	work->kind = SL_WORK_PERSIST;
	c->started = c->busy = true;
	put(c, work);
	c->busy = false;
	return SL_OK;
}

void starling_core_close(struct starling_core *c)
{
	if (c == NULL)
		return;
	struct sl_workspace *w = &c->host.workspace;
	if (c->job.work != NULL) {
		c->job.work->next = c->host.work;
		c->host.work = c->job.work;
	}
	if (c->host.core != NULL && !c->host.stopped)
		give_back(sl_core_held(c->host.core));
	sl_packet_forget_work(&c->host);
	while (c->written != NULL) {
		struct sl_work *work = c->written;
		c->written = work->next;
		sl_hosted_done(work);
	}
	if (c->host.core != NULL)
		sodium_memzero(c->host.arena, c->host.arena_bytes);
	sl_job_wipe(w);
	sodium_memzero(w->trained, sl_workspace_model_bytes(w));
	if (w->scratch.base != NULL)
		sodium_memzero(w->scratch.base, w->scratch.size);
	sl_hosted_close(&c->host);
	sl_heap_give(c->ids);
	sl_heap_give(c->wanted);
	sl_heap_give(c);
}

int starling_core_keys(unsigned char *key, unsigned char *secret)
{
	return sodium_init() < 0 || crypto_sign_keypair(key, secret) != 0 ? SL_ERR_CRYPTO : SL_OK;
}

const char *starling_core_error(int code)
{
	return sl_err_text(code);
}
