/* Building, and the clock. */
#include "test/core/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/bytes.h"
#include "common/math/generate.h"
#include "test/core/check.h"

#define SPINS_MAX 1000u

uint64_t sim_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t sim_delay(struct sim *sim, uint32_t ms_max)
{
	uint64_t most = (uint64_t)ms_max * 1000;
	return 1 + sim_random(&sim->random) % (most + 1);
}

void sim_fail(struct sim *sim, const char *format, ...)
{
	char text[4096];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	fail_msg("seed %llu, %llu ms, after step \"%s\": %s", (unsigned long long)sim->options.seed,
		 (unsigned long long)(sim->now / 1000), sim->trace.text, text);
	abort(); /* not reached: fail_msg jumps */
}

struct sim_link *sim_link(const struct sim *sim, uint32_t i, uint32_t j)
{
	return &sim->links[(size_t)i * sim->n + j];
}

/* --- the queue of what is going to happen: a binary heap by time, then by order of posting --- */

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

void sim_post(struct sim *sim, uint64_t at, struct sim_event event)
{
	if (sim->heap_count == sim->heap_room) {
		sim->heap_room = sim->heap_room * 2 + 64;
		sim->heap = realloc(sim->heap, sim->heap_room * sizeof *sim->heap);
	}
	event.at = at;
	event.seq = sim->seq++;
	event.life = sim->learners[event.learner].life;
	size_t k = sim->heap_count++;
	for (; k > 0 && before(&event, &sim->heap[(k - 1) / 2]); k = (k - 1) / 2)
		sim->heap[k] = sim->heap[(k - 1) / 2];
	sim->heap[k] = event;
}

static struct sim_event pop(struct sim *sim)
{
	struct sim_event top = sim->heap[0], last = sim->heap[--sim->heap_count];
	size_t k = 0;
	for (;;) {
		size_t child = 2 * k + 1;
		if (child + 1 < sim->heap_count && before(&sim->heap[child + 1], &sim->heap[child]))
			child++;
		if (child >= sim->heap_count || !before(&sim->heap[child], &last))
			break;
		sim->heap[k] = sim->heap[child];
		k = child;
	}
	sim->heap[k] = last;
	return top;
}

void sim_event_free(struct sim_event *event)
{
	sim_mail_free(event->mail);
	free(event->range);
}

/* --- building --- */

static void set_defaults(struct sim *sim)
{
	struct sim_options *o = &sim->options;
	struct sl_parameters *p = &o->parameters;
	double clip = o->clip != 0 ? o->clip : 16.0;
	memcpy(&p->clip, &clip, sizeof clip);
	p->n = p->n != 0 ? p->n : 8;
	p->rounds = p->rounds != 0 ? p->rounds : 1;
	p->quorum = p->quorum != 0 ? p->quorum : o->learners / 2 + 1;
	p->sigma = p->sigma != 0 ? p->sigma : 4;
	p->max_weight = p->max_weight != 0 ? p->max_weight : 1;
	p->tolerance = p->tolerance != 0 ? p->tolerance : 1;
	p->degree_max = p->degree_max != 0 ? p->degree_max : 16;
	o->delay_ms = o->delay_ms != 0 ? o->delay_ms : 20;
}

static void random_bytes(void *context, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)sim_random(context);
}

static void build_learner(struct sim *sim, uint32_t i)
{
	struct sim_learner *l = &sim->learners[i];
	const struct sl_parameters *p = &sim->options.parameters;
	l->config = (struct sl_core_config){.self = i,
					    .roster_size = sim->n,
					    .ids = sim->ids,
					    .parameters = *p,
					    .incarnation = 1,
					    .told = sim->options.radio,
					    .gate_warn = true,
					    .straggler_ms = 60000,
					    .silent_ms = 2000,
					    .flood_ms = 10000,
					    .ready_ms = 60000,
					    .stall_ms = 10000,
					    .settle_ms = 10000,
					    .linger_ms = 30000};
	l->random = sim->options.seed * 1000003u + i;
	l->work_end = &l->work;
	l->wanted = calloc(sl_bits_words(sim->n), sizeof *l->wanted);
	l->burned = calloc(1024, sizeof *l->burned);
	l->listed = calloc(1, sizeof *l->listed);
	l->named = calloc(sl_bits_words(sim->n), sizeof *l->named);
	l->signed_a = calloc(p->rounds + 2, sizeof *l->signed_a);
	l->ready_a = calloc(p->rounds + 2, sizeof *l->ready_a);
	l->vault = (struct sl_vault){.n = p->n,
				     .weight = 1 + sim_random(&sim->random) % p->max_weight,
				     .source = random_bytes,
				     .source_context = &l->random,
				     .trained = calloc(p->n, sizeof(float)),
				     .committed = calloc(p->n, sizeof(float)),
				     .x = calloc(p->n + 1, sizeof(uint64_t)),
				     .s = calloc(p->n + 1, sizeof(uint64_t))};
}

