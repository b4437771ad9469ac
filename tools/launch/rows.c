/* Show the rows of rounds, in order. A row is shown when all learners of the view have the model. A learner
 * that lacks it is awaited for LATE_MS while it answers on its control socket; for the last round and for
 * --verify without that limit. With --verify, it is shown when its mean has been recomputed. */
#include "common/base/bytes.h"
#include "tools/launch/state.h"

#define LATE_MS 10000u
#define SILENT_MS 5000u /* without an answer to `status`, which goes to all several times in that */

bool sl_rows_pending(const struct sl_launch *launch)
{
	return launch->handed < launch->rounds.count && launch->rounds.rows[launch->handed].committed > 0;
}

static bool is_silent(const struct sl_learner *l, const struct sl_round_row *row, uint64_t now)
{
	uint64_t since = l->heard_ms > row->first_ms ? l->heard_ms : row->first_ms;
	if (l->lost)
		return true;
	return l->control.state == SL_CONTROL_CLIENT_OPEN && !l->exited && now - since >= SILENT_MS;
}

static bool all_silent(const struct sl_launch *launch, const struct sl_round_row *row, const uint64_t *set,
		       uint64_t now)
{
	for (uint32_t i = 0; i < row->roster; i++)
		if (sl_bit(set, i) && !is_silent(&launch->learners[i], row, now))
			return false;
	return true;
}

static bool is_ripe(const struct sl_launch *launch, const struct sl_round_row *row, uint64_t now)
{
	uint64_t set[(SL_LEARNERS_MAX + 63) / 64] = {0};
	if (row->committed == 0 || !row->mse_known || sl_round_table_complete(row))
		return sl_round_table_complete(row);
	if (sl_round_table_absent(row, set) && all_silent(launch, row, set, now))
		return true;
	return !launch->plan->options.verify && row->round < launch->rounds.most &&
	       now - row->first_ms >= LATE_MS;
}

static void show(struct sl_launch *launch, struct sl_round_row *row, const struct sl_error *error)
{
	for (uint32_t i = 0; i < row->roster; i++)
		launch->learners[i].took_part |= sl_bit(row->who, i);
	row->exact = sl_round_table_agreed(row) && !row->check_failed;
	sl_progress_round(launch->progress, row);
	launch->told_ms = uv_now(&launch->loop);
	launch->verified = row->verified ? row->round : launch->verified;
	sl_progress_file_write(launch);
	if (row->verified) /* or a launch that is resumed would verify it again, without them */
		sl_dumps_delete(launch, row->round);
	if (error->text[0] != '\0')
		sl_progress_line(launch->progress, "round %u: %s", row->round, error->text);
	if (row->round == launch->rounds.most)
		sl_launch_finish(launch);
}

bool sl_rows_checking(const struct sl_launch *launch)
{
	return launch->ripe > launch->handed;
}

/* Find the next rounds that may be shown, and ask for their checks. */
static void look_for_ripe(struct sl_launch *launch, uint64_t now)
{
	struct sl_round_table *r = &launch->rounds;
	launch->ripe = launch->ripe > launch->handed ? launch->ripe : launch->handed;
	for (; launch->ripe < r->count && is_ripe(launch, &r->rows[launch->ripe], now); launch->ripe++)
		if (launch->plan->options.verify)
			sl_dumps_ask(launch, &r->rows[launch->ripe]);
}

void sl_rows_tick(struct sl_launch *launch)
{
	look_for_ripe(launch, uv_now(&launch->loop));
	while (launch->handed < launch->ripe) {
		struct sl_round_row *row = &launch->rounds.rows[launch->handed];
		struct sl_error error = {0};
		if (launch->plan->options.verify && !sl_dumps_check(launch, row, &error))
			return;
		launch->handed++;
		show(launch, row, &error);
	}
}

void sl_rows_late(struct sl_learner *learner, struct sl_round_row *row)
{
	if (row->round > learner->launch->handed)
		return;
	learner->took_part |= sl_bit(row->who, learner->index);
	if (!row->exact || sl_round_table_agreed(row))
		return;
	row->exact = false;
	sl_progress_line(learner->launch->progress,
			 "round %u is NOT EXACT: %s (%u) came late, and with another model", row->round,
			 learner->name, learner->index + 1);
}
