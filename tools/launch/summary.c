/* summary.json: the result of a run, for programs. */
#include <jansson.h>
#include <math.h>

#include "tools/launch/launch.h"
#include "tools/launch/state.h"

#define SUMMARY_VERSION 1

static json_t *real_or_null(bool known, double value)
{
	return known && !isnan(value) ? json_real(value) : json_null();
}

/* Return null if a learner died in between, or did not report a part. */
static json_t *parts_json(const struct sl_round_row *row)
{
	double seconds[SL_PARTS];
	if (!sl_round_table_parts(row, seconds))
		return json_null();
	json_t *parts = json_object();
	for (int i = 0; i < SL_PARTS; i++)
		json_object_set_new(parts, sl_round_table_part_names[i], json_real(seconds[i]));
	return parts;
}

json_t *sl_summary_row(const struct sl_round_row *row)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:s, s:I, s:o, s:o, s:f, s:f, s:o, s:b, s:b, s:f, s:I, s:I, "
			 "s:I, s:I, s:I, s:f, s:I, s:O?}",
			 "round", (json_int_t)row->round, "step", (json_int_t)row->step, "learners",
			 (json_int_t)row->learners, "edges", (json_int_t)row->edges, "mixing", row->mixing,
			 "steps", (json_int_t)row->steps, "mu", real_or_null(true, row->mu), "mse",
			 real_or_null(row->mse_known, row->mse), "train_s", row->train_s, "aggregate_s",
			 row->aggregate_s, "parts_s", parts_json(row), "same", row->exact, "verified",
			 row->verified, "margin", row->margin, "bytes", (json_int_t)row->bytes, "bytes_most",
			 (json_int_t)row->bytes_most, "clamped", (json_int_t)row->clamped, "rounded",
			 (json_int_t)row->rounded, "absent", (json_int_t)sl_round_table_missing(row), "cpu_s",
			 row->cpu_s, "peak_bytes", (json_int_t)row->peak_bytes, "metrics", row->metrics);
}

bool sl_summary_all(const struct sl_launch *launch, bool verified)
{
	for (uint32_t i = launch->rounds.first; i < launch->handed; i++)
		if (!(verified ? launch->rounds.rows[i].verified : launch->rounds.rows[i].exact))
			return false;
	return launch->handed > launch->rounds.first;
}

/* The rounds that were shown. */
static json_t *rows_json(const struct sl_launch *launch)
{
	json_t *rows = json_array();
	for (uint32_t i = launch->rounds.first; i < launch->handed; i++)
		json_array_append_new(rows, sl_summary_row(&launch->rounds.rows[i]));
	return rows;
}

json_t *sl_summary(const struct sl_launch *launch)
{
	const struct sl_plan *plan = launch->plan;
	const struct sl_round_row *rows = launch->rounds.rows;
	uint32_t first = launch->rounds.first, n = launch->handed;
	json_t *summary = json_pack(
		"{s:i, s:s, s:I, s:I, s:b, s:o, s:s, s:I, s:s, s:o, s:b, s:b, s:o, s:o, s:I}", "version",
		SUMMARY_VERSION, "starling", SL_VERSION, "learners", (json_int_t)plan->learners,
		"rounds_asked", (json_int_t)launch->rounds.most, "complete",
		(int)(launch->handed == launch->rounds.most), "rounds", rows_json(launch), "run_dir",
		plan->folder.path, "seed", (json_int_t)plan->options.seed, "topology", plan->topology, "p",
		plan->p != 0 ? json_integer((json_int_t)plan->p) : json_null(), "all_same",
		sl_summary_all(launch, false), "verified", sl_summary_all(launch, true), "mse_first",
		real_or_null(n > first, n > first ? rows[first].mse : 0), "mse_last",
		real_or_null(n > first, n > first ? rows[n - 1].mse : 0), "restarts",
		(json_int_t)launch->restarts);
	if (summary != NULL && plan->options.resume != NULL)
		json_object_set_new(summary, "resumed_after", json_integer((json_int_t)first));
	if (summary != NULL && plan->options.chaos + plan->options.lose > 0)
		json_object_set_new(summary, "chaos", sl_chaos_json(launch));
	if (summary != NULL && launch->failed)
		json_object_set_new(summary, "error", json_string(launch->error));
	else if (summary != NULL && launch->signal != 0)
		json_object_set_new(summary, "error", json_string("interrupted"));
	return summary;
}
