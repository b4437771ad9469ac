/* tensor_bytes.h - the tensors of a model as bytes: the input of the hash in the parameter `model`, and the
 * content of a Model message (LINKS.md §6.16 Model).
 *
 *    for each tensor: length of the name | name | u8 dtype | u8 dimensions | u64 length of each dimension
 */
#pragma once

#include "common/base/err.h"
#include "common/base/tensors.h"

/* Return the parameter `model`: the first 8 bytes, little-endian, of a hash of the tensors. */
uint64_t sl_tensor_bytes_hash(const struct sl_tensors *tensors);
/* Write as many whole tensors, from the first on, as fit `room` bytes. Return the bytes written. */
size_t sl_tensor_bytes_write(const struct sl_tensors *tensors, uint8_t *bytes, size_t room);

/* Compare the tensors of this learner with the `count` tensors of a peer. `bytes` come from the network and
 * hold the first of the peer's tensors. SL_OK: they are equal. SL_ERR_INVALID: `text` states the first
 * difference, the peer's side first. SL_ERR_FORMAT: the bytes are not a list of tensors. */
int sl_tensor_bytes_compare(const struct sl_tensors *own, const uint8_t *bytes, size_t size, uint32_t count,
			    char *text, size_t room);
/* Compare the tensors here with those there, of which `there` holds the first of `count`. Return false if
 * they are equal, else name in `text` the tensor that differs: "tensor fc.weight is float32 [3,2] there and
 * float32 [2,3] here", or "tensor scale is there, and not here". */
bool sl_tensor_bytes_differ(const struct sl_tensors *here, const struct sl_tensors *there, uint32_t count,
			    char *text, size_t room);
