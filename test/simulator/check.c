#include "test/simulator/check.h"

#include <stdlib.h>

#include "common/base/bytes.h"
#include "common/compute/job_model.h"

/* --- the privacy check --- */

/* Return true if the members are connected without those in `out`. */
static bool in_one_piece(const struct sl_sim *sim, const struct sl_sim_attempt *page, const bool *out)
{
	uint32_t *queue = calloc(sim->n, sizeof *queue), count, left = 0;
	bool *seen = calloc(sim->n, sizeof *seen);
	for (uint32_t k = page->n; k-- > 0;)
		if (!out[page->members[k]]) {
			queue[0] = page->members[k];
			left++;
		}
	seen[queue[0]] = true;
	count = left > 0;
	for (uint32_t next = 0; next < count; next++)
		for (uint32_t j = 0; j < sim->n; j++)
			if (*sl_sim_check_edge(sim, page, queue[next], j) && !seen[j] && !out[j]) {
				seen[j] = true;
				queue[count++] = j;
			}
	free(queue);
	free(seen);
	return count == left;
}

void sl_sim_check_view(struct sl_sim *sim, const struct sl_view *view)
{
	struct sl_sim_attempt *page = sl_sim_check_find(sim, view->h);
	if (page != NULL) {
		if (page->n != view->n || page->t != view->t || page->a != view->a ||
		    page->p != view->field.p)
			sl_sim_fail(sim, "two views, one hash");
		return;
	}
	page = sl_sim_check_open(sim, view);
	for (uint32_t i = 0; i < view->n; i++)
		for (uint32_t e = view->graph.start[i]; e < view->graph.start[i + 1]; e++)
			*sl_sim_check_edge(sim, page, view->members[i],
					   view->members[view->graph.adjacent[e]]) = true;
	for (uint32_t i = 0; i < sim->n; i++)
		for (uint32_t j = 0; j < sim->n; j++)
			if (*sl_sim_check_edge(sim, page, i, j) &&
			    (!*sl_sim_check_edge(sim, page, j, i) || !sl_sim_link(sim, i, j)->possible))
				sl_sim_fail(sim, "an edge %u-%u that cannot be", sim->ids[i], sim->ids[j]);
	bool *none = calloc(sim->n, sizeof *none);
	if (view->n < view->agreed.quorum || !in_one_piece(sim, page, none))
		sl_sim_fail(sim, "a view of %u learners, quorum %u, or in pieces", view->n,
			    (uint32_t)view->agreed.quorum);
	free(none);
	sim->fresh = page; /* its edges are checked when this step's messages have been */
	sl_sim_check_one_view(sim, page);
	sl_sim_check_failed(sim, view);
}

/* Check the graph without any `more` of the members from k on. */
static void try_coalitions(struct sl_sim *sim, const struct sl_sim_attempt *page, bool *out, uint32_t k,
			   uint64_t more)
{
	if (!in_one_piece(sim, page, out))
		sl_sim_fail(sim, "t%u a%u is shared, but a small coalition can learn parts of the sum",
			    page->t, page->a);
	for (; more > 0 && k < page->n; k++) {
		out[page->members[k]] = true;
		try_coalitions(sim, page, out, k + 1, more - 1);
		out[page->members[k]] = false;
	}
}

/* Try all coalitions of c learners on a view in which a learner shares (ROUND.md §2.3 What a coalition
 * learns, F2). */
static void check_privacy(struct sl_sim *sim, struct sl_sim_attempt *page)
{
	bool *out = calloc(sim->n, sizeof *out);
	uint64_t c = sim->options.parameters.tolerance;
	if (page->n < c + 2)
		sl_sim_fail(sim, "%u learners share", page->n);
	if (!page->privacy_checked)
		try_coalitions(sim, page, out, 0, c);
	page->privacy_checked = true;
	free(out);
}

/* --- encodings and results --- */

