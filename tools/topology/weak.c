#include "tools/topology/weak.h"

#include <stdlib.h>
#include <string.h>

#include "common/graph/connectivity.h"
#include "tools/topology/participants.h"
#include "tools/lib/command.h"
#include "tools/lib/schedule_graph.h"

struct search {
	struct sl_weak *weak;
	struct sl_participants participants;
	uint32_t c, step;
	size_t from; /* the step's first point */
	double work;
	uint32_t *present; /* participants of the step */
	struct sl_arena scratch;
	void *memory;
};

static int keep(struct search *s, const uint32_t *member, uint32_t size)
{
	struct sl_weak *w = s->weak;
	if (w->count == SL_WEAK_POINTS_MOST)
		return SL_ERR_RANGE;
	w->point = sl_command_grow(w->point, w->count, &w->room, sizeof *w->point);
	struct sl_weak_point *p = &w->point[w->count++];
	*p = (struct sl_weak_point){.size = size, .step = s->step};
	memcpy(p->member, member, size * sizeof *member);
	return SL_OK;
}

static int by_coalition(const struct sl_weak_point *a, const struct sl_weak_point *b)
{
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	for (uint32_t i = 0; i < a->size; i++)
		if (a->member[i] != b->member[i])
			return a->member[i] < b->member[i] ? -1 : 1;
	return 0;
}

static int in_order(const void *left, const void *right)
{
	const struct sl_weak_point *a = left, *b = right;
	int order = by_coalition(a, b);
	return order != 0 ? order : (a->step > b->step) - (a->step < b->step);
}

/* Return whether a smaller part of the coalition is weak in this step. The points of the step are sorted. */
static bool is_implied(const struct search *s, const uint32_t *member, uint32_t size, size_t known)
{
	for (uint32_t some = 1; some + 1 < 1u << size; some++) {
		struct sl_weak_point part = {.step = s->step};
		for (uint32_t i = 0; i < size; i++)
			if (some >> i & 1)
				part.member[part.size++] = member[i];
		if (known > 0 &&
		    bsearch(&part, s->weak->point + s->from, known, sizeof part, in_order) != NULL)
			return true;
	}
	return false;
}

static int try(struct search *s, const uint32_t *member, uint32_t size, size_t known)
{
	if (is_implied(s, member, size, known))
		return SL_OK;
	sl_participants_without(&s->participants, member, size);
	return sl_participants_beyond(&s->participants) ? keep(s, member, size) : SL_OK;
}

/* Try every coalition of `size` participants, in lexicographic order. */
static int try_all(struct search *s, uint32_t size)
{
	uint32_t n = s->participants.present_count, at[SL_WEAK_MOST], member[SL_WEAK_MOST];
	size_t known = s->weak->count - s->from;
	for (uint32_t i = 0; i < size; i++)
		at[i] = i;
	for (;;) {
		for (uint32_t i = 0; i < size; i++)
			member[i] = s->present[at[i]];
		int rc = try(s, member, size, known);
		if (rc != SL_OK)
			return rc;
		uint32_t turn = size;
		while (turn > 0 && at[turn - 1] == n - size + turn - 1)
			turn--;
		if (turn == 0)
			return SL_OK;
		at[turn - 1]++;
		for (uint32_t i = turn; i < size; i++)
			at[i] = at[i - 1] + 1;
	}
}

/* Find the single learners that learn more: the cut vertices; of two participants, each. */
static int find_alone(struct search *s)
{
	uint32_t count = 0, *vertices = SL_ARENA_TAKE(&s->scratch, s->participants.graph.n, uint32_t);
	int rc = vertices == NULL ? SL_ERR_NOMEM
				  : sl_connectivity_articulation(&s->participants.graph, vertices, &count,
								 &s->scratch);
	if (s->participants.present_count == 2)
		return try_all(s, 1);
	for (uint32_t i = 0; rc == SL_OK && i < count; i++)
		if (s->participants.present[vertices[i]])
			rc = keep(s, &vertices[i], 1);
	return rc;
}

/* Set *safe if the graph is connected and no c learners cut it. */
static int is_safe(struct search *s, bool *safe)
{
	uint32_t kappa = 0;
	int rc = sl_connectivity(&s->participants.graph, s->c + 1, &kappa, NULL, &s->scratch);
	*safe = kappa > s->c;
	return rc;
}

