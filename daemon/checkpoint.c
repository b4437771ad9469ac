/* checkpoint.c - safetensors, the part of it that a model of one tensor needs, and strictly that part.
 *
 *      8 bytes   header length H, little-endian
 *      H bytes   JSON {"__metadata__":{...},"model":{"data_offsets":[0,4n],"dtype":"F32","shape":[n]}}
 *      4n bytes  the floats, little-endian
 * The JSON has no spaces and its keys are sorted; spaces behind it fill H up to a multiple of 8.
 *
 * All metadata are strings (the format demands it); "shapes" says how the n floats of a trainer are laid out,
 * as far as n tells it.
 */
#include "daemon/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/train/autoencoder.h"

#define FORMAT "starling-1"
#define HEADER_BYTES_MAX (64u << 10)
#define NAME_BYTES 64u
#define PATH_BYTES 4096u

static_assert(sizeof(float) == 4 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "floats go to disk as they are");

/* ---- writing ---- */

static void name_of(sl_round round, char name[static NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "round-%06" PRIu32 ".safetensors", round);
}

static void hex_of(const uint8_t digest[static SL_HASH_BYTES], char hex[static 2 * SL_HASH_BYTES + 1])
{
	for (size_t i = 0; i < SL_HASH_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
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

/* The header's JSON, to free(); NULL when the run's name is not UTF-8 or memory is short. */
static char *header_json(const struct sl_checkpoint *c)
{
	char digest[2 * SL_HASH_BYTES + 1], checksum[2 * SL_HASH_BYTES + 1], shapes[128], round[16], learners[16], weight[24];
	hex_of(c->digest, digest);
	hex_of(c->checksum, checksum);
	shapes_of(c->n, shapes, sizeof shapes);
	snprintf(round, sizeof round, "%" PRIu32, c->round);
	snprintf(learners, sizeof learners, "%" PRIu32, c->learners);
	snprintf(weight, sizeof weight, "%" PRIu64, c->total_weight);
	json_t *root =
		json_pack("{s:{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s},s:{s:s,s:[I],s:[I,I]}}", "__metadata__", "format",
			  FORMAT, "run", c->run, "round", round, "digest", digest, "learners", learners,
			  "total_weight", weight, "checksum", checksum, "shapes", shapes, "model", "dtype", "F32", "shape",
			  (json_int_t)c->n, "data_offsets", (json_int_t)0, (json_int_t)(4 * c->n));
	char *text = root == NULL ? NULL : json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(root);
	return text;
}

static int write_all(int fd, const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t wrote = write(fd, (const char *)bytes + done, size - done);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return -1;
		done += (size_t)wrote;
	}
	return 0;
}

static int write_parts(int fd, const char *json, const float *model, size_t n)
{
	static const char spaces[8] = "        ";
	size_t length = strlen(json), padding = (8 - length % 8) % 8;
	uint64_t header = length + padding;
	if (write_all(fd, &header, sizeof header) < 0 || write_all(fd, json, length) < 0 ||
	    write_all(fd, spaces, padding) < 0 || write_all(fd, model, n * sizeof *model) < 0)
		return -1;
	return fsync(fd);
}

/* Writes `temporary` in the folder whole, or leaves nothing of it. */
static int write_temporary(int folder, const char *temporary, const char *json, const float *model, size_t n)
{
	int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	int rc = write_parts(fd, json, model, n), why = errno;
	if (close(fd) < 0 && rc == 0) {
		rc = -1;
		why = errno;
	}
	if (rc < 0) {
		unlinkat(folder, temporary, 0);
		errno = why;
	}
	return rc;
}

/* Temporary, then its name, then the folder's own entry to disk. */
static int write_and_name(int folder, const char *name, const char *json, const float *model, size_t n)
{
	char temporary[NAME_BYTES + 8];
	snprintf(temporary, sizeof temporary, "%s.tmp", name);
	if (write_temporary(folder, temporary, json, model, n) < 0)
		return -1;
	if (renameat(folder, temporary, folder, name) < 0) {
		int why = errno;
		unlinkat(folder, temporary, 0);
		errno = why;
		return -1;
	}
	return fsync(folder);
}

int sl_checkpoint_write(const char *folder, const struct sl_checkpoint *checkpoint, const float *model,
			char *path, size_t path_bytes, struct sl_error *error)
{
	char name[NAME_BYTES];
	name_of(checkpoint->round, name);
	if (path != NULL && (size_t)snprintf(path, path_bytes, "%s/%s", folder, name) >= path_bytes)
		return sl_fail(error, SL_ERR_RANGE, "%s: the folder's path is too long", folder);
	struct sl_checkpoint summed = *checkpoint;
	sum_of(model, checkpoint->n, summed.checksum);
	char *json = header_json(&summed);
	if (json == NULL)
		return sl_fail(error, SL_ERR_INVALID, "%s/%s: the run's name is not UTF-8", folder, name);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : write_and_name(fd, name, json, model, checkpoint->n), why = errno;
	free(json);
	if (fd >= 0)
		close(fd);
	if (rc < 0)
		return sl_fail(error, SL_ERR_IO, "%s/%s: %s", folder, name, strerror(why));
	return SL_OK;
}

/* ---- reading ---- */

static int read_all(int fd, void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = read(fd, (char *)bytes + done, size - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		done += (size_t)got;
	}
	return 0;
}

static bool number_parse(const char *text, uint64_t max, uint64_t *value)
{
	char *end;
	if (text == NULL || text[0] < '0' || text[0] > '9' || (text[0] == '0' && text[1] != '\0'))
		return false; /* one way only to write a number */
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0' && *value <= max;
}

static int nibble(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool digest_parse(const char *text, uint8_t digest[static SL_HASH_BYTES])
{
	if (text == NULL || strlen(text) != 2 * SL_HASH_BYTES)
		return false;
	for (size_t i = 0; i < SL_HASH_BYTES; i++) {
		int high = nibble(text[2 * i]), low = nibble(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		digest[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* Each returns what is wrong, or NULL. */
static const char *metadata_parse(const json_t *metadata, struct sl_checkpoint *c)
{
	const char *format, *run, *round, *digest, *learners, *weight, *checksum, *shapes;
	uint64_t t, count;
	if (json_unpack((json_t *)metadata, "{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s!}", "format", &format, "run", &run,
			"round", &round, "digest", &digest, "learners", &learners, "total_weight", &weight,
			"checksum", &checksum, "shapes", &shapes) != 0)
		return "the metadata are not those of a checkpoint";
	if (strcmp(format, FORMAT) != 0)
		return "the format is not " FORMAT;
	if (strlen(run) >= sizeof c->run)
		return "the run's name is too long";
	strcpy(c->run, run);
	if (!number_parse(round, SL_ROUNDS_MAX, &t) || !number_parse(learners, SL_LEARNERS_MAX, &count) ||
	    !number_parse(weight, UINT64_MAX, &c->total_weight))
		return "round, learners or total_weight is no number";
	c->round = (sl_round)t;
	c->learners = (uint32_t)count;
	return digest_parse(digest, c->digest) && digest_parse(checksum, c->checksum)
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

/* Reads and checks all that comes before the data. */
static const char *header_read(int fd, struct sl_checkpoint *c)
{
	static const char *const no_memory = "out of memory";
	struct stat status;
	uint64_t length;
	if (fstat(fd, &status) < 0 || read_all(fd, &length, sizeof length) < 0)
		return "shorter than a header";
	if (length < 2 || length > HEADER_BYTES_MAX || length % 8 != 0)
		return "the header's length is out of range";
	char *text = malloc(length);
	if (text == NULL)
		return no_memory;
	const char *wrong = read_all(fd, text, length) < 0 ? "shorter than its header" : NULL;
	json_t *root = wrong != NULL ? NULL : json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	if (wrong == NULL)
		wrong = root == NULL ? "the header is not JSON" : tensor_parse(root, c);
	json_decref(root);
	free(text);
	if (wrong == NULL && (uint64_t)status.st_size != sizeof length + length + 4 * c->n)
		wrong = "the file's size is not what its header says";
	return wrong;
}

/* The floats, if they are those that were written. */
static const char *model_read(int fd, const struct sl_checkpoint *c, float *model)
{
	uint8_t checksum[SL_HASH_BYTES];
	if (read_all(fd, model, c->n * sizeof *model) < 0)
		return "shorter than its header says";
	sum_of(model, c->n, checksum);
	return memcmp(checksum, c->checksum, sizeof checksum) == 0
		       ? NULL
		       : "damaged: the model does not match its checksum; remove the file to go on from the round before";
}

/* One file: SL_OK, SL_ERR_NOTFOUND when it is another run's (or gone), or an error with text. */
static int file_read(const char *path, const char *run, sl_round round, size_t n, struct sl_checkpoint *c,
		     float *model, struct sl_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? SL_ERR_NOTFOUND
				       : sl_fail(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	const char *wrong = header_read(fd, c);
	int rc = SL_OK;
	if (wrong != NULL)
		rc = sl_fail(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
	else if (strcmp(c->run, run) != 0)
		rc = SL_ERR_NOTFOUND;
	else if (c->round != round)
		rc = sl_fail(error, SL_ERR_FORMAT, "%s: holds round %" PRIu32, path, c->round);
	else if (model != NULL && c->n != n)
		rc = sl_fail(error, SL_ERR_FORMAT, "%s: a model of %" PRIu64 " floats, expected %zu", path,
			     c->n, n);
	else if (model != NULL && (wrong = model_read(fd, c, model)) != NULL)
		rc = sl_fail(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
	close(fd);
	return rc;
}

/* "round-NNNNNN.safetensors", exactly as we name it. */
static bool name_parse(const char *name, sl_round *round)
{
	char again[NAME_BYTES];
	if (sscanf(name, "round-%7" SCNu32, round) != 1)
		return false;
	name_of(*round, again);
	return strcmp(name, again) == 0;
}

/* The highest round below `limit` that has a file; 0 when there is none. */
static sl_round highest_below(DIR *entries, sl_round limit)
{
	sl_round highest = 0, round;
	const struct dirent *entry;
	rewinddir(entries);
	while ((entry = readdir(entries)) != NULL)
		if (name_parse(entry->d_name, &round) && round < limit && round > highest)
			highest = round;
	return highest;
}

/* Downwards, past the files of other runs. */
static int latest_in(DIR *entries, const char *folder, const char *run, size_t n, struct sl_checkpoint *found,
		     float *model, struct sl_error *error)
{
	char name[NAME_BYTES], path[PATH_BYTES];
	sl_round round = SL_ROUNDS_MAX + 1;
	while ((round = highest_below(entries, round)) > 0) {
		name_of(round, name);
		if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
			return sl_fail(error, SL_ERR_RANGE, "%s: the folder's path is too long", folder);
		int rc = file_read(path, run, round, n, found, model, error);
		if (rc != SL_ERR_NOTFOUND)
			return rc;
	}
	return sl_fail(error, SL_ERR_NOTFOUND, "%s: no checkpoint of run %s", folder, run);
}

int sl_checkpoint_latest(const char *folder, const char *run, size_t n, struct sl_checkpoint *checkpoint,
			 float *model, struct sl_error *error)
{
	struct sl_checkpoint found = {0};
	DIR *entries = opendir(folder);
	if (entries == NULL)
		return sl_fail(error, errno == ENOENT ? SL_ERR_NOTFOUND : SL_ERR_IO, "%s: %s", folder,
			       strerror(errno));
	int rc = latest_in(entries, folder, run, n, &found, model, error);
	closedir(entries);
	if (rc == SL_OK)
		*checkpoint = found;
	return rc;
}
