#include "test/explorer/explore_learner.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/core/execute.h"
#include "tools/host/heap.h"
#include "tools/host/packet.h"
#include "test/explorer/trace.h"
#include "test/explorer/packed.h"

#define BLOCK 256u
#define HEAP ((size_t)1 << 20)
#define MAIL ((size_t)1 << 16)
#define SENT_MOST 1024u

/* What is copied as a whole: up to heap.used. */
struct learner {
	struct sl_hosted host;
	uint32_t self, starts;
	sl_ms clock;
	bool down;
	int code;
	uint32_t past_count;
	struct sl_explore_record past[SL_EXPLORE_PAST];
	_Alignas(64) uint8_t heap[];
};

struct sl_explore_stage {
	struct learner *learner; /* of HEAP bytes of heap */
	struct sl_heap *mail;
	uint32_t *loaded; /* blocks of the learner that was loaded or saved last */
	uint32_t loaded_count, loaded_number;
	/* of the present step: */
	uint32_t sent[2 * SENT_MOST], sent_count;
	uint32_t records, crash_at;
	bool crash;
	const char *broken;
	struct sl_actions actions;
	struct sl_sim_trace trace;
};

static struct sl_heap *heap_of(struct learner *l)
{
	return (struct sl_heap *)l->heap;
}

/* --- a learner and its number --- */

static void load(struct sl_explore_learners *x, uint32_t number)
{
	struct sl_explore_stage *g = x->stage;
	size_t bytes;
	const uint32_t *ids = sl_explore_store_get(&x->learners, number, &bytes);
	uint32_t count = (uint32_t)(bytes / sizeof *ids);
	for (uint32_t k = 0; k < count; k++)
		if (k >= g->loaded_count || g->loaded[k] != ids[k])
			memcpy((uint8_t *)g->learner + k * BLOCK,
			       sl_explore_store_get(&x->blocks, ids[k], NULL), BLOCK);
	for (uint32_t k = count; k < g->loaded_count; k++)
		memset((uint8_t *)g->learner + k * BLOCK, 0, BLOCK);
	memcpy(g->loaded, ids, bytes);
	g->loaded_count = count;
	g->loaded_number = number;
}

static void look(struct sl_explore_learners *x, struct sl_explore_look *out)
{
	struct learner *l = x->stage->learner;
	struct sl_core_status status;
	*out = (struct sl_explore_look){.actor = l->self,
					.past_count = l->past_count,
					.down = l->down,
					.stopped = l->host.stopped,
					.code = l->code,
					.wait = SL_NEVER,
					.committed = l->host.committed,
					.broken = x->stage->broken};
	out->past = sl_explore_store_get(
		&x->lists, sl_explore_store_put(&x->lists, l->past, l->past_count * sizeof *l->past), NULL);
	for (uint32_t k = 0; k < l->past_count; k++)
		if (l->past[k].kind == SL_PERSIST_COMMIT)
			out->digest = l->past[k].digest;
	if (l->down || l->host.stopped)
		return;
	sl_core_status(l->host.core, &status);
	sl_ms due = sl_core_deadline(l->host.core);
	out->phase = status.phase;
	out->wait = due == SL_NEVER ? SL_NEVER : due > l->clock ? due - l->clock : 0;
}

static uint32_t save(struct sl_explore_learners *x)
{
	struct sl_explore_stage *g = x->stage;
	size_t used = offsetof(struct learner, heap) + heap_of(g->learner)->used;
	uint32_t count = (uint32_t)((used + BLOCK - 1) / BLOCK);
	for (uint32_t k = 0; k < count; k++) {
		const uint8_t *at = (const uint8_t *)g->learner + k * BLOCK;
		if (k >= g->loaded_count ||
		    memcmp(at, sl_explore_store_get(&x->blocks, g->loaded[k], NULL), BLOCK) != 0)
			g->loaded[k] = sl_explore_store_put(&x->blocks, at, BLOCK);
	}
	g->loaded_count = count;
	uint32_t known = x->learners.count;
	uint32_t number = sl_explore_store_put(&x->learners, g->loaded, count * sizeof *g->loaded);
	g->loaded_number = number;
	if (number == known) {
		if (number >= x->looks_room) {
			x->looks_room = 2 * x->looks_room + 1024;
			x->looks = reallocarray(x->looks, x->looks_room, sizeof *x->looks);
			if (x->looks == NULL)
				abort();
		}
		look(x, &x->looks[number]);
	}
	return number;
}

/* --- actions --- */

