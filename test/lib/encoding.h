/* encoding.h - a whole vector at a time, for tests: the daemon encodes and decodes in parts. */
#pragma once

#include "common/field/encoding.h"

/* Encode the n elements of `model` into sl_encoding_elements `x`; see sl_encoding_encode_part. */
static inline int sl_encoding_encode(const struct sl_field *field, const struct sl_encoding *encoding,
				     const struct sl_tensors *tensors, const void *model, const void *base,
				     size_t n, uint64_t *x, struct sl_encode_note *note)
{
	return (sl_encoding_is_noisy(encoding) ? sl_encoding_noisy_part : sl_encoding_encode_part)(
		field, encoding, tensors, model, base, n, 0, (size_t)sl_encoding_elements(encoding, n), x,
		note);
}

/* Decode Z without limbs, n+1 elements; see sl_encoding_decode_part. */
static inline int sl_encoding_decode(const struct sl_field *field, const struct sl_encoding *encoding,
				     const struct sl_tensors *tensors, const uint64_t *z, size_t n,
				     void *model)
{
	return sl_encoding_decode_part(field, encoding, tensors, z, NULL, z[n], NULL, n, 0, n, model);
}
