#include "common/config/level.h"

#include <string.h>

#define X(constant, name) name,
static const char *const names[] = {SL_LEVELS(X)};
#undef X

const char *sl_level_name(enum sl_level level)
{
	return names[level];
}

int sl_level_find(const char *name)
{
	for (int i = SL_DEBUG; i <= SL_ERROR; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}
