/* job_model.h - the model in the jobs ENCODE, SHARE, CLOSE, SUM and ACCEPT: to elements of Z_p and back, by
 * parts (PROTOCOL.md §4.2 Encoding, §4.6 Decoding).
 */
#pragma once

#include "common/compute/job_types.h"

/* Check that the trained model can be encoded, and fill in the note and the largest update. The errors are
 * those of sl_encoding_encode. */
int sl_job_model_check(const struct sl_workspace *workspace, const struct sl_view *view,
		       struct sl_job_result *result);
/* Encode the elements first .. first + count - 1 of the trained model, which has been checked, into x. */
void sl_job_model_encode(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
			 size_t count, uint64_t *x);
/* Decode Z, in s, whose total weight is not 0, block by block. Hash the model, which is kept nowhere. */
void sl_job_model_hash(const struct sl_workspace *workspace, const struct sl_view *view,
		       struct sl_vector_hash *hash);
/* Decode it once more, over the committed model. */
void sl_job_model_accept(const struct sl_workspace *workspace, const struct sl_view *view);
