/* leakage_text.h - what a coalition learns, in words: "the model of learner 4, and x1+x2". Pure but for
 * its stream. */
#pragma once

#include "common/mixing/leakage.h"
#include "tools/topology/participants.h"

/* What the suspects learn in a step, after sl_participants_without; `why` says once more who they are. */
void sl_leakage_text_learned(FILE *out, const struct sl_participants *participants, const uint32_t *suspects,
			     size_t count, bool why);

/* "NOT PRIVATE: <who learns> more than the mean in 2 of 3 rounds.", and what is to be done about a coalition
 * of c of n learners. */
void sl_leakage_text_not_private(FILE *out, const char *who, uint32_t beyond, uint32_t rounds, uint32_t c,
				 uint32_t n);

/* What they learn over all steps: the models revealed, and sums of others from the basis. */
void sl_leakage_text_span(FILE *out, const struct sl_leakage *leakage);

/* Integer coefficients of n models: "x1+x2", "2x1-x4". */
void sl_leakage_text_combination(FILE *out, const int32_t *coefficients, uint32_t n);

#define SL_COEFFICIENT_MOST 99
#define SL_LEARNED_LEGEND "x1+x2 is the sum of the models of learners 1 and 2."
