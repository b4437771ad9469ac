/* Commands that are written in Python: a module is run with python3. */
#include "tools/starling/python.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/lib/command.h"
#include "tools/lib/python.h"
#include "tools/starling/dp.h"

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

int sl_cmd_export(int argc, char **argv)
{
	return sl_python_run("starling.export", argc, argv);
}

int sl_cmd_report(int argc, char **argv)
{
	return sl_python_run("starling_web.report", argc, argv);
}

int sl_cmd_watch(int argc, char **argv)
{
	return sl_python_run("starling_web.watch", argc, argv);
}

/* Those of the package starling.stats: mean, sum, count, histogram, stats. */
int sl_cmd_python(int argc, char **argv)
{
	return sl_python_run("starling.stats.__main__", argc, argv);
}

int sl_cmd_logs(int argc, char **argv)
{
	return sl_python_run("starling_timeline.__main__", argc, argv);
}

int sl_dp_audit(int argc, char **argv)
{
	return sl_python_run("starling_timeline.dp_audit", argc, argv);
}

/* Those of the package starling_control: status, stop, reload, backup, abort. */
int sl_cmd_control(int argc, char **argv)
{
	return sl_python_run("starling_control.__main__", argc, argv);
}
