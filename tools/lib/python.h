/* python.h - programs of Starling that are written in Python. */
#pragma once

#define SL_PYTHON_NOT_STARTED "python3 cannot be started: %s (Debian: apt-get install python3)"

/* Return the command that runs main(arguments) of a module with python3, ended by NULL, to be freed. argv[0]
 * is the name that its errors begin with. */
char **sl_python_command(const char *module, int argc, char **argv);
/* Run main(arguments) of a module with python3; argv[0] is the name of the command. Returns only if python3
 * cannot be started. The module finds this program by STARLING_PROGRAM. */
int sl_python_run(const char *module, int argc, char **argv);
