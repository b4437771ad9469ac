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

#include "common/field/ranges.h"
#include "common/model/tensor_header.h"

#define FORMAT "starling-2"
#define PATH_BYTES 4096u

/* ---- writing ---- */

void sl_checkpoint_name(sl_round round, char name[static SL_FILE_NAME_BYTES])
{
	snprintf(name, SL_FILE_NAME_BYTES, "round-%06" PRIu32 ".safetensors", round);
}

/* Add the exponents to the metadata; false: out of memory. */
static bool put_ranges(json_t *metadata, const struct sl_checkpoint *c)
{
	if (c->ranges == 0)
		return true;
	json_t *list = json_array();
	for (uint32_t k = 0; k < c->ranges; k++)
		json_array_append_new(list, json_integer(c->exponents[k]));
	char *text = json_dumps(list, JSON_COMPACT);
	bool put = json_object_set_new(metadata, "ranges", json_string(text)) == 0;
	json_decref(list);
	free(text);
	return put;
}

/* Set the exponents from their text, of which there must be as many. */
static bool ranges_parse(const char *text, const struct sl_checkpoint *c)
{
	if (text == NULL)
		return c->ranges == 0;
	json_t *list = json_loads(text, 0, NULL);
	bool good = json_array_size(list) == c->ranges;
	for (uint32_t k = 0; good && k < c->ranges; k++) {
		const json_t *value = json_array_get(list, k);
		json_int_t exponent = json_integer_value(value);
		good = json_is_integer(value) && exponent >= SL_RANGE_LEAST && exponent <= SL_RANGE_MOST;
		c->exponents[k] = good ? (int16_t)exponent : 0;
	}
	json_decref(list);
	return good;
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
	json_t *metadata = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "checksum", checksum, "digest", digest,
				     "format", FORMAT, "learners", learners, "round", round, "run", c->run,
				     "total_weight", weight);
	if (metadata != NULL && put_ranges(metadata, c))
		return sl_tensor_header_make(metadata, tensors);
	json_decref(metadata);
	return NULL;
}

void sl_checkpoint_sum(struct sl_checkpoint *checkpoint, const uint8_t strands[static SL_STRANDS_BYTES])
{
	crypto_generichash(checkpoint->checksum, SL_HASH_BYTES, strands, SL_STRANDS_BYTES, NULL, 0);
}

static void sum_of(struct sl_checkpoint *c, const struct sl_tensors *tensors, const void *model)
{
	struct sl_vector_hash hash;
	uint8_t strands[SL_STRANDS_BYTES];
	sl_vector_hash_begin(&hash);
	sl_vector_hash_add(&hash, model, sl_tensors_bytes(tensors, c->n));
	sl_vector_hash_add(&hash, (const uint8_t *)c->exponents, c->ranges * sizeof *c->exponents);
	sl_vector_hash_end(&hash, strands);
	sl_checkpoint_sum(c, strands);
}

static int write_file(const char *folder, const struct sl_checkpoint *checkpoint, enum sl_safetensors_way way,
		      const struct sl_tensors *tensors, const void *model, struct sl_error *error)
{
	char name[SL_FILE_NAME_BYTES];
	sl_checkpoint_name(checkpoint->round, name);
	return sl_safetensors_write(folder, name, way, 0644, header_of(checkpoint, tensors), model,
				    sl_tensors_bytes(tensors, checkpoint->n), error);
}

int sl_checkpoint_write(const char *folder, struct sl_checkpoint *checkpoint,
			const struct sl_tensors *tensors, const void *model, struct sl_error *error)
{
	sum_of(checkpoint, tensors, model);
	return write_file(folder, checkpoint, SL_SAFETENSORS_WHOLE, tensors, model, error);
}

int sl_checkpoint_write_later(const char *folder, const struct sl_checkpoint *checkpoint,
			      const struct sl_tensors *tensors, const void *model, struct sl_error *error)
{
	return write_file(folder, checkpoint, SL_SAFETENSORS_LATER, tensors, model, error);
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

void sl_checkpoint_delete(const char *folder, sl_round round)
{
	char name[SL_FILE_NAME_BYTES], path[PATH_BYTES];
	sl_checkpoint_name(round, name);
	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path)
		unlink(path);
}

/* ---- reading ---- */

