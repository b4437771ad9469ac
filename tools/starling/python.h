/* python.h - commands that are written in Python. */
#pragma once

/* Run main(arguments) of a module with python3; argv[0] is the name of the command. Returns only if python3
 * cannot be started. The module finds this program by STARLING_PROGRAM. */
int sl_python_run(const char *module, int argc, char **argv);
