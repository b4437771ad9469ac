/* The commands that are Python: run them in the package starling.stats with python3. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/lib/command.h"

/* Its first argument reads "starling NAME". Without the current folder on the path: a file of the user may be
 * called numpy.py. */
static const char program[] =
	"import sys\n"
	"if sys.path[0] == '':\n"
	"    del sys.path[0]\n"
	"def end(text):\n"
	"    print(f'{sys.argv[1]}: {text}', file=sys.stderr)\n"
	"    sys.exit(1)\n"
	"try:\n"
	"    import numpy\n"
	"except ImportError:\n"
	"    end(f'{sys.executable} has no numpy: install it (Debian: apt-get install python3-numpy), or put "
	"another python3 first on PATH')\n"
	"try:\n"
	"    from starling.stats.__main__ import run_command\n"
	"except ModuleNotFoundError as missing:\n"
	"    end(f'{sys.executable} has no module {missing.name}: install the Python package of Starling "
	"(Debian: python3-starling), or put its folder into PYTHONPATH')\n"
	"sys.exit(run_command(sys.argv[1].split()[-1], sys.argv[2:]))\n";

/* Tell the package which program --local starts. */
static void name_program(void)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	self[length > 0 ? length : 0] = '\0';
	setenv("STARLING_PROGRAM", length > 0 ? self : "starling", 1);
}

int sl_cmd_python(int argc, char **argv)
{
	char python[] = "python3", option[] = "-c", code[sizeof program];
	char **command = sl_command_memory((size_t)argc + 4, sizeof *command);
	memcpy(code, program, sizeof code);
	command[0] = python;
	command[1] = option;
	command[2] = code;
	memcpy(command + 3, argv, (size_t)argc * sizeof *command);
	sl_command_find_package();
	name_program();
	execvp(python, command);
	fprintf(stderr, "%s: python3 cannot be started: %s (Debian: apt-get install python3 python3-numpy)\n",
		argv[0], strerror(errno));
	free(command);
	return SL_EXIT_FAILED;
}
