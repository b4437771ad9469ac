/* descendants.h - the processes that this one has started, and those that they have started, in whatever
 * process group or session. If a process between them ends, its children become those of this process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Become the parent of descendants whose parent has ended (PR_SET_CHILD_SUBREAPER). */
void sl_descendants_adopt(void);
/* Return true if `pid` is a descendant of this process, but not `except` or below it. */
bool sl_descendants_has(pid_t pid, pid_t except);
/* Send `signal` (0: none) to all such descendants. Return the number of those that run and that this process
 * may end; *others, NULL: not wanted, counts those of another user, such as children of sudo. */
size_t sl_descendants_signal(pid_t except, int signal, size_t *others);
