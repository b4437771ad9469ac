/* Read a view as it lies on disk, beside an attempt. What is a whole one is what it came from. */
#include <assert.h>
#include <string.h>

#include "common/protocol/view_codec.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static uint32_t members[2 * SL_LEARNERS_MAX];
	struct sl_scope scope = {0};
	struct sl_view view = {0};
	struct sl_round_head round;
	uint64_t p;
	size_t edges;
	if (sl_view_read_head(bytes, count, &view, &p, &edges) != SL_OK)
		return 0;
	assert(sl_view_bytes(view.n, edges) == count);
	for (uint32_t i = 0; i < view.n; i++) {
		sl_id id;
		uint32_t incarnation;
		sl_view_read_member(bytes, i, &id, &incarnation);
	}
	for (size_t e = 0; e < edges; e++) {
		sl_id a, b;
		sl_view_read_edge(bytes, view.n, e, &a, &b);
	}
	if (sl_view_round(&scope, bytes, count, SL_LEARNERS_MAX, members, &round) == SL_OK)
		assert(round.p == p);
	return 0;
}
