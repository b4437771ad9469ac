#include "daemon/runtime/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define TRIES 3 /* a parent may end while it is looked at; its children then have another one */

void sl_descendants_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Return the parent of a process, 0 if the process is gone or a zombie. */
static pid_t parent_of(pid_t pid)
{
	char path[32], text[512], state;
	int parent;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	const char *name_end = strrchr(text, ')'); /* the name may have any characters */
	if (name_end == NULL || sscanf(name_end + 1, " %c %d", &state, &parent) != 2)
		return 0;
	return state == 'Z' || state == 'X' ? 0 : parent;
}

bool sl_descendants_has(pid_t pid, pid_t except)
{
	pid_t self = getpid(), at = pid;
	for (int tries = 0; tries < TRIES && pid > 0; tries++) {
		for (at = pid; at > 1 && at != self && at != except;)
			at = parent_of(at);
		if (at != 0)
			break;
	}
	return at == self && pid != self;
}

size_t sl_descendants_signal(pid_t except, int signal, size_t *others)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	size_t count = 0, denied = 0;
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10); /* 0: no process */
		if (pid <= 0 || !sl_descendants_has(pid, except))
			continue;
		bool may = kill(pid, signal) == 0;
		count += may;
		denied += !may && errno == EPERM;
	}
	if (others != NULL)
		*others = denied;
	if (folder != NULL)
		closedir(folder);
	return count;
}
