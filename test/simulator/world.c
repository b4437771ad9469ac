/* Building, and the clock. */
#include "test/simulator/sim.h"

#include <sodium.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "common/compute/job_model.h"
#include "common/graph/generate.h"
#include "test/simulator/check.h"
#include "test/simulator/forget.h"
#include "tools/host/heap.h"
#include "test/simulator/lie.h"

#define SPINS_MAX 1000u

/* --- building --- */

static void set_defaults(struct sl_sim *sim)
{
	struct sl_sim_options *o = &sim->options;
	struct sl_parameters *p = &o->parameters;
	bool model = p->values == SL_VALUES_MODEL;
	double clipping_range = !model ? 1.0 : o->clipping_range != 0 ? o->clipping_range : 16.0;
	memcpy(&p->clipping_range, &clipping_range, sizeof clipping_range);
	p->n = p->n != 0 ? p->n : 8;
	p->rounds = p->rounds != 0 ? p->rounds : 1;
	p->quorum = p->quorum != 0 ? p->quorum : o->learners / 2 + 1;
	p->decimals = !model ? 0 : p->decimals != 0 ? p->decimals : 4;
	p->update_bits = p->values != SL_VALUES_UPDATE ? 0 : p->update_bits != 0 ? p->update_bits : 12;
	p->max_weight = p->max_weight != 0 ? p->max_weight : 1;
	p->tolerance = p->tolerance != 0 ? p->tolerance : 1;
	p->max_degree = p->max_degree != 0 ? p->max_degree : 16;
	o->delay_ms = o->delay_ms != 0 ? o->delay_ms : 20;
}

/* Give learner i the initial model that all have, or learner 1 one of its own. */
static void set_initial(struct sl_sim *sim, uint32_t i)
{
	struct sl_hosted *host = &sim->learners[i].host;
	bool other = sim->options.initial == SL_SIM_DIFFERENT && i == 1;
	uint64_t random = sim->options.seed + other;
	host->initial = sl_heap_zeroed(1, host->config.model_bytes);
	for (struct sl_tensor_run run = {0};
	     sl_tensors_next(&host->workspace.tensors, host->workspace.n, &run);)
		for (size_t e = 0; e < run.count; e++)
			sl_sim_set_element(&run, host->initial, e,
					   (double)(sl_sim_random(&random) >> 11) * 0x1p-53);
}

static void build_learner(struct sl_sim *sim, uint32_t i)
{
	struct sl_sim_learner *l = &sim->learners[i];
	const struct sl_parameters *p = &sim->options.parameters;
	const struct sl_core_config config = {.self = i,
					      .roster_size = sim->n,
					      .ids = sim->ids,
					      .parameters = *p,
					      .incarnation = 1,
					      .range_by_control = sim->options.playback,
					      .straggler_timeout_ms = 60000,
					      .relay_ms = 500,
					      .stall_timeout_ms = 10000,
					      .serve_after_end_ms = 30000};
	if (sl_hosted_open(&l->host, &config, &sim->options.tensors, sim->options.seed * 1000003u + i) !=
	    SL_OK)
		abort();
	if (sim->options.initial != SL_SIM_ZEROS &&
	    (p->values == SL_VALUES_UPDATE || p->values == SL_VALUES_NOISY_UPDATE))
		set_initial(sim, i);
	for (uint32_t k = 0; k < SL_SIM_LISTED_MAX; k++)
		l->listed[k].named = sl_sim_alloc(sim, sl_bit_words(sim->n), sizeof(uint64_t));
	l->ready_a = sl_sim_alloc(sim, p->rounds + 2, sizeof *l->ready_a);
	l->aborted_a = sl_sim_alloc(sim, p->rounds + 2, sizeof *l->aborted_a);
	l->host.workspace.weight = 1 + sl_sim_random(&sim->random) % p->max_weight;
	if (p->max_weight > 1 && i == 1) /* of one learner: not of all in a view */
		l->host.workspace.weight--;
}

static size_t edges_of(struct sl_sim *sim, const char *text, uint32_t step, struct sl_edge *edges,
		       size_t room)
{
	static uint8_t memory[1 << 20];
	struct sl_arena arena;
	struct sl_family topology;
	const char *error = NULL;
	size_t count = 0;
	sl_arena_init(&arena, memory, sizeof memory);
	if (sl_family_parse(text, sim->n, &topology, &error) != SL_OK ||
	    sl_generate(&topology, sim->n, sim->options.seed, step, edges, room, &count, &arena) != SL_OK)
		sl_sim_fail(sim, "no %s graph on %u vertices: %s", text, sim->n, error != NULL ? error : "?");
	return count;
}

