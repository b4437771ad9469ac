/* What the cores report, as the records that daemons log, and those into rounds. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/checkpoint.h"
#include "daemon/learner/daemon.h"
#include "daemon/runtime/process_usage.h"
#include "tools/starling/simulate_run.h"

/* --- the model: its error, and whether it is the mean --- */

static void evaluate(struct sl_simulation *s, struct sl_round_row *row, const struct sl_runner_commit *commit)
{
	struct sl_trainer *trainer = s->trainers[commit->learner];
	if (!row->mse_known && trainer->ops->evaluate(trainer, commit->model, &row->mse, &s->error) == SL_OK)
		row->mse_known = true;
}

/* The last one, once. */
static void save(struct sl_simulation *s, const struct sl_runner_commit *commit)
{
	struct sl_checkpoint checkpoint = {.run = "simulation",
					   .round = commit->t,
					   .learners = commit->view->n,
					   .total_weight = commit->total_weight,
					   .n = s->plan.n};
	memcpy(checkpoint.digest, commit->digest, SL_HASH_BYTES);
	if (sl_checkpoint_write(s->save, &checkpoint, commit->model, &s->error) == SL_OK)
		s->save = NULL;
}

void sl_simulate_committed(void *context, const struct sl_runner_commit *commit)
{
	struct sl_simulation *s = context;
	struct sl_round_row *row = sl_round_table_at(&s->rounds, commit->t);
	char digest[2 * SL_HASH_BYTES + 1];
	if (row == NULL)
		return;
	evaluate(s, row, commit);
	if (row->step == 0)
		row->step = commit->step;
	if (commit->view == NULL) { /* others have shown it */
		sodium_bin2hex(digest, sizeof digest, commit->digest, SL_HASH_BYTES);
		sl_round_table_shown(row, commit->learner, digest);
		return;
	}
	row->check_failed |= s->plan.options.verify && !commit->exact;
	if (s->save != NULL && commit->t == s->rounds.most)
		save(s, commit);
}

/* --- records --- */

/* Only metropolis has one. */
static json_t *mu_json(const struct sl_report *r, double mu)
{
	return r->engine == SL_ENGINE_METROPOLIS ? json_real(mu) : json_null();
}

static void hear_view(struct sl_simulated *l, uint32_t learner, struct sl_round_row *row,
		      const struct sl_report *r)
{
	json_t *record = json_pack("{s:I, s:I, s:s, s:I, s:o}", "learners", (json_int_t)r->n[0], "edges",
				   (json_int_t)r->n[1], "mixing", sl_engine_name(r->engine), "steps",
				   (json_int_t)r->n[2], "mu", mu_json(r, r->real));
	l->mu = r->real;
	sl_round_table_view(row, record);
	sl_round_table_member(row, learner, r->a);
	json_decref(record);
}

static void hear_committed(struct sl_simulation *s, uint32_t learner, struct sl_round_row *row,
			   const struct sl_report *r)
{
	struct sl_simulated *l = &s->learners[learner];
	char digest[2 * SL_HASH_BYTES + 1];
	uint64_t bytes = sl_runner_bytes(s->runner, learner);
	sodium_bin2hex(digest, sizeof digest, r->hash, SL_HASH_BYTES);
	json_t *record = json_pack(
		"{s:I, s:I, s:I, s:s, s:I, s:o, s:f, s:s, s:f, s:I}", "attempt", (json_int_t)r->a, "learners",
		(json_int_t)r->n[0], "edges", (json_int_t)r->n[1], "mixing", sl_engine_name(r->engine),
		"steps", (json_int_t)r->n[2], "mu", mu_json(r, l->mu), "margin", r->real, "digest", digest,
		"train_s", l->train_s, "round_bytes_sent", (json_int_t)(bytes - l->bytes));
	sl_round_table_committed(row, learner, record);
	json_decref(record);
	l->bytes = bytes;
}

/* Each attempt encodes anew: the last one's count stands. */
static void hear_clamped(struct sl_simulated *l, struct sl_round_row *row, uint64_t count)
{
	sl_round_table_clamped(row, l->clamped_round == row->round ? l->clamped : 0, count);
	l->clamped_round = row->round;
	l->clamped = count;
}

/* In the words of a daemon, which says whose fault it was. */
static void hear_failed(struct sl_simulation *s, uint32_t learner, const struct sl_report *r)
{
	char why[SL_ERROR_BYTES / 2];
	const struct sl_view view = {.n = s->plan.learners};
	struct sl_daemon *daemon = calloc(1, sizeof *daemon);
	if (daemon == NULL || (r->reason == SL_REASON_SUPERSEDED && s->reason[0] != '\0'))
		goto out; /* another's attempt failed first */
	daemon->roster = s->roster;
	daemon->settings = &s->plan.settings;
	daemon->workspace_view = &view;
	sl_reason_text(daemon, r, why, sizeof why);
	snprintf(s->reason, sizeof s->reason, "%s, round %u: %s", s->roster.members[learner].name, r->t, why);
out:
	free(daemon);
}

void sl_simulate_reported(void *context, uint32_t learner, const struct sl_report *r)
{
	struct sl_simulation *s = context;
	struct sl_simulated *l = &s->learners[learner];
	struct sl_round_row *row = sl_round_table_at(&s->rounds, r->t);
	if (row == NULL)
		return; /* after the last */
	if (r->kind == SL_REPORT_VIEW)
		hear_view(l, learner, row, r);
	else if (r->kind == SL_REPORT_COMMITTED)
		hear_committed(s, learner, row, r);
	else if (r->kind == SL_REPORT_CLAMPED)
		hear_clamped(l, row, r->n[0]);
	else if (r->kind == SL_REPORT_FAILED)
		hear_failed(s, learner, r);
}

/* --- rows --- */

/* Learners take turns: a part of the round is what all of them spent in its phases, one after the other. */
static void set_parts(struct sl_simulation *s, struct sl_round_row *row)
{
	static const enum sl_phase last[SL_PARTS] = {SL_PHASE_AGREE, SL_PHASE_SHARE, SL_PHASE_RELEASE,
						     SL_PHASE_MIX, SL_PHASE_COMMIT};
	struct sl_runner_figures figures;
	double ms = 1; /* 0 is not known */
	int phase = SL_PHASE_DISCOVER;
	sl_runner_figures(s->runner, &figures);
	row->trained_ms = ms;
	for (int part = 0; part < SL_PARTS; part++) {
		row->begun_ms[part] = ms;
		for (; phase <= (int)last[part]; phase++)
			ms += 1000 * (figures.seconds[phase] - s->spent.seconds[phase]);
	}
	row->committed_ms = ms;
	row->aggregate_s = (ms - 1) / 1000;
	s->spent = figures;
}

static void hand_out(struct sl_simulation *s, struct sl_round_row *row)
{
	double cpu_s = sl_process_usage_cpu_s();
	row->cpu_s = cpu_s - s->cpu_s;
	s->cpu_s = cpu_s;
	row->peak_bytes = sl_process_usage_peak_bytes();
	row->verified = s->plan.options.verify && !row->check_failed;
	row->exact = sl_round_table_agreed(row) && !row->check_failed;
	set_parts(s, row);
	sl_progress_round(s->progress, row);
	if (s->csv != NULL)
		sl_simulate_csv_row(s, row);
}

void sl_simulate_rows(struct sl_simulation *s, bool end)
{
	while (s->handed < s->rounds.count) {
		struct sl_round_row *row = &s->rounds.rows[s->handed];
		if (!sl_round_table_complete(row) && !(end && row->committed > 0))
			return;
		hand_out(s, row);
		s->handed++;
	}
}
