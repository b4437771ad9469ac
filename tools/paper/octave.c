#include "tools/paper/octave.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "octave-cli"
#define SETTINGS_MOST 16u

int sl_octave_run(struct sl_paper *r, const char *const *environment, char **output, struct sl_error *error)
{
	char script[PATH_MAX];
	static const char *const argv_usual[] = {PROGRAM, "--norc", "--quiet", "--no-history"};
	const char *argv[6], *settings[SETTINGS_MOST] = {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"};
	if (realpath(r->options.octave, script) == NULL)
		return sl_err_set(error, SL_ERR_FORMAT, "%s: %s", r->options.octave, strerror(errno));
	memcpy(argv, argv_usual, sizeof argv_usual);
	argv[4] = script;
	argv[5] = NULL;
	for (size_t i = 0; environment[i] != NULL; i++) {
		assert(i + 3 < SETTINGS_MOST);
		settings[i + 2] = environment[i];
	}
	if (sl_paper_progress(r, "Octave", 0) != SL_OK)
		return SL_PENDING;
	return sl_bench_child(r->bench, argv, settings, output, error);
}

double sl_octave_number(const char *line, const char *key)
{
	size_t length = strlen(key);
	const char *end = strchrnul(line, '\n');
	for (const char *at = line; at != NULL && at < end; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, key, length) == 0 && at[length] == '=')
			return strtod(at + length + 1, NULL);
	}
	return (double)NAN;
}
