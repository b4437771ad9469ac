/* The messages of learners that mix by tree. */
#include "common/compute/job_mix.h"
#include "test/leak/replay.h"

struct climb {
	struct replay *replay;
	uint32_t attempt;
	uint8_t states[HISTORY_LEARNERS][STATE_ROOM]; /* last state sent by each learner */
	uint32_t through;			      /* bit set of learners that are finished */
};

static const struct sl_view *view_of(const struct climb *climb, uint32_t i)
{
	return &climb->replay->fixtures[i].views[climb->attempt];
}

/* Return the neighbours of i that have this role. */
static uint32_t who(const struct climb *climb, uint32_t i, uint8_t role)
{
	const struct sl_view *view = view_of(climb, i);
	uint32_t set = 0;
	for (uint32_t r = 0; r < view->degree; r++)
		if (view->roles[r] & role)
			set |= 1u << sl_view_peer(view, r);
	return set;
}

static void say(struct climb *climb, uint32_t i)
{
	sl_job_mix_write(&climb->replay->fixtures[i].workspace, view_of(climb, i), &(struct sl_chunk){0},
			 climb->states[i]);
	replay_say(climb->replay, climb->states[i], STATE_ROOM);
}

/* The parts of children that are leaves are in the slots. */
static void hear(struct climb *climb, uint32_t i, uint32_t from, uint64_t iteration)
{
	const struct sl_view *view = view_of(climb, i);
	struct sl_buffer buffers[HISTORY_LEARNERS], *list = NULL;
	for (uint32_t r = 0; r < view->degree; r++) {
		uint32_t peer = sl_view_peer(view, r);
		if (!(from >> peer & 1) || (view->roles[r] & SL_ROLE_LEAF))
			continue;
		buffers[r] = (struct sl_buffer){
			.next = list, .from = r, .iteration = iteration, .bytes = climb->states[peer]};
		list = &buffers[r];
	}
	replay_work(climb->replay, climb->attempt, i,
		    (struct sl_job){.kind = SL_JOB_MIX, .iteration = iteration, .buffers = list});
}

static void go_up(struct climb *climb, uint32_t i)
{
	uint32_t children = who(climb, i, SL_ROLE_CHILD);
	if ((children & ~climb->through) != 0)
		return;
	say(climb, i); /* the masked state, which its keepers know */
	if (children != 0)
		hear(climb, i, children, SL_TREE_UP);
	if (children != 0 && who(climb, i, SL_ROLE_PARENT) != 0)
		say(climb, i);
	climb->through |= 1u << i;
}

static void go_down(struct climb *climb, uint32_t i)
{
	uint32_t parent = who(climb, i, SL_ROLE_PARENT);
	if ((parent & ~climb->through) != 0)
		return;
	if (parent != 0)
		hear(climb, i, parent, SL_TREE_DOWN);
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

void replay_mix_tree(struct replay *replay, uint32_t attempt)
{
	struct climb climb = {.replay = replay, .attempt = attempt};
	all_once(&climb, go_up);
	all_once(&climb, go_down);
}