void sl_sim_check_encoded(struct sl_sim *sim, uint32_t i, const struct sl_view *view)
{
	struct sl_sim_learner *l = &sim->learners[i];
	struct sl_sim_attempt *page = sl_sim_check_find(sim, view->h);
	sl_sim_check_reuse(sim, i, view->t);
	if (page == NULL || !page->of[i].in ||
	    (page->of[i].x != NULL && !sl_sim_check_excused(sim, i, view->t)))
		sl_sim_fail(sim, "learner %u encodes for a view that is not its own, or twice", sim->ids[i]);
	if (view->agreed.privacy_check)
		check_privacy(sim, page);
	sl_sim_check_atoms(sim, i, page);
	if (page->of[i].ready)
		return; /* what it shared before it forgot counts: its Ready commits it to that */
	page->of[i].x = sl_sim_alloc(sim, view->elements, sizeof(uint64_t));
	sl_job_model_encode(&l->host.workspace, view, 0, (size_t)view->elements, page->of[i].x);
	page->of[i].theta = sl_sim_copy(sim, l->host.workspace.trained,
					sl_tensors_bytes(&l->host.workspace.tensors, l->host.workspace.n));
	page->of[i].weight = l->host.workspace.weight;
	page->of[i].draw = l->draw;
	sl_sim_check_noise(sim, i, page, view);
}

/* Return true if `z` is the sum with the other input of a liar that has two. */
static bool is_of_twin(const struct sl_sim_attempt *page, uint64_t z, uint64_t sum)
{
	bool twin = false;
	for (uint32_t k = 0; k < page->n; k++)
		twin |= page->of[page->members[k]].twin;
	return twin && z == (sum + 1) % page->p;
}

/* Check that the vector of learner i is the plain sum of the encodings. */
static void check_sum_of_all(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page)
{
	uint32_t bits = sl_field_bits(page->p);
	for (uint32_t k = 0; k < page->n; k++)
		if (page->of[page->members[k]].x == NULL)
			sl_sim_fail(sim, "a result without the encoding of %u", sim->ids[page->members[k]]);
	for (uint64_t e = 0; e < page->elements; e++) {
		uint64_t sum = 0;
		for (uint32_t k = 0; k < page->n; k++) {
			sum += page->of[page->members[k]].x[e]; /* both below p < 2^62 */
			sum -= sum >= page->p ? page->p : 0;
		}
		uint64_t z = sl_bytes_element(sim->learners[i].host.workspace.s, e, bits);
		if (z != sum && !(e == 0 && is_of_twin(page, z, sum)))
			sl_sim_fail(sim, "learner %u, t%u a%u, coordinate %llu: Z is %llu, the sum %llu",
				    sim->ids[i], page->t, page->a, (unsigned long long)e,
				    (unsigned long long)z, (unsigned long long)sum);
	}
}

void sl_sim_check_closed(struct sl_sim *sim, uint32_t i, const struct sl_view *view)
{
	check_sum_of_all(sim, i, sl_sim_check_find(sim, view->h));
}

/* Return true if an operator has aborted a released attempt, and no learner that lives has committed the
 * round: a result that was lost with its learner does not count. */
static bool only_lost_have(const struct sl_sim *sim, sl_round t)
{
	bool aborted = false;
	for (uint32_t i = 0; i < sim->n; i++) {
		const struct sl_sim_learner *l = &sim->learners[i];
		aborted |= l->aborted_by_operator;
		if (!l->lost && l->host.disk.certificate.t >= t)
			return false;
	}
	return aborted;
}

/* Check that enough members of the view have signed the digest of the certificate. */
static void check_certificate(struct sl_sim *sim, uint32_t i, const struct sl_certificate *certificate)
{
	const struct sl_sim_attempt *page = sl_sim_check_find(sim, certificate->view);
	uint64_t signers = 0;
	for (uint32_t k = 0; k < page->n; k++) {
		bool signed_it = false;
		for (uint32_t m = 0; m < certificate->count; m++) {
			const struct sl_digest *d = &certificate->digests[m];
			signed_it |= d->id == sim->ids[page->members[k]] && d->t == certificate->t &&
				     memcmp(d->view, certificate->view, SL_HASH_BYTES) == 0 &&
				     memcmp(d->digest, certificate->digest, SL_HASH_BYTES) == 0;
		}
		signers += signed_it;
	}
	if (signers < sl_sim_check_digests(sim, page))
		sl_sim_fail(sim, "learner %u commits round %u with the digests of %llu of %u learners",
			    sim->ids[i], certificate->t, (unsigned long long)signers, page->n);
}

