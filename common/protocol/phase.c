#include "common/protocol/phase.h"

#include <string.h>

#define TO(name) (1u << SL_PHASE_##name)

static const uint32_t allowed[SL_PHASE_COUNT] = {
	[SL_PHASE_TRAIN] = TO(DISCOVER) | TO(DONE) | TO(READY) | TO(RECOVER),
	[SL_PHASE_DISCOVER] = TO(AGREE) | TO(CATCHUP),
	[SL_PHASE_AGREE] = TO(SHARE) | TO(DISCOVER),
	[SL_PHASE_SHARE] = TO(READY) | TO(DISCOVER),
	[SL_PHASE_READY] = TO(RELEASE) | TO(RECOVER) | TO(DISCOVER) | TO(TRAIN) | TO(CATCHUP),
	[SL_PHASE_RELEASE] = TO(MIX) | TO(RECOVER),
	[SL_PHASE_MIX] = TO(CHECK) | TO(CONFIRM) | TO(RECOVER),
	[SL_PHASE_CHECK] = TO(CONFIRM) | TO(RECOVER),
	[SL_PHASE_CONFIRM] = TO(COMMIT) | TO(RECOVER) | TO(DISCOVER) | TO(TRAIN),
	[SL_PHASE_COMMIT] = TO(TRAIN) | TO(DONE),
	[SL_PHASE_RECOVER] = TO(CONFIRM) | TO(DISCOVER) | TO(TRAIN) | TO(CATCHUP),
	[SL_PHASE_DONE] = TO(TRAIN),
	[SL_PHASE_CATCHUP] = TO(TRAIN) | TO(DONE) | TO(DISCOVER) | TO(READY) | TO(RECOVER),
};

static const char *const names[SL_PHASE_COUNT] = {
#define X(name) [SL_PHASE_##name] = #name,
	SL_PHASES(X)
#undef X
};

const char *sl_phase_name(enum sl_phase phase)
{
	return phase < SL_PHASE_COUNT ? names[phase] : "?";
}

enum sl_phase sl_phase_find(const char *name)
{
	for (int i = 0; name != NULL && i < SL_PHASE_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return (enum sl_phase)i;
	return SL_PHASE_TRAIN;
}

bool sl_phase_allows(enum sl_phase from, enum sl_phase to)
{
	return (allowed[from] >> to) & 1;
}
