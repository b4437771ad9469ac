/* The result of a simulation: as text, as JSON, as CSV. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "daemon/runtime/process_usage.h"
#include "tools/lib/command.h"
#include "tools/starling/simulate_run.h"

#define SIMULATION_VERSION 1

/* --- where the processor's time went --- */

static const struct {
	const char *name;
	enum sl_phase first, last;
} parts[] = {
	{"train", SL_PHASE_TRAIN, SL_PHASE_TRAIN},  {"agree", SL_PHASE_DISCOVER, SL_PHASE_AGREE},
	{"share", SL_PHASE_SHARE, SL_PHASE_SHARE},  {"ready", SL_PHASE_READY, SL_PHASE_RELEASE},
	{"mix", SL_PHASE_MIX, SL_PHASE_MIX},	    {"confirm", SL_PHASE_CONFIRM, SL_PHASE_COMMIT},
	{"other", SL_PHASE_RECOVER, SL_PHASE_DONE},
};
#define PARTS (sizeof parts / sizeof parts[0])

static double part_seconds(const struct sl_runner_figures *figures, size_t part)
{
	double seconds = 0;
	for (int phase = (int)parts[part].first; phase <= (int)parts[part].last; phase++)
		seconds += figures->seconds[phase];
	return seconds;
}

static json_t *parts_json(const struct sl_runner_figures *figures)
{
	json_t *object = json_object();
	for (size_t i = 0; i < PARTS; i++)
		json_object_set_new(object, parts[i].name, json_real(part_seconds(figures, i)));
	json_object_set_new(object, "deliver", json_real(figures->deliver_s));
	return object;
}

static void say_parts(const struct sl_simulation *s, const struct sl_runner_figures *figures)
{
	char text[256];
	size_t used = 0;
	for (size_t i = 0; i < PARTS; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s %.3g, ", parts[i].name,
					 part_seconds(figures, i));
	snprintf(text + used, sizeof text - used, "deliver %.3g", figures->deliver_s);
	sl_progress_line(s->progress, "%.3g rounds/s; processor seconds: %s; peak memory %.0f MB",
			 s->seconds > 0 ? s->handed / s->seconds : 0, text,
			 (double)sl_process_usage_bytes("VmHWM") / 1e6);
}

/* --- programs --- */

static bool all_exact(const struct sl_simulation *s)
{
	for (uint32_t i = 0; i < s->handed; i++)
		if (!s->rounds.rows[i].exact)
			return false;
	return s->handed > 0;
}

static json_t *summary(const struct sl_simulation *s, const struct sl_runner_figures *figures)
{
	const struct sl_plan *plan = &s->plan;
	json_t *rows = json_array();
	for (uint32_t i = 0; i < s->handed; i++)
		json_array_append_new(rows, sl_summary_row(&s->rounds.rows[i]));
	json_t *object = json_pack(
		"{s:i, s:s, s:I, s:I, s:b, s:o, s:I, s:s, s:I, s:I, s:b, s:b, s:f, s:o, s:I}", "version",
		SIMULATION_VERSION, "starling", SL_VERSION, "learners", (json_int_t)plan->learners,
		"rounds_asked", (json_int_t)s->rounds.most, "complete", (int)(s->handed == s->rounds.most),
		"rounds", rows, "seed", (json_int_t)plan->options.seed, "topology", plan->topology, "p",
		(json_int_t)plan->p, "parameters", (json_int_t)plan->n, "all_same", all_exact(s), "verified",
		plan->options.verify && all_exact(s), "seconds", s->seconds, "cpu_s", parts_json(figures),
		"peak_bytes", (json_int_t)sl_process_usage_bytes("VmHWM"));
	if (object != NULL && !isnan(s->mse_initial))
		json_object_set_new(object, "mse_initial", json_real(s->mse_initial));
	if (object != NULL && s->error.code != SL_OK)
		json_object_set_new(object, "error", json_string(s->error.text));
	else if (object != NULL && s->signal != 0)
		json_object_set_new(object, "error", json_string("interrupted"));
	return object;
}

static void print_json(const struct sl_simulation *s, const struct sl_runner_figures *figures)
{
	json_t *object = summary(s, figures);
	sl_command_print_json(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
}

/* --- spreadsheets --- */

/* Empty where it is not known. */
static void csv_real(FILE *out, bool known, double value)
{
	if (known && !isnan(value))
		fprintf(out, ",%.9g", value);
	else
		fputc(',', out);
}

void sl_simulate_csv_row(const struct sl_simulation *s, const struct sl_round_row *row)
{
	double seconds[SL_PARTS] = {0};
	bool known = sl_round_table_parts(row, seconds);
	if (row->round == 1)
		fputs("round,step,learners,edges,mixing,steps,mu,mse,train_s,aggregate_s,agree_s,share_s,"
		      "ready_s,mix_s,confirm_s,margin,bytes,clamped,cpu_s,mean\n",
		      s->csv);
	fprintf(s->csv, "%u,%u,%u,%u,%s,%" PRIu64, row->round, row->step, row->learners, row->edges,
		row->mixing, row->steps);
	csv_real(s->csv, !isnan(row->mu), row->mu);
	csv_real(s->csv, row->mse_known, row->mse);
	csv_real(s->csv, true, row->train_s);
	csv_real(s->csv, true, row->aggregate_s);
	for (int part = 0; part < SL_PARTS; part++)
		csv_real(s->csv, known, seconds[part]);
	fprintf(s->csv, ",%.9g,%" PRIu64 ",%" PRIu64 ",%.9g,%s\n", row->margin, row->bytes, row->clamped,
		row->cpu_s,
		!row->exact	? "not exact"
		: row->verified ? "exact"
				: "same");
}

/* --- the end --- */

/* The core says that it ends, and its last report why. */
static void explain(struct sl_simulation *s)
{
	if (s->error.code == SL_OK)
		return;
	if (s->reason[0] != '\0' && strstr(s->error.text, s->reason) == NULL) {
		char text[SL_ERROR_BYTES];
		snprintf(text, sizeof text, "%.200s: %.300s", s->error.text, s->reason);
		memcpy(s->error.text, text, sizeof text);
	}
	fprintf(stderr, "starling simulate: %s\n", s->error.text);
}

static bool close_file(FILE **file, const char *option)
{
	if (*file == NULL)
		return true;
	bool good = !ferror(*file);
	good = fclose(*file) == 0 && good;
	*file = NULL;
	if (!good)
		fprintf(stderr, "starling simulate: %s: cannot write the file\n", option);
	return good;
}

int sl_simulate_result(struct sl_simulation *s)
{
	struct sl_runner_figures figures;
	sl_runner_figures(s->runner, &figures);
	sl_progress_clear(s->progress);
	explain(s);
	if (s->signal != 0)
		fprintf(stderr, "starling simulate: interrupted\n");
	sl_progress_total(s->progress, &s->rounds, s->handed, s->plan.settings.clipping_range,
			  s->plan.options.verify);
	if (s->handed > 0)
		say_parts(s, &figures);
	if (s->plan.options.json)
		print_json(s, &figures);
	bool written = close_file(&s->csv, "--csv");
	written = close_file(&s->states, "--states") && written;
	if (s->signal != 0)
		return 128 + s->signal;
	bool complete = s->handed == s->rounds.most;
	return s->error.code == SL_OK && written && complete && all_exact(s) ? 0 : SL_EXIT_FAILED;
}
