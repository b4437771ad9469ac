#include "test/lib/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

int folder_setup(void **state)
{
	const char *base = getenv("TMPDIR");
	char path[1024];
	snprintf(path, sizeof path, "%s/starling-train-XXXXXX", base != NULL ? base : P_tmpdir);
	*state = mkdtemp(path) != NULL ? strdup(path) : NULL;
	return *state == NULL;
}

static size_t each_entry(const char *folder, bool remove_it)
{
	size_t count = 0;
	DIR *entries = opendir(folder);
	const struct dirent *entry;
	assert_non_null(entries);
	while ((entry = readdir(entries)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		count++;
		char path[2048];
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		if (remove_it && remove(path) != 0) { /* a folder that is not empty */
			each_entry(path, true);
			remove(path);
		}
	}
	closedir(entries);
	return count;
}

size_t folder_count(const char *folder)
{
	return each_entry(folder, false);
}

int folder_teardown(void **state)
{
	each_entry(*state, true);
	int rc = rmdir(*state);
	free(*state);
	return rc;
}

const char *folder_path(const char *folder, const char *name)
{
	static char paths[4][2048];
	static unsigned turn;
	char *path = paths[turn++ % 4];
	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

void folder_put(const char *folder, const char *name, const void *bytes, size_t size)
{
	size_t length = strlen(name);
	bool packed = length > 3 && strcmp(name + length - 3, ".gz") == 0;
	gzFile file = gzopen(folder_path(folder, name), packed ? "wb" : "wbT"); /* T: as it is */
	assert_non_null(file);
	assert_int_equal(gzwrite(file, bytes, (unsigned)size), (int)size);
	assert_int_equal(gzclose(file), Z_OK);
}

uint8_t *folder_get(const char *folder, const char *name, size_t *size)
{
	FILE *file = fopen(folder_path(folder, name), "rb");
	struct stat status;
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &status), 0);
	*size = (size_t)status.st_size;
	uint8_t *bytes = malloc(*size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

static void put_word(uint8_t *bytes, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(word >> (24 - 8 * i));
}

uint8_t *idx_images(uint32_t count, size_t *size)
{
	*size = 16 + (size_t)count * SL_PIXELS;
	uint8_t *bytes = malloc(*size);
	assert_non_null(bytes);
	put_word(bytes, 0x803);
	put_word(bytes + 4, count);
	put_word(bytes + 8, 28);
	put_word(bytes + 12, 28);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *image = bytes + 16 + (size_t)i * SL_PIXELS;
		memset(image, (int)(i % 251), SL_PIXELS);
		put_word(image, i);
	}
	return bytes;
}

uint8_t *idx_labels(const uint8_t *labels, uint32_t count, size_t *size)
{
	*size = 8 + (size_t)count;
	uint8_t *bytes = malloc(*size);
	assert_non_null(bytes);
	put_word(bytes, 0x801);
	put_word(bytes + 4, count);
	memcpy(bytes + 8, labels, count);
	return bytes;
}

uint32_t idx_number(const struct sl_images *images, uint32_t index)
{
	assert_true(index < images->count);
	const uint8_t *b = images->pixels + (size_t)index * SL_PIXELS;
	for (size_t i = 4; i < SL_PIXELS; i++)
		assert_int_equal(b[i], b[4]);
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

const char *mnist_folder(void)
{
	return SL_SOURCE_ROOT "/test/data/mnist";
}
