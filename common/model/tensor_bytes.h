/* tensor_bytes.h - the tensors of a model as bytes: what the parameter `model` is a hash of, and what a Model
 * message names (PROTOCOL.md §6.16 Model).
 *
 *    for each tensor: u8 length of the name | name | u8 dtype | u8 dimensions | u64 length of each dimension
 */
#pragma once

#include "common/base/err.h"
#include "common/base/tensors.h"

/* Return the parameter `model`: the first 8 bytes, little-endian, of a hash of the tensors. */
uint64_t sl_tensor_bytes_hash(const struct sl_tensors *tensors);
/* Write as many whole tensors, from the first on, as fit `room` bytes. Return the bytes written. */
size_t sl_tensor_bytes_write(const struct sl_tensors *tensors, uint8_t *bytes, size_t room);

/* Compare the tensors of this learner with those of a peer, of whose `count` tensors the first are in `bytes`
 * and come from the network. SL_OK: they are equal. SL_ERR_INVALID: `text` says where they differ, the peer's
 * first. SL_ERR_FORMAT: the bytes are not a list of tensors. */
int sl_tensor_bytes_compare(const struct sl_tensors *own, const uint8_t *bytes, size_t size, uint32_t count,
			    char *text, size_t room);
/* Compare tensor number `k`, counted from 1, here and there. Return false if they are equal, else say in
 * `text` how they differ: "tensor fc.weight is float32 [3,2] there and float32 [2,3] here". */
bool sl_tensor_bytes_differ(uint32_t k, const struct sl_tensor *here, const struct sl_tensor *there,
			    char *text, size_t room);