static void __attribute__((noinline)) clear_stack(void)
{
	volatile uint8_t room[1 << 15]; /* so that bytes between the members of structs are always zeros */
	for (size_t k = 0; k < sizeof room; k++)
		room[k] = 0;
}

static const struct sl_explore_record *past(const struct learner *l, uint32_t kind, uint64_t view)
{
	for (uint32_t k = 0; k < l->past_count; k++)
		if (l->past[k].kind == kind && l->past[k].view == view)
			return &l->past[k];
	return NULL;
}

static uint64_t word(const uint8_t *hash)
{
	uint64_t w;
	memcpy(&w, hash, sizeof w);
	return w;
}

/* Return the view of which the message reveals the sender's masked state, its deposit key or a key share that
 * it holds; NULL: none. */
static const uint8_t *revealed(const struct sl_message *m, sl_id self)
{
	if (m->kind == SL_MSG_STATE)
		return m->chunk.view;
	if (m->kind == SL_MSG_KEY && m->key.origin == self)
		return m->key.view;
	return m->kind == SL_MSG_OPENING && m->opening.holder == self ? m->opening.view : NULL;
}

/* Pack the message at the one address where every packet lies while it is between learners. */
static void post(struct sl_explore_learners *x, uint32_t to, const struct sl_message *message,
		 const struct sl_payload *payload)
{
	struct sl_explore_stage *g = x->stage;
	struct sl_heap *before = sl_heap_use(g->mail);
	memset(g->mail, 0, g->mail->used);
	sl_heap_init(g->mail, MAIL);
	sl_packet_new(&g->learner->host, message, payload);
	sl_heap_use(before);
	if (g->sent_count == SENT_MOST)
		abort();
	g->sent[2 * g->sent_count] = to;
	g->sent[2 * g->sent_count++ + 1] = sl_explore_store_put(&x->messages, g->mail, g->mail->used);
}

static void send(void *shell, const struct sl_action *action)
{
	struct sl_explore_learners *x = shell;
	struct learner *l = x->stage->learner;
	struct sl_message message = action->send.message;
	struct sl_payload payload = action->send.payload;
	if (action->send.own)
		sl_packet_tag(&l->host.config.scope, &message);
	const uint8_t *view = revealed(&message, x->ids[l->self]);
	if (view != NULL && l->past_count < SL_EXPLORE_PAST &&
	    past(l, SL_PERSIST_RELEASED, word(view)) == NULL)
		x->stage->broken = "a key or a key share leaves before the release is durable";
	for (uint32_t j = 0; j < x->roster; j++) {
		if (!sl_bit(action->send.to, j))
			continue;
		if (sl_source_by_neighbour(payload.source))
			payload.row = (uint32_t)sl_view_neighbour(l->host.view, j);
		post(x, j, &message, &payload);
	}
}

static void ask(void *shell, const struct sl_action *action)
{
	struct sl_explore_learners *x = shell;
	sl_hosted_ask(&x->stage->learner->host, action, true);
}

static void stop(void *shell, const struct sl_action *action)
{
	struct sl_explore_learners *x = shell;
	x->stage->learner->host.stopped = true;
	x->stage->learner->code = action->code;
}

static void tell(void *shell, const struct sl_event *event, int code)
{
	struct sl_explore_learners *x = shell;
	struct sl_explore_stage *g = x->stage;
	if (code != SL_OK || x->lines == NULL || event->kind == SL_EVENT_COMPUTED)
		return;
	sl_sim_trace_cause(&g->trace, event);
	sl_sim_trace_effects(&g->trace, &g->actions);
	fprintf(x->lines, "    %u: %s\n", x->ids[g->learner->self], g->trace.text);
}

static void core_step(struct sl_explore_learners *x, struct sl_event *event)
{
	static const struct sl_duties duties = {.of = {[SL_ACTION_COMPUTE] = ask,
						       [SL_ACTION_PERSIST] = ask,
						       [SL_ACTION_WIPE] = ask,
						       [SL_ACTION_SEND] = send,
						       [SL_ACTION_TRAIN] = ask,
						       [SL_ACTION_DROP] = sl_packet_drop_action,
						       [SL_ACTION_STOP] = stop},
						.stepped = tell};
	event->now = x->stage->learner->clock;
	clear_stack();
	sl_core_run(x->stage->learner->host.core, event, &x->stage->actions, &duties, x);
}

/* --- work --- */

/* Models are multiples of it: with noise, of what all noise together does not reach, 13 of its sigmas. */
static float unit_of(const struct learner *l)
{
	return sl_values_are_noisy(l->host.config.parameters.values) ? 256 : 1;
}

