#include "tools/lib/python.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/lib/command.h"

char **sl_python_command(const char *module, int argc, char **argv)
{
	size_t count = (size_t)argc;
	const char **command = sl_command_memory(1, (count + 4) * sizeof *command + PATH_MAX);
	char *start = (char *)(command + count + 4);
	if (!sl_command_sibling("python/starling_start", start))
		sl_command_sibling("../share/starling/python/starling_start", start);
	command[0] = "python3";
	command[1] = start;
	command[2] = module;
	memcpy(command + 3, argv, count * sizeof *command);
	return (char **)command;
}

/* Tell the module which program this is: --local starts it. */
static void name_program(void)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	self[length > 0 ? length : 0] = '\0';
	setenv("STARLING_PROGRAM", length > 0 ? self : "starling", 1);
}

int sl_python_run(const char *module, int argc, char **argv)
{
	char **command = sl_python_command(module, argc, argv);
	sl_command_find_package();
	name_program();
	execvp(command[0], command);
	fprintf(stderr, "%s: " SL_PYTHON_NOT_STARTED "\n", argv[0], strerror(errno));
	free(command);
	return SL_EXIT_FAILED;
}
