/* Reports of the cores: as the records that daemons log, and those into the table of rounds. */
#include <sodium.h>
#include <string.h>

#include "common/model/checkpoint.h"
#include "common/model/trainer.h"
#include "common/report/record.h"
#include "daemon/runtime/process_usage.h"
#include "tools/starling/simulate_run.h"

/* --- the model: its held-out error, and whether it is the mean --- */

static void evaluate(struct sl_simulation *s, struct sl_round_row *row, const struct sl_runner_commit *commit)
{
	struct sl_trainer *trainer = s->trainers[commit->learner];
	if (!row->mse_known && sl_trainer_evaluate(trainer, commit->model, &row->mse, &s->error) == SL_OK)
		row->mse_known = true;
}

/* Save the model of the last round, once. */
static void save(struct sl_simulation *s, const struct sl_runner_commit *commit)
{
	struct sl_checkpoint checkpoint = {.run = "simulation",
					   .round = commit->t,
					   .learners = commit->view->n,
					   .total_weight = commit->total_weight,
					   .n = s->plan.n};
	memcpy(checkpoint.digest, commit->digest, SL_HASH_BYTES);
	if (sl_checkpoint_write(s->save, &checkpoint, &s->trainers[commit->learner]->tensors, commit->model,
				&s->error) == SL_OK)
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
	if (commit->view == NULL) { /* adopted from a peer */
		sodium_bin2hex(digest, sizeof digest, commit->digest, SL_HASH_BYTES);
		sl_round_table_shown(row, commit->learner, digest);
		return;
	}
	row->check_failed |= s->plan.options.verify && !commit->exact;
	if (s->save != NULL && commit->t == s->rounds.most)
		save(s, commit);
}

/* --- records --- */

static void hear_view(struct sl_round_row *row, uint32_t learner, const struct sl_record *record)
{
	sl_round_table_view(row, record);
	sl_round_table_member(row, learner, (sl_attempt)record->attempt);
}

static void hear_committed(struct sl_simulation *s, uint32_t learner, struct sl_round_row *row,
			   struct sl_record *record)
{
	struct sl_simulated *l = &s->learners[learner];
	uint64_t bytes = sl_runner_bytes(s->runner, learner);
	record->train_s = l->train_s;
	record->round_bytes_sent = bytes - l->bytes;
	sl_round_table_committed(row, learner, record);
	l->bytes = bytes;
}

/* Keep the reason, unless this attempt ended only because that of a peer did. */
static void hear_failed(struct sl_simulation *s, uint32_t learner, const struct sl_record *record)
{
	if (record->kind == SL_RECORD_ATTEMPT_FAILED_ELSEWHERE && s->reason[0] != '\0')
		return;
	snprintf(s->reason, sizeof s->reason, "%s, round %u: %s", s->roster.members[learner].name,
		 (unsigned)record->round, record->reason);
}

void sl_simulate_reported(void *context, uint32_t learner, const struct sl_report *r)
{
	struct sl_simulation *s = context;
	struct sl_record record;
	struct sl_round_row *row = sl_round_table_at(&s->rounds, r->t);
	bool of_round = r->kind == SL_REPORT_VIEW || r->kind == SL_REPORT_COMMITTED ||
			r->kind == SL_REPORT_CLAMPED || r->kind == SL_REPORT_FAILED;
	if (row == NULL || !of_round)
		return; /* after the last round; or of no interest here */
	sl_record_report(&record, r, &s->roster);
	if (r->kind == SL_REPORT_VIEW)
		hear_view(row, learner, &record);
	else if (r->kind == SL_REPORT_COMMITTED)
		hear_committed(s, learner, row, &record);
	else if (r->kind == SL_REPORT_CLAMPED)
		sl_round_table_clamped(row, &s->learners[learner].clamped, record.count);
	else
		hear_failed(s, learner, &record);
}

/* --- rows --- */

/* Learners take turns: a part of the round lasts as long as all of them together spent in its phases. */
static void set_parts(struct sl_simulation *s, struct sl_round_row *row)
{
	static const enum sl_phase last[SL_PARTS] = {SL_PHASE_AGREE, SL_PHASE_SHARE, SL_PHASE_RELEASE,
						     SL_PHASE_MIX, SL_PHASE_COMMIT};
	struct sl_runner_figures figures;
	double ms = 1; /* 0 means not known */
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
	row->peak_bytes = sl_process_usage_bytes("VmHWM");
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
