#include "tools/lib/command.h"

#include <jansson.h>
#include <libgen.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/suggest.h"
#include "daemon/runtime/streams.h"
#include "tools/lib/terminal.h"

/* ---- the process ---- */

static const char *program = "starling";

const char *sl_command_program(void)
{
	return program;
}

/* argp assumes 80 columns. */
static void fit_help(void)
{
	char format[96];
	size_t width = sl_terminal_width(stdout);
	if (width < 24 || width >= SL_WIDTH_USUAL)
		return;
	snprintf(format, sizeof format, "usage-indent=4,long-opt-col=4,opt-doc-col=%zu,rmargin=%zu",
		 width < 50 ? 10 : width - 36, width - 1);
	setenv("ARGP_HELP_FMT", format, 0);
}

void sl_command_open(int argc, char **argv)
{
	sl_streams_open();
	signal(SIGPIPE, SIG_IGN);
	if (argc > 0)
		program = argv[0];
	argp_err_exit_status = SL_EXIT_USAGE;
	fit_help();
}

void sl_command_set_name(char **argv, const char *format, ...)
{
	static char name[64]; /* argp keeps a pointer */
	va_list args;
	va_start(args, format);
	vsnprintf(name, sizeof name, format, args);
	va_end(args);
	argv[0] = program_invocation_name = program_invocation_short_name = name;
}

bool sl_command_sibling(const char *name, char path[static PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = '\0';
	if (n > 0 && snprintf(path, PATH_MAX, "%s/%s", dirname(self), name) < PATH_MAX &&
	    access(path, X_OK) == 0)
		return true;
	snprintf(path, PATH_MAX, "%s", name);
	return false;
}

static void put_before(const char *name, const char *folder)
{
	char *paths;
	const char *before = getenv(name);
	bool more = before != NULL && *before != '\0';
	if (asprintf(&paths, "%s%s%s", folder, more ? ":" : "", more ? before : "") < 0)
		abort();
	setenv(name, paths, 1);
	free(paths);
}

void sl_command_find_package(void)
{
	static const char *const packages[] = {"python/starling_topology",
					       "../share/starling/python/starling_topology",
					       "../lib/starling/python/starling"};
	char path[PATH_MAX], config[PATH_MAX];
	for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
		if (sl_command_sibling(packages[i], path))
			put_before("PYTHONPATH", dirname(path));
	if (getenv("VIRTUAL_ENV") == NULL && sl_command_sibling("python3", path) &&
	    snprintf(config, sizeof config, "%s/../pyvenv.cfg", dirname(path)) < PATH_MAX &&
	    access(config, F_OK) == 0)
		put_before("PATH", path);
}

/* ---- memory ---- */

static void out_of_memory(void)
{
	fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
	exit(SL_EXIT_FAILED);
}

void *sl_command_memory(size_t count, size_t size)
{
	void *memory = calloc(count, size);
	if (memory == NULL)
		out_of_memory();
	return memory;
}

void *sl_command_grow(void *items, size_t count, size_t *room, size_t size)
{
	if (items != NULL && count < *room)
		return items;
	*room = 2 * *room + 64 > count ? 2 * *room + 64 : count + 1;
	void *more = reallocarray(items, *room, size);
	if (more == NULL)
		out_of_memory();
	return more;
}

int sl_command_unknown(const char *called, const char *what, const char *word, const char *const *names)
{
	const char *best = NULL;
	size_t distance = SIZE_MAX;
	for (; *names != NULL; names++)
		sl_suggest(word, *names, &best, &distance);
	if (best != NULL)
		fprintf(stderr, "%s: unknown %s '%s'; did you mean '%s'?\n", called, what, word, best);
	else
		fprintf(stderr, "%s: unknown %s '%s'; see '%s --help'\n", called, what, word, called);
	return SL_EXIT_USAGE;
}

int sl_command_status(const char *name, int rc, const struct sl_error *error)
{
	if (rc == SL_OK)
		return 0;
	fprintf(stderr, "%s: %s\n", name, error->text);
	return rc == SL_ERR_IO || rc == SL_ERR_BUSY ? SL_EXIT_FAILED : SL_EXIT_USAGE;
}

void sl_command_print_json(json_t *document, size_t flags)
{
	json_dumpf(document, stdout, flags);
	putchar('\n');
	json_decref(document);
}
