/* checkpoint.c - a model as a file of tensors (safetensors.h).
 *
 *   {"__metadata__":{...},"bias":{"data_offsets":[12,16],"dtype":"F32","shape":[1]},...}
 *
 * and then the elements, little-endian, in the order of the trainer.
 */
#include "common/model/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORMAT "starling-1"
#define PATH_BYTES 4096u

/* ---- writing ---- */

void sl_checkpoint_name(sl_round round, char name[static SL_FILE_NAME_BYTES])
{
	snprintf(name, SL_FILE_NAME_BYTES, "round-%06" PRIu32 ".safetensors", round);
}

static void sum_of(const void *model, size_t bytes, uint8_t checksum[static SL_HASH_BYTES])
{
	crypto_generichash(checksum, SL_HASH_BYTES, model, bytes, NULL, 0);
}

static uint64_t bytes_of(const struct sl_tensor *tensor)
{
	return sl_tensors_dtype_bytes(tensor->dtype) * sl_tensor_elements(tensor);
}

/* Return the entry of a tensor whose elements begin at `begin` bytes; NULL: out of memory. */
static json_t *entry_of(const struct sl_tensor *tensor, uint64_t begin)
{
	json_t *shape = json_array();
	int rc = 0;
	for (uint32_t d = 0; d < tensor->dimensions; d++)
		rc |= json_array_append_new(shape, json_integer((json_int_t)tensor->shape[d]));
	if (rc != 0) {
		json_decref(shape);
		return NULL;
	}
	return json_pack("{s:s,s:o,s:[I,I]}", "dtype", sl_tensors_dtype_file_name(tensor->dtype), "shape",
			 shape, "data_offsets", (json_int_t)begin, (json_int_t)(begin + bytes_of(tensor)));
}

static int put_tensors(json_t *header, const struct sl_tensors *tensors)
{
	uint64_t begin = 0;
	int rc = 0;
	for (uint32_t i = 0; i < tensors->count; i++) {
		const struct sl_tensor *tensor = &tensors->items[i];
		rc |= json_object_set_new(header, tensor->name, entry_of(tensor, begin));
		begin += bytes_of(tensor);
	}
	return rc;
}

/* Return the header; NULL if the name of the run is not UTF-8 or memory is short. */
static json_t *header_of(const struct sl_checkpoint *c, const struct sl_tensors *tensors)
{
	char digest[2 * SL_HASH_BYTES + 1], checksum[2 * SL_HASH_BYTES + 1], round[16], learners[16],
		weight[24];
	sodium_bin2hex(digest, sizeof digest, c->digest, sizeof c->digest);
	sodium_bin2hex(checksum, sizeof checksum, c->checksum, sizeof c->checksum);
	snprintf(round, sizeof round, "%" PRIu32, c->round);
	snprintf(learners, sizeof learners, "%" PRIu32, c->learners);
	snprintf(weight, sizeof weight, "%" PRIu64, c->total_weight);
	json_t *header = json_pack("{s:{s:s,s:s,s:s,s:s,s:s,s:s,s:s}}", "__metadata__", "format", FORMAT,
				   "run", c->run, "round", round, "digest", digest, "learners", learners,
				   "total_weight", weight, "checksum", checksum);
	if (put_tensors(header, tensors) == 0)
		return header;
	json_decref(header);
	return NULL;
}

int sl_checkpoint_write(const char *folder, struct sl_checkpoint *checkpoint,
			const struct sl_tensors *tensors, const void *model, struct sl_error *error)
{
	char name[SL_FILE_NAME_BYTES];
	size_t bytes = sl_tensors_bytes(tensors, checkpoint->n);
	sl_checkpoint_name(checkpoint->round, name);
	sum_of(model, bytes, checkpoint->checksum);
	return sl_safetensors_write(folder, name, header_of(checkpoint, tensors), model, bytes, error);
}

void sl_checkpoint_link(const char *folder, sl_round round)
{
	char name[SL_FILE_NAME_BYTES];
	int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sl_checkpoint_name(round, name);
	unlinkat(at, SL_CHECKPOINT_LATEST SL_TEMPORARY, 0);
	if (symlinkat(name, at, SL_CHECKPOINT_LATEST SL_TEMPORARY) == 0)
		renameat(at, SL_CHECKPOINT_LATEST SL_TEMPORARY, at, SL_CHECKPOINT_LATEST);
	if (at >= 0)
		close(at);
}

