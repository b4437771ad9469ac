#include "daemon/application/trained_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/config/settings.h"
#include "common/model/safetensors.h"
#include "common/model/tensor_header.h"
#include "daemon/runtime/failpoint.h"
#include "daemon/runtime/vector_memory.h"

#define FORMAT "starling-trained-3"
#define METADATA "__metadata__"
#define HEX_BYTES (2 * SL_HASH_BYTES + 1)
#define PATH_BYTES (SL_PATH_BYTES + SL_FILE_NAME_BYTES)

static void set_path(const struct sl_trained_file_place *place, char path[static PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s", place->folder, SL_TRAINED_FILE_NAME);
}

/* Set *sum to the checksum of the file, whose `header` has an empty one: to the hash of the header and of the
 * vector's hash. Return false if out of memory. */
static bool checksum_of(const struct sl_trained_file *file, const json_t *header,
			uint8_t sum[static SL_HASH_BYTES])
{
	crypto_generichash_state state;
	char *json = json_dumps(header, JSON_COMPACT | JSON_SORT_KEYS);
	if (json == NULL)
		return false;
	crypto_generichash_init(&state, NULL, 0, SL_HASH_BYTES);
	crypto_generichash_update(&state, (const uint8_t *)json, strlen(json));
	crypto_generichash_update(&state, file->hash, SL_HASH_BYTES);
	crypto_generichash_final(&state, sum, SL_HASH_BYTES);
	free(json);
	return true;
}

static bool set_checksum(json_t *header, const char *hex)
{
	return json_object_set_new(json_object_get(header, METADATA), "checksum", json_string(hex)) == 0;
}

/* ---- writing ---- */

/* Return the metadata with an empty checksum; NULL: out of memory, or the run's name is not UTF-8. */
static json_t *metadata_of(const struct sl_trained_file *file, const char *run)
{
	char round[16], weight[24];
	char *metrics = json_dumps(file->metrics, JSON_COMPACT);
	snprintf(round, sizeof round, "%" PRIu32, file->round);
	snprintf(weight, sizeof weight, "%" PRIu64, file->weight);
	json_t *metadata =
		json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "format", FORMAT, "run", run, "round", round,
			  "weight", weight, "values", file->values == SL_VALUES_UPDATE ? "update" : "model",
			  "terms", file->terms, "metrics", metrics != NULL ? metrics : "{}", "checksum", "");
	free(metrics);
	return metadata;
}

/* Return the header; NULL as above. */
static json_t *header_of(const struct sl_trained_file *file, const char *run,
			 const struct sl_tensors *tensors)
{
	uint8_t sum[SL_HASH_BYTES];
	char hex[HEX_BYTES];
	json_t *header = sl_tensor_header_make(metadata_of(file, run), tensors);
	if (header == NULL || !checksum_of(file, header, sum) ||
	    !set_checksum(header, sodium_bin2hex(hex, sizeof hex, sum, sizeof sum))) {
		json_decref(header);
		return NULL;
	}
	return header;
}

static int write_file(const struct sl_trained_file *file, const struct sl_trained_file_place *place,
		      const struct sl_tensors *tensors, const void *vector, size_t bytes,
		      struct sl_error *error)
{
	json_t *header = header_of(file, place->run, tensors);
	return sl_safetensors_write(place->folder, SL_TRAINED_FILE_NAME, SL_SAFETENSORS_WHOLE, 0600, header,
				    vector, bytes, error);
}

int sl_trained_file_write(struct sl_trained_file *file, const struct sl_trained_file_place *place,
			  const struct sl_tensors *tensors, const void *vector, size_t bytes,
			  struct sl_error *error)
{
	crypto_generichash(file->hash, SL_HASH_BYTES, vector, bytes, NULL, 0);
	sl_failpoint_reach(SL_FAILPOINT_BEFORE_TRAINED_FILE);
	int rc = write_file(file, place, tensors, vector, bytes, error);
	sl_failpoint_reach(SL_FAILPOINT_AFTER_TRAINED_FILE);
	return rc;
}

int sl_trained_file_remove(struct sl_trained_file *file, const struct sl_trained_file_place *place,
			   struct sl_error *error)
{
	char path[PATH_BYTES];
	set_path(place, path);
	sl_trained_file_close(file);
	return unlink(path) == 0 || errno == ENOENT
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_IO, "%s cannot be removed: %s", path, strerror(errno));
}

