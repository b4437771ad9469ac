#include "tools/paper/octave.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "octave-cli"
#define SETTINGS_MOST 16u

bool sl_octave_installed(const char *program)
{
	char file[PATH_MAX];
	const char *list = getenv("PATH");
	for (const char *at = list; at != NULL && *at != '\0'; at += *at == ':') {
		size_t length = strcspn(at, ":");
		snprintf(file, sizeof file, "%.*s/%s", (int)length, at, program);
		if (length < sizeof file / 2 && access(file, X_OK) == 0)
			return true;
		at += length;
	}
	return false;
}

int sl_octave_find(const struct sl_paper *r, char script[static PATH_MAX], bool *found,
		   char why[static SL_OCTAVE_WHY_BYTES], struct sl_error *error)
{
	const char *given = r->options.octave;
	*found = false;
	snprintf(why, SL_OCTAVE_WHY_BYTES, "no --octave paper_octave.m was given");
	if (given == NULL)
		return SL_OK;
	if (realpath(given, script) == NULL)
		return sl_err_set(error, SL_ERR_NOTFOUND, "%s: %s", given, strerror(errno));
	snprintf(why, SL_OCTAVE_WHY_BYTES, "%s is not installed", PROGRAM);
	*found = sl_octave_installed(PROGRAM);
	return SL_OK;
}

int sl_octave_run(struct sl_paper *r, const char *script, const char *const *environment, char **output,
		  struct sl_error *error)
{
	static const char *const argv_usual[] = {PROGRAM, "--norc", "--quiet", "--no-history"};
	const char *argv[6], *settings[SETTINGS_MOST] = {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"};
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
