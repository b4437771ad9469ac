/* leakage_text.h - what a coalition learns as a sentence: "the model of learner 4, and x1+x2". Pure but for
 * its stream. */
#pragma once

#include "common/mixing/leakage.h"
#include "tools/topology/participants.h"

/* Write what the coalition learns in a step, after sl_participants_without; `why` names it as the cut. */
void sl_leakage_text_learned(FILE *out, const struct sl_participants *participants, const uint32_t *coalition,
			     size_t count, bool why);

/* Write "NOT PRIVATE: <who learns> more than the mean in 2 of 3 rounds.", and the remedy for a coalition of c
 * of n learners. */
void sl_leakage_text_not_private(FILE *out, const char *who, uint32_t beyond, uint32_t rounds, uint32_t c,
				 uint32_t n);

/* Write what the coalition learns over all steps: the models revealed, and sums of others from the basis. */
void sl_leakage_text_span(FILE *out, const struct sl_leakage *leakage);

/* Write integer coefficients of n models: "x1+x2", "2x1-x4". */
void sl_leakage_text_combination(FILE *out, const int32_t *coefficients, uint32_t n);

#define SL_COEFFICIENT_MOST 99
#define SL_LEARNED_LEGEND "x1+x2 is the sum of the models of learners 1 and 2."
