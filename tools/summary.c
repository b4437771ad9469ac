/* summary.json: what a run came to, for programs. */
#include <jansson.h>

#include "tools/launch.h"

#define SUMMARY_VERSION 1

static json_t *real_or_null(bool known, double value)
{
	return known ? json_real(value) : json_null();
}

static json_t *row_json(const struct sl_round_row *row)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:f, s:I, s:o, s:f, s:f, s:b, s:b, s:f, s:I, s:I}", "round",
			 (json_int_t)row->round, "step", (json_int_t)row->step, "learners",
			 (json_int_t)row->learners, "edges", (json_int_t)row->edges, "mu", row->mu, "k",
			 (json_int_t)row->k, "mse", real_or_null(row->mse_known, row->mse), "train_s",
			 row->train_s, "aggregate_s", row->aggregate_s, "exact", row->exact, "verified",
			 row->verified, "margin", row->margin, "bytes", (json_int_t)row->bytes,
			 "clamped", (json_int_t)row->clamped);
}

bool sl_all_exact(const struct sl_launch *launch)
{
	for (uint32_t i = 0; i < launch->handed; i++)
		if (!launch->rounds.rows[i].exact)
			return false;
	return launch->handed == launch->rounds.most;
}

static bool all_verified(const struct sl_launch *launch)
{
	for (uint32_t i = 0; i < launch->handed; i++)
		if (!launch->rounds.rows[i].verified)
			return false;
	return launch->handed == launch->rounds.most;
}

/* The rounds that every learner of their view has committed. */
static json_t *rows_json(const struct sl_launch *launch)
{
	json_t *rows = json_array();
	for (uint32_t i = 0; i < launch->handed; i++)
		json_array_append_new(rows, row_json(&launch->rounds.rows[i]));
	return rows;
}

json_t *sl_summary(const struct sl_launch *launch)
{
	const struct sl_plan *plan = launch->plan;
	const struct sl_round_row *rows = launch->rounds.rows;
	uint32_t n = launch->handed;
	json_t *summary = json_pack(
		"{s:i, s:s, s:I, s:I, s:o, s:s, s:I, s:s, s:I, s:b, s:b, s:o, s:o}", "version",
		SUMMARY_VERSION, "starling", SL_VERSION, "learners", (json_int_t)plan->learners,
		"rounds_asked", (json_int_t)launch->rounds.most, "rounds", rows_json(launch), "run_dir",
		plan->folder.path, "seed", (json_int_t)plan->options.seed, "topology", plan->topology, "p",
		(json_int_t)plan->p, "all_exact", sl_all_exact(launch), "verified", all_verified(launch),
		"mse_first", real_or_null(n > 0, n > 0 ? rows[0].mse : 0), "mse_last",
		real_or_null(n > 0, n > 0 ? rows[n - 1].mse : 0));
	if (summary != NULL && launch->failed)
		json_object_set_new(summary, "error", json_string(launch->error));
	else if (summary != NULL && launch->signal != 0)
		json_object_set_new(summary, "error", json_string("interrupted"));
	return summary;
}
