#include "tools/topology/participants.h"

#include <stdlib.h>
#include <string.h>

#include "tools/lib/schedule_graph.h"

int sl_meeting_open(struct sl_meeting *meeting, const struct sl_schedule *schedule, uint32_t quorum)
{
	uint32_t n = schedule->learners;
	size_t bytes = sl_step_bytes(n, sl_step_edges_most(schedule));
	*meeting = (struct sl_meeting){.schedule = schedule, .quorum = quorum, .memory = malloc(bytes)};
	if (meeting->memory == NULL)
		return SL_ERR_NOMEM;
	sl_arena_init(&meeting->arena, meeting->memory, bytes);
	meeting->present = SL_TAKE(&meeting->arena, n, bool);
	meeting->out = SL_TAKE(&meeting->arena, n, bool);
	meeting->start = SL_TAKE(&meeting->arena, (size_t)n + 1, uint32_t);
	meeting->member = SL_TAKE(&meeting->arena, n, uint32_t);
	meeting->label = SL_TAKE(&meeting->arena, n, uint32_t);
	meeting->stack = SL_TAKE(&meeting->arena, n, uint32_t);
	meeting->mark = sl_arena_mark(&meeting->arena);
	return meeting->stack == NULL ? SL_ERR_NOMEM : SL_OK;
}

void sl_meeting_close(struct sl_meeting *meeting)
{
	free(meeting->memory);
	meeting->memory = NULL;
}

/* Make the part that has a quorum the participants. */
static void gather(struct sl_meeting *m)
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

int sl_meeting_at(struct sl_meeting *meeting, uint32_t step)
{
	sl_arena_reset(&meeting->arena, meeting->mark);
	int rc = sl_step_graph(meeting->schedule, step, &meeting->graph, &meeting->arena);
	if (rc == SL_OK)
		gather(meeting);
	return rc;
}

/* Fill member[], in order, from the sizes in start[], and turn these into positions. */
static void list_members(struct sl_meeting *m)
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

void sl_meeting_without(struct sl_meeting *meeting, const uint32_t *learners, size_t count)
{
	uint32_t n = meeting->graph.n;
	meeting->groups = 0;
	memset(meeting->label, 0xff, n * sizeof *meeting->label);
	for (size_t i = 0; i < count; i++)
		meeting->out[learners[i]] = true;
	for (uint32_t v = 0; v < n; v++)
		if (meeting->present[v] && !meeting->out[v] && meeting->label[v] == UINT32_MAX) {
			uint32_t size = sl_graph_component(&meeting->graph, v, meeting->groups, meeting->out, meeting->label, meeting->stack);
			meeting->start[meeting->groups++] = size;
		}
	for (size_t i = 0; i < count; i++)
		meeting->out[learners[i]] = false;
	list_members(meeting);
}

bool sl_meeting_beyond(const struct sl_meeting *meeting)
{
	return meeting->groups > 1 || (meeting->groups == 1 && sl_meeting_size(meeting, 0) == 1);
}
