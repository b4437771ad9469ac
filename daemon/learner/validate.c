#include "daemon/learner/validate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/model/disk_error.h"
#include "daemon/net/listen.h"
#include "daemon/observe/monitor.h"
#include "daemon/runtime/unix_socket.h"

/* Check that this process can make entries in the first `n` bytes of `path`, a folder; n 0: the current one.
 */
static int check_folder(const char *setting, const char *path, size_t n, struct sl_error *error)
{
	char folder[SL_PATH_BYTES];
	struct stat status;
	snprintf(folder, sizeof folder, "%.*s", n > 0 ? (int)n : 1, n > 0 ? path : ".");
	if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
		return sl_err_set(error, SL_ERR_IO, "%s: %s is not a folder", setting, folder);
	if (access(folder, W_OK | X_OK) < 0)
		return sl_err_set(error, SL_ERR_IO, "%s: cannot write to the folder %s: %s; %s", setting,
				  folder, strerror(errno), sl_disk_error_advice(errno));
	return SL_OK;
}

/* Return the length of the folder's part of `path`, with its slash; 0: it has none. */
static size_t parent_of(const char *path)
{
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	return n;
}

/* Check the folder of `path`, unless that is the state folder, which the start makes. */
static int check_parent(const struct sl_settings *s, const char *setting, const char *path,
			struct sl_error *error)
{
	size_t n = parent_of(path);
	bool in_state = n == strlen(s->state) + 1 && strncmp(path, s->state, n - 1) == 0;
	return in_state ? SL_OK : check_folder(setting, path, n, error);
}

/* Check the working folder of the command; the state folder may still be made. */
static int check_command(const struct sl_settings *s, struct sl_error *error)
{
	struct stat status;
	if (s->trainer != SL_TRAINER_EXEC || s->command_folder[0] == '\0')
		return SL_OK;
	if (stat(s->command_folder, &status) == 0 && !S_ISDIR(status.st_mode))
		errno = ENOTDIR;
	else if (access(s->command_folder, X_OK) == 0)
		return SL_OK;
	return sl_err_set(error, SL_ERR_INVALID, "command_folder: %s: %s", s->command_folder,
			  strerror(errno));
}

static int check_log(const struct sl_settings *s, struct sl_error *error)
{
	struct stat status;
	if (strcmp(s->log, "-") == 0)
		return SL_OK;
	if (stat(s->log, &status) != 0)
		return check_parent(s, "log", s->log, error);
	bool folder = S_ISDIR(status.st_mode);
	if (!folder && access(s->log, W_OK) == 0)
		return SL_OK;
	return sl_err_set(error, SL_ERR_IO, "log: %s: %s", s->log, strerror(folder ? EISDIR : errno));
}

static int check_socket(const struct sl_settings *s, const char *setting, const char *path,
			struct sl_error *error)
{
	int rc = sl_unix_socket_check(path, setting, error);
	return rc == SL_OK ? check_parent(s, setting, path, error) : rc;
}

static int check_folders(const struct sl_settings *s, struct sl_error *error)
{
	bool exists = access(s->state, F_OK) == 0;
	int rc = check_folder("state", s->state, exists ? strlen(s->state) : parent_of(s->state), error);
	if (rc == SL_OK)
		rc = check_socket(s, "control", s->control, error);
	if (rc == SL_OK && sl_settings_has_application(s))
		rc = check_socket(s, "application", s->application, error);
	return rc == SL_OK ? check_log(s, error) : rc;
}

int sl_validate(const struct sl_settings *s, const struct sl_roster *roster, uint32_t self,
		struct sl_error *error)
{
	char address[SL_ADDRESS_BYTES];
	uint32_t quorum;
	int rc = sl_settings_quorum(s, roster->size, &quorum, error);
	if (rc == SL_OK)
		rc = sl_settings_size(s, roster->size, error);
	if (rc == SL_OK)
		rc = check_folders(s, error);
	if (rc == SL_OK)
		rc = check_command(s, error);
	if (rc == SL_OK)
		rc = sl_monitor_check(s, error);
	sl_listen_choose(s->listen, roster->members[self].address, s->discover != SL_DISCOVER_NONE, address);
	return rc == SL_OK ? sl_listen_check(address, error) : rc;
}
