/* checkpoint.c - a model as a file of one tensor (safetensors.h).
 *
 *   {"__metadata__":{...},"model":{"data_offsets":[0,4n],"dtype":"F32","shape":[n]}}, then the floats,
 * little-endian
 *
 * "shapes" says how the n floats of a trainer are laid out, as far as n tells it.
 */
#include "common/model/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/model/autoencoder.h"

#define FORMAT "starling-1"
#define PATH_BYTES 4096u

static_assert(sizeof(float) == 4 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "floats go to disk as they are");

/* ---- writing ---- */

void sl_checkpoint_name(sl_round round, char name[static SL_FILE_NAME_BYTES])
{
	snprintf(name, SL_FILE_NAME_BYTES, "round-%06" PRIu32 ".safetensors", round);
}

static void sum_of(const float *model, size_t n, uint8_t checksum[static SL_HASH_BYTES])
{
	crypto_generichash(checksum, SL_HASH_BYTES, (const uint8_t *)model, n * sizeof *model, NULL, 0);
}

static void shapes_of(uint64_t n, char *text, size_t bytes)
{
	uint64_t h = n < SL_PIXELS ? 0 : (n - SL_PIXELS) / (2 * SL_PIXELS + 1);
	if (h > 0 && h <= UINT32_MAX && sl_autoencoder_parameters((uint32_t)h) == n)
		snprintf(text, bytes, "W1 %" PRIu64 "x%u, b1 %" PRIu64 ", W2 %ux%" PRIu64 ", b2 %u", h,
			 SL_PIXELS, h, SL_PIXELS, h, SL_PIXELS);
	else
		snprintf(text, bytes, "%" PRIu64, n);
}

/* Return the header; NULL if the name of the run is not UTF-8 or memory is short. */
static json_t *header_of(const struct sl_checkpoint *c)
{
	char digest[2 * SL_HASH_BYTES + 1], checksum[2 * SL_HASH_BYTES + 1], shapes[128], round[16],
		learners[16], weight[24];
	sodium_bin2hex(digest, sizeof digest, c->digest, sizeof c->digest);
	sodium_bin2hex(checksum, sizeof checksum, c->checksum, sizeof c->checksum);
	shapes_of(c->n, shapes, sizeof shapes);
	snprintf(round, sizeof round, "%" PRIu32, c->round);
	snprintf(learners, sizeof learners, "%" PRIu32, c->learners);
	snprintf(weight, sizeof weight, "%" PRIu64, c->total_weight);
	return json_pack("{s:{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s},s:{s:s,s:[I],s:[I,I]}}", "__metadata__",
			 "format", FORMAT, "run", c->run, "round", round, "digest", digest, "learners",
			 learners, "total_weight", weight, "checksum", checksum, "shapes", shapes, "model",
			 "dtype", "F32", "shape", (json_int_t)c->n, "data_offsets", (json_int_t)0,
			 (json_int_t)(4 * c->n));
}

int sl_checkpoint_write(const char *folder, struct sl_checkpoint *checkpoint, const float *model,
			struct sl_error *error)
{
	char name[SL_FILE_NAME_BYTES];
	sl_checkpoint_name(checkpoint->round, name);
	sum_of(model, checkpoint->n, checkpoint->checksum);
	return sl_safetensors_write(folder, name, header_of(checkpoint), model, checkpoint->n * sizeof *model,
				    error);
}

/* ---- reading ---- */

/* The functions that return a text return the flaw that they found, or NULL. */
static const char *metadata_parse(const json_t *metadata, struct sl_checkpoint *c)
{
	const char *format, *run, *round, *digest, *learners, *weight, *checksum, *shapes;
	uint64_t t, count;
	if (json_unpack((json_t *)metadata, "{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s!}", "format", &format, "run",
			&run, "round", &round, "digest", &digest, "learners", &learners, "total_weight",
			&weight, "checksum", &checksum, "shapes", &shapes) != 0)
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

static const char *tensor_parse(const json_t *root, struct sl_checkpoint *c)
{
	const char *type;
	const json_t *metadata;
	json_int_t n, begin, end;
	if (json_unpack((json_t *)root, "{s:o,s:{s:s,s:[I!],s:[I,I!]!}!}", "__metadata__", &metadata, "model",
			"dtype", &type, "shape", &n, "data_offsets", &begin, &end) != 0)
		return "the header is not that of a model";
	if (strcmp(type, "F32") != 0)
		return "the model is not F32";
	if (n < 0 || n > SL_ELEMENTS_MAX || begin != 0 || end != 4 * n)
		return "shape and data_offsets do not agree";
	c->n = (uint64_t)n;
	return metadata_parse(metadata, c);
}

/* Read and check the header. */
static const char *header_read(int fd, struct sl_checkpoint *c)
{
	json_t *root;
	uint64_t begin;
	const char *wrong = sl_safetensors_header(fd, &root, &begin);
	if (wrong == NULL)
		wrong = tensor_parse(root, c);
	json_decref(root);
	return wrong != NULL ? wrong : sl_safetensors_extent(fd, begin, 4 * c->n);
}

/* Read the floats and compare them with the checksum. */
static const char *model_read(int fd, const struct sl_checkpoint *c, float *model)
{
	uint8_t checksum[SL_HASH_BYTES];
	if (sl_safetensors_read(fd, model, c->n * sizeof *model) < 0)
		return "shorter than its header says";
	sum_of(model, c->n, checksum);
	return memcmp(checksum, c->checksum, sizeof checksum) == 0
		       ? NULL
		       : "damaged: the model does not match its checksum";
}

/* Read one file. SL_ERR_NOTFOUND, without a text: it is missing or belongs to another run. */
static int file_read(const char *path, const char *run, sl_round round, size_t n, struct sl_checkpoint *c,
		     float *model, struct sl_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? SL_ERR_NOTFOUND
				       : sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	const char *wrong = header_read(fd, c);
	int rc = SL_OK;
	if (wrong != NULL)
		rc = sl_err_set(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
	else if (strcmp(c->run, run) != 0)
		rc = SL_ERR_NOTFOUND;
	else if (c->round != round)
		rc = sl_err_set(error, SL_ERR_FORMAT, "%s: holds round %" PRIu32, path, c->round);
	else if (model != NULL && c->n != n)
		rc = sl_err_set(error, SL_ERR_INVALID, "%s: a model of %" PRIu64 " floats, expected %zu",
				path, c->n, n);
	else if (model != NULL && (wrong = model_read(fd, c, model)) != NULL)
		rc = sl_err_set(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
	close(fd);
	return rc;
}

int sl_checkpoint_read(const char *folder, const char *run, sl_round round, size_t n,
		       struct sl_checkpoint *checkpoint, float *model, struct sl_error *error)
{
	struct sl_checkpoint found = {0};
	char name[SL_FILE_NAME_BYTES], path[PATH_BYTES];
	sl_checkpoint_name(round, name);
	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
		return sl_err_set(error, SL_ERR_RANGE, "%s: the folder's path is too long", folder);
	int rc = file_read(path, run, round, n, &found, model, error);
	if (rc == SL_ERR_NOTFOUND)
		return sl_err_set(error, rc, "%s: the checkpoint is missing or belongs to another run", path);
	if (rc == SL_OK)
		*checkpoint = found;
	return rc;
}
