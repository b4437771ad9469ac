/* The messages of learners that mix by forest: a chunk, of one element, for each tree. */
#include "common/compute/job_mix.h"
#include "test/leak/replay.h"

struct climb {
	struct replay *replay;
	uint32_t attempt, chunk;
	uint8_t states[HISTORY_LEARNERS][STATE_ROOM]; /* last state sent by each learner */
	uint32_t through;			      /* bit set of learners that are finished */
};

static const struct sl_view *view_of(const struct climb *climb, uint32_t i)
{
	return &climb->replay->fixtures[i].views[climb->attempt];
}

/* Return the neighbours of i to which its view gives a role in the tree of the chunk: view->up or down. */
static uint32_t who(const struct climb *climb, uint32_t i, const uint64_t *role)
{
	const struct sl_view *view = view_of(climb, i);
	uint32_t set = 0;
	for (uint32_t r = 0; r < view->degree; r++)
		if (role[r] & sl_view_tree(view, climb->chunk))
			set |= 1u << sl_view_peer(view, r);
	return set;
}

static void say(struct climb *climb, uint32_t i)
{
	sl_job_mix_write(&climb->replay->fixtures[i].workspace, view_of(climb, i),
			 &(struct sl_chunk){.index = climb->chunk}, climb->states[i]);
	replay_say(climb->replay, climb->states[i], STATE_ROOM);
}

static void hear(struct climb *climb, uint32_t i, uint32_t from, uint64_t iteration)
{
	const struct sl_view *view = view_of(climb, i);
	struct sl_buffer buffers[HISTORY_LEARNERS], *list = NULL;
	for (uint32_t r = 0; r < view->degree; r++) {
		uint32_t peer = sl_view_peer(view, r);
		if (!(from >> peer & 1))
			continue;
		buffers[r] = (struct sl_buffer){.next = list,
						.from = r,
						.index = climb->chunk,
						.iteration = iteration,
						.bytes = climb->states[peer]};
		list = &buffers[r];
	}
	replay_work(
		climb->replay, climb->attempt, i,
		(struct sl_job){
			.kind = SL_JOB_MIX, .chunk = climb->chunk, .iteration = iteration, .buffers = list});
}

static void go_up(struct climb *climb, uint32_t i)
{
	const struct sl_view *view = view_of(climb, i);
	uint32_t children = who(climb, i, view->down);
	if ((children & ~climb->through) != 0)
		return;
	say(climb, i); /* the masked state, which its keeper knows */
	if (children != 0)
		hear(climb, i, children, SL_FOREST_UP);
	if (children != 0 && who(climb, i, view->up) != 0)
		say(climb, i);
	climb->through |= 1u << i;
}

static void go_down(struct climb *climb, uint32_t i)
{
	uint32_t parent = who(climb, i, view_of(climb, i)->up);
	if ((parent & ~climb->through) != 0)
		return;
	if (parent != 0)
		hear(climb, i, parent, SL_FOREST_DOWN);
	say(climb, i);
	climb->through |= 1u << i;
}

static void all_once(struct climb *climb, void (*go)(struct climb *, uint32_t))
{
	uint32_t learners = climb->replay->history->learners,
		 present = climb->replay->history->attempts[climb->attempt].present;
	climb->through = 0;
	for (uint32_t time = 0; time < learners && climb->through != present; time++)
		for (uint32_t i = 0; i < learners; i++)
			if ((present & ~climb->through) >> i & 1)
				go(climb, i);
	assert_int_equal(climb->through, present);
}

void replay_mix_forest(struct replay *replay, uint32_t attempt)
{
	struct climb climb = {.replay = replay, .attempt = attempt};
	uint32_t any = (uint32_t)__builtin_ctz(replay->history->attempts[attempt].present);
	for (; climb.chunk < view_of(&climb, any)->state_chunks; climb.chunk++) {
		all_once(&climb, go_up);
		all_once(&climb, go_down);
	}
}
