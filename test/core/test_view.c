/* The hash h of a view differs with everything that link states say of the view, and with nothing else
 * (ROUND.md §7.8 Agree on the view). */
#include "test/core/driver.h"
#include "test/lib/test.h"

/* Write the h that learner 1 computes if 2, 3 and 4 send these link states: `early` while it trains. */
static void h_of(const char *early, const char *late, uint8_t h[static SL_HASH_BYTES])
{
	struct driver *p = driver_new(4, 4);
	play(p,
	     "link up all\n"
	     "hello t1 ready from all\n"
	     "%s\n"
	     "trained",
	     early);
	if (late != NULL)
		play(p, "%s", late);
	assert_non_null(p->view);
	memcpy(h, p->h, SL_HASH_BYTES);
	driver_free(p);
}

TEST(what_h_depends_on)
{
	static const char *const link_states[] = {
		"link state from all",
		"link state from 2 4\nlink state i2 from 3",
		"link state names 1 4 from 2\nlink state from 3 4", /* no edge 2 - 3 */
		"link state from 2 3\nlink state names 1 2 from 4", /* no edge 3 - 4 */
		"link state a2 from all",
		"link state f1 from 2 3\nlink state from 4", /* two of them are c+1 */
	};
	enum { COUNT = sizeof link_states / sizeof *link_states };
	uint8_t h[COUNT][SL_HASH_BYTES], again[SL_HASH_BYTES];
	for (size_t k = 0; k < COUNT; k++) {
		h_of(link_states[k], NULL, h[k]);
		for (size_t other = 0; other < k; other++)
			assert_memory_not_equal(h[k], h[other], SL_HASH_BYTES);
	}
	h_of("link state from 2 4", "link state from 3", again); /* the order of arrival has no effect */
	assert_memory_equal(again, h[0], SL_HASH_BYTES);
}
