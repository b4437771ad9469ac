#include "tools/launch/verify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "tools/launch/verify_mean.h"
#include "tools/lib/checkpoint_check.h"

#define CHUNK 8192u /* elements read at a time: memory stays at Z */

/* The sum Z of the encodings. */
struct sum {
	struct sl_field field;
	uint64_t *z; /* n+1 */
	size_t n;
	struct sl_verify_mean mean;
};

struct encoding_dump {
	FILE *file;
	char path[PATH_MAX];
	uint64_t p;
	size_t elements;
};

static void round_path(const struct sl_verify *v, uint32_t learner, const char *kind, const char *suffix,
		       char *path)
{
	char file[64];
	snprintf(file, sizeof file, "state/%s-%06u.%s", kind, v->round, suffix);
	sl_run_folder_path(v->folder, learner, file, path);
}

static int encoding_dump_open(struct encoding_dump *r, const struct sl_verify *v, uint32_t learner,
			      struct sl_error *error)
{
	uint8_t bytes[8];
	struct stat st;
	round_path(v, learner, "encoding", "u64", r->path);
	r->file = fopen(r->path, "re");
	if (r->file == NULL)
		return sl_err_set(error, errno == ENOENT ? SL_ERR_NOTFOUND : SL_ERR_IO, "%s: %s", r->path,
				  strerror(errno));
	if (fstat(fileno(r->file), &st) == 0 && st.st_size >= 24 && st.st_size % 8 == 0 &&
	    fread(bytes, sizeof bytes, 1, r->file) == 1) {
		sl_bytes_unpack(&r->p, bytes, 1, 8);
		r->elements = (size_t)st.st_size / 8 - 1;
		return SL_OK;
	}
	fclose(r->file);
	return sl_err_set(error, SL_ERR_FORMAT, "%s: not an encoding", r->path);
}

/* Take p and n from the first encoding. */
static int sum_begin(struct sum *sum, const struct encoding_dump *r, struct sl_error *error)
{
	if (sl_field_init(&sum->field, r->p) != SL_OK || r->elements - 1 > SL_ELEMENTS_MAX)
		return sl_err_set(error, SL_ERR_FORMAT, "%s: p is %llu, with %zu elements", r->path,
				  (unsigned long long)r->p, r->elements);
	sum->n = r->elements - 1;
	sum->z = calloc(r->elements, sizeof *sum->z);
	return sum->z != NULL ? SL_OK : sl_err_set(error, SL_ERR_NOMEM, "out of memory");
}

static int sum_add(struct sum *sum, const struct encoding_dump *r, struct sl_error *error)
{
	static_assert(CHUNK * 8 <= 65536, "on the stack");
	uint8_t bytes[CHUNK * 8];
	uint64_t x[CHUNK];
	for (size_t at = 0; at <= sum->n; at += CHUNK) {
		size_t count = sum->n + 1 - at < CHUNK ? sum->n + 1 - at : CHUNK;
		if (fread(bytes, 8, count, r->file) != count)
			return sl_err_set(error, SL_ERR_IO, "%s: ends early", r->path);
		sl_bytes_unpack(x, bytes, count, 8);
		for (size_t i = 0; i < count; i++) {
			if (x[i] >= sum->field.p)
				return sl_err_set(error, SL_ERR_FORMAT, "%s: element %zu is not below p",
						  r->path, at + i);
			sum->z[at + i] = sl_field_add(&sum->field, sum->z[at + i], x[i]);
		}
	}
	return SL_OK;
}

/* Fill in what the coordinates are divided by. */
static int sum_weigh(struct sum *sum, const struct sl_encoding *encoding, struct sl_error *error)
{
	sum->mean = (struct sl_verify_mean){
		.scale = 1, .weight = encoding->kind == SL_ENCODING_PAPER ? 1 : sum->z[sum->n]};
	for (uint32_t d = 0; d < encoding->decimals; d++)
		sum->mean.scale *= 10;
	return sum->mean.weight > 0 ? SL_OK
				    : sl_err_set(error, SL_ERR_INVALID,
						 "the encodings have no mean: the total weight is 0");
}

static int add_learner(struct sum *sum, const struct sl_verify *v, uint32_t learner, struct sl_error *error)
{
	struct encoding_dump r;
	int rc = encoding_dump_open(&r, v, learner, error);
	if (rc != SL_OK)
		return rc;
	if (sum->z == NULL)
		rc = sum_begin(sum, &r, error);
	if (rc == SL_OK && (r.p != sum->field.p || r.elements != sum->n + 1))
		rc = sl_err_set(error, SL_ERR_FORMAT,
				"%s: another p or another size than the other learners'", r.path);
	if (rc == SL_OK)
		rc = sum_add(sum, &r, error);
	fclose(r.file);
	return rc;
}

/* Compare `count` elements from `first` on. */
static int compare_elements(const struct sum *sum, const char *path, enum sl_dtype dtype,
			    const uint8_t *elements, size_t first, size_t count, struct sl_error *error)
{
	size_t bytes = dtype == SL_FLOAT32 ? 4 : 8;
	for (size_t i = 0; i < count; i++, elements += bytes) {
		int64_t coordinate = sl_field_centred(&sum->field, sum->z[first + i]);
		if (!sl_verify_mean_holds(&sum->mean, dtype, coordinate, elements))
			return sl_err_set(error, SL_ERR_INVALID,
					  "%s: parameter %zu is %.*g, the exact mean is %.*g", path,
					  first + i, dtype == SL_FLOAT32 ? 9 : 17,
					  sl_verify_mean_value(dtype, elements), dtype == SL_FLOAT32 ? 9 : 17,
					  sl_verify_mean_about(&sum->mean, dtype, coordinate));
	}
	return SL_OK;
}

