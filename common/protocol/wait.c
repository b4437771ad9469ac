#include "common/protocol/wait.h"

const char *sl_wait_words(enum sl_wait wait)
{
	static const char *const words[] = {
#define X(wait, words) [SL_WAIT_##wait] = words,
		SL_WAITS(X)
#undef X
	};
	return wait < SL_WAIT_COUNT ? words[wait] : "?";
}
