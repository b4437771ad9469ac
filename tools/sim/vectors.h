/* vectors.h - memory for the vectors of one learner and for the state file of its attempt, in the simulator
 * and in the in-process runner. The state file lies in memory here; it ends with the attempt.
 */
#pragma once

#include "common/compute/job.h"

/* Allocate the vectors of a model of `n` floats; randomness comes from `*random`, repeatable. SL_ERR_NOMEM:
 * call close. */
int sl_sim_vectors_open(struct sl_workspace *workspace, size_t n, uint64_t *random);
void sl_sim_vectors_close(struct sl_workspace *workspace);

/* Make the memory that `job` needs: scratch memory before ANALYSE and ENCODE, an empty state file before
 * ENCODE. */
void sl_sim_vectors_prepare(struct sl_workspace *workspace, const struct sl_job *job);
/* Wipe the vectors and end the state file. */
void sl_sim_vectors_wipe(struct sl_workspace *workspace);

/* Return the bytes of an element of Z as the result is sent: the width of p. */
uint32_t sl_sim_vectors_width(uint64_t p);
/* Return Z, packed at that width; to free(). */
uint8_t *sl_sim_vectors_pack(const struct sl_workspace *workspace, uint64_t p);