/* The committed mean of the learners 0 .. R-1, whose models are 1, 2, 4, .. units, or as much above the
 * initial one, 1: so the sum tells whose encodings are in it. */
static void check_sum(struct sl_explore_learners *x, uint64_t weight)
{
	const struct learner *l = x->stage->learner;
	float mean = *(const float *)l->host.workspace.committed - (l->host.initial != NULL ? 1 : 0);
	double sum = (double)mean / (double)unit_of(l) * (double)weight, off = unit_of(l) > 1 ? 0.5 : 1e-3;
	uint64_t members = (uint64_t)llround(sum);
	if (!(fabs(sum - (double)members) < off) || members >= UINT64_C(1) << x->roster ||
	    (uint64_t)__builtin_popcountll(members) != weight)
		x->stage->broken = "a committed sum is not that of the encodings of a set of learners";
}

/* Note the record in the past, and check what needs no other learner. */
static void note(struct sl_explore_learners *x, const struct sl_persist *record)
{
	struct sl_explore_stage *g = x->stage;
	struct learner *l = g->learner;
	struct sl_explore_record r = {.kind = record->what.kind, .a = record->what.a};
	bool forgot = false;
	for (uint32_t k = 0; k < record->ready_count; k++)
		for (uint32_t i = 0; i < x->roster; i++)
			r.members |= (uint32_t)(x->ids[i] == record->readys[k].id) << i;
	if (record->ready_count > 0)
		r.view = word(record->readys[0].view);
	if (r.kind == SL_PERSIST_PREPARED)
		r.model = l->starts << 16 | (uint32_t)record->draw;
	if (r.kind == SL_PERSIST_COMMIT) {
		r.view = word(record->certificate->view);
		r.digest = word(record->certificate->digest);
		if (!x->lies)
			check_sum(x, record->certificate->round->total);
	}
	for (uint32_t k = 0; k < l->past_count; k++)
		forgot |= l->past[k].kind == SL_EXPLORE_FORGOTTEN;
	for (uint32_t k = 0; k < l->past_count; k++) {
		if (r.kind == SL_PERSIST_RELEASED && !forgot && l->past[k].kind == SL_PERSIST_ABORTED &&
		    l->past[k].a >= r.a)
			g->broken = "a learner releases an attempt that it has aborted";
	}
	if (x->remember)
		r.before = g->loaded_number;
	if (l->past_count < SL_EXPLORE_PAST)
		l->past[l->past_count++] = r;
}

static void train(struct learner *l)
{
	float model = unit_of(l) * (float)(1u << l->self);
	*(float *)l->host.workspace.trained = model + (float)(l->host.initial != NULL);
}

static void work(struct sl_explore_learners *x)
{
	struct sl_explore_stage *g = x->stage;
	struct learner *l = g->learner;
	while (l->host.work != NULL && !l->host.stopped && !g->crash) {
		struct sl_work *work = sl_hosted_take(&l->host);
		struct sl_event event;
		if (work->kind == SL_WORK_PERSIST) {
			note(x, &work->record);
			g->crash = ++g->records == g->crash_at;
		}
		if (work->kind == SL_WORK_TRAIN)
			train(l);
		sl_hosted_run(&l->host, work);
		if (work->kind == SL_WORK_JOB)
			sl_packet_give_back(work->job.buffers);
		if (sl_hosted_event(&l->host, work, &event) && !g->crash)
			core_step(x, &event);
		sl_hosted_done(work);
	}
}

/* Hand in an event, do all the work, and heed the deadlines that are due. */
static void happen(struct sl_explore_learners *x, struct sl_event event)
{
	struct sl_explore_stage *g = x->stage;
	struct learner *l = g->learner;
	core_step(x, &event);
	work(x);
	for (uint32_t k = 0;
	     k < 100 && !g->crash && !l->host.stopped && sl_core_deadline(l->host.core) <= l->clock; k++) {
		core_step(x, &(struct sl_event){.kind = SL_EVENT_DEADLINE});
		work(x);
	}
}

/* --- lives --- */

static void end_life(struct learner *l)
{
	sl_packet_forget_work(&l->host);
	if (!l->host.stopped && l->host.core != NULL)
		sl_packet_give_back(sl_core_held(l->host.core));
	sl_heap_give(l->host.arena);
	l->host.arena = NULL;
	l->host.core = NULL;
	l->host.view = NULL;
	l->host.config.open = NULL;
	l->host.config.certificate = NULL;
	struct sl_workspace *w = &l->host.workspace;
	sl_heap_give(w->s);
	sl_heap_give(w->second);
	w->s = NULL;
	w->second = NULL;
	w->s_bytes = w->second_elements = 0;
	sl_heap_give(w->scratch.base);
	w->scratch = (struct sl_arena){.base = NULL};
	memset(&w->analysis, 0, sizeof w->analysis);
	l->down = true;
}