static void make_possible(struct sl_sim *sim, const struct sl_edge *edges, size_t count)
{
	for (size_t e = 0; e < count; e++) {
		sl_sim_link(sim, edges[e].a, edges[e].b)->possible = true;
		sl_sim_link(sim, edges[e].b, edges[e].a)->possible = true;
	}
}

static void build_links(struct sl_sim *sim)
{
	size_t room = (size_t)sim->n * sim->n;
	struct sl_edge *edges = calloc(room, sizeof *edges);
	sim->links = sl_sim_alloc(sim, room, sizeof *sim->links);
	const char *text = sim->options.topology;
	if (sim->options.edges != NULL)
		make_possible(sim, sim->options.edges, sim->options.edge_count);
	else
		make_possible(sim, edges,
			      edges_of(sim, text == NULL || sim->options.playback ? "complete" : text, 0,
				       edges, room));
	free(edges);
}

struct sl_sim *sl_sim_new(const struct sl_sim_options *options)
{
	struct sl_sim *sim = calloc(1, sizeof *sim);
	if (sodium_init() < 0) /* it also picks the code that suits this machine: twice as fast */
		abort();
	sim->options = *options;
	sim->n = options->learners;
	sim->random = options->seed;
	set_defaults(sim);
	sim->ids = sl_sim_alloc(sim, sim->n, sizeof *sim->ids);
	sim->learners = sl_sim_alloc(sim, sim->n, sizeof *sim->learners);
	sim->due = sl_sim_alloc(sim, sim->n, sizeof *sim->due);
	sim->digests = sl_sim_alloc(sim, sim->options.parameters.rounds + 2, sizeof *sim->digests);
	sim->models = sl_sim_alloc(sim, sim->options.parameters.rounds + 2, sizeof *sim->models);
	for (uint32_t i = 0; i < sim->n; i++)
		sim->ids[i] = 3 * i + 2;
	sim->trace.ids = sim->ids;
	sim->trace.count = sim->n;
	sim->lines = getenv("SIM_VERBOSE") != NULL ? stderr : NULL;
	for (uint32_t i = 0; i < sim->n; i++)
		build_learner(sim, i);
	for (uint32_t i = 0; i < sim->n; i++)
		sim->due[i] = UINT64_MAX;
	build_links(sim);
	if (sim->options.signatures)
		sl_sim_signatures_begin(sim);
	return sim;
}

void sl_sim_playback_edges(struct sl_sim *sim, const struct sl_edge *edges, size_t count)
{
	for (uint32_t i = 0; i < sim->n; i++) {
		uint64_t *range = calloc(sl_bit_words(sim->n), sizeof *range);
		for (size_t e = 0; e < count; e++) {
			if (edges[e].a == i)
				sl_bit_set(range, edges[e].b);
			if (edges[e].b == i)
				sl_bit_set(range, edges[e].a);
		}
		sl_sim_post(sim, sim->now + 100000 + sl_sim_delay(sim, 300),
			    (struct sl_sim_event){.event = SL_EVENT_RANGE, .learner = i, .range = range});
	}
}

void sl_sim_playback(struct sl_sim *sim, const char *text, uint32_t step)
{
	size_t room = (size_t)sim->n * sim->n;
	struct sl_edge *edges = calloc(room, sizeof *edges);
	sl_sim_playback_edges(sim, edges, edges_of(sim, text, step, edges, room));
	free(edges);
}

static void start_learner(struct sl_sim *sim, uint32_t i)
{
	struct sl_sim_learner *l = &sim->learners[i];
	sim->due[i] = UINT64_MAX;
	if (sl_hosted_start(&l->host) != SL_OK)
		sl_sim_fail(sim, "the arena is too small");
	sl_sim_post_core(sim, sim->now + sl_sim_delay(sim, 100), SL_EVENT_START, i, 0);
}

void sl_sim_start(struct sl_sim *sim)
{
	for (uint32_t i = 0; i < sim->n; i++)
		if (!sim->learners[i].host.stopped)
			start_learner(sim, i);
	if (sim->options.playback)
		sl_sim_playback(sim, sim->options.topology != NULL ? sim->options.topology : "complete", 0);
}

void sl_sim_restart(struct sl_sim *sim, uint32_t i)
{
	struct sl_sim_learner *l = &sim->learners[i];
	l->host.stopped = l->down = false;
	l->paused_until = 0;
	l->disk_fails = false;
	l->code = 0;
	l->work_at = 0;
	memset(l->host.wanted, 0, sl_bit_words(sim->n) * sizeof *l->host.wanted);
	start_learner(sim, i);
}