bool sl_checkpoint_delete(const char *folder, sl_round round)
{
	char name[SL_FILE_NAME_BYTES], path[PATH_BYTES];
	sl_checkpoint_name(round, name);
	return (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path && unlink(path) == 0;
}

/* ---- reading ---- */

/* The functions that return a text return the flaw that they found, or NULL. */
static const char *metadata_parse(const json_t *metadata, struct sl_checkpoint *c)
{
	const char *format, *run, *round, *digest, *learners, *weight, *checksum;
	uint64_t t, count;
	if (json_unpack((json_t *)metadata, "{s:s,s:s,s:s,s:s,s:s,s:s,s:s!}", "format", &format, "run", &run,
			"round", &round, "digest", &digest, "learners", &learners, "total_weight", &weight,
			"checksum", &checksum) != 0)
		return "the metadata are not those of a checkpoint";
	if (strcmp(format, FORMAT) != 0)
		return "the format is not " FORMAT;
	if (strlen(run) >= sizeof c->run)
		return "the run's name is too long";
	strcpy(c->run, run);
	if (!sl_safetensors_metadata_number(round, SL_ROUNDS_MAX, &t) ||
	    !sl_safetensors_metadata_number(learners, SL_LEARNERS_MAX, &count) ||
	    !sl_safetensors_metadata_number(weight, UINT64_MAX, &c->total_weight))
		return "round, learners or total_weight is no number";
	c->round = (sl_round)t;
	c->learners = (uint32_t)count;
	return sl_safetensors_metadata_bytes(digest, c->digest, sizeof c->digest) &&
			       sl_safetensors_metadata_bytes(checksum, c->checksum, sizeof c->checksum)
		       ? NULL
		       : "digest or checksum is not 64 hexadecimal digits";
}

/* The bytes of a tensor within the data. */
struct extent {
	json_int_t begin, end;
	size_t element; /* bytes */
};

static int compare(const void *left, const void *right)
{
	const struct extent *a = left, *b = right;
	return a->begin != b->begin ? (a->begin > b->begin) - (a->begin < b->begin)
				    : (a->end > b->end) - (a->end < b->end);
}

static const char *tensor_parse(json_t *entry, struct extent *extent)
{
	const char *type;
	json_t *shape, *side;
	size_t d;
	enum sl_dtype dtype;
	if (json_unpack(entry, "{s:s,s:o,s:[I,I!]!}", "dtype", &type, "shape", &shape, "data_offsets",
			&extent->begin, &extent->end) != 0 ||
	    !json_is_array(shape))
		return "the header is not that of a model";
	if (!sl_tensors_dtype_parse_file(type, &dtype))
		return "a tensor is not F32, F64 or I64";
	json_int_t bytes = (json_int_t)(extent->element = sl_tensors_dtype_bytes(dtype));
	json_array_foreach(shape, d, side)
	{
		json_int_t length = json_integer_value(side);
		if (!json_is_integer(side) || length < 0 || __builtin_mul_overflow(bytes, length, &bytes))
			return "a shape is not that of a tensor";
	}
	if (extent->begin < 0 || __builtin_sub_overflow(extent->end, bytes, &extent->end) ||
	    extent->end != extent->begin)
		return "shape and data_offsets do not agree";
	extent->end += bytes;
	return NULL;
}

/* Set c->n and *bytes if the tensors lie one after the other. */
static const char *extents_join(struct extent *extents, size_t count, struct sl_checkpoint *c,
				uint64_t *bytes)
{
	json_int_t end = 0;
	qsort(extents, count, sizeof *extents, compare);
	for (size_t i = 0; i < count; end = extents[i++].end) {
		if (extents[i].begin != end)
			return "the tensors do not lie one after the other";
		c->n += (uint64_t)(extents[i].end - end) / extents[i].element;
	}
	*bytes = (uint64_t)end;
	return c->n > SL_ELEMENTS_MAX ? "the model is too large" : NULL;
}

static const char *tensors_parse(json_t *root, struct sl_checkpoint *c, uint64_t *bytes)
{
	const char *name, *wrong = NULL;
	json_t *entry;
	size_t count = 0;
	struct extent *extents = calloc(json_object_size(root) + 1, sizeof *extents);
	if (extents == NULL)
		return "out of memory";
	json_object_foreach(root, name, entry)
	{
		if (wrong == NULL && strcmp(name, "__metadata__") != 0)
			wrong = tensor_parse(entry, &extents[count++]);
	}
	if (wrong == NULL)
		wrong = extents_join(extents, count, c, bytes);
	free(extents);
	return wrong != NULL ? wrong : metadata_parse(json_object_get(root, "__metadata__"), c);
}

/* Read and check the header, to be freed with json_decref. */
static const char *header_read(int fd, json_t **root, struct sl_checkpoint *c)
{
	uint64_t begin, bytes;
	const char *wrong = sl_safetensors_header(fd, root, &begin);
	if (wrong == NULL)
		wrong = tensors_parse(*root, c, &bytes);
	return wrong != NULL ? wrong : sl_safetensors_extent(fd, begin, bytes);
}

/* Return true if the file has exactly these tensors: same names, dtypes, shapes and order. */
static bool same_tensors(const json_t *root, const struct sl_tensors *tensors)
{
	json_t *wanted = json_object();
	bool same = json_object_set(wanted, "__metadata__", json_object_get(root, "__metadata__")) == 0 &&
		    put_tensors(wanted, tensors) == 0 && json_equal(root, wanted);
	json_decref(wanted);
	return same;
}

/* Read the model and compare it with the checksum. */
static const char *model_read(int fd, const struct sl_checkpoint *c, const struct sl_tensors *tensors,
			      void *model)
{
	uint8_t checksum[SL_HASH_BYTES];
	size_t bytes = sl_tensors_bytes(tensors, c->n);
	if (sl_safetensors_read(fd, model, bytes) < 0)
		return "shorter than its header says";
	sum_of(model, bytes, checksum);
	return memcmp(checksum, c->checksum, sizeof checksum) == 0
		       ? NULL
		       : "damaged: the model does not match its checksum";
}

/* Read one file. SL_ERR_NOTFOUND, without a text: it is missing or belongs to another run. */
static int file_read(const char *path, const char *run, sl_round round, const struct sl_tensors *tensors,
		     struct sl_checkpoint *c, void *model, struct sl_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? SL_ERR_NOTFOUND
				       : sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	json_t *root = NULL;
	const char *wrong = header_read(fd, &root, c);
	int rc = SL_OK;
	if (wrong != NULL)
		rc = sl_err_set(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
	else if (strcmp(c->run, run) != 0)
		rc = SL_ERR_NOTFOUND;
	else if (c->round != round)
		rc = sl_err_set(error, SL_ERR_FORMAT, "%s: holds round %" PRIu32, path, c->round);
	else if (model != NULL && !same_tensors(root, tensors))
		rc = sl_err_set(error, SL_ERR_INVALID, "%s: its tensors are not those of this run's model",
				path);
	else if (model != NULL && (wrong = model_read(fd, c, tensors, model)) != NULL)
		rc = sl_err_set(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
	json_decref(root);
	close(fd);
	return rc;
}

int sl_checkpoint_read(const char *folder, const char *run, sl_round round, const struct sl_tensors *tensors,
		       struct sl_checkpoint *checkpoint, void *model, struct sl_error *error)
{
	struct sl_checkpoint found = {0};
	char name[SL_FILE_NAME_BYTES], path[PATH_BYTES];
	sl_checkpoint_name(round, name);
	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
		return sl_err_set(error, SL_ERR_RANGE, "%s: the folder's path is too long", folder);
	int rc = file_read(path, run, round, tensors, &found, model, error);
	if (rc == SL_ERR_NOTFOUND)
		return sl_err_set(error, rc, "%s: the checkpoint is missing or belongs to another run", path);
	if (rc == SL_OK)
		*checkpoint = found;
	return rc;
}
