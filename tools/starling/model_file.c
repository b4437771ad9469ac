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
#include "common/model/tensor_header.h"

/* The functions that return a text return the flaw that they found, or NULL. */

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

/* Set f->tensors; the bytes of the first are at `begin` of the file. */
static const char *read_tensors(struct sl_model_file *f, json_t *header, uint64_t begin)
{
	struct sl_tensors tensors;
	uint64_t bytes;
	const char *at = f->memory + begin, *wrong = sl_tensor_header_read(header, &tensors, &bytes);
	if (wrong != NULL)
		return wrong;
	f->tensors = calloc(tensors.count + 1, sizeof *f->tensors);
	if (f->tensors == NULL)
		wrong = "out of memory";
	else if (bytes != f->size - begin || tensors.count == 0)
		wrong = "the size of the file does not match its header";
	for (; wrong == NULL && f->count < tensors.count; f->count++) {
		const struct sl_tensor *tensor = &tensors.items[f->count];
		size_t size = sl_tensor_elements(tensor) * sl_tensors_dtype_bytes(tensor->dtype);
		f->tensors[f->count] = (struct sl_model_tensor){*tensor, at, size};
		at += size;
	}
	f->names = (void *)tensors.items;
	return wrong;
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
		wrong = f->memory == MAP_FAILED ? "it cannot be mapped" : read_tensors(f, header, begin);
	}
	if (wrong == NULL)
		wrong = read_metadata(f, json_object_get(header, "__metadata__"), f->memory + begin,
				      f->size - begin);
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
	free(file->names);
	*file = (struct sl_model_file){.memory = MAP_FAILED};
}