void sl_trained_file_close(struct sl_trained_file *file)
{
	json_decref(file->metrics);
	free((void *)file->tensors.items);
	sl_vector_memory_free(file->vector, file->bytes);
	*file = (struct sl_trained_file){0};
}

/* ---- reading ---- */

/* The functions that return a text return the flaw that they found, or NULL. */

/* Set the fields of `file`, and the checksum. */
static const char *metadata_parse(struct sl_trained_file *file, const json_t *metadata, const char *wanted,
				  uint8_t sum[static SL_HASH_BYTES])
{
	const char *format, *run, *round, *weight, *metrics, *checksum, *values, *terms;
	uint64_t t;
	if (json_unpack((json_t *)metadata, "{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s!}", "format", &format, "run",
			&run, "round", &round, "weight", &weight, "values", &values, "terms", &terms,
			"metrics", &metrics, "checksum", &checksum) != 0 ||
	    strcmp(format, FORMAT) != 0)
		return "the metadata are not those of a trained vector";
	if (strcmp(run, wanted) != 0)
		return "it belongs to another run";
	if (!sl_safetensors_metadata_number(round, SL_ROUNDS_MAX, &t) ||
	    !sl_safetensors_metadata_number(weight, INT64_MAX, &file->weight))
		return "round or weight is no number";
	file->round = (sl_round)t;
	file->values = strcmp(values, "update") == 0 ? SL_VALUES_UPDATE : SL_VALUES_MODEL;
	snprintf(file->terms, sizeof file->terms, "%s", terms);
	file->metrics = json_loads(metrics, 0, NULL);
	if (!sl_safetensors_metadata_bytes(checksum, sum, SL_HASH_BYTES))
		return "the checksum is not 64 hexadecimal digits";
	return NULL;
}

static const char *vector_read(struct sl_trained_file *file, int fd, const char *folder)
{
	file->vector = sl_vector_memory(folder, file->bytes);
	if (file->vector == NULL)
		return "out of memory";
	if (sl_safetensors_read(fd, file->vector, file->bytes) < 0)
		return "shorter than its header says";
	crypto_generichash(file->hash, sizeof file->hash, file->vector, file->bytes, NULL, 0);
	return NULL;
}

/* Read the tensors and the vector that `header` describes, and compare the checksum. */
static const char *content_read(struct sl_trained_file *file, int fd, const char *folder, json_t *header,
				uint64_t begin, const uint8_t sum[static SL_HASH_BYTES])
{
	uint8_t own[SL_HASH_BYTES];
	const char *wrong = sl_tensor_header_read(header, &file->tensors, &file->bytes);
	if (wrong == NULL && !sl_tensors_aligned(&file->tensors))
		wrong = "a tensor of float64 or int64 follows one of float32";
	if (wrong == NULL)
		wrong = sl_safetensors_extent(fd, begin, file->bytes);
	if (wrong == NULL)
		wrong = vector_read(file, fd, folder);
	if (wrong != NULL)
		return wrong;
	return set_checksum(header, "") && checksum_of(file, header, own) && memcmp(own, sum, sizeof own) == 0
		       ? NULL
		       : "the file does not match its checksum";
}

static const char *file_read(struct sl_trained_file *file, int fd, const struct sl_trained_file_place *place)
{
	uint8_t sum[SL_HASH_BYTES];
	json_t *header;
	uint64_t begin;
	const char *wrong = sl_safetensors_header(fd, &header, &begin);
	if (wrong == NULL)
		wrong = metadata_parse(file, json_object_get(header, METADATA), place->run, sum);
	if (wrong == NULL)
		wrong = content_read(file, fd, place->folder, header, begin, sum);
	json_decref(header);
	return wrong;
}

int sl_trained_file_read(struct sl_trained_file *file, const struct sl_trained_file_place *place,
			 struct sl_error *error)
{
	char path[PATH_BYTES];
	set_path(place, path);
	*file = (struct sl_trained_file){0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? sl_err_set(error, SL_ERR_NOTFOUND, "%s: there is none", path)
				       : sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	const char *wrong = file_read(file, fd, place);
	close(fd);
	if (wrong == NULL)
		return SL_OK;
	sl_trained_file_close(file);
	return sl_err_set(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
}
