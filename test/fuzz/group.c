/* Read a signed roster as a peer sends it, then as a proposal, whose signatures may be any. A proposal that
 * is read is written as one that is the same, and compared with that of the corpus. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/membership/proposal.h"
#include "test/fuzz/fuzz.h"

#define NOW SL_SOURCE_ROOT "/test/fuzz/corpus/group/signed"

static void expect_same(const struct sl_group *group)
{
	struct sl_group again;
	struct sl_error error;
	size_t size, size_again;
	char *text = sl_group_text(group, &size);
	assert(text != NULL);
	if (sl_group_load_proposal(fuzz_file("again", text, size), &again, &error) != SL_OK)
		abort();
	char *text_again = sl_group_text(&again, &size_again);
	assert(text_again != NULL && size == size_again && memcmp(text, text_again, size) == 0);
	free(text_again);
	free(text);
	sl_group_close(&again);
}

static void compare(const struct sl_group *now, const char *path)
{
	struct sl_group proposal;
	struct sl_error error;
	if (sl_group_load_proposal(path, &proposal, &error) == SL_OK) {
		char *changes = sl_proposal_changes(now, &proposal);
		assert(changes != NULL);
		free(changes);
		sl_group_missing(now, &proposal);
		expect_same(&proposal);
	}
	sl_group_close(&proposal);
	sl_proposal_load(path, now, &proposal, &error);
	sl_group_close(&proposal);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static struct sl_group now;
	struct sl_group group;
	struct sl_error error;
	if (now.roster.size == 0 && sl_group_load(NOW, &now, &error) != SL_OK)
		abort();
	if (sl_group_read("a peer", (const char *)bytes, count, &group, &error) == SL_OK)
		assert(sl_group_verify(&group));
	sl_group_close(&group);
	char path[128];
	strcpy(path, fuzz_file("proposal", bytes, count));
	compare(&now, path);
	return 0;
}
