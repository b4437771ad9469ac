/* Read the file of an invitation, and that of a learner that waits for its admission. What is accepted is
 * written, and read again. */
#include <assert.h>
#include <string.h>

#include "common/membership/invitation_file.h"
#include "common/membership/waiting.h"
#include "test/fuzz/fuzz.h"

static const uint8_t id[SL_INVITATION_ID_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8}, pin[SL_HASH_BYTES] = {9};

static void read_invitation(void)
{
	static struct sl_invitation_file file, again;
	if (sl_invitation_file_load(fuzz_folder(), id, &file, NULL) != SL_OK)
		return;
	assert(file.used <= SL_INVITATION_USES_MAX);
	if (sl_invitation_file_use(fuzz_folder(), id, &file, pin, NULL) != SL_OK)
		return;
	assert(sl_invitation_file_load(fuzz_folder(), id, &again, NULL) == SL_OK);
	assert(memcmp(&file, &again, sizeof file) == 0);
}

static void read_waiting(void)
{
	struct sl_waiting waiting, again;
	if (sl_waiting_load(fuzz_folder(), "ana", &waiting, NULL) != SL_OK)
		return;
	assert(sl_waiting_save(fuzz_folder(), &waiting, NULL) == SL_OK);
	assert(sl_waiting_load(fuzz_folder(), waiting.name, &again, NULL) == SL_OK);
	assert(strcmp(again.address, waiting.address) == 0 && again.since == waiting.since &&
	       again.renews == waiting.renews);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	fuzz_file("invitations/0102030405060708", bytes, count);
	fuzz_file("waiting/ana.yaml", bytes, count);
	read_invitation();
	read_waiting();
	return 0;
}
