/* lies.h - the lies by name. */
#pragma once

#include "test/insider/insider.h"

/* Return the lie of this name, NULL: there is none. */
const struct lie *lies_find(const char *name);
