#include "daemon/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/settings.h"

static int take_lock(struct sl_state_folder *state, const char *folder, struct sl_error *error)
{
	char path[SL_PATH_BYTES + 16];
	snprintf(path, sizeof path, "%s/lock", folder);
	state->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (state->lock < 0)
		return sl_fail(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	if (flock(state->lock, LOCK_EX | LOCK_NB) == 0)
		return SL_OK;
	sl_state_close(state);
	return sl_fail(error, SL_ERR_BUSY, "%s: another starlingd is running on this state folder; end it first", path);
}

static int read_count(const char *path, uint32_t *count, struct sl_error *error)
{
	char text[32] = "", *end = text;
	*count = 0;
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return errno == ENOENT ? SL_OK : sl_fail(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	bool read = fgets(text, sizeof text, file) != NULL;
	fclose(file);
	unsigned long value = strtoul(text, &end, 10);
	if (!read || end == text || (*end != '\n' && *end != '\0') || value >= UINT32_MAX)
		return sl_fail(error, SL_ERR_FORMAT, "%s: line 1: not a count of starts", path);
	*count = (uint32_t)value;
	return SL_OK;
}

static int write_whole(const char *path, uint32_t count)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	bool good = dprintf(fd, "%u\n", count) > 0 && fsync(fd) == 0;
	return close(fd) == 0 && good ? 0 : -1;
}

static int sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	int rc = fsync(fd);
	close(fd);
	return rc;
}

/* +1, on disk before the caller signs anything with it. */
static int count_start(struct sl_state_folder *state, const char *folder, struct sl_error *error)
{
	char path[SL_PATH_BYTES + 16], temporary[SL_PATH_BYTES + 24];
	snprintf(path, sizeof path, "%s/incarnation", folder);
	snprintf(temporary, sizeof temporary, "%s.tmp", path);
	int rc = read_count(path, &state->incarnation, error);
	if (rc != SL_OK)
		return rc;
	state->incarnation++;
	if (write_whole(temporary, state->incarnation) < 0 || rename(temporary, path) < 0 || sync_folder(folder) < 0) {
		unlink(temporary);
		return sl_fail(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	}
	return SL_OK;
}

int sl_state_open(struct sl_state_folder *state, const char *folder, struct sl_error *error)
{
	state->lock = -1;
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return sl_fail(error, SL_ERR_IO, "%s: %s", folder, strerror(errno));
	int rc = take_lock(state, folder, error);
	if (rc == SL_OK)
		rc = count_start(state, folder, error);
	return rc;
}

void sl_state_close(struct sl_state_folder *state)
{
	if (state->lock >= 0)
		close(state->lock);
	state->lock = -1;
}
