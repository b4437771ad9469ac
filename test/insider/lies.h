/* lies.h - the lies by name. */
#pragma once

#include "test/insider/insider.h"

/* Of lies_shown.c; the last one has no name. */
extern const struct lie lies_shown[];
/* Return the lie of this name, NULL: there is none. */
const struct lie *lies_find(const char *name);
