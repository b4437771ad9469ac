#include "tools/topology/participants.h"

#include <stdlib.h>
#include <string.h>

#include "tools/lib/schedule_graph.h"

int sl_participants_open(struct sl_participants *participants, const struct sl_schedule *schedule,
			 uint32_t quorum)
{
	uint32_t n = schedule->learners;
	size_t bytes = sl_schedule_graph_bytes(n, sl_schedule_graph_edges_most(schedule));
	*participants =
		(struct sl_participants){.schedule = schedule, .quorum = quorum, .memory = malloc(bytes)};
	if (participants->memory == NULL)
		return SL_ERR_NOMEM;
	sl_arena_init(&participants->arena, participants->memory, bytes);
	participants->present = SL_ARENA_TAKE(&participants->arena, n, bool);
	participants->out = SL_ARENA_TAKE(&participants->arena, n, bool);
	participants->start = SL_ARENA_TAKE(&participants->arena, (size_t)n + 1, uint32_t);
	participants->member = SL_ARENA_TAKE(&participants->arena, n, uint32_t);
	participants->label = SL_ARENA_TAKE(&participants->arena, n, uint32_t);
	participants->stack = SL_ARENA_TAKE(&participants->arena, n, uint32_t);
	participants->mark = sl_arena_mark(&participants->arena);
	return participants->stack == NULL ? SL_ERR_NOMEM : SL_OK;
}

void sl_participants_close(struct sl_participants *participants)
{
	free(participants->memory);
	participants->memory = NULL;
}

/* Labels whom v reaches by way of those who are not out, v with them; how many. */
static uint32_t flood(struct sl_participants *m, uint32_t v, uint32_t label)
{
	uint32_t depth = 0, count = 1;
	m->stack[depth++] = v;
	m->label[v] = label;
	while (depth > 0) {
		uint32_t u = m->stack[--depth];
		const uint32_t *neighbours = sl_graph_neighbours(&m->graph, u);
		for (uint32_t k = 0; k < sl_graph_degree(&m->graph, u); k++) {
			uint32_t w = neighbours[k];
			if (m->label[w] != UINT32_MAX || m->out[w])
				continue;
			m->label[w] = label;
			m->stack[depth++] = w;
			count++;
		}
	}
	return count;
}

/* The part that is large enough becomes those present. */
static void gather(struct sl_participants *m)
{
	uint32_t n = m->graph.n, chosen = UINT32_MAX;
	m->largest = m->present_count = m->groups = 0;
	memset(m->label, 0xff, n * sizeof *m->label);
	for (uint32_t v = 0; v < n; v++) {
		if (m->label[v] != UINT32_MAX)
			continue;
		uint32_t count = flood(m, v, v);
		if (count > m->largest)
			m->largest = count;
		if (count >= m->quorum) {
			chosen = v;
			m->present_count = count;
		}
	}
	for (uint32_t v = 0; v < n; v++)
		m->present[v] = m->label[v] == chosen;
}

int sl_participants_at(struct sl_participants *participants, uint32_t step)
{
	sl_arena_reset(&participants->arena, participants->mark);
	int rc = sl_schedule_graph(participants->schedule, step, &participants->graph, &participants->arena);
	if (rc == SL_OK)
		gather(participants);
	return rc;
}

/* start[] has the sizes: lists the members, in order. */
static void list_members(struct sl_participants *m)
{
	uint32_t at = 0;
	for (uint32_t g = 0; g <= m->groups; g++) { /* stack: where the next member of g goes */
		uint32_t size = g < m->groups ? m->start[g] : 0;
		m->start[g] = at;
		if (g < m->groups)
			m->stack[g] = at;
		at += size;
	}
	for (uint32_t v = 0; v < m->graph.n; v++)
		if (m->label[v] != UINT32_MAX)
			m->member[m->stack[m->label[v]]++] = v;
}

void sl_participants_without(struct sl_participants *participants, const uint32_t *learners, size_t count)
{
	uint32_t n = participants->graph.n;
	participants->groups = 0;
	memset(participants->label, 0xff, n * sizeof *participants->label);
	for (size_t i = 0; i < count; i++)
		participants->out[learners[i]] = true;
	for (uint32_t v = 0; v < n; v++)
		if (participants->present[v] && !participants->out[v] &&
		    participants->label[v] == UINT32_MAX) {
			participants->start[participants->groups] =
				flood(participants, v, participants->groups);
			participants->groups++;
		}
	for (size_t i = 0; i < count; i++)
		participants->out[learners[i]] = false;
	list_members(participants);
}

bool sl_participants_beyond(const struct sl_participants *participants)
{
	return participants->groups > 1 ||
	       (participants->groups == 1 && sl_participants_size(participants, 0) == 1);
}