static void free_learner(struct sl_sim *sim, uint32_t i)
{
	struct sl_sim_learner *l = &sim->learners[i];
	l->host.stopped = true;
	sl_sim_halt(sim, i);
	sl_hosted_close(&l->host);
	free(l->held);
}

void sl_sim_free(struct sl_sim *sim)
{
	for (uint32_t i = 0; i < sim->n; i++)
		free_learner(sim, i);
	for (size_t k = 0; k < (size_t)sim->n * sim->n; k++) {
		for (uint32_t m = 0; m < sim->links[k].kept_count; m++)
			sl_packet_drop(sim->links[k].kept[m]);
		free(sim->links[k].kept);
	}
	sl_sim_forget_end(sim);
	if (sim->lies != NULL)
		sl_sim_lies_free(sim->lies);
	sl_sim_seen_free(&sim->randomness);
	sl_sim_seen_free(&sim->verdicts);
	free(sim->notes);
	sl_sim_post_end(sim);
	free(sim);
}

/* --- the clock --- */

void sl_sim_pause(struct sl_sim *sim, uint32_t i, uint64_t until)
{
	if (until < sim->learners[i].paused_until)
		return; /* the events that wait for the end of the longer pause keep their order */
	sim->learners[i].paused_until = until;
	if (sim->due[i] < until)
		sim->due[i] = until;
}

static void mail_arrives(struct sl_sim *sim, const struct sl_sim_event *event)
{
	const struct sl_message *m = &event->packet->message;
	if (event->generation != sl_sim_link(sim, event->peer, event->learner)->generation ||
	    sim->learners[event->learner].host.stopped)
		return; /* fell with its link */
	if (!sl_sim_signatures_hold(sim, event->learner, m))
		return;
	sl_sim_signatures_verify(sim, event->learner, m);
	struct sl_event e = sl_packet_event(event->packet, event->peer);
	if (e.buffer != NULL)
		sl_sim_give(sim, event->learner, event->peer, e.buffer);
	sl_sim_deliver(sim, event->learner, &e);
}

static void happen(struct sl_sim *sim, struct sl_sim_event *event)
{
	struct sl_sim_learner *l = &sim->learners[event->learner];
	struct sl_event e = {.kind = event->event, .peer = event->peer, .range = event->range};
	if (event->kind == SL_SIM_CALL)
		sim->call(sim, event);
	if (event->kind == SL_SIM_CALL || event->life != l->life)
		return;
	switch (event->kind) {
	case SL_SIM_CORE:
		break;
	case SL_SIM_DIAL:
		sl_sim_dial(sim, event->learner, event->peer);
		return;
	case SL_SIM_MAIL:
		mail_arrives(sim, event);
		return;
	case SL_SIM_TRAINED:
		if (event->generation != l->training)
			return;
		e.kind = SL_EVENT_TRAINED;
		e.far = l->host.initial != NULL && l->host.committed == 0 &&
			sl_job_model_far(&l->host.workspace);
		break;
	case SL_SIM_WORK:
		sl_sim_work_due(sim, event->learner);
		return;
	case SL_SIM_CALL:
		return;
	}
	if (!l->host.stopped)
		sl_sim_deliver(sim, event->learner, &e);
}

/* Return the next deadline (us) and its learner. */
static uint64_t next_deadline(struct sl_sim *sim, uint32_t *who)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < sim->n; i++) {
		if (sim->due[i] >= least)
			continue;
		least = sim->due[i];
		*who = i;
	}
	return least != UINT64_MAX && least < sim->now ? sim->now : least;
}

static void deadline(struct sl_sim *sim, uint32_t i)
{
	struct sl_sim_learner *l = &sim->learners[i];
	l->spins = l->spin_at == sim->now ? l->spins + 1 : 0;
	l->spin_at = sim->now;
	if (l->spins > SPINS_MAX)
		sl_sim_fail(sim, "learner %u spins on its deadline", i);
	sl_sim_deliver(sim, i, &(struct sl_event){.kind = SL_EVENT_DEADLINE});
}

uint64_t sl_sim_next(struct sl_sim *sim)
{
	uint32_t who = 0;
	uint64_t due = next_deadline(sim, &who);
	return sim->heap_count > 0 && sim->heap[0].at < due ? sim->heap[0].at : due;
}

bool sl_sim_step(struct sl_sim *sim)
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
	struct sl_sim_event event = sl_sim_pop(sim);
	sim->now = event.at;
	if (event.kind != SL_SIM_CALL && sim->learners[event.learner].paused_until > sim->now) {
		event.at = sim->learners[event.learner]
				   .paused_until; /* in the order in which it would have come */
		sl_sim_push(sim, &event);
		return true;
	}
	happen(sim, &event);
	sl_sim_event_free(&event);
	return true;
}
