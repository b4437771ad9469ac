/* environment.h - the environment of a program to start: that of this process with variables of its own. */
#pragma once

#include <stddef.h>

/* Return environ with the `count` assignments "NAME=VALUE" in place of its variables of these names, ended by
 * NULL; NULL: out of memory. The array is to be freed, its texts belong to the caller and to environ. */
char **sl_environment_with(char *const *assignments, size_t count);
