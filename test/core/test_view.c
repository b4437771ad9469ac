/* h tells one view from another: in each thing that link states say of it, and in nothing else (PROTOCOL.md
 * §7.8 Agree on the view). */
#include <stdlib.h>
#include <string.h>

#include "test/core/driver.h"
#include "test/lib/test.h"

/* What learner 3, of four that all know each other, says otherwise than the rest. */
struct said {
	uint32_t incarnation;
	sl_id without; /* it has no edge to; 0: nobody */
	uint64_t k;
	sl_attempt a;
	bool late; /* its link state is the last to come */
};

static void tell_state(struct driver *p, sl_id id, const struct said *said)
{
	static const sl_id others[5][4] = {[2] = {1, 3, 4}, [3] = {1, 2, 4}, [4] = {1, 2, 3}},
			   less[5][3] = {[2] = {1, 4}, [4] = {1, 2}};
	struct sl_message m = link_state_of(p, id, said->a,
					    id == 3 && said->without != 0 ? less[said->without] : others[id]);
	m.link_state.incarnation = id == 3 ? said->incarnation : 1;
	m.link_state.parameters.k = id == 3 ? said->k : m.link_state.parameters.k;
	tell_message(p, 4, &m);
}

static void h_of(struct said said, uint8_t h[static SL_HASH_BYTES])
{
	struct driver *p = driver_new(4, 4);
	for (sl_id id = 2; id <= 4; id++) {
		tell_link(p, true, id);
		tell_hello(p, id, 1, SL_PEER_STATUS_READY);
	}
	for (sl_id id = 2; id <= 4; id++)
		if (id != 3 || !said.late)
			tell_state(p, id, &said);
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	if (said.late)
		tell_state(p, 3, &said);
	assert_non_null(p->view);
	memcpy(h, p->view->h, SL_HASH_BYTES);
	driver_free(p, 0);
}

static const struct said usual = {.incarnation = 1, .k = 3, .a = 1};

static void expect_differ(struct said one, struct said other)
{
	uint8_t h[SL_HASH_BYTES], h2[SL_HASH_BYTES];
	h_of(one, h);
	h_of(other, h2);
	assert_memory_not_equal(h, h2, sizeof h);
}

static void expect_another(struct said said)
{
	expect_differ(usual, said);
}

TEST(test_another_start)
{
	struct said said = usual;
	said.incarnation = 2; /* what it promised in its last life is not promised in this one */
	expect_another(said);
}

TEST(test_other_edges)
{
	struct said without_2 = usual, without_4 = usual;
	without_2.without = 2;
	without_4.without = 4;
	expect_another(without_2);
	expect_differ(without_2, without_4); /* as many */
}

TEST(test_another_attempt)
{
	struct said said = usual;
	said.a = 2;
	expect_another(said);
}

TEST(test_other_parameters)
{
	struct said said = usual;
	said.k = 4;
	expect_another(said);
}

TEST(test_the_same)
{
	uint8_t h[SL_HASH_BYTES], of_usual[SL_HASH_BYTES];
	struct said said = usual;
	said.late = true;
	h_of(usual, of_usual);
	h_of(said, h);
	assert_memory_equal(h, of_usual, sizeof h);
}
