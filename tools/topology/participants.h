/* participants.h - the participants of a round on a step, and the groups into which they fall without a
 * coalition.
 *
 * A round takes a connected quorum; learners outside that part are left out (ROUND.md §7.8 Agree on the
 * view). The quorum is a majority, so at most one part has it. Owns its memory; lists are valid until the
 * next call.
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
	bool *out; /* n; learners taken away, all false between calls */
	struct sl_arena arena;
	size_t mark;
	void *memory;
};

/* Return a majority of n learners. */
static inline uint32_t sl_participants_majority(uint32_t n)
{
	return n / 2 + 1;
}

/* Open for steps of `schedule`; quorum is at least the majority. */
void sl_participants_open(struct sl_participants *participants, const struct sl_schedule *schedule,
			  uint32_t quorum);
void sl_participants_close(struct sl_participants *participants);

/* Find the participants of a step. */
void sl_participants_at(struct sl_participants *participants, uint32_t step);

/* Find the groups of the participants without `count` learners, ordered by their least member. */
void sl_participants_without(struct sl_participants *participants, const uint32_t *learners, size_t count);

static inline uint32_t sl_participants_size(const struct sl_participants *m, uint32_t group)
{
	return m->start[group + 1] - m->start[group];
}

/* Return whether the learners taken away learn more than the total of two or more others. */
bool sl_participants_beyond(const struct sl_participants *participants);