static size_t edges_of(struct sim *sim, const char *text, uint32_t step, struct sl_edge *edges, size_t room)
{
	static uint8_t memory[1 << 20];
	struct sl_arena arena;
	struct sl_topology topology;
	const char *error = NULL;
	size_t count = 0;
	sl_arena_init(&arena, memory, sizeof memory);
	if (sl_topology_parse(text, sim->n, &topology, &error) != SL_OK ||
	    sl_generate(&topology, sim->n, sim->options.seed, step, edges, room, &count, &arena) != SL_OK)
		sim_fail(sim, "no %s graph on %u vertices: %s", text, sim->n, error != NULL ? error : "?");
	return count;
}

static void make_possible(struct sim *sim, const struct sl_edge *edges, size_t count)
{
	for (size_t e = 0; e < count; e++) {
		sim_link(sim, edges[e].a, edges[e].b)->possible = true;
		sim_link(sim, edges[e].b, edges[e].a)->possible = true;
	}
}

static void build_links(struct sim *sim)
{
	size_t room = (size_t)sim->n * sim->n;
	struct sl_edge *edges = calloc(room, sizeof *edges);
	sim->links = calloc(room, sizeof *sim->links);
	const char *text = sim->options.topology;
	if (sim->options.edges != NULL)
		make_possible(sim, sim->options.edges, sim->options.edge_count);
	else
		make_possible(sim, edges,
			      edges_of(sim, text == NULL || sim->options.radio ? "complete" : text, 0, edges, room));
	free(edges);
}

struct sim *sim_new(const struct sim_options *options)
{
	struct sim *sim = calloc(1, sizeof *sim);
	sim->options = *options;
	sim->n = options->learners;
	sim->random = options->seed;
	set_defaults(sim);
	sim->ids = calloc(sim->n, sizeof *sim->ids);
	sim->learners = calloc(sim->n, sizeof *sim->learners);
	sim->digests = calloc(sim->options.parameters.rounds + 2, sizeof *sim->digests);
	sim->models = calloc(sim->options.parameters.rounds + 2, sizeof *sim->models);
	for (uint32_t i = 0; i < sim->n; i++)
		sim->ids[i] = 3 * i + 2;
	sim->trace.ids = sim->ids;
	sim->trace.count = sim->n;
	sim->verbose = getenv("SIM_VERBOSE") != NULL;
	for (uint32_t i = 0; i < sim->n; i++)
		build_learner(sim, i);
	build_links(sim);
	return sim;
}

static void start_learner(struct sim *sim, uint32_t i)
{
	struct sim_learner *l = &sim->learners[i];
	size_t bytes = sl_core_bytes(&l->config);
	struct sl_arena arena;
	l->arena = malloc(bytes);
	sl_arena_init(&arena, l->arena, bytes);
	l->core = sl_core_init(&l->config, &arena);
	l->vault.scope = l->config.scope;
	l->committed = l->config.committed;
	l->due = SL_NEVER;
	if (l->core == NULL)
		sim_fail(sim, "the arena is too small");
	sim_post(sim, sim->now + sim_delay(sim, 100), (struct sim_event){.kind = SIM_START, .learner = i});
}

void sim_start(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->n; i++)
		if (!sim->learners[i].stopped)
			start_learner(sim, i);
	if (sim->options.radio)
		sim_radio(sim, sim->options.topology != NULL ? sim->options.topology : "complete", 0);
}

void sim_crash(struct sim *sim, uint32_t i)
{
	struct sim_learner *l = &sim->learners[i];
	l->stopped = true;
	sim_halt(sim, i);
	sim_unlink(sim, i);
	check_crashed(sim, i);
	l->life++;
	l->view = NULL;
	l->config.incarnation++;
	l->config.committed = l->committed;
	memcpy(l->config.previous, l->proof.digest, SL_HASH_BYTES);
	l->config.proof = l->committed > 0 ? &l->proof : NULL;
}

void sim_restart(struct sim *sim, uint32_t i)
{
	struct sim_learner *l = &sim->learners[i];
	free(l->arena);
	l->stopped = false;
	l->code = 0;
	l->work_at = 0;
	memset(l->wanted, 0, sl_bits_words(sim->n) * sizeof *l->wanted);
	start_learner(sim, i);
}

static void free_learner(struct sim *sim, uint32_t i)
{
	struct sim_learner *l = &sim->learners[i];
	l->stopped = true;
	sim_halt(sim, i);
	void *owned[] = {l->arena,   l->scratch,       l->vault.trained, l->vault.committed, l->vault.x,
			 l->vault.s, l->wanted, l->burned,	  l->result, l->listed,	l->named,
			 l->signed_a, l->ready_a};
	for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
		free(owned[k]);
}

