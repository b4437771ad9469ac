#include "tools/dev/bench/bench.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/lib/command.h"

#define OTHERS_NOTED 0.1 /* of the machine */

/* ---- interrupts ---- */

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = number;
	sl_bench_child_stop();
}

bool sl_bench_stopped(void)
{
	return stopped != 0;
}

void sl_bench_watch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* ---- its folder ---- */

static int open_folder(struct sl_bench *bench)
{
	char made[PATH_MAX];
	snprintf(made, sizeof made, "%s/starling-bench-XXXXXX", bench->options.folder);
	if (mkdtemp(made) != NULL && realpath(made, bench->folder) != NULL)
		return SL_OK;
	fprintf(stderr, "starling-bench: --folder %s: %s\n", bench->options.folder, strerror(errno));
	return SL_ERR_IO;
}

static int take_away(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	remove(path);
	return 0;
}

void sl_bench_take_away(const char *folder)
{
	nftw(folder, take_away, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- figures and notes of a case ---- */

struct sl_figure *sl_bench_figure(struct sl_bench *bench, const char *unit, const char *name, ...)
{
	struct sl_bench_result *r = &bench->result;
	assert(r->figure_count < SL_FIGURES_MOST);
	struct sl_figure *figure = &r->figures[r->figure_count++];
	va_list args;
	*figure = (struct sl_figure){.count = 0};
	snprintf(figure->unit, sizeof figure->unit, "%s", unit);
	va_start(args, name);
	vsnprintf(figure->name, sizeof figure->name, name, args);
	va_end(args);
	return figure;
}

void sl_bench_ratio(struct sl_bench *bench, const struct sl_figure *above, const struct sl_figure *below,
		    const char *name)
{
	double ratio = sl_figure_spread(above).median / sl_figure_spread(below).median;
	if (above->count > 0 && below->count > 0)
		sl_figure_add(sl_bench_figure(bench, "x", "%s", name), ratio);
}

void sl_bench_note(struct sl_bench *bench, const char *format, ...)
{
	struct sl_bench_result *r = &bench->result;
	va_list args;
	if (r->note_count == SL_NOTES_MOST)
		return;
	va_start(args, format);
	vsnprintf(r->notes[r->note_count++], SL_NOTE_BYTES, format, args);
	va_end(args);
}

int sl_bench_at(struct sl_bench *bench, const char *what, uint32_t done, uint32_t of)
{
	if (bench->live && of > 0)
		fprintf(stderr, "\r\033[Kcase %u of %u, %s: %s, %u of %u", bench->number, bench->cases,
			bench->name, what, done + 1, of);
	else if (bench->live)
		fprintf(stderr, "\r\033[Kcase %u of %u, %s: %s", bench->number, bench->cases, bench->name,
			what);
	return stopped != 0 ? SL_PENDING : SL_OK;
}

/* ---- the cases in turn ---- */

static void note_load(struct sl_bench *bench)
{
	double others = bench->result.others;
	if (others >= OTHERS_NOTED)
		sl_bench_note(
			bench,
			"other programs took %.0f %% of the processors meanwhile: times are longer for it",
			100 * others);
}

/* Return false after an interrupt. */
static bool run_case(struct sl_bench *bench, const struct sl_bench_case *c)
{
	struct sl_error error = {0};
	struct sl_cpu_clock from, to;
	bench->name = c->name;
	bench->number++;
	bench->result = (struct sl_bench_result){.figure_count = 0};
	sl_machine_cpu_clock_read(&from);
	int rc = c->run(bench, c, &error);
	sl_machine_cpu_clock_read(&to);
	if (bench->live)
		fputs("\r\033[K", stderr);
	if (rc == SL_PENDING || stopped != 0)
		return false;
	bench->result.others = sl_machine_cpu_others(&from, &to);
	bench->result.seconds = to.wall_s - from.wall_s;
	note_load(bench);
	bench->failed |= rc != SL_OK;
	json_array_append_new(bench->report, sl_bench_case_json(bench, c, &error));
	sl_bench_show_case(bench, c, &error);
	return true;
}

/* Cases on hosts run only if they are named: they take long and need rights. */
static bool is_wanted(const struct sl_bench *bench, const struct sl_bench_case *c)
{
	for (size_t i = 0; i < bench->options.count; i++)
		if (sl_bench_case_is(c, bench->options.names[i]))
			return true;
	return bench->options.count == 0 && c->run != sl_bench_hosts;
}

static int finish(struct sl_bench *bench)
{
	if (stopped != 0) {
		fprintf(stderr, "starling-bench: interrupted\n");
		return 128 + stopped;
	}
	if (bench->options.json) {
		json_t *all = json_pack("{s:i, s:s, s:o, s:I, s:O}", "version", 1, "starling", SL_VERSION,
					"machine", sl_machine_json(&bench->machine), "repeat",
					(json_int_t)bench->options.repeat, "cases", bench->report);
		json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
		putchar('\n');
		json_decref(all);
	}
	return bench->failed ? SL_EXIT_FAILED : 0;
}

int sl_bench_run(struct sl_bench *bench)
{
	sl_bench_watch_signals();
	sl_machine_look(&bench->machine);
	if (open_folder(bench) != SL_OK)
		return SL_EXIT_USAGE;
	bench->report = json_array();
	bench->live = isatty(STDERR_FILENO) != 0;
	for (size_t i = 0; i < sl_bench_case_count; i++)
		bench->cases += is_wanted(bench, &sl_bench_cases[i]);
	sl_bench_show_machine(bench);
	for (size_t i = 0; i < sl_bench_case_count; i++)
		if (is_wanted(bench, &sl_bench_cases[i]) && !run_case(bench, &sl_bench_cases[i]))
			break;
	int status = finish(bench);
	json_decref(bench->report);
	sl_bench_take_away(bench->folder);
	return status;
}