static void restart(struct sl_explore_learners *x)
{
	struct learner *l = x->stage->learner;
	l->down = l->host.stopped = false;
	l->starts++;
	l->host.random = (uint64_t)l->self << 32 | l->starts; /* randomness never repeats */
	l->host.config.incarnation++;
	sl_host_disk_read(&l->host.disk, &l->host.config);
	if (sl_hosted_start(&l->host) != SL_OK)
		abort();
	happen(x, (struct sl_event){.kind = SL_EVENT_START});
}

/* Make the learner on the stage a new one. */
static void create(struct sl_explore_learners *x, uint32_t i)
{
	struct learner *l = x->stage->learner;
	memset(l, 0, sizeof *l + heap_of(l)->used);
	sl_heap_init(heap_of(l), HEAP);
	sl_heap_use(heap_of(l));
	struct sl_core_config config = x->config;
	config.self = i;
	config.ids = x->ids;
	config.roster_size = x->roster;
	config.incarnation = 0;
	if (sl_hosted_open(&l->host, &config, NULL, 0) != SL_OK)
		abort();
	if (config.parameters.values == SL_VALUES_UPDATE ||
	    config.parameters.values == SL_VALUES_NOISY_UPDATE) {
		l->host.initial = sl_heap_zeroed(1, l->host.config.model_bytes);
		*(float *)l->host.initial = 1;
	}
	l->self = i;
}

/* Restart from the disk of another number of this learner, or (empty) from none; the past goes on. */
static void forget(struct sl_explore_learners *x, uint32_t number, bool empty)
{
	struct sl_explore_stage *g = x->stage;
	struct learner was = *g->learner;
	if (empty) {
		create(x, was.self);
	} else {
		load(x, number);
		sl_heap_use(heap_of(g->learner));
		end_life(g->learner);
	}
	memcpy(g->learner->past, was.past, sizeof was.past);
	g->learner->past_count = was.past_count;
	if (was.past_count < SL_EXPLORE_PAST)
		g->learner->past[g->learner->past_count++] =
			(struct sl_explore_record){.kind = SL_EXPLORE_FORGOTTEN};
	g->learner->starts = was.starts;
	g->learner->clock = was.clock;
	restart(x);
}

/* --- operations --- */

static void deliver(struct sl_explore_learners *x, const struct sl_explore_step *s)
{
	struct sl_explore_stage *g = x->stage;
	size_t bytes;
	const void *from = sl_explore_store_get(&x->messages, s->what, &bytes);
	memcpy(g->mail, from, bytes);
	const struct sl_packet *mail = (const struct sl_packet *)((uint8_t *)g->mail + 128);
	struct sl_packet *packet = sl_packet_copy(&mail->message);
	if (packet->message.kind >= SL_MSG_SHARE && s->corrupt)
		packet->bytes[0] ^= 1;
	happen(x, sl_packet_event(packet, s->peer));
	sl_packet_drop(packet);
}

/* Add one unit to the first element of the masked state: another one, with the same shares. */
static void make_twin(const struct sl_hosted *host)
{
	uint32_t bits = host->view->field.bits;
	uint64_t first = (sl_bytes_element(host->workspace.s, 0, bits) + 10000) % host->view->field.p;
	packed_replace(host->workspace.s, 0, bits, first);
}

static void operate(struct sl_explore_learners *x, const struct sl_explore_step *s)
{
	struct learner *l = x->stage->learner;
	switch ((enum sl_explore_operation)s->operation) {
	case SL_EXPLORE_MESSAGE:
		deliver(x, s);
		break;
	case SL_EXPLORE_LINK_UP:
		happen(x, (struct sl_event){.kind = SL_EVENT_LINK_UP, .peer = s->peer});
		break;
	case SL_EXPLORE_LINK_DOWN:
		happen(x, (struct sl_event){.kind = SL_EVENT_LINK_DOWN, .peer = s->peer});
		break;
	case SL_EXPLORE_TIMEOUT:
		l->clock = sl_core_deadline(l->host.core);
		happen(x, (struct sl_event){.kind = SL_EVENT_DEADLINE});
		break;
	case SL_EXPLORE_WAIT:
		l->clock += s->what;
		if (sl_core_deadline(l->host.core) <= l->clock)
			happen(x, (struct sl_event){.kind = SL_EVENT_DEADLINE});
		break;
	case SL_EXPLORE_CRASH:
		end_life(l);
		break;
	case SL_EXPLORE_RESTART:
		restart(x);
		break;
	case SL_EXPLORE_FORGET:
	case SL_EXPLORE_EMPTY:
		forget(x, s->operation == SL_EXPLORE_FORGET ? l->past[s->what].before : 0,
		       s->operation == SL_EXPLORE_EMPTY);
		break;
	case SL_EXPLORE_TWIN:
		if (l->host.view != NULL && l->host.workspace.s != NULL)
			make_twin(&l->host);
		break;
	}
}

