#include "common/model/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/number.h"
#include "common/model/disk_error.h"
#include "common/config/settings.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "the length of the header is written in the byte order of the machine");

/* ---- writing ---- */

struct parts {
	enum sl_safetensors_way way;
	mode_t mode; /* of the file */
	const char *json;
	const void *data;
	size_t size;
};

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

static int write_parts(int fd, const struct parts *parts)
{
	static const char spaces[8] = "        ";
	size_t length = strlen(parts->json), padding = (8 - length % 8) % 8;
	uint64_t header = length + padding;
	if (write_all(fd, &header, sizeof header) < 0 || write_all(fd, parts->json, length) < 0 ||
	    write_all(fd, spaces, padding) < 0 || write_all(fd, parts->data, parts->size) < 0)
		return -1;
	if (parts->way == SL_SAFETENSORS_OVER &&
	    ftruncate(fd, (off_t)(sizeof header + header + parts->size)) < 0)
		return -1;
	return parts->way == SL_SAFETENSORS_LATER ? 0 : fsync(fd);
}

/* Write `temporary` in the folder; after an error it does not exist. */
static int write_temporary(int folder, const char *temporary, const struct parts *parts)
{
	int fd =
		openat(folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, parts->mode);
	if (fd < 0)
		return -1;
	int rc = write_parts(fd, parts), why = errno;
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

static int write_over(int folder, const char *name, const struct parts *parts)
{
	int fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	int rc = write_parts(fd, parts), why = errno;
	close(fd);
	errno = why;
	return rc;
}

/* Write the temporary file, rename it, and synchronise the folder. */
static int write_and_name(int folder, const char *name, const struct parts *parts)
{
	char temporary[SL_FILE_NAME_BYTES + sizeof SL_TEMPORARY];
	snprintf(temporary, sizeof temporary, "%s" SL_TEMPORARY, name);
	if (write_temporary(folder, temporary, parts) < 0)
		return -1;
	if (renameat(folder, temporary, folder, name) < 0) {
		int why = errno;
		unlinkat(folder, temporary, 0);
		errno = why;
		return -1;
	}
	return parts->way == SL_SAFETENSORS_LATER ? 0 : fsync(folder);
}

int sl_safetensors_write(const char *folder, const char *name, enum sl_safetensors_way way, mode_t mode,
			 json_t *header, const void *data, size_t size, struct sl_error *error)
{
	char *json = header == NULL ? NULL : json_dumps(header, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(header);
	if (json == NULL)
		return sl_err_set(error, SL_ERR_INVALID, "%s/%s: the run's name is not UTF-8", folder, name);
	struct parts parts = {.way = way, .mode = mode, .json = json, .data = data, .size = size};
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = -1;
	if (fd >= 0)
		rc = way == SL_SAFETENSORS_OVER ? write_over(fd, name, &parts)
						: write_and_name(fd, name, &parts);
	int why = errno;
	free(json);
	if (fd >= 0)
		close(fd);
	if (rc == 0)
		return SL_OK;
	char path[SL_PATH_BYTES + SL_FILE_NAME_BYTES];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return sl_disk_error(error, path, why);
}

/* ---- reading ---- */

int sl_safetensors_read(int fd, void *bytes, size_t size)
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

const char *sl_safetensors_header(int fd, json_t **header, uint64_t *begin)
{
	uint64_t length;
	*header = NULL;
	if (sl_safetensors_read(fd, &length, sizeof length) < 0)
		return "shorter than a header";
	if (length < 2 || length > SL_SAFETENSORS_HEADER_BYTES_MAX || length % 8 != 0)
		return "the header's length is out of range";
	*begin = sizeof length + length;
	char *text = malloc(length);
	if (text == NULL)
		return "out of memory";
	const char *wrong = sl_safetensors_read(fd, text, length) < 0 ? "shorter than its header" : NULL;
	if (wrong == NULL)
		*header = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	if (wrong == NULL && *header == NULL)
		wrong = "the header is not JSON";
	free(text);
	return wrong;
}

const char *sl_safetensors_extent(int fd, uint64_t begin, uint64_t size)
{
	struct stat status;
	if (fstat(fd, &status) < 0 || (uint64_t)status.st_size != begin + size)
		return "the size of the file does not match its header";
	return NULL;
}

bool sl_safetensors_metadata_number(const char *text, uint64_t max, uint64_t *value)
{
	bool padded = text != NULL && text[0] == '0' && text[1] != '\0';
	return text != NULL && !padded && sl_number_parse(text, 0, max, value);
}

bool sl_safetensors_metadata_bytes(const char *text, uint8_t *bytes, size_t size)
{
	if (text == NULL || strlen(text) != 2 * size || strspn(text, "0123456789abcdef") != 2 * size)
		return false;
	return sodium_hex2bin(bytes, size, text, 2 * size, NULL, NULL, NULL) == 0;
}
