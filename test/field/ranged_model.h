/* ranged_model.h - a model with tensors of every class, and what its vector must be: each element by ranges,
 * computed with long doubles and integers of 128 bits (ROUND.md §4.3 Limbs and ranges).
 */
#pragma once

#include "test/graph/unit.h"

#include "test/lib/encoding.h"

typedef __int128 wide;

#define LARGE 1300u /* two blocks and a rest */
#define F 13u	    /* the first of the floats */
#define MOMENTS 1100u
#define N (F + 2 * LARGE + MOMENTS + 4)
#define LOWER (4 * 7 + 5 * 5 + 21 + 2 * MOMENTS + 4 * 4) /* elements of lower limbs */
#define EXTRA (LOWER + 8 * 16)
#define ALL (N + EXTRA + 1)
#define BITS 12

#define TINY LARGE
#define V (2 * LARGE + MOMENTS)

/* The small ones are `d` and `v`; integers and metrics are exact. */
struct model {
	double d[7];
	int64_t i[5];
	double m;
	float f[2 * LARGE + MOMENTS + 4]; /* large, tiny, moments, v */
};
enum { D, I, NONE, METRIC, LARGE_ONE, TINY_ONE, MOMENTS_ONE, SMALL, COUNT }; /* tensors */

extern const int limbs_of[COUNT];
extern struct sl_tensor_begin begins[COUNT];
extern struct sl_tensors mixed; /* the tensors; `begins` is set, or NULL */
extern struct sl_field field;
extern struct sl_ranges ranges;
extern int16_t exponents[COUNT];
extern struct model theta, base;
extern uint64_t x[ALL]; /* the vector of theta */

/* Return how a learner of `weight` encodes; sets field, ranges and begins. */
struct sl_encoding ranged(uint64_t weight);
/* Set `base`. */
void draw_base(uint64_t *seed);
/* Let `theta` be an update of `base` that is within the ranges, and any exact values. */
void draw(uint64_t *seed);
/* Encode theta into x. */
void encode(const struct sl_encoding *e, struct sl_encode_note *note);
/* Decode z twice, in whole and in parts of seven elements. */
void decode(const struct sl_encoding *e, const uint64_t *z, struct model *mean);

/* Return the tensor of element `l` of the model. */
uint32_t tensor_of(size_t l);
bool is_exact(uint32_t k);
/* Return the value of element `l`. */
long double value_of(const struct model *model, size_t l);
/* Return the update of element `l`: of floats, the difference as a double. */
long double update_of(const struct model *model, size_t l);
/* Return the step of a tensor that is not exact, of its last limb: 2^that. */
int step_of(uint32_t k);
/* Return the steps of an update. */
wide steps_of(long double u, uint32_t k);
/* Return what the vector of `theta` has as element `at`, times the weight. */
int64_t expected(size_t at);
