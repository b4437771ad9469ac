#include "tools/dev/bench/daemons.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/dev/bench/bare.h"
#include "tools/dev/bench/kernels.h"
#include "tools/lib/round_table.h"

#define MEMORY_FOLDER "/dev/shm"

/* ---- figures of a summary ---- */

/* A number of each round but the first; "parts_s.mix" lies in "parts_s". Rounds without it are left out.
 */
static void add_samples(struct sl_figure *figure, const json_t *rows, const char *path, double scale)
{
	const char *dot = strchr(path, '.');
	for (size_t i = 1; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i), *value = json_object_get(row, path);
		if (dot != NULL)
			value = json_object_get(json_object_get(row, "parts_s"), dot + 1);
		if (json_is_number(value))
			sl_figure_add(figure, scale * json_number_value(value));
	}
}

static void figures_of(struct sl_bench *bench, const json_t *rows)
{
	char path[32];
	add_samples(sl_bench_figure(bench, "s", "  train"), rows, "train_s", 1);
	for (int i = 0; i < SL_PARTS; i++) {
		snprintf(path, sizeof path, "parts_s.%s", sl_round_table_part_names[i]);
		add_samples(sl_bench_figure(bench, "s", "  %s", sl_round_table_part_names[i]), rows, path, 1);
	}
	add_samples(sl_bench_figure(bench, "s", "CPU of all learners"), rows, "cpu_s", 1);
	add_samples(sl_bench_figure(bench, "MB", "sent by all learners"), rows, "bytes", 1e-6);
	add_samples(sl_bench_figure(bench, "MB", "memory of a learner, at most"), rows, "peak_bytes", 1e-6);
}

static int launch(struct sl_bench *bench, const struct sl_bench_daemons *what, const char *folder,
		  const char *name, json_t **rows, struct sl_error *error)
{
	int rc = sl_bench_at(bench, name, 0, 0);
	return rc == SL_OK ? sl_bench_launch(bench, what, bench->options.repeat + 1, folder, rows, error)
			   : rc;
}

/* ---- one exchange ---- */

/* The difference between many and few iterations is the cost of the exchanges: CPU of both ends, mixing
 * included. */
static void exchange_of(struct sl_figure *figure, const json_t *few, const json_t *many)
{
	for (size_t i = 1; i < json_array_size(few) && i < json_array_size(many); i++) {
		const json_t *a = json_array_get(few, i), *b = json_array_get(many, i);
		double cpu_s = json_number_value(json_object_get(b, "cpu_s")) -
			       json_number_value(json_object_get(a, "cpu_s"));
		double bytes = json_number_value(json_object_get(b, "bytes")) -
			       json_number_value(json_object_get(a, "bytes"));
		if (bytes > 0)
			sl_figure_add(figure, 1e9 * cpu_s / bytes);
	}
}

int sl_bench_exchange(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error)
{
	const struct sl_bench_daemons *pair = self->details;
	struct sl_figure *figure = sl_bench_figure(bench, "ns a byte", "CPU of both ends, mixing included");
	json_t *few = NULL, *many = NULL;
	int rc = launch(bench, &pair[0], bench->folder, "few iterations", &few, error);
	if (rc == SL_OK)
		rc = launch(bench, &pair[1], bench->folder, "many iterations", &many, error);
	if (rc == SL_OK) {
		exchange_of(figure, few, many);
		struct sl_figure *tls =
			sl_bench_figure(bench, "ns a byte", "TLS with nothing around it, both ends");
		rc = sl_bare_tls(bench, bench->options.repeat, tls, error);
		sl_bench_ratio(bench, figure, tls, "over bare TLS");
	}
	json_decref(few);
	json_decref(many);
	return rc;
}

/* ---- a round ---- */

/* The bytes through bare TLS and the arithmetic of `additive` and `exact`, on all processors. */
static int floor_of(struct sl_bench *bench, const struct sl_bench_daemons *what, const json_t *row,
		    struct sl_figure *figure, struct sl_error *error)
{
	struct sl_figure *tls = sl_bench_figure(bench, "ns a byte", "TLS with nothing around it, both ends");
	struct sl_figure share = {.count = 0};
	double degree = 2 * json_number_value(json_object_get(row, "edges")) / what->learners;
	double exchanges = json_number_value(json_object_get(row, "steps")),
	       elements = (double)what->size + 1;
	int rc = sl_bare_tls(bench, bench->options.repeat, tls, error);
	if (rc == SL_OK)
		rc = sl_bench_kernel_shares(SL_SHARING_ADDITIVE, SL_P_MERSENNE31, (uint32_t)degree,
					    bench->options.repeat, &share);
	if (rc != SL_OK)
		return rc;
	double bytes_ns = json_number_value(json_object_get(row, "bytes")) * sl_figure_spread(tls).median;
	double made_ns = elements * (degree + 1) * sl_figure_spread(&share).median;
	double mixed_ns = elements * degree * exchanges * sl_bench_kernel_exact((uint32_t)degree);
	sl_figure_add(figure, 1e-9 * (bytes_ns + what->learners * (made_ns + mixed_ns)) /
				      (double)bench->machine.processors);
	return SL_OK;
}

static int rounds(struct sl_bench *bench, const struct sl_bench_daemons *what, struct sl_figure *round,
		  struct sl_error *error)
{
	json_t *rows = NULL;
	int rc = launch(bench, what, bench->folder, "rounds of daemons", &rows, error);
	if (rc == SL_OK) {
		add_samples(round, rows, "aggregate_s", 1);
		figures_of(bench, rows);
	}
	if (rc == SL_OK && what->floor) {
		struct sl_figure *least = sl_bench_figure(bench, "s", "its floor: bytes and arithmetic");
		rc = floor_of(bench, what, json_array_get(rows, 1), least, error);
		sl_bench_ratio(bench, round, least, "over its floor");
	}
	json_decref(rows);
	return rc;
}

/* The same with records on a tmpfs. */
static int rounds_in_memory(struct sl_bench *bench, const struct sl_bench_daemons *what,
			    struct sl_error *error)
{
	json_t *rows = NULL;
	char folder[] = MEMORY_FOLDER "/starling-bench-XXXXXX";
	if (!what->memory)
		return SL_OK;
	if (mkdtemp(folder) == NULL) {
		sl_bench_note(bench, "not measured without a disk: no folder can be made in " MEMORY_FOLDER);
		return SL_OK;
	}
	int rc = launch(bench, what, folder, "rounds of daemons, on a tmpfs", &rows, error);
	add_samples(sl_bench_figure(bench, "s", "the same with the records on a tmpfs"), rows, "aggregate_s",
		    1);
	json_decref(rows);
	rmdir(folder);
	return rc;
}

int sl_bench_daemons(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error)
{
	const struct sl_bench_daemons *what = self->details;
	struct sl_figure *round = sl_bench_figure(bench, "s", "last trained to last commit");
	int rc = rounds(bench, what, round, error);
	if (rc == SL_OK)
		rc = rounds_in_memory(bench, what, error);
	return rc;
}
