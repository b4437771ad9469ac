#include "tools/lib/checkpoint_check.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/bytes.h"

#define HEADER_BYTES_MAX (128u << 20)

static json_t *read_header(FILE *file, uint64_t *bytes)
{
	uint8_t length[8];
	if (fread(length, sizeof length, 1, file) != 1)
		return NULL;
	sl_bytes_unpack(bytes, length, 1, 64);
	char *text = *bytes <= HEADER_BYTES_MAX ? malloc(*bytes + 1) : NULL;
	json_t *header = NULL;
	if (text != NULL && fread(text, 1, *bytes, file) == *bytes)
		header = json_loadb(text, *bytes, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	return header;
}

/* Fill in the place of a tensor, and add its elements to *n. */
static bool take_tensor(const json_t *entry, struct sl_tensor_place *place, uint64_t *n)
{
	const char *type;
	json_t *shape, *side;
	json_int_t from, to, elements = 1;
	size_t d;
	if (json_unpack((json_t *)entry, "{s:s, s:o, s:[I, I!]}", "dtype", &type, "shape", &shape,
			"data_offsets", &from, &to) != 0 ||
	    !sl_tensors_dtype_parse_file(type, &place->dtype))
		return false;
	json_array_foreach(shape, d, side)
	{
		if (json_integer_value(side) < 0 ||
		    __builtin_mul_overflow(elements, json_integer_value(side), &elements) ||
		    elements > (json_int_t)SL_ELEMENTS_MAX)
			return false;
	}
	place->begin = (uint64_t)from;
	place->bytes = (uint64_t)elements * (place->dtype == SL_FLOAT32 ? 4 : 8);
	*n += (uint64_t)elements;
	return from >= 0 && to >= from && (uint64_t)(to - from) == place->bytes;
}

static int compare(const void *left, const void *right)
{
	const struct sl_tensor_place *a = left, *b = right;
	return a->begin != b->begin ? (a->begin > b->begin) - (a->begin < b->begin)
				    : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Return true if the tensors lie one after the other, and the file ends after them. */
static bool fill_file(const struct sl_tensor_file *tensors, uint64_t data_bytes)
{
	uint64_t end = 0;
	qsort(tensors->places, tensors->count, sizeof *tensors->places, compare);
	for (size_t i = 0; i < tensors->count; end += tensors->places[i++].bytes)
		if (tensors->places[i].begin != end)
			return false;
	return end > 0 && end == data_bytes;
}

/* Return the set of the names in `list`. */
static json_t *set_of(const json_t *list)
{
	size_t i;
	json_t *entry, *names = json_object();
	json_array_foreach(list, i, entry) if (json_is_string(entry))
		json_object_set_new(names, json_string_value(entry), json_true());
	return names;
}

static bool take_tensors(json_t *header, const json_t *nonnegative, struct sl_tensor_file *tensors)
{
	const char *name;
	json_t *entry;
	uint64_t n = 0;
	json_object_foreach(header, name, entry)
	{
		struct sl_tensor_place *place = &tensors->places[tensors->count];
		if (strcmp(name, "__metadata__") == 0)
			continue;
		tensors->count++;
		place->nonnegative = json_object_get(nonnegative, name) != NULL;
		place->metric = strncmp(name, "metric:", 7) == 0;
		if (!take_tensor(entry, place, &n) || n > SL_ELEMENTS_MAX)
			return false;
	}
	tensors->n = (size_t)n;
	return true;
}

/* Take the exponents, which are in the order of the data. */
static bool take_ranges(const char *text, struct sl_tensor_file *tensors)
{
	json_t *list = text == NULL ? NULL : json_loads(text, 0, NULL);
	tensors->ranged = list != NULL;
	for (size_t i = 0; i < tensors->count && tensors->ranged; i++)
		tensors->places[i].range = (int)json_integer_value(json_array_get(list, i));
	bool good = text == NULL || json_array_size(list) == tensors->count;
	json_decref(list);
	return good;
}

static bool take_header(json_t *header, uint64_t data_bytes, struct sl_tensor_file *tensors)
{
	const json_t *metadata = json_object_get(header, "__metadata__");
	const char *list = json_string_value(json_object_get(metadata, "nonnegative"));
	const char *ranges = json_string_value(json_object_get(metadata, "ranges"));
	json_t *listed = list != NULL ? json_loads(list, 0, NULL) : NULL, *nonnegative = set_of(listed);
	tensors->places = calloc(json_object_size(header) + 1, sizeof *tensors->places);
	bool good = tensors->places != NULL && take_tensors(header, nonnegative, tensors);
	json_decref(nonnegative);
	json_decref(listed);
	return good && fill_file(tensors, data_bytes) && take_ranges(ranges, tensors);
}

int sl_checkpoint_check_open(const char *path, struct sl_tensor_file *tensors, struct sl_error *error)
{
	struct stat st;
	uint64_t header_bytes = 0;
	*tensors = (struct sl_tensor_file){.file = fopen(path, "re")};
	if (tensors->file == NULL || fstat(fileno(tensors->file), &st) != 0) {
		int reason = errno;
		sl_checkpoint_check_close(tensors);
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(reason));
	}
	json_t *header = read_header(tensors->file, &header_bytes);
	bool good = header != NULL && take_header(header, (uint64_t)st.st_size - 8 - header_bytes, tensors);
	json_decref(header);
	if (good)
		return SL_OK;
	sl_checkpoint_check_close(tensors);
	return sl_err_set(error, SL_ERR_FORMAT,
			  "%s: not a checkpoint: its header and its tensors do not agree", path);
}

void sl_checkpoint_check_close(struct sl_tensor_file *tensors)
{
	if (tensors->file != NULL)
		fclose(tensors->file);
	free(tensors->places);
	*tensors = (struct sl_tensor_file){0};
}
