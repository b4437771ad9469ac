#include "common/model/tensor_bytes.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"

#define DOMAIN "starling model 1"
#define LENGTH_BYTES 2u /* of a name, at most; a byte has 7 bits of it */
#define ONE_BYTES                                                                                            \
	(LENGTH_BYTES + SL_TENSOR_NAME_BYTES + 2 + 8 * SL_TENSOR_DIMENSIONS_MAX) /* of a tensor, at most */
#define ONE_BYTES_LEAST (1 + 1 + 2)
#define SHAPE_BYTES 192u
#define SUBJECT_BYTES (SL_TENSOR_LABEL_BYTES + 64u)
#define NONNEGATIVE 0x80u /* bit of the byte that has the dtype */
#define COUNT(...) +1
#define DTYPES (0 SL_DTYPES(COUNT))

/* ---- to bytes ---- */

static size_t write_one(const struct sl_tensor *tensor, uint8_t bytes[static ONE_BYTES])
{
	struct sl_writer w = {.bytes = bytes, .size = ONE_BYTES};
	size_t length = strlen(tensor->name);
	bool longer = length > 0x7f;
	uint8_t size[LENGTH_BYTES] = {(uint8_t)((length & 0x7f) | (longer ? 0x80 : 0)),
				      (uint8_t)(length >> 7)},
		head[] = {(uint8_t)(tensor->dtype | (tensor->nonnegative ? NONNEGATIVE : 0)),
			  (uint8_t)tensor->dimensions};
	sl_bytes_put(&w, size, longer ? 2 : 1);
	sl_bytes_put(&w, tensor->name, length);
	sl_bytes_put(&w, head, sizeof head);
	for (uint32_t d = 0; d < tensor->dimensions; d++)
		sl_bytes_put_u64(&w, tensor->shape[d]);
	assert(w.used <= w.size);
	return w.used;
}

uint64_t sl_tensor_bytes_hash(const struct sl_tensors *tensors)
{
	crypto_generichash_state state;
	uint8_t one[ONE_BYTES], hash[SL_HASH_BYTES];
	uint64_t first;
	crypto_generichash_init(&state, NULL, 0, sizeof hash);
	crypto_generichash_update(&state, (const uint8_t *)DOMAIN, sizeof DOMAIN);
	for (uint32_t i = 0; i < tensors->count; i++)
		crypto_generichash_update(&state, one, write_one(&tensors->items[i], one));
	crypto_generichash_final(&state, hash, sizeof hash);
	sl_bytes_unpack(&first, hash, 1, 64);
	return first;
}

size_t sl_tensor_bytes_write(const struct sl_tensors *tensors, uint8_t *bytes, size_t room)
{
	size_t used = 0;
	for (uint32_t i = 0; i < tensors->count; i++) {
		uint8_t one[ONE_BYTES];
		size_t size = write_one(&tensors->items[i], one);
		if (size > room - used)
			break;
		memcpy(bytes + used, one, size);
		used += size;
	}
	return used;
}

/* ---- from bytes of a peer ---- */

struct reader {
	uint8_t *at; /* a zero is put behind each name */
	size_t left;
	uint64_t elements; /* of the tensors read */
};

static bool take(struct reader *r, void *to, size_t size)
{
	if (size > r->left)
		return false;
	memcpy(to, r->at, size);
	r->at += size;
	r->left -= size;
	return true;
}

/* Read the length of a name, in as few bytes as it takes. */
static bool read_length(struct reader *r, size_t *length)
{
	uint8_t low, high = 0;
	if (!take(r, &low, 1))
		return false;
	bool longer = low > 0x7f;
	*length = low & 0x7f;
	if (longer && (!take(r, &high, 1) || high == 0))
		return false;
	*length |= (size_t)high << 7;
	return *length >= 1 && *length < SL_TENSOR_NAME_BYTES && *length <= r->left;
}

/* Leave the name where it is: the byte behind it is read before a zero ends it. */
static bool read_name(struct reader *r, struct sl_tensor *tensor, uint8_t head[static 2])
{
	size_t length;
	if (!read_length(r, &length))
		return false;
	char *name = (char *)r->at;
	r->at += length;
	r->left -= length;
	if (!take(r, head, 2) || memchr(name, '\0', length) != NULL)
		return false;
	name[length] = '\0';
	tensor->name = name;
	return true;
}

static bool read_shape(struct reader *r, struct sl_tensor *tensor)
{
	uint64_t elements = 1;
	for (uint32_t d = 0; d < tensor->dimensions; d++) {
		uint8_t length[8];
		if (!take(r, length, sizeof length))
			return false;
		sl_bytes_unpack(&tensor->shape[d], length, 1, 64);
		if (tensor->shape[d] > SL_PARAMETERS_MAX)
			return false;
		elements *= tensor->shape[d]; /* both are at most 2^30 */
		if (elements > SL_PARAMETERS_MAX)
			return false;
	}
	r->elements += elements;
	return r->elements <= SL_PARAMETERS_MAX;
}

/* Read the next tensor. Return false if no learner writes these bytes. */
static bool read_one(struct reader *r, struct sl_tensor *tensor)
{
	uint8_t head[2];
	memset(tensor, 0, sizeof *tensor);
	if (!read_name(r, tensor, head) || (head[0] & ~NONNEGATIVE) >= DTYPES ||
	    head[1] > SL_TENSOR_DIMENSIONS_MAX)
		return false;
	tensor->dtype = (enum sl_dtype)(head[0] & ~NONNEGATIVE);
	tensor->nonnegative = (head[0] & NONNEGATIVE) != 0;
	tensor->dimensions = head[1];
	return read_shape(r, tensor);
}

/* ---- in words ---- */

