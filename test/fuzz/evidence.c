/* Read an evidence file, and check what it proves. */
#include <string.h>

#include "daemon/store/evidence.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct sl_evidence evidence;
	struct sl_error error;
	char text[256];
	if (sl_evidence_read(fuzz_file("evidence.json", bytes, count), &evidence, &error) == SL_OK) {
		sl_evidence_check(&evidence, &error);
		sl_evidence_signer(&evidence);
		sl_evidence_differences(&evidence, text, sizeof text);
	}
	sl_evidence_close(&evidence);
	return 0;
}
