#include "tools/lib/python.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/lib/command.h"

/* Its arguments: a module, the name of the command, and the arguments of main(). Without the current folder
 * on the path: a file of the user may be called csv.py. pyenv takes a program with the argument " -m pip "
 * for pip, and runs it in a shell that Ctrl-C does not end: such a text is written in two pieces. An OSError
 * that main() raises is one of standard output. */
static const char program[] =
	"import sys\n"
	"if sys.path[0] == '':\n"
	"    del sys.path[0]\n"
	"_, module, *sys.argv = sys.argv\n"
	"def end(text):\n"
	"    print(f'{sys.argv[0]}: {text}', file=sys.stderr)\n"
	"    sys.exit(1)\n"
	"try:\n"
	"    import importlib, os\n"
	"    main = importlib.import_module(module).main\n"
	"except ImportError as missing:\n"
	"    lacks = f'{sys.executable} has no '\n"
	"    if not isinstance(missing, ModuleNotFoundError) or missing.name == 'numpy':\n"
	"        end(lacks + 'numpy: run python3 -''m pip install numpy (with uv: uv pip install numpy; "
	"Debian: "
	"apt-get install python3-numpy), or put another python3 first on PATH')\n"
	"    end(lacks + f'module {missing.name}: install the Python package of Starling (Debian: "
	"python3-starling), or put its folder into PYTHONPATH')\n"
	"status = 0\n"
	"try:\n"
	"    try:\n"
	"        status = main(sys.argv[1:])\n"
	"    except SystemExit as early:\n"
	"        status = early.code\n"
	"    sys.stdout.flush()\n"
	"except OSError as lost:\n"
	"    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)\n" /* for the flush at the exit */
	"    if not isinstance(lost, BrokenPipeError):\n"    /* else the reader has enough */
	"        end(f'cannot write standard output: {lost.strerror}')\n"
	"sys.exit(status)\n";

char **sl_python_command(const char *module, int argc, char **argv)
{
	const char **command = sl_command_memory((size_t)argc + 5, sizeof *command);
	command[0] = "python3";
	command[1] = "-c";
	command[2] = program;
	command[3] = module;
	memcpy(command + 4, argv, (size_t)argc * sizeof *command);
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
