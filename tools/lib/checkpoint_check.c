#include "tools/lib/checkpoint_check.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/bytes.h"

#define HEADER_BYTES_MAX (1u << 20)

static json_t *read_header(FILE *file, uint64_t *bytes)
{
	uint8_t length[8];
	if (fread(length, sizeof length, 1, file) != 1)
		return NULL;
	sl_bytes_unpack(bytes, length, 1, 8);
	char *text = *bytes <= HEADER_BYTES_MAX ? malloc(*bytes + 1) : NULL;
	json_t *header = NULL;
	if (text != NULL && fread(text, 1, *bytes, file) == *bytes)
		header = json_loadb(text, *bytes, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	return header;
}

/* n, if the header speaks of one float vector that begins right after it and ends with the file. */
static bool take_header(const json_t *header, uint64_t header_bytes, uint64_t file_bytes, size_t *n)
{
	const char *type;
	json_int_t from, to, elements;
	if (json_unpack((json_t *)header, "{s:{s:s, s:[I!], s:[I, I!]}}", "model", "dtype", &type, "shape",
			&elements, "data_offsets", &from, &to) != 0)
		return false;
	if (strcmp(type, "F32") != 0 || elements < 1 || elements > (json_int_t)SL_ELEMENTS_MAX)
		return false;
	*n = (size_t)elements;
	return from == 0 && to == 4 * elements && file_bytes == 8 + header_bytes + (uint64_t)to;
}

int sl_checkpoint_check_open(const char *path, struct sl_tensor_file *tensor, struct sl_error *error)
{
	struct stat st;
	uint64_t header_bytes = 0;
	tensor->file = fopen(path, "re");
	if (tensor->file == NULL || fstat(fileno(tensor->file), &st) != 0) {
		int reason = errno;
		if (tensor->file != NULL)
			fclose(tensor->file);
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(reason));
	}
	json_t *header = read_header(tensor->file, &header_bytes);
	bool good = header != NULL && take_header(header, header_bytes, (uint64_t)st.st_size, &tensor->n);
	json_decref(header);
	if (good)
		return SL_OK;
	fclose(tensor->file);
	return sl_err_set(error, SL_ERR_FORMAT,
			  "%s: not a checkpoint: no whole vector \"model\" of floats in it", path);
}
