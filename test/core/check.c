#include "test/core/check.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/bytes.h"

/* --- the ledger: one page an attempt, opened when the first learner closes its view --- */

static struct sim_attempt *find(const struct sim *sim, const uint8_t *h)
{
	struct sim_attempt *page = sim->attempts;
	while (page != NULL && memcmp(page->h, h, SL_HASH_BYTES) != 0)
		page = page->next;
	return page;
}

static struct sim_attempt *open_page(struct sim *sim, const struct sl_view *view)
{
	struct sim_attempt *page = calloc(1, sizeof *page);
	*page = (struct sim_attempt){.next = sim->attempts,
				     .t = view->t,
				     .a = view->a,
				     .n = view->n,
				     .chunks = view->chunks,
				     .p = view->field.p,
				     .elements = view->elements};
	sim->attempts = page;
	memcpy(page->h, view->h, SL_HASH_BYTES);
	page->members = calloc(view->n, sizeof *page->members);
	page->edge = calloc((size_t)sim->n * sim->n, sizeof *page->edge);
	page->ready = calloc(sim->n, sizeof *page->ready);
	page->ended = calloc(sim->n, sizeof *page->ended);
	page->x = calloc(sim->n, sizeof *page->x);
	page->theta = calloc(sim->n, sizeof *page->theta);
	page->weight = calloc(sim->n, sizeof *page->weight);
	page->out = malloc((size_t)sim->n * view->chunks * sizeof *page->out);
	for (size_t k = 0; k < (size_t)sim->n * view->chunks; k++)
		page->out[k] = -1;
	memcpy(page->members, view->members, view->n * sizeof *page->members);
	return page;
}

static void close_page(struct sim *sim, struct sim_attempt *page)
{
	for (uint32_t i = 0; i < sim->n; i++) {
		free(page->x[i]);
		free(page->theta[i]);
	}
	void *owned[] = {page->members, page->edge, page->ready,  page->ended, page->x,
			 page->theta,	page->out,  page->weight, page};
	for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
		free(owned[k]);
}

void check_free(struct sim *sim)
{
	while (sim->attempts != NULL) {
		struct sim_attempt *page = sim->attempts;
		sim->attempts = page->next;
		close_page(sim, page);
	}
}

/* --- the gate --- */

static bool *edge(const struct sim *sim, const struct sim_attempt *page, uint32_t i, uint32_t j)
{
	return &page->edge[(size_t)i * sim->n + j];
}

/* Members that hang together with the first, without the one that is taken out (or UINT32_MAX). */
static uint32_t reach(const struct sim *sim, const struct sim_attempt *page, uint32_t without)
{
	uint32_t *queue = calloc(sim->n, sizeof *queue), count = 1;
	bool *seen = calloc(sim->n, sizeof *seen);
	queue[0] = page->members[page->members[0] == without];
	seen[queue[0]] = true;
	if (without != UINT32_MAX)
		seen[without] = true;
	for (uint32_t next = 0; next < count; next++)
		for (uint32_t j = 0; j < sim->n; j++)
			if (*edge(sim, page, queue[next], j) && !seen[j]) {
				seen[j] = true;
				queue[count++] = j;
			}
	free(queue);
	free(seen);
	return count;
}

void check_view(struct sim *sim, const struct sl_view *view)
{
	struct sim_attempt *page = find(sim, view->h);
	if (page != NULL) {
		if (page->n != view->n || page->t != view->t || page->a != view->a || page->p != view->field.p)
			sim_fail(sim, "two views, one hash");
		return;
	}
	page = open_page(sim, view);
	for (uint32_t i = 0; i < view->n; i++)
		for (uint32_t e = view->graph.start[i]; e < view->graph.start[i + 1]; e++)
			*edge(sim, page, view->members[i], view->members[view->graph.adjacent[e]]) = true;
	for (uint32_t i = 0; i < sim->n; i++)
		for (uint32_t j = 0; j < sim->n; j++)
			if (*edge(sim, page, i, j) && (!*edge(sim, page, j, i) || !sim_link(sim, i, j)->possible))
				sim_fail(sim, "an edge %u-%u that cannot be", sim->ids[i], sim->ids[j]);
	if (view->n < sim->options.parameters.quorum || reach(sim, page, UINT32_MAX) != view->n)
		sim_fail(sim, "a view of %u learners, quorum %u, %u connected", view->n,
			 (uint32_t)sim->options.parameters.quorum, reach(sim, page, UINT32_MAX));
}

