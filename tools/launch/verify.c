#include "tools/launch/verify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "tools/lib/checkpoint_check.h"

#define CHUNK 8192u /* elements read at a time: memory stays at Z and one model */

/* The sum Z of the encodings, then the model that it decodes to. */
struct sum {
	struct sl_field field;
	uint64_t *z; /* n+1 */
	float *model;
	size_t n;
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
	sum->model = calloc(sum->n, sizeof *sum->model);
	return sum->z != NULL && sum->model != NULL ? SL_OK
						    : sl_err_set(error, SL_ERR_NOMEM, "out of memory");
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

static int compare_model(const struct sum *sum, const char *path, FILE *file, struct sl_error *error)
{
	float read[CHUNK];
	for (size_t at = 0; at < sum->n; at += CHUNK) {
		size_t count = sum->n - at < CHUNK ? sum->n - at : CHUNK;
		if (fread(read, sizeof *read, count, file) != count)
			return sl_err_set(error, SL_ERR_IO, "%s: ends early", path);
		for (size_t i = 0; i < count; i++)
			if (memcmp(&read[i], &sum->model[at + i], sizeof *read) != 0)
				return sl_err_set(error, SL_ERR_INVALID,
						  "%s: parameter %zu is %.9g, the exact mean is %.9g", path,
						  at + i, (double)read[i], (double)sum->model[at + i]);
	}
	return SL_OK;
}

static int check_model(const struct sum *sum, const struct sl_verify *v, uint32_t learner,
		       struct sl_error *error)
{
	char path[PATH_MAX];
	struct sl_tensor_file tensor;
	round_path(v, learner, "round", "safetensors", path);
	int rc = sl_checkpoint_check_open(path, &tensor, error);
	if (rc != SL_OK)
		return rc;
	if (tensor.n != sum->n)
		rc = sl_err_set(error, SL_ERR_INVALID, "%s: %zu parameters, the learners encoded %zu", path,
				tensor.n, sum->n);
	else
		rc = compare_model(sum, path, tensor.file, error);
	fclose(tensor.file);
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
	if (rc == SL_OK &&
	    sl_encoding_decode(&sum.field, &verify->encoding, NULL, sum.z, sum.n, sum.model) != SL_OK)
		rc = sl_err_set(error, SL_ERR_INVALID,
				"the sum of the encodings does not decode: the total weight is 0");
	if (rc == SL_OK)
		rc = check_checkpoints(&sum, verify, error);
	if (rc == SL_OK)
		delete_encoding_dumps(verify);
	free(sum.z);
	free(sum.model);
	return rc;
}
