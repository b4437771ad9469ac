/* python.h - commands that are written in Python. */
#pragma once

/* Run main(arguments) of a module with python3; argv[0] is the name of the command. Returns only if python3
 * cannot be started; the error then says what works `without` it, a clause, or NULL. The module finds this
 * program by STARLING_PROGRAM. */
int sl_python_run(const char *module, const char *without, int argc, char **argv);
