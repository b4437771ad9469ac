/* Read a roster of any form, and one line of one. Names and addresses of members that are accepted are
 * written as lines that are read again. */
#include <assert.h>
#include <string.h>

#include "common/membership/group.h"
#include "test/fuzz/fuzz.h"

static void expect_line(const struct sl_member *member)
{
	char text[SL_MEMBER_TEXT_BYTES];
	struct sl_member again;
	sl_roster_member_text(member, text);
	assert(sl_roster_member_load(fuzz_file("line", text, strlen(text)), &again, NULL) == SL_OK);
	assert(again.id == member->id && strcmp(again.name, member->name) == 0 &&
	       strcmp(again.address, member->address) == 0 &&
	       memcmp(again.pin, member->pin, sizeof again.pin) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct sl_group group;
	struct sl_member member;
	struct sl_error error;
	const char *path = fuzz_file("roster", bytes, count);
	int rc = sl_group_load(path, &group, &error);
	for (uint32_t i = 0; rc == SL_OK && i < group.roster.size && i < 4; i++)
		expect_line(&group.roster.members[i]);
	sl_group_close(&group);
	if (sl_roster_member_load(fuzz_file("roster", bytes, count), &member, &error) == SL_OK)
		expect_line(&member);
	return 0;
}