/* The functions that return a text return the flaw that they found, or NULL. */
static const char *metadata_parse(const json_t *metadata, struct sl_checkpoint *c)
{
	const char *format, *run, *round, *digest, *learners, *weight, *checksum, *nonnegative,
		*ranges; /* they are read elsewhere */
	uint64_t t, count;
	format = json_string_value(json_object_get(metadata, "format"));
	if (format != NULL && strcmp(format, FORMAT) != 0) /* first: another format has other keys */
		return "the format is not " FORMAT;
	if (json_unpack((json_t *)metadata, "{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s?:s,s?:s!}", "format", &format,
			"run", &run, "round", &round, "digest", &digest, "learners", &learners,
			"total_weight", &weight, "checksum", &checksum, "nonnegative", &nonnegative, "ranges",
			&ranges) != 0)
		return "the metadata are not those of a checkpoint";
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

/* Read and check the header, to be freed with json_decref, and its tensors, with items to be freed. */
static const char *header_read(int fd, json_t **root, struct sl_tensors *tensors, struct sl_checkpoint *c)
{
	uint64_t begin, bytes;
	const char *wrong = sl_safetensors_header(fd, root, &begin);
	*tensors = (struct sl_tensors){0};
	if (wrong == NULL)
		wrong = sl_tensor_header_read(*root, tensors, &bytes);
	for (uint32_t i = 0; i < tensors->count; i++)
		c->n += sl_tensor_elements(&tensors->items[i]);
	if (wrong == NULL)
		wrong = metadata_parse(json_object_get(*root, "__metadata__"), c);
	return wrong != NULL ? wrong : sl_safetensors_extent(fd, begin, bytes);
}

static const char *metadata_of(const json_t *root, const char *name)
{
	return json_string_value(json_object_get(json_object_get(root, "__metadata__"), name));
}

/* Return true if the file has exactly these tensors: same names, dtypes, shapes and order. */
static bool same_tensors(const json_t *root, const struct sl_tensors *tensors)
{
	json_t *metadata = json_copy(json_object_get(root, "__metadata__"));
	json_t *wanted = sl_tensor_header_make(metadata, tensors);
	bool same = json_equal(root, wanted) != 0;
	json_decref(wanted);
	return same;
}

/* Read the model and compare it with the checksum. */
static const char *model_read(int fd, const json_t *root, const struct sl_checkpoint *c,
			      const struct sl_tensors *tensors, void *model)
{
	if (!ranges_parse(metadata_of(root, "ranges"), c))
		return "its ranges are not those of its tensors";
	struct sl_checkpoint found = *c;
	if (sl_safetensors_read(fd, model, sl_tensors_bytes(tensors, c->n)) < 0)
		return "shorter than its header says";
	sum_of(&found, tensors, model);
	return memcmp(found.checksum, c->checksum, sizeof found.checksum) == 0
		       ? NULL
		       : "damaged: the model does not match its checksum";
}

/* A checkpoint that is read: what it must be, and where its parts go. */
struct request {
	const char *run;
	sl_round round;
	const struct sl_tensors *tensors; /* of the model */
	void *model;			  /* NULL: only the header is read */
};

/* Read one file, and *found, its tensors. SL_ERR_NOTFOUND, without a text: it is missing or belongs to
 * another run. */
static int file_read(const char *path, const struct request *request, struct sl_checkpoint *c,
		     struct sl_tensors *found, struct sl_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? SL_ERR_NOTFOUND
				       : sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	json_t *root = NULL;
	const char *wrong = header_read(fd, &root, found, c);
	int rc = SL_OK;
	if (wrong != NULL)
		rc = sl_err_set(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
	else if (strcmp(c->run, request->run) != 0)
		rc = SL_ERR_NOTFOUND;
	else if (c->round != request->round)
		rc = sl_err_set(error, SL_ERR_FORMAT, "%s: holds round %" PRIu32, path, c->round);
	else if (request->model != NULL && !same_tensors(root, request->tensors))
		rc = sl_err_set(error, SL_ERR_INVALID, "%s: its tensors are not those of this run's model",
				path);
	else if (request->model != NULL && (metadata_of(root, "ranges") != NULL) != (c->ranges > 0))
		rc = sl_err_set(error, SL_ERR_INVALID, "%s: this run averages %s: `values` cannot change",
				path, c->ranges > 0 ? "models" : "updates");
	else if (request->model != NULL &&
		 (wrong = model_read(fd, root, c, request->tensors, request->model)) != NULL)
		rc = sl_err_set(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
	json_decref(root);
	close(fd);
	return rc;
}

static int folder_read(const char *folder, const struct request *request, struct sl_checkpoint *c,
		       struct sl_tensors *found, struct sl_error *error)
{
	char name[SL_FILE_NAME_BYTES], path[PATH_BYTES];
	*found = (struct sl_tensors){0};
	sl_checkpoint_name(request->round, name);
	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
		return sl_err_set(error, SL_ERR_RANGE, "%s: the folder's path is too long", folder);
	int rc = file_read(path, request, c, found, error);
	if (rc == SL_ERR_NOTFOUND)
		return sl_err_set(error, rc, "%s: the checkpoint is missing or belongs to another run", path);
	return rc;
}

int sl_checkpoint_read(const char *folder, const char *run, sl_round round, const struct sl_tensors *tensors,
		       struct sl_checkpoint *checkpoint, void *model, struct sl_error *error)
{
	struct sl_checkpoint read = {0};
	if (model != NULL) {
		read.exponents = checkpoint->exponents;
		read.ranges = checkpoint->ranges;
	}
	struct sl_tensors found;
	int rc = folder_read(folder, &(struct request){run, round, tensors, model}, &read, &found, error);
	free((void *)found.items);
	if (rc == SL_OK)
		*checkpoint = read;
	return rc;
}

int sl_checkpoint_tensors(const char *folder, const char *run, sl_round round, struct sl_tensors *tensors,
			  struct sl_error *error)
{
	struct sl_checkpoint read = {0};
	int rc = folder_read(folder, &(struct request){run, round, NULL, NULL}, &read, tensors, error);
	if (rc == SL_OK)
		return SL_OK;
	free((void *)tensors->items);
	*tensors = (struct sl_tensors){0};
	return rc;
}
