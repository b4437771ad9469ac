#include "common/config/level.h"

#include <string.h>

static const char *const names[] = {
	[SL_DEBUG] = "debug", [SL_INFO] = "info", [SL_WARN] = "warn", [SL_ERROR] = "error"};

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
