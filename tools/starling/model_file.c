#include "tools/starling/model_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/model/safetensors.h"

/* The functions that return a text return the flaw that they found, or NULL. */

static const char *read_tensor(const char *name, json_t *entry, const char *data, size_t size,
			       struct sl_model_tensor *t)
{
	const char *type;
	json_t *shape, *side;
	json_int_t from, to;
	size_t d;
	if (strlen(name) >= sizeof t->tensor.name ||
	    json_unpack(entry, "{s:s, s:o, s:[I, I!]}", "dtype", &type, "shape", &shape, "data_offsets",
			&from, &to) != 0 ||
	    !sl_tensors_dtype_parse_file(type, &t->tensor.dtype) ||
	    json_array_size(shape) > SL_TENSOR_DIMENSIONS_MAX)
		return "the header is not that of a checkpoint";
	strcpy(t->tensor.name, name);
	uint64_t elements = 1;
	json_array_foreach(shape, d, side)
	{
		t->tensor.shape[t->tensor.dimensions++] = (uint64_t)json_integer_value(side);
		if (json_integer_value(side) < 0 ||
		    __builtin_mul_overflow(elements, (uint64_t)json_integer_value(side), &elements))
			return "a shape is not that of a tensor";
	}
	if (from < 0 || to < from || (uint64_t)to > size || elements > SL_ELEMENTS_MAX ||
	    (uint64_t)(to - from) != elements * sl_tensors_dtype_bytes(t->tensor.dtype))
		return "shape and data_offsets do not agree";
	t->bytes = data + from;
	t->size = (size_t)(to - from);
	return NULL;
}

static const char *read_metadata(struct sl_model_file *f, json_t *metadata, const char *data, size_t size)
{
	const char *run, *round, *learners, *checksum;
	uint8_t stated[SL_HASH_BYTES], computed[SL_HASH_BYTES];
	uint64_t t, n;
	if (json_unpack(metadata, "{s:s, s:s, s:s, s:s}", "run", &run, "round", &round, "learners", &learners,
			"checksum", &checksum) != 0 ||
	    strlen(run) >= sizeof f->run || !sl_safetensors_metadata_number(round, SL_ROUNDS_MAX, &t) ||
	    !sl_safetensors_metadata_number(learners, SL_LEARNERS_MAX, &n) ||
	    !sl_safetensors_metadata_bytes(checksum, stated, sizeof stated))
		return "the metadata are not those of a checkpoint";
	crypto_generichash(computed, sizeof computed, (const uint8_t *)data, size, NULL, 0);
	if (memcmp(stated, computed, sizeof stated) != 0)
		return "damaged: the model does not match its checksum";
	strcpy(f->run, run);
	f->round = (sl_round)t;
	f->learners = (uint32_t)n;
	return NULL;
}

static int compare(const void *left, const void *right)
{
	const struct sl_model_tensor *a = left, *b = right;
	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static const char *read_header(struct sl_model_file *f, json_t *header, uint64_t begin)
{
	const char *name, *wrong = NULL, *data = f->memory + begin;
	size_t size = f->size - begin, sum = 0;
	json_t *entry;
	f->tensors = calloc(json_object_size(header) + 1, sizeof *f->tensors);
	if (f->tensors == NULL)
		return "out of memory";
	json_object_foreach(header, name, entry)
	{
		if (wrong != NULL || strcmp(name, "__metadata__") == 0)
			continue;
		wrong = read_tensor(name, entry, data, size, &f->tensors[f->count]);
		sum += f->tensors[f->count++].size;
	}
	if (wrong == NULL && (sum != size || f->count == 0))
		wrong = "the size of the file does not match its header";
	qsort(f->tensors, f->count, sizeof *f->tensors, compare);
	return wrong != NULL ? wrong : read_metadata(f, json_object_get(header, "__metadata__"), data, size);
}

/* Map the file and read it. */
static const char *read_file(struct sl_model_file *f, int fd)
{
	struct stat status;
	json_t *header = NULL;
	uint64_t begin;
	const char *wrong = sl_safetensors_header(fd, &header, &begin);
	if (wrong == NULL && (fstat(fd, &status) < 0 || (uint64_t)status.st_size <= begin))
		wrong = "the size of the file does not match its header";
	if (wrong == NULL) {
		f->size = (size_t)status.st_size;
		f->memory = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
		wrong = f->memory == MAP_FAILED ? "it cannot be mapped" : read_header(f, header, begin);
	}
	json_decref(header);
	return wrong;
}

int sl_model_file_open(struct sl_model_file *file, const char *path, struct sl_error *error)
{
	*file = (struct sl_model_file){.path = path, .memory = MAP_FAILED};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	const char *wrong = read_file(file, fd);
	close(fd);
	if (wrong == NULL)
		return SL_OK;
	sl_model_file_close(file);
	return sl_err_set(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
}

void sl_model_file_close(struct sl_model_file *file)
{
	if (file->memory != MAP_FAILED)
		munmap(file->memory, file->size);
	free(file->tensors);
	*file = (struct sl_model_file){.memory = MAP_FAILED};
}
