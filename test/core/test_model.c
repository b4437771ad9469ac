/* A neighbour that trains another model is told the own tensors, once per link, and its own are reported once
 * (LINKS.md §6.16 Model). */
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "test/core/verbs.h"

static const uint8_t tensors[] = {1, 2, 3};
static const struct sl_model model = {.count = 1, .size = sizeof tensors, .tensors = tensors};

/* Discovering, with links to 2 and 3; 4 is in the roster. */
static struct driver *discovering(void)
{
	struct driver *p = driver_new(4, 4);
	p->config.model = model;
	play(p, "link up 2 3\n"
		"hello t1 training from 2 3\n"
		"trained -> DISCOVER, *");
	return p;
}

CASE(told_once_per_link, discovering(),
     "link state m7 from 2 -> model to 2, *\n"
     "link state m7 a2 from 2 -> link state *\n" /* relayed, no more */
     "link state m7 a3 from 3 -> model to 3, *\n"
     "link down 2\n"
     "link up 2 -> *model to 2*\n"
     "link state m7 a4 from 2 -> link state *")

/* Also if another neighbour has relayed the link state. One without a link is not told. */
CASE(told_over_the_own_link, discovering(),
     "link state of 2 m7 from 3 -> model to 2, *\n"
     "link state of 4 m7 from 3 -> link state of 4 *")

CASE(an_equal_model_is_not_told, discovering(), "link state from 2 -> link state of 2 *")

CASE(heard_once_per_link, discovering(),
     "model from 2 -> MODEL 2\n"
     "model from 2 -> REJECTED 2: has named its tensors twice\n"
     "model from 3 -> MODEL 3\n"
     "link down 2\n"
     "link up 2\n"
     "model from 2 -> MODEL 2")

/* On every topology exactly the ends of the links to the odd learner hear of its model and it of theirs,
 * before a share is sent. */
static uint32_t shares;

static bool count_shares(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)sim;
	(void)i;
	(void)j;
	shares += m->kind == SL_MSG_SHARE;
	return true;
}

static uint32_t times_heard(const struct sl_sim *sim, uint32_t i, uint32_t of)
{
	uint32_t times = 0;
	for (uint32_t k = 0; k < sim->note_count; k++)
		times += sim->notes[k].learner == i && sim->notes[k].report.kind == SL_REPORT_MODEL &&
			 sim->notes[k].report.peer == of;
	return times;
}

static void expect_heard(const char *topology, uint32_t odd, uint32_t learners, bool others_commit)
{
	struct sl_sim_options o = {.seed = 37, .learners = learners, .topology = topology};
	struct sl_sim *sim = sl_sim_new(&o);
	for (uint32_t i = 0; i < learners; i++)
		sim->learners[i].host.config.model = model;
	sim->learners[odd].host.config.parameters.model = 7;
	sim->tap = count_shares;
	shares = 0;
	sl_sim_start(sim);
	sl_sim_elapse(sim, 120000);
	for (uint32_t i = 0; i < learners; i++)
		for (uint32_t j = 0; j < learners; j++) {
			bool odd_link = (i == odd) != (j == odd) && sl_sim_link(sim, i, j)->possible;
			assert_int_equal(times_heard(sim, i, j), odd_link);
		}
	for (uint32_t i = 0; i < learners; i++)
		assert_int_equal(sim->learners[i].host.committed, i != odd && others_commit);
	assert_int_equal(shares > 0, others_commit);
	sl_sim_free(sim);
}

/* The others go on if they are a quorum; their result is of no use to the odd one. */
TEST(heard_at_both_ends)
{
	expect_heard("complete", 0, 5, true);
	expect_heard("ring", 3, 5, true);
	expect_heard("line", 2, 5, false);
}

/* What was released is not taken up with other tensors: the learner stops. */
TEST(a_released_attempt_of_another_model)
{
	struct sl_sim_options o = {.seed = 38, .learners = 3};
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	sl_sim_run_until_phase(sim, 0, SL_PHASE_MIX);
	sl_sim_crash(sim, 0);
	sim->learners[0].host.config.parameters.model = 7;
	sl_sim_restart(sim, 0);
	sl_sim_elapse(sim, 1000);
	sl_sim_expect(sim, 0, SL_REPORT_FAILED, SL_REASON_RECORD);
	sl_sim_free(sim);
}
