#include "daemon/runtime/environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Return true if one of the assignments sets the same variable as `entry`. */
static bool is_replaced(const char *entry, char *const *assignments, size_t count)
{
	size_t length = strcspn(entry, "=") + 1;
	for (size_t i = 0; i < count; i++)
		if (strncmp(entry, assignments[i], length) == 0)
			return true;
	return false;
}

char **sl_environment_with(char *const *assignments, size_t count)
{
	size_t kept = 0;
	while (environ != NULL && environ[kept] != NULL)
		kept++;
	char **made = calloc(kept + count + 1, sizeof *made);
	if (made == NULL)
		return NULL;
	size_t n = 0;
	for (size_t i = 0; i < kept; i++)
		if (!is_replaced(environ[i], assignments, count))
			made[n++] = environ[i];
	memcpy(made + n, assignments, count * sizeof *made);
	return made;
}