static int compare_tensor(const struct sum *sum, const char *path, FILE *file,
			  const struct sl_tensor_place *place, size_t first, struct sl_error *error)
{
	uint8_t read[CHUNK * 8];
	int rc = SL_OK;
	for (uint64_t at = 0; rc == SL_OK && at < place->bytes;) {
		size_t bytes = place->bytes - at < sizeof read ? (size_t)(place->bytes - at) : sizeof read;
		size_t count = bytes / (place->dtype == SL_FLOAT32 ? 4 : 8);
		if (fread(read, 1, bytes, file) != bytes)
			return sl_err_set(error, SL_ERR_IO, "%s: ends early", path);
		rc = compare_elements(sum, path, place->dtype, read, first, count, error);
		first += count;
		at += bytes;
	}
	return rc;
}

static int compare_model(const struct sum *sum, const char *path, const struct sl_tensor_file *tensors,
			 struct sl_error *error)
{
	size_t first = 0;
	int rc = SL_OK;
	for (size_t i = 0; rc == SL_OK && i < tensors->count; i++) {
		const struct sl_tensor_place *place = &tensors->places[i];
		rc = compare_tensor(sum, path, tensors->file, place, first, error);
		first += place->bytes / (place->dtype == SL_FLOAT32 ? 4 : 8);
	}
	return rc;
}

static int check_model(const struct sum *sum, const struct sl_verify *v, uint32_t learner,
		       struct sl_error *error)
{
	char path[PATH_MAX];
	struct sl_tensor_file tensors;
	round_path(v, learner, "round", "safetensors", path);
	int rc = sl_checkpoint_check_open(path, &tensors, error);
	if (rc != SL_OK)
		return rc;
	if (tensors.n != sum->n)
		rc = sl_err_set(error, SL_ERR_INVALID, "%s: %zu parameters, the learners encoded %zu", path,
				tensors.n, sum->n);
	else
		rc = compare_model(sum, path, &tensors, error);
	sl_checkpoint_check_close(&tensors);
	return rc;
}

/* Whole files: nothing in a checkpoint may differ between learners. */
static int check_same(const struct sl_verify *v, uint32_t first, uint32_t learner, struct sl_error *error)
{
	char path[PATH_MAX], other[PATH_MAX];
	round_path(v, first, "round", "safetensors", path);
	round_path(v, learner, "round", "safetensors", other);
	FILE *a = fopen(path, "re"), *b = fopen(other, "re");
	int x = EOF, y = EOF;
	while (a != NULL && b != NULL && (x = getc_unlocked(a)) == (y = getc_unlocked(b)) && x != EOF)
		;
	bool same = x == y && a != NULL && b != NULL && !ferror(a) && !ferror(b);
	if (a != NULL)
		fclose(a);
	if (b != NULL)
		fclose(b);
	return same ? SL_OK : sl_err_set(error, SL_ERR_INVALID, "%s: not the same bytes as %s", other, path);
}

static bool has_model(const struct sl_verify *v, uint32_t learner)
{
	char path[PATH_MAX];
	round_path(v, learner, "round", "safetensors", path);
	return access(path, F_OK) == 0;
}

static int check_checkpoints(const struct sum *sum, const struct sl_verify *v, struct sl_error *error)
{
	uint32_t first = UINT32_MAX;
	int rc = SL_OK;
	for (uint32_t i = 0; rc == SL_OK && i < v->folder->learners; i++) {
		if (!sl_bit(v->who, i) || (sl_bit(v->passed, i) && !has_model(v, i)))
			continue;
		rc = check_model(sum, v, i, error);
		if (rc == SL_OK && first != UINT32_MAX)
			rc = check_same(v, first, i, error);
		if (first == UINT32_MAX)
			first = i;
	}
	if (rc == SL_OK && first == UINT32_MAX)
		rc = sl_err_set(error, SL_ERR_NOTFOUND, "no learner has the model of round %u", v->round);
	return rc;
}

static void delete_encoding_dumps(const struct sl_verify *v)
{
	char path[PATH_MAX];
	for (uint32_t i = 0; i < v->folder->learners; i++) {
		round_path(v, i, "encoding", "u64", path);
		unlink(path);
	}
}

int sl_verify_round(const struct sl_verify *verify, struct sl_error *error)
{
	struct sum sum = {0};
	int rc = SL_OK;
	for (uint32_t i = 0; rc == SL_OK && i < verify->folder->learners; i++)
		if (sl_bit(verify->who, i))
			rc = add_learner(&sum, verify, i, error);
	if (rc == SL_OK && sum.z == NULL)
		rc = sl_err_set(error, SL_ERR_INVALID, "no learner has committed");
	if (rc == SL_OK)
		rc = sum_weigh(&sum, &verify->encoding, error);
	if (rc == SL_OK)
		rc = check_checkpoints(&sum, verify, error);
	if (rc == SL_OK)
		delete_encoding_dumps(verify);
	free(sum.z);
	return rc;
}