static void check_committed(struct sl_sim *sim, uint32_t i, const struct sl_certificate *commit)
{
	struct sl_sim_learner *l = &sim->learners[i];
	size_t bytes = l->host.config.model_bytes;
	const struct sl_sim_attempt *page = sl_sim_check_find(sim, commit->view);
	bool caught_up = l->host.phase == SL_PHASE_CATCHUP;
	if (page != NULL)
		sl_sim_check_sum_seen(sim, i, page);
	if (l->liar)
		return;
	if (page == NULL)
		sl_sim_fail(sim, "learner %u commits round %u of a view that nobody had", sim->ids[i],
			    commit->t);
	if (!caught_up)
		check_sum_of_all(sim, i, page);
	check_certificate(sim, i, commit);
	if (caught_up ? commit->t <= l->host.committed : commit->t != l->host.committed + 1)
		sl_sim_fail(sim, "learner %u commits %u after %u", sim->ids[i], commit->t, l->host.committed);
	if (caught_up && sim->models[commit->t] == NULL &&
	    !sim->liars) /* else a liar may have been the first */
		sl_sim_fail(sim, "learner %u catches up with round %u, which no learner committed",
			    sim->ids[i], commit->t);
	if (!caught_up && (page->of[i].x == NULL || sl_round_learners(commit->round) != page->n))
		sl_sim_fail(sim, "learner %u commits for %u learners", sim->ids[i],
			    sl_round_learners(commit->round));
	if (!caught_up)
		sl_sim_check_mean(sim, i, page, commit->round);
	if (sim->models[commit->t] == NULL || only_lost_have(sim, commit->t)) {
		memcpy(sim->digests[commit->t], commit->digest, SL_HASH_BYTES);
		sim->models[commit->t] = sl_sim_copy(sim, l->host.workspace.committed, bytes);
	} else if (memcmp(sim->digests[commit->t], commit->digest, SL_HASH_BYTES) != 0 ||
		   memcmp(sim->models[commit->t], l->host.workspace.committed, bytes) != 0) {
		sl_sim_fail(sim, "learner %u commits another model of round %u", sim->ids[i], commit->t);
	}
}