/* c = 1, by trying every one: what the gate lets share. */
static void check_gate(struct sim *sim, const struct sim_attempt *page)
{
	if (page->n < 3)
		sim_fail(sim, "%u learners share", page->n);
	for (uint32_t k = 0; k < page->n; k++)
		if (reach(sim, page, page->members[k]) != page->n - 1)
			sim_fail(sim, "they share, and %u alone can single out others", sim->ids[page->members[k]]);
}

/* --- what goes in, and what comes out --- */

static bool member(const struct sim_attempt *page, uint32_t i)
{
	for (uint32_t k = 0; k < page->n; k++)
		if (page->members[k] == i)
			return true;
	return false;
}

void check_encoded(struct sim *sim, uint32_t i, const struct sl_view *view)
{
	struct sim_learner *l = &sim->learners[i];
	struct sim_attempt *page = find(sim, view->h);
	for (uint32_t k = 0; k < l->burned_count; k++)
		if (l->burned[k] == l->draw)
			sim_fail(sim, "learner %u encodes a burned model", sim->ids[i]);
	if (page == NULL || !member(page, i) || page->x[i] != NULL)
		sim_fail(sim, "learner %u encodes for a view that is not its own, or twice", sim->ids[i]);
	if (!l->config.gate_warn && sim->options.parameters.tolerance == 1)
		check_gate(sim, page);
	page->x[i] = malloc(view->elements * sizeof(uint64_t));
	memcpy(page->x[i], l->vault.x, view->elements * sizeof(uint64_t));
	page->theta[i] = malloc(l->vault.n * sizeof(float));
	memcpy(page->theta[i], l->vault.trained, l->vault.n * sizeof(float));
	page->weight[i] = l->vault.weight;
}

void check_closed(struct sim *sim, uint32_t i, const struct sl_view *view)
{
	const struct sim_attempt *page = find(sim, view->h);
	const uint64_t *z = sim->learners[i].vault.s;
	for (uint32_t k = 0; k < page->n; k++)
		if (page->x[page->members[k]] == NULL)
			sim_fail(sim, "a result without the encoding of %u", sim->ids[page->members[k]]);
	for (uint64_t e = 0; e < page->elements; e++) {
		unsigned __int128 sum = 0;
		for (uint32_t k = 0; k < page->n; k++)
			sum += page->x[page->members[k]][e];
		if (z[e] != (uint64_t)(sum % page->p))
			sim_fail(sim, "learner %u, t%u a%u, coordinate %llu: Z is %llu, the sum %llu", sim->ids[i], page->t,
				 page->a, (unsigned long long)e, (unsigned long long)z[e],
				 (unsigned long long)(uint64_t)(sum % page->p));
	}
}

/* The committed model against the plain mean of the models, in doubles: sigma digits are kept of each. */
static void check_mean(struct sim *sim, uint32_t i, const struct sim_attempt *page)
{
	const struct sl_vault *vault = &sim->learners[i].vault;
	bool literal = sim->options.parameters.encoding == SL_ENCODING_LITERAL;
	double unit = pow(10, -(double)sim->options.parameters.sigma), weights = 0;
	for (uint32_t k = 0; k < page->n; k++)
		weights += literal ? 1 : (double)page->weight[page->members[k]];
	for (size_t e = 0; e < vault->n; e++) {
		double sum = 0;
		for (uint32_t k = 0; k < page->n; k++) {
			uint32_t j = page->members[k];
			sum += (literal ? 1 : (double)page->weight[j]) * (double)page->theta[j][e];
		}
		double off = fabs((double)vault->committed[e] - sum / weights);
		if (!(off <= unit * (literal ? page->n : 0.5) + 1e-5))
			sim_fail(sim, "learner %u: coordinate %zu of the mean is off by %g", sim->ids[i], e, off);
	}
}