void sim_free(struct sim *sim)
{
	for (uint32_t i = 0; i < sim->n; i++)
		free_learner(sim, i);
	while (sim->heap_count > 0)
		sim_event_free(&sim->heap[--sim->heap_count]);
	for (size_t k = 0; k < (size_t)sim->n * sim->n; k++) {
		for (uint32_t m = 0; m < sim->links[k].kept_count; m++)
			sim_mail_free(sim->links[k].kept[m]);
		free(sim->links[k].kept);
	}
	for (sl_round t = 0; t < sim->options.parameters.rounds + 2; t++)
		free(sim->models[t]);
	check_free(sim);
	void *owned[] = {sim->heap, sim->notes, sim->links, sim->learners, sim->ids, sim->digests, sim->models, sim};
	for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
		free(owned[k]);
}

/* --- the clock --- */

/* States are most of what happens, and least of what is worth a line. */
static bool dull(const struct sl_event *event)
{
	return (event->kind == SL_EVENT_MESSAGE && event->message->kind == SL_MSG_STATE) ||
	       (event->kind == SL_EVENT_COMPUTED && event->result->kind == SL_JOB_MIX);
}

void sim_deliver(struct sim *sim, uint32_t i, struct sl_event *event)
{
	struct sim_learner *l = &sim->learners[i];
	bool traced = sim->verbose || !dull(event);
	event->now = sim->now / 1000;
	if (traced)
		trace_cause(&sim->trace, event);
	int rc = sl_core_step(l->core, event, &sim->actions);
	if (rc != SL_OK) {
		if (sim->actions.count != 0)
			sim_fail(sim, "learner %u: actions of a step that was refused", i);
		sim_take_back(sim, i, event->buffer);
		return;
	}
	l->due = sl_core_deadline(l->core);
	sim->steps++;
	if (traced)
		trace_effects(&sim->trace, &sim->actions);
	if (sim->verbose)
		fprintf(stderr, "%8llu [%u] %s\n", (unsigned long long)(sim->now / 1000), sim->ids[i], sim->trace.text);
	sim_carry(sim, i, &sim->actions);
	check_step(sim, i, &sim->actions);
}

static void happen(struct sim *sim, struct sim_event *event)
{
	struct sim_learner *l = &sim->learners[event->learner];
	struct sl_event e = {.peer = event->peer, .range = event->range};
	if (event->life != l->life)
		return;
	switch (event->kind) {
	case SIM_START:
		e.kind = SL_EVENT_START;
		break;
	case SIM_LINK_UP:
	case SIM_LINK_DOWN:
		e.kind = event->kind == SIM_LINK_UP ? SL_EVENT_LINK_UP : SL_EVENT_LINK_DOWN;
		break;
	case SIM_DIAL:
		sim_dial(sim, event->learner, event->peer);
		return;
	case SIM_MAIL:
		sim_mail_arrives(sim, event);
		return;
	case SIM_TRAINED:
		sim_train_done(sim, event->learner, event->generation);
		return;
	case SIM_WORK:
		sim_work_due(sim, event->learner);
		return;
	case SIM_RANGE:
		e.kind = SL_EVENT_RANGE;
		break;
	}
	if (!l->stopped)
		sim_deliver(sim, event->learner, &e);
}

/* Whose deadline is next, and when (us). A core that asks again and again for the same moment spins. */
static uint64_t next_deadline(struct sim *sim, uint32_t *who)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < sim->n; i++) {
		const struct sim_learner *l = &sim->learners[i];
		if (l->core == NULL || l->stopped || l->due == SL_NEVER || l->due * 1000 >= least)
			continue;
		least = l->due * 1000;
		*who = i;
	}
	return least != UINT64_MAX && least < sim->now ? sim->now : least;
}

static void deadline(struct sim *sim, uint32_t i)
{
	struct sim_learner *l = &sim->learners[i];
	l->spins = l->spin_at == sim->now ? l->spins + 1 : 0;
	l->spin_at = sim->now;
	if (l->spins > SPINS_MAX)
		sim_fail(sim, "learner %u spins on its deadline", i);
	sim_deliver(sim, i, &(struct sl_event){.kind = SL_EVENT_DEADLINE});
}

uint64_t sim_next(struct sim *sim)
{
	uint32_t who = 0;
	uint64_t due = next_deadline(sim, &who);
	return sim->heap_count > 0 && sim->heap[0].at < due ? sim->heap[0].at : due;
}

bool sim_step(struct sim *sim)
{
	uint32_t who = 0;
	uint64_t due = next_deadline(sim, &who);
	if (sim->heap_count == 0 && due == UINT64_MAX)
		return false;
	if (sim->heap_count == 0 || due < sim->heap[0].at) {
		sim->now = due;
		deadline(sim, who);
		return true;
	}
	struct sim_event event = pop(sim);
	sim->now = event.at;
	happen(sim, &event);
	sim_event_free(&event);
	return true;
}