/* "float32 [3,17]", "float32 [3,17] non-negative" */
static void shape_text(const struct sl_tensor *tensor, char text[static SHAPE_BYTES])
{
	size_t used = (size_t)snprintf(text, SHAPE_BYTES, "%s [", sl_tensors_dtype_name(tensor->dtype));
	for (uint32_t d = 0; d < tensor->dimensions; d++)
		used += (size_t)snprintf(text + used, SHAPE_BYTES - used, "%s%" PRIu64, d > 0 ? "," : "",
					 tensor->shape[d]);
	snprintf(text + used, SHAPE_BYTES - used, tensor->nonnegative ? "] non-negative" : "]");
}

/* Write the name without the bytes that a terminal or a log might not show. */
static void name_text(const struct sl_tensor *tensor, char text[static SL_TENSOR_LABEL_BYTES])
{
	sl_tensors_label(tensor->name, text);
	sl_tensors_ascii(text);
}

static bool same_shape(const struct sl_tensor *a, const struct sl_tensor *b)
{
	return a->dtype == b->dtype && a->nonnegative == b->nonnegative && a->dimensions == b->dimensions &&
	       memcmp(a->shape, b->shape, a->dimensions * sizeof *a->shape) == 0;
}

static const struct sl_tensor *find(const struct sl_tensors *tensors, const char *name)
{
	for (uint32_t k = 0; k < tensors->count; k++)
		if (strcmp(tensors->items[k].name, name) == 0)
			return &tensors->items[k];
	return NULL;
}

/* Write "tensor w", or "the averaged metric loss". */
static void subject_text(const struct sl_tensor *tensor, char text[static SUBJECT_BYTES])
{
	static const size_t prefix = sizeof SL_METRIC_PREFIX - 1;
	char name[SL_TENSOR_LABEL_BYTES];
	name_text(tensor, name);
	if (!sl_tensor_is_metric(tensor))
		snprintf(text, SUBJECT_BYTES, "tensor %s", name);
	else
		snprintf(text, SUBJECT_BYTES, "the averaged metric %s%s", name + prefix,
			 strcmp(name + prefix, "stop") == 0 ? ", which stop= of starling.join adds," : "");
}

/* Compare two tensors of one name; NULL: there is none on this side. Return false if they are equal. */
static bool name_one(const struct sl_tensor *here, const struct sl_tensor *there, char *text, size_t room)
{
	char name[SUBJECT_BYTES], own[SHAPE_BYTES], theirs[SHAPE_BYTES];
	subject_text(here != NULL ? here : there, name);
	if (here == NULL) {
		snprintf(text, room, "%s is there, and not here", name);
	} else if (there == NULL) {
		snprintf(text, room, "%s is here, and not there", name);
	} else if (same_shape(here, there)) {
		return false;
	} else {
		shape_text(here, own);
		shape_text(there, theirs);
		snprintf(text, room, "%s is %s there and %s here", name, theirs, own);
	}
	return true;
}

/* No tensor that is known of both sides differs: say that two have other places, or that the list was cut. */
static void name_place(uint32_t k, const struct sl_tensors *here, const struct sl_tensors *there,
		       uint32_t count, char *text, size_t room)
{
	char name[SL_TENSOR_LABEL_BYTES], other[SL_TENSOR_LABEL_BYTES];
	if (k < here->count && k < there->count) {
		name_text(&here->items[k], name);
		name_text(&there->items[k], other);
		snprintf(text, room, "tensor %u is %s there and %s here", k + 1, other, name);
	} else if (count != here->count) {
		snprintf(text, room, "it has %u tensors there and %u here", count, here->count);
	} else {
		snprintf(text, room, "they differ after the first %u tensors", k);
	}
}

/* Tensors are ordered by dtype, so a tensor of another dtype has another place: look for it by its name. */
bool sl_tensor_bytes_differ(const struct sl_tensors *here, const struct sl_tensors *there, uint32_t count,
			    char *text, size_t room)
{
	uint32_t k = 0;
	while (k < here->count && k < there->count &&
	       strcmp(here->items[k].name, there->items[k].name) == 0 &&
	       same_shape(&here->items[k], &there->items[k]))
		k++;
	const struct sl_tensor *own = k < here->count ? &here->items[k] : NULL,
			       *theirs = k < there->count ? &there->items[k] : NULL,
			       *match = own != NULL ? find(there, own->name) : NULL;
	bool whole = there->count == count;
	if (own == NULL && theirs == NULL && whole)
		return false;
	if (theirs != NULL && name_one(find(here, theirs->name), theirs, text, room))
		return true;
	if (own != NULL && (match != NULL || whole) && name_one(own, match, text, room))
		return true;
	name_place(k, here, there, count, text, room);
	return true;
}

int sl_tensor_bytes_compare(const struct sl_tensors *own, const uint8_t *bytes, size_t size, uint32_t count,
			    char *text, size_t room)
{
	struct sl_tensor *items = malloc((size / ONE_BYTES_LEAST + 1) * sizeof *items);
	uint8_t *copy = malloc(size + 1); /* of the names */
	uint32_t k = 0;
	int rc = SL_OK;
	if (items == NULL || copy == NULL)
		abort(); /* out of memory: a message has at most 61,440 bytes of tensors */
	struct reader r = {.at = memcpy(copy, bytes, size), .left = size};
	for (; r.left > 0 && rc == SL_OK; k++)
		if (k == count || !read_one(&r, &items[k]))
			rc = SL_ERR_FORMAT;
	if (rc == SL_OK &&
	    sl_tensor_bytes_differ(own, &(struct sl_tensors){.items = items, .count = k}, count, text, room))
		rc = SL_ERR_INVALID;
	free(items);
	free(copy);
	return rc;
}
