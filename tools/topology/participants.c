#include "tools/topology/participants.h"

#include <stdlib.h>
#include <string.h>

#include "tools/lib/command.h"
#include "tools/lib/schedule_graph.h"

void sl_participants_open(struct sl_participants *m, const struct sl_schedule *schedule, uint32_t quorum)
{
	uint32_t n = schedule->learners;
	size_t bytes = sl_schedule_graph_bytes(n, sl_schedule_graph_edges_most(schedule));
	*m = (struct sl_participants){
		.schedule = schedule, .quorum = quorum, .memory = sl_command_memory(1, bytes)};
	sl_arena_init(&m->arena, m->memory, bytes);
	m->present = SL_ARENA_TAKE(&m->arena, n, bool);
	m->out = SL_ARENA_TAKE(&m->arena, n, bool);
	m->start = SL_ARENA_TAKE(&m->arena, (size_t)n + 1, uint32_t);
	m->member = SL_ARENA_TAKE(&m->arena, n, uint32_t);
	m->label = SL_ARENA_TAKE(&m->arena, n, uint32_t);
	m->stack = SL_ARENA_TAKE(&m->arena, n, uint32_t);
	m->mark = sl_arena_mark(&m->arena);
}

void sl_participants_close(struct sl_participants *participants)
{
	free(participants->memory);
	participants->memory = NULL;
}

/* Make the part that has a quorum the participants. */
static void gather(struct sl_participants *m)
{
	uint32_t n = m->graph.n, chosen = UINT32_MAX;
	m->largest = m->present_count = m->groups = 0;
	memset(m->label, 0xff, n * sizeof *m->label);
	for (uint32_t v = 0; v < n; v++) {
		if (m->label[v] != UINT32_MAX)
			continue;
		uint32_t count = sl_graph_component(&m->graph, v, v, m->out, m->label, m->stack);
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

void sl_participants_at(struct sl_participants *m, uint32_t step)
{
	sl_arena_reset(&m->arena, m->mark);
	int rc = sl_schedule_graph(m->schedule, step, &m->graph, &m->arena);
	assert(rc == SL_OK); /* there is room for each step */
	gather(m);
}

/* Fill member[], in order, from the sizes in start[], and turn these into positions. */
static void list_members(struct sl_participants *m)
{
	uint32_t at = 0;
	for (uint32_t g = 0; g <= m->groups; g++) { /* stack[g]: position of the next member of g */
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

void sl_participants_without(struct sl_participants *m, const uint32_t *learners, size_t count)
{
	m->groups = 0;
	memset(m->label, 0xff, m->graph.n * sizeof *m->label);
	for (size_t i = 0; i < count; i++)
		m->out[learners[i]] = true;
	for (uint32_t v = 0; v < m->graph.n; v++)
		if (m->present[v] && !m->out[v] && m->label[v] == UINT32_MAX) {
			uint32_t size =
				sl_graph_component(&m->graph, v, m->groups, m->out, m->label, m->stack);
			m->start[m->groups++] = size;
		}
	for (size_t i = 0; i < count; i++)
		m->out[learners[i]] = false;
	list_members(m);
}

bool sl_participants_beyond(const struct sl_participants *m)
{
	return m->groups > 1 || (m->groups == 1 && sl_participants_size(m, 0) == 1);
}
