/* The memory of a core: what is set aside for the largest attempt, what a start touches of it, and the list
 * of the candidates of all link states.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "common/core/relay.h"
#include "test/core/driver.h"
#include "test/lib/test.h"

#define PAGE 4096u

static void forget(struct driver *p)
{
	free(p->ids);
	free(p);
}

/* A view may have all edges, of which each learner knows all: the memory set aside grows with N^2. */
static void expect_bytes(uint32_t learners, size_t most)
{
	struct driver *p = driver_new(learners, 1000);
	size_t bytes = sl_core_bytes(&p->config);
	if (bytes / learners > most)
		fail_msg("%zu bytes for each of %u learners", bytes / learners, learners);
	forget(p);
}

TEST(set_aside)
{
	expect_bytes(100, 36000);
	expect_bytes(1000, 43000);
	expect_bytes(2000, 63000);
}

/* Return the bytes of pages of the zeros at `base` that were written to. */
static size_t touched(const uint8_t *base, size_t bytes)
{
	static const uint8_t zeros[PAGE];
	unsigned char *here = malloc(bytes / PAGE);
	size_t count = 0;
	assert_int_equal(mincore((void *)base, bytes, here), 0);
	for (size_t k = 0; k < bytes / PAGE; k++) /* a page that was only read may be here, too */
		count += (here[k] & 1) != 0 && memcmp(base + k * PAGE, zeros, PAGE) != 0;
	free(here);
	return count * PAGE;
}

/* Little is known of the others before their records come. */
TEST(touched_by_a_start)
{
	struct driver *p = driver_new(SL_LEARNERS_MAX, 1000);
	size_t bytes = (sl_core_bytes(&p->config) + PAGE - 1) / PAGE * PAGE;
	struct sl_arena arena;
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(base, MAP_FAILED);
	sl_arena_init_zeros(&arena, base, bytes);
	struct sl_core *core = sl_core_init(&p->config, &arena);
	assert_non_null(core);
	assert_int_equal(sl_core_step(core, &(struct sl_event){.kind = SL_EVENT_START}, &p->actions), SL_OK);
	size_t each = touched(base, bytes) / SL_LEARNERS_MAX;
	if (each > 700)
		fail_msg("%zu bytes for each other learner", each);
	munmap(base, bytes);
	forget(p);
}

/* Give the link states of 2 and 3 `count` candidates, from `first` on. */
static void name(struct sl_core *core, uint32_t i, uint32_t count, sl_id first)
{
	struct sl_link_record *lr = &core->links[i];
	sl_relay_make_room(core);
	sl_relay_room(core, lr, count);
	for (uint32_t k = 0; k < count; k++)
		lr->candidates[k] = first + k;
	lr->state.candidates = lr->candidates;
	lr->state.count = count;
}

static void expect_names(const struct sl_core *core, uint32_t i, uint32_t count, sl_id first)
{
	const struct sl_link_state *state = &core->links[i].state;
	assert_int_equal(state->count, count);
	assert_ptr_equal(state->candidates, core->links[i].candidates);
	for (uint32_t k = 0; k < count; k++)
		assert_int_equal(state->candidates[k], first + k);
}

/* Link states that grow leave their places behind; when the list is full, the others move up. */
TEST(candidates_that_grow)
{
	struct driver *p = driver_new(4, 1);
	play(p, "start");
	uint32_t most = sl_core_candidates_max(4);
	for (uint32_t count = 1; count <= most; count++) {
		name(p->core, 1, count, 100);
		name(p->core, 3, 1 + count / 2, 300);
		name(p->core, 2, count, 200);
		expect_names(p->core, 1, count, 100);
		expect_names(p->core, 2, count, 200);
		expect_names(p->core, 3, 1 + count / 2, 300);
	}
	name(p->core, 1, 3, 400);
	expect_names(p->core, 1, 3, 400);
	driver_free(p);
}