static const struct sim_attempt *latest(const struct sim *sim, uint32_t i, sl_round t)
{
	const struct sim_attempt *best = NULL;
	for (const struct sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		if (page->t == t && page->x[i] != NULL && (best == NULL || page->a > best->a))
			best = page;
	return best;
}

void check_committed(struct sim *sim, uint32_t i, const struct sl_proof *commit)
{
	struct sim_learner *l = &sim->learners[i];
	size_t bytes = l->vault.n * sizeof(float);
	const struct sim_attempt *page = latest(sim, i, commit->t);
	bool caught_up = l->phase == SL_PHASE_CATCHUP;
	if (caught_up ? commit->t <= l->committed : commit->t != l->committed + 1)
		sim_fail(sim, "learner %u commits %u after %u", sim->ids[i], commit->t, l->committed);
	l->committed = commit->t;
	if (caught_up && sim->models[commit->t] == NULL)
		sim_fail(sim, "learner %u catches up with round %u, which nobody committed", sim->ids[i], commit->t);
	if (!caught_up && (page == NULL || commit->learners != page->n))
		sim_fail(sim, "learner %u commits for %u learners", sim->ids[i], commit->learners);
	if (!caught_up)
		check_mean(sim, i, page);
	if (sim->models[commit->t] == NULL) {
		memcpy(sim->digests[commit->t], commit->digest, SL_HASH_BYTES);
		sim->models[commit->t] = malloc(bytes);
		memcpy(sim->models[commit->t], l->vault.committed, bytes);
	} else if (memcmp(sim->digests[commit->t], commit->digest, SL_HASH_BYTES) != 0 ||
		   memcmp(sim->models[commit->t], l->vault.committed, bytes) != 0) {
		if (!sim->count_forks)
			sim_fail(sim, "learner %u commits another model of round %u", sim->ids[i], commit->t);
		sim->forks++;
	}
	l->burned_count = 0;
}

/* --- what leaves --- */

static void check_state(struct sim *sim, uint32_t i, struct sim_attempt *page, const struct sl_chunk *chunk)
{
	int64_t *out = &page->out[(size_t)i * page->chunks + chunk->index];
	for (uint32_t k = 0; k < page->n; k++)
		if (!page->ready[page->members[k]])
			sim_fail(sim, "learner %u releases a%u before %u is ready", sim->ids[i], page->a,
				 sim->ids[page->members[k]]);
	if (page->ended[i])
		sim_fail(sim, "learner %u releases in an attempt that it gave up", sim->ids[i]);
	if ((int64_t)chunk->iteration != *out + 1)
		sim_fail(sim, "learner %u: chunk %u, iteration %u after %lld", sim->ids[i], chunk->index,
			 (uint32_t)chunk->iteration, (long long)*out);
	*out = (int64_t)chunk->iteration;
	for (uint32_t j = 0; j < sim->n; j++)
		if (*edge(sim, page, i, j) && *out > page->out[(size_t)j * page->chunks + chunk->index] + 1)
			sim_fail(sim, "learner %u is two iterations ahead of %u", sim->ids[i], sim->ids[j]);
	sim->learners[i].released = true;
}

void check_sent(struct sim *sim, uint32_t i, const struct sl_action *action)
{
	const struct sl_message *m = &action->send.message;
	if (m->kind == SL_MSG_READY && action->send.own) {
		struct sim_attempt *page = find(sim, m->ready.view);
		if (page == NULL || page->ended[i])
			sim_fail(sim, "learner %u is ready for a view that it does not have", sim->ids[i]);
		page->ready[i] = true;
	}
	if (m->kind != SL_MSG_SHARE && m->kind != SL_MSG_STATE)
		return; /* a Result is what everybody has */
	struct sim_attempt *page = find(sim, m->chunk.view);
	if (page == NULL || page->t != m->chunk.t || page->a != m->chunk.a)
		sim_fail(sim, "learner %u sends a vector of no view", sim->ids[i]);
	for (uint32_t j = 0; j < sim->n; j++)
		if (sl_bit(action->send.to, j) != *edge(sim, page, i, j))
			sim_fail(sim, "learner %u sends a vector to others than its neighbours", sim->ids[i]);
	if (m->kind == SL_MSG_STATE)
		check_state(sim, i, page, &m->chunk);
	else if (page->ended[i])
		sim_fail(sim, "learner %u shares in an attempt that it gave up", sim->ids[i]);
}

/* --- what is said --- */

static void note(struct sim *sim, uint32_t i, const struct sl_report *report)
{
	if (sim->note_count == sim->note_room) {
		sim->note_room = sim->note_room * 2 + 256;
		sim->notes = realloc(sim->notes, sim->note_room * sizeof *sim->notes);
	}
	sim->notes[sim->note_count++] = (struct sim_note){.at = sim->now,
							  .learner = i,
							  .report = *report,
							  .set = report->set != NULL ? report->set[0] : 0};
}

static void ended(struct sim *sim, uint32_t i, const struct sl_report *report)
{
	struct sim_learner *l = &sim->learners[i];
	for (struct sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		if (page->t == report->t && page->a == report->a && member(page, i))
			page->ended[i] = true;
	if (l->released && l->burned_count < 1024)
		l->burned[l->burned_count++] = l->draw;
}

void check_report(struct sim *sim, uint32_t i, const struct sl_report *report)
{
	struct sim_learner *l = &sim->learners[i];
	note(sim, i, report);
	if (report->kind == SL_REPORT_FAILED)
		ended(sim, i, report);
	if (report->kind != SL_REPORT_PHASE)
		return;
	if (!sl_phase_allows(l->phase, report->phase))
		sim_fail(sim, "learner %u moves from %s to %s", sim->ids[i], sl_phase_name(l->phase),
			 sl_phase_name(report->phase));
	l->phase = report->phase;
}

static void check_held(struct sim *sim, uint32_t i)
{
	const struct sim_learner *l = &sim->learners[i];
	for (uint32_t j = 0; j < sim->n; j++) {
		uint32_t count = 0;
		for (uint32_t k = 0; k < l->held_count; k++)
			count += !l->held[k].working && l->held[k].peer == j;
		if (count > 2 * SL_LANES)
			sim_fail(sim, "learner %u holds %u chunks of %u", sim->ids[i], count, sim->ids[j]);
	}
}

void check_step(struct sim *sim, uint32_t i, const struct sl_actions *actions)
{
	const struct sim_learner *l = &sim->learners[i];
	struct sl_core_status status;
	sl_core_status(l->core, &status);
	if (status.phase != l->phase && status.t <= sim->options.parameters.rounds)
		sim_fail(sim, "learner %u is in %s and said %s", sim->ids[i], sl_phase_name(status.phase),
			 sl_phase_name(l->phase));
	if (status.permille > 1000)
		sim_fail(sim, "learner %u is at %u permille", sim->ids[i], status.permille);
	if (actions->count > sim->most_actions)
		sim->most_actions = actions->count;
	if (actions->count >= SL_ACTIONS_MAX)
		sim_fail(sim, "learner %u: %u actions in one step", sim->ids[i], actions->count);
	check_held(sim, i);
}
