/* job_model.h - the model in the jobs ENCODE, SHARE, CLOSE, SUM and ACCEPT: to elements of Z_p and back, by
 * parts (ROUND.md §4.2 Encoding, §4.6 Decoding).
 */
#pragma once

#include "common/compute/job_types.h"

/* Return B of the view: the model that `previous` or `initial` names; NULL: there is none, or noise is added
 * to whole models. */
const void *sl_job_model_base(const struct sl_workspace *workspace, const struct sl_view *view);
/* Set the exponents of the initial model, which is in the place of the committed one. Return its hash for the
 * parameter `initial`; with ranges, 0: it is zeros. */
uint64_t sl_job_model_begin(const struct sl_workspace *workspace);
/* Return true if the trained model changes a tensor of the initial one beyond its range. */
bool sl_job_model_far(const struct sl_workspace *workspace);
/* Check that the trained model can be encoded, and fill in the note, the largest update and
 * what is frozen. The errors are those of sl_encoding_encode_part, and SL_ERR_RANGE with `zeroed`. */
int sl_job_model_check(struct sl_workspace *workspace, const struct sl_view *view,
		       struct sl_job_result *result);
/* Encode the elements first .. first + count - 1 of the trained model, which has been checked, into x. */
void sl_job_model_encode(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
			 size_t count, uint64_t *x);
/* Decode Z, in s, whose total weight is not 0, block by block. Write the strands of the model, which is kept
 * nowhere, and the exponents of its ranges, which are kept. Return false if a value of the model is not
 * finite, or if it ends early. */
bool sl_job_model_hash(const struct sl_workspace *workspace, const struct sl_view *view,
		       uint8_t strands[static SL_STRANDS_BYTES]);
/* Decode it once more, over the committed model; and keep what the own update has more than its encoding. */
void sl_job_model_accept(struct sl_workspace *workspace, const struct sl_view *view);
/* Add that rest to the model that was trained since; no encoding is of it yet. */
void sl_job_model_add_rest(struct sl_workspace *workspace);
