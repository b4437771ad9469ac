/* participants.h - who takes part in a round on a step, and the groups they fall into without some of
 * them.
 *
 * A round needs a quorum that hangs together; those outside are left out of it (protocol 5, AGREE). The
 * quorum is a majority, so there is one such part at most. Owns its memory; lists are valid until the next
 * step, or question.
 */
#pragma once

#include "tools/lib/schedule.h"

struct sl_participants {
	const struct sl_schedule *schedule;
	uint32_t quorum;
	struct sl_graph graph;	/* of the step */
	uint32_t largest;	/* learners in its largest part */
	uint32_t present_count; /* 0: no round */
	bool *present;		/* n */
	uint32_t groups;
	/* Group g is member[start[g]] .. member[start[g + 1] - 1], ascending. */
	uint32_t *start, *member;
	uint32_t *label, *stack;
	bool *out; /* n, all false in between: those taken away */
	struct sl_arena arena;
	size_t mark;
	void *memory;
};

/* A majority of n learners. */
static inline uint32_t sl_participants_majority(uint32_t n)
{
	return n / 2 + 1;
}

/* quorum >= the majority. SL_ERR_NOMEM. */
int sl_participants_open(struct sl_participants *participants, const struct sl_schedule *schedule,
			 uint32_t quorum);
void sl_participants_close(struct sl_participants *participants);

int sl_participants_at(struct sl_participants *participants, uint32_t step);

/* The groups of those present when `count` learners are taken away, by their least member. */
void sl_participants_without(struct sl_participants *participants, const uint32_t *learners, size_t count);

static inline uint32_t sl_participants_size(const struct sl_participants *m, uint32_t group)
{
	return m->start[group + 1] - m->start[group];
}

/* Whether those taken away learn more than the total of two or more others (protocol 4, F2). */
bool sl_participants_beyond(const struct sl_participants *participants);
