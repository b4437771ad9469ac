#include "tools/lib/checkpoint_check.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/bytes.h"

int sl_checkpoint_map_open(const char *path, struct sl_checkpoint_map *map, struct sl_error *error)
{
	struct stat st;
	void *bytes = NULL;
	*map = (struct sl_checkpoint_map){NULL, 0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd < 0 || bytes == MAP_FAILED)
		sl_err_set(error, fd < 0 && errno == ENOENT ? SL_ERR_NOTFOUND : SL_ERR_IO, "%s: %s", path,
			   strerror(errno));
	else if (bytes != NULL)
		*map = (struct sl_checkpoint_map){bytes, (size_t)st.st_size};
	if (fd >= 0)
		close(fd);
	return fd < 0 || bytes == MAP_FAILED ? error->code : SL_OK;
}

void sl_checkpoint_map_close(struct sl_checkpoint_map *map)
{
	if (map->bytes != NULL)
		munmap((void *)map->bytes, map->size);
	*map = (struct sl_checkpoint_map){NULL, 0};
}

/* Return the header; *bytes receives its length. */
static json_t *read_header(const struct sl_checkpoint_map *map, uint64_t *bytes)
{
	if (map->size < 8)
		return NULL;
	sl_bytes_unpack(bytes, map->bytes, 1, 64);
	return *bytes <= map->size - 8
		       ? json_loadb((const char *)map->bytes + 8, *bytes, JSON_REJECT_DUPLICATES, NULL)
		       : NULL;
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
static bool fill_file(struct sl_tensor_file *tensors, uint64_t data_bytes)
{
	uint64_t end = 0;
	qsort(tensors->places, tensors->count, sizeof *tensors->places, compare);
	tensors->n = 0;
	for (size_t i = 0; i < tensors->count; i++) {
		struct sl_tensor_place *place = &tensors->places[i];
		if (place->begin != end)
			return false;
		place->first = tensors->n;
		tensors->n += place->bytes / (place->dtype == SL_FLOAT32 ? 4 : 8);
		end += place->bytes;
	}
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
	uint64_t bytes = 0;
	*tensors = (struct sl_tensor_file){.n = 0};
	if (sl_checkpoint_map_open(path, &tensors->map, error) != SL_OK)
		return error->code = SL_ERR_IO;
	json_t *header = read_header(&tensors->map, &bytes);
	bool good = header != NULL && take_header(header, tensors->map.size - 8 - bytes, tensors);
	json_decref(header);
	tensors->data = tensors->map.bytes + 8 + bytes;
	if (good)
		return SL_OK;
	sl_checkpoint_check_close(tensors);
	return sl_err_set(error, SL_ERR_FORMAT,
			  "%s: not a checkpoint: its header and its tensors do not agree", path);
}

void sl_checkpoint_check_close(struct sl_tensor_file *tensors)
{
	sl_checkpoint_map_close(&tensors->map);
	free(tensors->places);
	*tensors = (struct sl_tensor_file){.n = 0};
}