static struct sl_explore_outcome run(struct sl_explore_learners *x, const struct sl_explore_step *s)
{
	struct sl_explore_stage *g = x->stage;
	g->sent_count = g->records = 0;
	g->crash_at = s->crash;
	g->crash = false;
	g->broken = NULL;
	load(x, s->learner);
	sl_heap_use(heap_of(g->learner));
	operate(x, s);
	if (g->crash)
		end_life(g->learner);
	sl_heap_use(NULL);
	x->executed++;
	struct sl_explore_outcome outcome = {
		.learner = save(x),
		.sent = sl_explore_store_put(&x->lists, g->sent, 2 * g->sent_count * sizeof *g->sent),
		.records = g->records};
	if (g->broken != NULL)
		x->looks[outcome.learner].broken = g->broken;
	return outcome;
}

struct sl_explore_outcome sl_explore_learners_step(struct sl_explore_learners *x,
						   const struct sl_explore_step *step)
{
	if (x->lines != NULL)
		return run(x, step);
	uint32_t known = x->steps.count;
	uint32_t number = sl_explore_store_put(&x->steps, step, sizeof *step);
	if (number < known)
		return x->outcomes[number];
	if (number >= x->outcomes_room) {
		x->outcomes_room = 2 * x->outcomes_room + 1024;
		x->outcomes = reallocarray(x->outcomes, x->outcomes_room, sizeof *x->outcomes);
		if (x->outcomes == NULL)
			abort();
	}
	return x->outcomes[number] = run(x, step);
}

uint32_t sl_explore_learners_first(struct sl_explore_learners *x, uint32_t i)
{
	struct sl_explore_stage *g = x->stage;
	g->sent_count = g->records = g->crash_at = 0;
	g->crash = false;
	g->broken = NULL;
	create(x, i);
	restart(x);
	sl_heap_use(NULL);
	return save(x);
}

const struct sl_explore_look *sl_explore_learners_look(const struct sl_explore_learners *x, uint32_t number)
{
	return &x->looks[number];
}

void sl_explore_learners_open(struct sl_explore_learners *x, const struct sl_core_config *config,
			      uint32_t roster)
{
	if (sodium_init() < 0)
		abort();
	*x = (struct sl_explore_learners){.config = *config, .roster = roster};
	for (uint32_t i = 0; i < roster; i++)
		x->ids[i] = i + 1;
	struct sl_explore_stage *g = calloc(1, sizeof *g);
	if (g == NULL)
		abort();
	size_t bytes = (sizeof(struct learner) + HEAP + BLOCK - 1) / BLOCK * BLOCK;
	g->learner = aligned_alloc(64, bytes);
	g->mail = aligned_alloc(64, MAIL);
	g->loaded = calloc(bytes / BLOCK + 1, sizeof *g->loaded);
	if (g->learner == NULL || g->mail == NULL || g->loaded == NULL)
		abort();
	memset(g->learner, 0, bytes);
	memset(g->mail, 0, MAIL);
	g->trace.ids = x->ids;
	g->trace.count = roster;
	x->stage = g;
}

void sl_explore_learners_close(struct sl_explore_learners *x)
{
	struct sl_explore_store *stores[] = {&x->blocks, &x->learners, &x->messages, &x->lists, &x->steps};
	for (size_t k = 0; k < sizeof stores / sizeof *stores; k++)
		sl_explore_store_free(stores[k]);
	free(x->looks);
	free(x->outcomes);
	free(x->stage->learner);
	free(x->stage->mail);
	free(x->stage->loaded);
	free(x->stage);
}

size_t sl_explore_learners_bytes(const struct sl_explore_learners *x)
{
	return x->blocks.bytes + x->learners.bytes + x->messages.bytes + x->lists.bytes + x->steps.bytes +
	       x->looks_room * sizeof *x->looks + x->outcomes_room * sizeof *x->outcomes;
}