static int find_together(struct search *s)
{
	bool safe = false;
	uint32_t n = s->participants.present_count;
	int rc = s->c > 1 ? is_safe(s, &safe) : SL_OK;
	if (rc != SL_OK || s->c == 1 || safe)
		return rc;
	double coalitions = n;
	for (uint32_t size = 2; rc == SL_OK && size <= s->c && size <= n; size++) {
		coalitions *= (double)(n - size + 1) / size;
		s->work += coalitions * (n + 2.0 * s->participants.graph.edges);
		rc = s->work > SL_WEAK_WORK_MOST ? SL_ERR_RANGE : try_all(s, size);
	}
	return rc;
}

static bool same_links(const struct sl_schedule *schedule, uint32_t step)
{
	size_t count = sl_schedule_count(schedule, step);
	return step > 0 && sl_schedule_count(schedule, step - 1) == count &&
	       (count == 0 || memcmp(sl_schedule_edges(schedule, step), sl_schedule_edges(schedule, step - 1),
				     count * sizeof(struct sl_edge)) == 0);
}

/* Copy the points of the step before, which had the same links. */
static int repeat(struct search *s)
{
	size_t to = s->weak->count;
	int rc = SL_OK;
	for (size_t i = s->from; rc == SL_OK && i < to; i++) {
		struct sl_weak_point p = s->weak->point[i];
		rc = keep(s, p.member, p.size);
	}
	s->from = to;
	return rc;
}

static int search_step(struct search *s)
{
	if (same_links(s->participants.schedule, s->step)) {
		s->weak->rounds += s->participants.present_count > 0;
		return repeat(s);
	}
	s->from = s->weak->count;
	sl_participants_at(&s->participants, s->step);
	if (s->participants.present_count == 0)
		return SL_OK;
	s->weak->rounds++;
	for (uint32_t v = 0, i = 0; v < s->participants.graph.n; v++)
		if (s->participants.present[v])
			s->present[i++] = v;
	sl_arena_reset(&s->scratch, 0);
	int rc = find_alone(s);
	return rc == SL_OK ? find_together(s) : rc;
}

static int search_all(struct search *s, struct sl_error *error)
{
	for (s->step = 0; s->step < s->participants.schedule->steps; s->step++) {
		int rc = search_step(s);
		if (rc == SL_ERR_RANGE)
			return sl_err_set(error, rc,
					  "too many coalitions of up to %u learners: lower --tolerance, or "
					  "name one with --coalition",
					  s->c);
		if (rc != SL_OK)
			return sl_err_set(error, rc, "step %u: %s", s->step + 1, sl_err_text(rc));
	}
	return SL_OK;
}

int sl_weak_find(struct sl_weak *weak, const struct sl_schedule *schedule, uint32_t quorum, uint32_t c,
		 struct sl_error *error)
{
	uint32_t n = schedule->learners;
	size_t bytes =
		4096 + 4 * (size_t)n + sl_connectivity_scratch(n, sl_schedule_graph_edges_most(schedule));
	struct search s = {.weak = weak,
			   .c = c,
			   .memory = sl_command_memory(1, bytes),
			   .present = sl_command_memory(n, sizeof *s.present)};
	*weak = (struct sl_weak){.rounds = 0};
	sl_arena_init(&s.scratch, s.memory, bytes);
	sl_participants_open(&s.participants, schedule, quorum);
	int rc = search_all(&s, error);
	sl_participants_close(&s.participants);
	free(s.memory);
	free(s.present);
	if (rc != SL_OK)
		sl_weak_close(weak);
	else if (weak->count > 0)
		qsort(weak->point, weak->count, sizeof *weak->point, in_order);
	return rc;
}

void sl_weak_close(struct sl_weak *weak)
{
	free(weak->point);
	*weak = (struct sl_weak){.rounds = 0};
}

size_t sl_weak_next(const struct sl_weak *weak, size_t at)
{
	size_t next = at + 1;
	while (next < weak->count && by_coalition(&weak->point[at], &weak->point[next]) == 0)
		next++;
	return next;
}
