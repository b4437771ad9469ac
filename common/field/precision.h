/* precision.h - the clipping range and the decimals that a model needs (PROTOCOL.md §4.8 Precision).
 *
 * What follows is that of models; with values: update, take "update" for "model".
 *
 *   trained model -- sl_precision_measure --> need -- sl_precision_fit --> own parameters -- the largest of
 *   the participants --> agreed -- sl_precision_lower --> as many decimals as the modulus carries
 */
#pragma once

#include "common/base/tensors.h"
#include "common/field/encoding.h"

/* `decimals: auto`, `clipping_range: auto`. */
#define SL_DECIMALS_AUTO UINT32_MAX
#define SL_CLIPPING_RANGE_AUTO 0.0

/* The precision that one model needs. It tells the orders of magnitude of the largest value of all tensors
 * and of the largest value in the tensor with the smallest ones, and nothing else. */
struct sl_need {
	double range; /* of floats: a power of two, at least twice and less than four times the largest
			 magnitude, of an update one to two times; 0: all are 0, or there are none */
	double unit;  /* the largest step that keeps, in each tensor of float32, 24 bits below its own range,
			 and 40 in each of float64: a power of two; 0: any. Of an update, the least range of
			 a tensor */
	uint64_t whole; /* of int64: a power of two less one, at least the largest magnitude; 0: all are 0 */
	bool far; /* the update of the initial model is beyond the range of a tensor (sl_job_model_far) */
};

struct sl_precision {
	enum sl_values values;
	uint32_t decimals, update_bits;
	double clipping_range;
	bool whole_model; /* update: no model is committed, so that the update is the whole model */
};

/* Set *need to what the n elements of `model` need; with values: update, those of `model` - `base` (NULL:
 * zeros). Values that are not finite are left out. */
void sl_precision_measure(enum sl_values values, const struct sl_tensors *tensors, const void *model,
			  const void *base, size_t n, struct sl_need *need);

/* Replace what is auto in `precision`. values: model: the range is that of the need, doubled until the
 * integers fit; the decimals are the fewest with 10^-decimals <= need->unit, at most SL_DECIMALS_MAX. update:
 * the range is that of the need; update_bits are raised, by at most 8, until the tensor with the smallest
 * values keeps 8 bits below its own range; of whole models, until it keeps 8 more than the setting; and then
 * until the integers fit. */
void sl_precision_fit(struct sl_precision *precision, const struct sl_need *need);

/* Return the most digits (decimals or update_bits), up to those of `encoding`, for which `modulus: auto`
 * finds a prime of at most `bits_max` bits; those of `encoding` if there is none. */
uint32_t sl_precision_lower(const struct sl_encoding *encoding, const struct sl_addends *addends,
			    uint32_t bits_max);
