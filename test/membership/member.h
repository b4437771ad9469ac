/* member.h - a member of a roster with a name, and a key of equal bytes. Header-only. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "common/config/roster.h"

static inline struct sl_member member_of(const char *name, uint8_t digit)
{
	struct sl_member m = {0};
	snprintf(m.name, sizeof m.name, "%s", name);
	snprintf(m.address, sizeof m.address, "%s.example.org:7400", name);
	memset(m.pin, digit, sizeof m.pin);
	return m;
}
