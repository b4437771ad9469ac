/* The models that learners dump for --verify: recompute the mean of a round from them, then delete them. They
 * are secret. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "tools/launch/recompute.h"
#include "tools/launch/state.h"

/* A learner of the view that is absent takes part, but need not have the model. */
static json_t *request_of(const struct sl_launch *launch, const struct sl_round_row *row)
{
	uint64_t who[(SL_LEARNERS_MAX + 63) / 64] = {0}, excused[(SL_LEARNERS_MAX + 63) / 64] = {0};
	sl_round_table_absent(row, excused);
	for (size_t w = 0; w < sl_bit_words(row->roster); w++) {
		who[w] = row->who[w] | excused[w];
		excused[w] |= row->passed[w];
	}
	const struct sl_recompute_round round = {&launch->plan->folder,
						 sl_plan_encoding(launch->plan, row),
						 (uint32_t)launch->plan->settings.tolerance,
						 row->round,
						 who,
						 excused};
	return sl_recompute_request(&round);
}

/* Return true if an earlier launch has deleted the models of this round when it ended: the round was
 * committed or released then. */
static bool lost_models(const struct sl_launch *launch, const struct sl_round_row *row)
{
	const struct sl_resume *r = &launch->plan->resume;
	return r->of != NULL && row->round <= r->committed + 1;
}

/* Return true if an earlier launch has recomputed this round, and ended before it had noted that it was
 * shown.
 */
static bool verified_before(const struct sl_launch *launch, const struct sl_round_row *row)
{
	return launch->plan->resume.of != NULL && row->round <= launch->plan->resume.verified;
}

void sl_dumps_ask(struct sl_launch *launch, const struct sl_round_row *row)
{
	if (!verified_before(launch, row))
		sl_recompute_ask(launch, request_of(launch, row));
}

/* Take the answer to a check. */
static void take_answer(const struct sl_launch *launch, struct sl_round_row *row, const json_t *answer,
			struct sl_error *error)
{
	const char *text = json_string_value(json_object_get(answer, "error"));
	row->verified = text == NULL;
	if (row->verified)
		return;
	bool missing = json_is_true(json_object_get(answer, "missing"));
	bool lost = missing && lost_models(launch, row);
	sl_err_set(error, missing ? SL_ERR_NOTFOUND : SL_ERR_INVALID, "%s",
		   lost ? "not recomputed: the interrupted run deleted its dumped models" : text);
	row->check_failed = !lost;
}

bool sl_dumps_check(struct sl_launch *launch, struct sl_round_row *row, struct sl_error *error)
{
	if (verified_before(launch, row)) {
		row->verified = true;
		return true;
	}
	json_t *answer = sl_recompute_take(launch, row->round);
	if (answer == NULL)
		return false;
	take_answer(launch, row, answer, error);
	json_decref(answer);
	return true;
}

void sl_dumps_delete(const struct sl_launch *launch, sl_round round)
{
	char file[32], path[PATH_MAX];
	snprintf(file, sizeof file, "state/trained-%06u.model", round);
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		if (sl_run_folder_path(&launch->plan->folder, i, file, path) == SL_OK && unlink(path) != 0 &&
		    errno != ENOENT)
			fprintf(stderr, "starling launch: a secret model could not be deleted: %s: %s\n",
				path, strerror(errno));
}

/* Delete what attempts that failed, an unfinished round and learners that were left out have left over.
 * Models of rounds whose check failed are kept as evidence, also those of an earlier launch. */
void sl_dumps_end(const struct sl_launch *launch)
{
	if (!launch->plan->options.verify)
		return;
	const struct sl_resume *r = &launch->plan->resume;
	if (r->verified > 0) /* the launch before may have ended in between */
		sl_dumps_delete(launch, r->verified);
	for (sl_round t = r->shown + 1; t <= launch->rounds.most; t++)
		if (t > launch->handed || !launch->rounds.rows[t - 1].check_failed)
			sl_dumps_delete(launch, t);
		else
			fprintf(stderr,
				"starling launch: the check of round %u failed; kept as evidence, and "
				"secret: %s/learner-*/state/trained-%06u.model\n",
				t, launch->plan->folder.shown, t);
}