/* An Abort on disk: the attempt will never be released, or no result of it signed. */
static void check_aborted(struct sl_sim *sim, uint32_t i, const struct sl_persist *record)
{
	const struct sl_durable *what = &record->what;
	bool unreleased = (what->says & SL_ABORT_UNRELEASED) != 0, given_up = !unreleased;
	sl_attempt *highest = &sim->learners[i].aborted_a[what->t];
	if (!record->ready) {
		*highest = what->a > *highest ? what->a : *highest;
		struct sl_sim_aborted *aborted = sl_sim_alloc(sim, 1, sizeof *aborted);
		*aborted =
			(struct sl_sim_aborted){.next = sim->learners[i].aborted, .t = what->t, .a = what->a};
		sim->learners[i].aborted = aborted;
	}
	for (struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		if (page->t == what->t && page->a == what->a && page->of[i].in) {
			bool excused = sl_sim_check_excused(sim, i, page->t);
			if (unreleased && page->of[i].released && !excused)
				sl_sim_fail(sim, "learner %u aborts a%u, which it released", sim->ids[i],
					    what->a);
			if (given_up && page->of[i].digested && !excused)
				sl_sim_fail(sim, "learner %u gives up a%u, whose result it has signed",
					    sim->ids[i], page->a);
			page->of[i].aborted |= unreleased;
			page->of[i].given_up |= given_up;
			page->of[i].ended |= !record->ready;
		}
}

static void check_over(struct sl_sim *sim, uint32_t i, const struct sl_persist *record)
{
	const struct sl_durable *what = &record->what;
	for (struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		if (page->t == what->t && page->a == what->a && page->of[i].in) {
			if (page->of[i].ready)
				sl_sim_check_over(sim, i, page);
			page->of[i].over = page->of[i].ended = true;
			if (page->of[i].prepared && !record->reuse)
				sl_sim_check_sum_seen(sim, i, page);
		}
}

/* A Ready on disk: it counts, also if it never leaves. */
static void check_prepared(struct sl_sim *sim, uint32_t i, const struct sl_persist *record)
{
	struct sl_sim_attempt *page = sl_sim_check_find(sim, record->readys[0].view);
	if (page != NULL)
		page->of[i].prepared = true;
}

static void check_released(struct sl_sim *sim, uint32_t i, const struct sl_persist *record)
{
	struct sl_sim_attempt *page = sl_sim_check_find(sim, record->readys[0].view);
	if (page == NULL || !page->of[i].in || page->a != record->what.a || record->ready_count != page->n)
		sl_sim_fail(sim, "learner %u releases in a%u, which it is not in", sim->ids[i],
			    record->what.a);
	if ((page->of[i].aborted || page->of[i].ended) && !sl_sim_check_excused(sim, i, page->t))
		sl_sim_fail(sim, "learner %u releases a%u, which it has given up", sim->ids[i], page->a);
	page->of[i].released = true;
	page->of[i].ready = true; /* after a restart its own Ready may leave later than its key */
}

void sl_sim_check_durable(struct sl_sim *sim, uint32_t i, const struct sl_persist *record)
{
	if (record->what.kind == SL_PERSIST_ABORTED)
		check_aborted(sim, i, record);
	else if (record->what.kind == SL_PERSIST_OVER)
		check_over(sim, i, record);
	else if (record->what.kind == SL_PERSIST_PREPARED)
		check_prepared(sim, i, record);
	else if (record->what.kind == SL_PERSIST_RELEASED)
		check_released(sim, i, record);
	else if (record->what.kind == SL_PERSIST_COMMIT)
		check_committed(sim, i, record->certificate);
}

void sl_sim_check_prg(struct sl_sim *sim, uint32_t i, const struct sl_view *view)
{
	for (uint32_t r = 0; r < view->degree; r++)
		if (!sl_sim_seen_add(&sim->randomness, sim->learners[i].host.workspace.randomness[r].key))
			sl_sim_fail(sim, "learner %u uses a key of random streams a second time",
				    sim->ids[i]);
}

/* --- vectors that are sent --- */

#define CONSERVED_MOST 64u /* coordinates */

static struct sl_sim_mixed *mixed_of(struct sl_sim *sim, struct sl_sim_attempt *page, uint64_t iteration,
				     uint32_t chunk)
{
	uint64_t at = iteration * page->chunks + chunk;
	if (at >= page->mixed_room) {
		size_t room = at * 2 + 16;
		struct sl_sim_mixed *mixed = sl_sim_alloc(sim, room, sizeof *mixed);
		if (page->mixed != NULL)
			memcpy(mixed, page->mixed, page->mixed_room * sizeof *mixed);
		page->mixed = mixed;
		page->mixed_room = room;
	}
	return &page->mixed[at];
}

/* Return a weighted sum of the chunk of a state that l sends: over the integers for metropolis, mod p for the
 * others. */
static unsigned __int128 weigh_state(const struct sl_sim_learner *l, const struct sl_chunk *chunk)
{
	const struct sl_view *view = l->host.view;
	bool rounds = sl_engine_rows[view->engine].rounds;
	uint32_t shift = rounds && chunk->iteration == 0 ? view->fraction : 0; /* the first MIX does it */
	unsigned __int128 total = 0;
	uint64_t weight = 1, count = sl_view_state_elements(view, chunk->index);
	size_t first = (size_t)chunk->index * view->state_elements;
	for (uint64_t e = 0; e < count && e < CONSERVED_MOST;
	     e++, weight = weight * 6364136223846793005u + 2) {
		uint64_t s = sl_hosted_state(&l->host, chunk->iteration, first + e);
		total += rounds ? (unsigned __int128)(__int128)(int64_t)(s << shift) * weight
				: (unsigned __int128)s * (weight % view->field.p) % view->field.p;
	}
	return total;
}

static void check_conserved(struct sl_sim *sim, uint32_t i, struct sl_sim_attempt *page,
			    const struct sl_chunk *chunk)
{
	const struct sl_sim_learner *l = &sim->learners[i];
	struct sl_sim_mixed *mixed = mixed_of(sim, page, chunk->iteration, chunk->index);
	mixed->total += weigh_state(l, chunk);
	if (!sl_engine_rows[l->host.view->engine].rounds)
		mixed->total %= page->p;
	if (++mixed->count == page->n && !sim->liars &&
	    mixed->total != page->mixed[page->chunks + chunk->index].total)
		sl_sim_fail(sim, "a%u: iteration %llu changes the total", page->a,
			    (unsigned long long)chunk->iteration);
}

static void check_state(struct sl_sim *sim, uint32_t i, struct sl_sim_attempt *page,
			const struct sl_chunk *chunk)
{
	int64_t *out = &page->out[(size_t)i * page->chunks + chunk->index];
	sl_sim_check_shown(sim, i, page);
	bool forest = !sl_engine_rows[sim->learners[i].host.view->engine].to_all;
	if ((int64_t)chunk->iteration <= *out || (!forest && (int64_t)chunk->iteration != *out + 1))
		sl_sim_fail(sim, "learner %u: chunk %u, iteration %u after %lld", sim->ids[i], chunk->index,
			    (uint32_t)chunk->iteration, (long long)*out);
	*out = (int64_t)chunk->iteration;
	if (!forest && !sim->liars) /* a liar's states may be others than those that it sent */
		check_conserved(sim, i, page, chunk);
	for (uint32_t j = 0; j < sim->n && !forest; j++)
		if (*sl_sim_check_edge(sim, page, i, j) &&
		    *out > page->out[(size_t)j * page->chunks + chunk->index] + 1)
			sl_sim_fail(sim, "learner %u is two iterations ahead of %u", sim->ids[i],
				    sim->ids[j]);
}

static void check_deposit(struct sl_sim *sim, uint32_t i, const struct sl_action *action)
{
	const struct sl_chunk *chunk = &action->send.message.chunk;
	const struct sl_sim_attempt *page = sl_sim_check_find(sim, chunk->view);
	for (uint32_t j = 0; j < sim->n; j++) {
		if (sl_bit(action->send.to, j) && !page->of[j].in)
			sl_sim_fail(sim, "learner %u shows a deposit to %u, which is not in the view",
				    sim->ids[i], sim->ids[j]);
	}
}

/* The own deposit key, and the own share of another's, leave only after the release, and after every Ready.
 */
static void check_key(struct sl_sim *sim, uint32_t i, const struct sl_message *m)
{
	const struct sl_sim_attempt *page =
		sl_sim_check_find(sim, m->kind == SL_MSG_KEY ? m->key.view : m->opening.view);
	bool own = m->kind == SL_MSG_KEY ? m->key.origin == sim->ids[i] : m->opening.holder == sim->ids[i];
	if (page != NULL && own)
		sl_sim_check_shown(sim, i, page);
}

static void note_have(struct sl_sim *sim, uint32_t i, const struct sl_message *m)
{
	struct sl_sim_attempt *page = sl_sim_check_find(sim, m->have.view);
	struct sl_sim_part *part = page != NULL ? &page->of[i] : NULL;
	if (part == NULL)
		return;
	part->told = true;
	part->held = part->keys = 0;
	memcpy(&part->held, m->have.held, m->have.size < 8 ? m->have.size : 8);
	memcpy(&part->keys, m->have.keys, m->have.keys_size < 8 ? m->have.keys_size : 8);
}

void sl_sim_check_sent(struct sl_sim *sim, uint32_t i, const struct sl_action *action)
{
	const struct sl_message *m = &action->send.message;
	sl_sim_check_signed(sim, i, action);
	if (m->kind == SL_MSG_DEPOSIT)
		check_deposit(sim, i, action);
	if (m->kind == SL_MSG_KEY || m->kind == SL_MSG_OPENING)
		check_key(sim, i, m);
	if (m->kind == SL_MSG_HAVE)
		note_have(sim, i, m);
	if (m->kind != SL_MSG_SHARE && m->kind != SL_MSG_STATE)
		return; /* every learner has the result */
	struct sl_sim_attempt *page = sl_sim_check_find(sim, m->chunk.view);
	if (page == NULL || page->t != m->chunk.t || page->a != m->chunk.a)
		sl_sim_fail(sim, "learner %u sends a vector of no view", sim->ids[i]);
	bool some = m->kind == SL_MSG_STATE &&
		    !sl_engine_rows[sim->learners[i].host.view->engine].to_all; /* of them */
	for (uint32_t j = 0; j < sim->n; j++)
		if (sl_bit(action->send.to, j) != *sl_sim_check_edge(sim, page, i, j) &&
		    !(some && *sl_sim_check_edge(sim, page, i, j)))
			sl_sim_fail(sim, "learner %u sends a vector to others than its neighbours",
				    sim->ids[i]);
	if (m->kind == SL_MSG_STATE)
		check_state(sim, i, page, &m->chunk);
	else if (page->of[i].ended && !sl_sim_check_excused(sim, i, page->t))
		sl_sim_fail(sim, "learner %u shares in an attempt that it gave up", sim->ids[i]);
}

/* --- reports and steps --- */

static void note(struct sl_sim *sim, uint32_t i, const struct sl_report *report)
{
	if (sim->note_count == sim->note_room) {
		sim->note_room = sim->note_room * 2 + 256;
		sim->notes = realloc(sim->notes, sim->note_room * sizeof *sim->notes);
	}
	struct sl_sim_note *n = &sim->notes[sim->note_count++];
	*n = (struct sl_sim_note){.at = sim->now, .learner = i, .report = *report};
	if (report->set != NULL)
		n->set = report->set[0];
	if (report->reason == SL_REASON_TOLERANCE || report->reason == SL_REASON_PRUNED)
		n->edges = sl_sim_copy(sim, report->why.tolerance.edges,
				       report->why.tolerance.edge_count * sizeof *n->edges);
	if (report->kind == SL_REPORT_EVIDENCE)
		n->evidence = sl_sim_alloc(sim, 2, sizeof *n->evidence);
	for (int k = 0; k < 2 && n->evidence != NULL; k++) {
		n->evidence[k] = report->evidence[k].link_state;
		n->evidence[k].candidates = NULL;
	}
}

static void ended(struct sl_sim *sim, uint32_t i, const struct sl_report *report)
{
	for (struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		if (page->t == report->t && page->a == report->a && page->of[i].in)
			page->of[i].ended = true;
}

/* Only a learner that lies, has forgotten or differs may be reported as one that lies, and only one that has
 * forgotten abstains. */
static void check_conflict(struct sl_sim *sim, uint32_t i, const struct sl_report *report)
{
	bool abstains = report->kind == SL_REPORT_ABSTAINS;
	if (!sim->check_evidence ||
	    (!abstains && report->kind != SL_REPORT_EVIDENCE && report->kind != SL_REPORT_FLOODED))
		return;
	const struct sl_sim_learner *named = &sim->learners[abstains ? i : report->peer];
	if (!sim->learners[i].liar && !named->liar && !named->forgot && !named->odd)
		sl_sim_fail(sim, "learner %u says %s of %u, which follows the protocol", sim->ids[i],
			    sl_report_name(report->kind), named->host.config.ids[named - sim->learners]);
}

void sl_sim_check_report(struct sl_sim *sim, uint32_t i, const struct sl_report *report)
{
	struct sl_sim_learner *l = &sim->learners[i];
	note(sim, i, report);
	check_conflict(sim, i, report);
	if (report->kind == SL_REPORT_VIEW)
		l->atom = report->view.atom;
	if (report->kind == SL_REPORT_FAILED && report->phase < SL_PHASE_READY)
		ended(sim, i, report);
	if (report->kind != SL_REPORT_PHASE)
		return;
	if (!sl_phase_allows(l->host.phase, report->phase))
		sl_sim_fail(sim, "learner %u moves from %s to %s", sim->ids[i], sl_phase_name(l->host.phase),
			    sl_phase_name(report->phase));
	l->host.phase = report->phase;
	if (l->host.phase == SL_PHASE_AGREE)
		l->agreed_at = sim->now;
}

/* Two windows, and a key share. */
static void check_held(struct sl_sim *sim, uint32_t i)
{
	const struct sl_sim_learner *l = &sim->learners[i];
	uint32_t most =
		2 * (l->host.view != NULL ? sl_engine_window_most(&l->host.view->costs) : SL_WINDOW) + 1;
	for (uint32_t j = 0; j < sim->n && l->held_count > most; j++) {
		uint32_t count = 0;
		for (uint32_t k = 0; k < l->held_count; k++)
			count += !l->held[k].working && l->held[k].peer == j;
		if (count > most)
			sl_sim_fail(sim, "learner %u holds %u chunks of %u", sim->ids[i], count, sim->ids[j]);
	}
}

void sl_sim_check_step(struct sl_sim *sim, uint32_t i, const struct sl_actions *actions)
{
	const struct sl_sim_learner *l = &sim->learners[i];
	struct sl_core_status status;
	if (sim->fresh != NULL)
		sl_sim_check_edges(sim, sim->fresh);
	sim->fresh = NULL;
	sl_core_status(l->host.core, &status);
	if (status.phase != l->host.phase && status.t <= sim->options.parameters.rounds)
		sl_sim_fail(sim, "learner %u is in %s and said %s", sim->ids[i], sl_phase_name(status.phase),
			    sl_phase_name(l->host.phase));
	if (status.permille > 1000)
		sl_sim_fail(sim, "learner %u is at %u permille", sim->ids[i], status.permille);
	if (actions->count >= SL_ACTIONS_MAX)
		sl_sim_fail(sim, "learner %u: %u actions in one step", sim->ids[i], actions->count);
	check_held(sim, i);
}
