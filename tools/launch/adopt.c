/* Look up rounds that a learner committed without reporting them, because it died in between.
 *
 * The first signer of its last result is the learner itself if it took part; otherwise the learner adopted
 * the result from a peer. Results of earlier rounds are deleted, and there may be no model of them: it may
 * have adopted a later round.
 */
#include <sodium.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/model/checkpoint.h"
#include "common/protocol/view.h"
#include "daemon/store/result.h"
#include "tools/launch/state.h"

static bool open_result(const struct sl_learner *l, sl_round t, struct sl_result *result)
{
	const struct sl_plan *plan = l->launch->plan;
	char state[PATH_MAX], checkpoints[PATH_MAX];
	struct sl_error error;
	struct sl_checkpoint checkpoint = {.n = plan->n};
	sl_run_folder_path(&plan->folder, l->index, "state", state);
	sl_run_folder_path(&plan->folder, l->index, "state/" SL_CHECKPOINT_FOLDER, checkpoints);
	if (checkpoint.n == 0 &&
	    sl_checkpoint_read(checkpoints, plan->settings.run, t, NULL, &checkpoint, NULL, &error) != SL_OK)
		return false;
	return sl_result_open(state, plan->settings.run, checkpoint.n, t, result, &error) == SL_OK;
}

/* The models of the round may still be there to recompute its mean: the learner says no more how they were
 * encoded. */
static void adopt_encoding(struct sl_round_row *row, const struct sl_round_head *round, uint32_t decimals)
{
	struct sl_view view = {.agreed = {.values = round->values, .initial = round->initial}};
	memcpy(view.previous, round->previous, SL_HASH_BYTES);
	bool exact = round->values == SL_VALUES_UPDATE && !sl_view_ranged(&view);
	row->values = exact ? SL_VALUES_EXACT : (enum sl_values)round->values;
	row->bits = (uint32_t)round->update_bits;
	row->decimals_known = row->values == SL_VALUES_MODEL;
	row->decimals = row->decimals_known ? decimals : 0;
}

static void adopt_certificate(struct sl_learner *l, struct sl_round_row *row,
			      const struct sl_certificate *certificate)
{
	char digest[2 * SL_HASH_BYTES + 1];
	sodium_bin2hex(digest, sizeof digest, certificate->digest, SL_HASH_BYTES);
	if (row->committed == 0) {
		row->learners = sl_round_learners(certificate->round);
		row->attempt = certificate->a;
		adopt_encoding(row, certificate->round, l->launch->plan->settings.decimals);
	}
	if (certificate->digests[0].id != l->index + 1) {
		sl_round_table_shown(row, l->index, digest);
		return;
	}
	if (sl_round_table_adopted(row, l->index, digest))
		sl_playback_committed(l->launch, row);
}

static void adopt_round(struct sl_learner *l, sl_round t)
{
	struct sl_result result;
	struct sl_round_row *row = sl_round_table_at(&l->launch->rounds, t);
	if (row == NULL || sl_bit(row->who, l->index))
		return;
	if (open_result(l, t, &result)) {
		adopt_certificate(l, row, &result.certificate);
		sl_result_close(&result);
	} else {
		sl_round_table_passed(row, l->index);
	}
	sl_rows_late(l, row);
}

void sl_adopt(struct sl_learner *learner, sl_round t)
{
	for (sl_round round = learner->committed + 1; round <= t; round++)
		adopt_round(learner, round);
	learner->committed = t;
}
