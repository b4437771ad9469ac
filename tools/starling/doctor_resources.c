/* `starling doctor`: what the learner needs of this machine: an address, a disk, limits. */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/net/listen.h"
#include "daemon/runtime/vector_memory.h"
#include "tools/lib/control_query.h"
#include "tools/starling/doctor.h"
#include "tools/starling/try_listen.h"

#define SYNC_BYTES (64u << 10)
#define SYNC_SLOW_MS 100.0		 /* a round synchronises five times */
#define FILES_OWN 64u			 /* descriptors besides those of links */
#define MEMORY_LEAST (UINT64_C(8) << 20) /* secrets of a small model */

static const char *listen_remedy(int why)
{
	return why == EADDRINUSE      ? "another program has the port ('ss -ltnp' shows which): end it, or "
					"choose another port"
	       : why == EADDRNOTAVAIL ? "set 'listen' to an address of this machine, such as 0.0.0.0:PORT"
	       : why == EACCES	      ? "choose a port of 1024 or more"
				      : "set 'listen' to an address of this machine";
}

static void check_listen(struct sl_doctor *d)
{
	char address[SL_ADDRESS_BYTES];
	if (d->self < 0)
		return;
	bool all = sl_listen_choose(d->settings.listen, d->group.roster.members[d->self].address,
				    d->settings.discover != SL_DISCOVER_NONE, address);
	int why = sl_try_listen(address, d->status != NULL);
	if (why < 0) {
		sl_doctor_add(d, SL_DOCTOR_FAIL, "address", "correct the name, or set 'listen'", "%s: %s",
			      address, gai_strerror(why));
		return;
	}
	if (why != 0)
		sl_doctor_add(d, SL_DOCTOR_FAIL, "address", listen_remedy(why), "%s: %s", address,
			      strerror(why));
	else
		sl_doctor_add(d, SL_DOCTOR_OK, "address", NULL, "%s%s, %s", address,
			      all ? ", all addresses, as that of the roster is not one of this machine" : "",
			      d->status != NULL ? "held by the running learner" : "free");
}

/* Write and synchronise one file in `folder`. Return the milliseconds of the fsync; below 0: see errno. */
static double time_sync(const char *folder)
{
	static const char bytes[SYNC_BYTES];
	char path[PATH_MAX + 16];
	struct timespec begin, end;
	snprintf(path, sizeof path, "%s/.doctor-XXXXXX", folder);
	int fd = mkstemp(path);
	if (fd < 0)
		return -1;
	unlink(path);
	ssize_t written = write(fd, bytes, sizeof bytes);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	int rc = fsync(fd), why = written == (ssize_t)sizeof bytes ? errno : ENOSPC;
	clock_gettime(CLOCK_MONOTONIC, &end);
	close(fd);
	errno = why;
	return rc != 0 || written != (ssize_t)sizeof bytes
		       ? -1
		       : (double)(end.tv_sec - begin.tv_sec) * 1e3 +
				 (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
}

static void check_disk(struct sl_doctor *d)
{
	char folder[PATH_MAX];
	snprintf(folder, sizeof folder, "%s", d->settings.state);
	char *slash = strrchr(folder, '/');
	if (access(folder, F_OK) != 0 && slash != NULL && slash != folder)
		*slash = '\0'; /* the learner makes it */
	double ms = time_sync(folder);
	if (ms < 0)
		sl_doctor_add(d, SL_DOCTOR_FAIL, "disk",
			      errno == ENOSPC || errno == EDQUOT
				      ? "free some space"
				      : "give the folder to the user of the learner, and run this command as "
					"that user",
			      "%s: %s", folder, strerror(errno));
	else if (ms > SYNC_SLOW_MS)
		sl_doctor_add(d, SL_DOCTOR_WARN, "disk",
			      "a round synchronises five times: put 'state' on a faster disk",
			      "%s: %.1f ms to synchronise 64 KiB", folder, ms);
	else
		sl_doctor_add(d, SL_DOCTOR_OK, "disk", NULL, "%s: %.1f ms to synchronise 64 KiB", folder, ms);
}

/* Read a limit of the running learner, or else of this process. */
static bool read_limit(const struct sl_doctor *d, int which, struct rlimit *limit)
{
	pid_t pid = d->status != NULL ? (pid_t)sl_control_query_number(d->status, "pid") : 0;
	if (pid > 0 && prlimit(pid, (__rlimit_resource_t)which, NULL, limit) == 0)
		return true;
	prlimit(0, (__rlimit_resource_t)which, NULL, limit);
	return false;
}

static void check_files(struct sl_doctor *d)
{
	struct rlimit limit;
	bool its = read_limit(d, RLIMIT_NOFILE, &limit);
	rlim_t need = d->group.roster.size + FILES_OWN;
	const char *whose = its ? "of the learner" : "of this shell";
	if (limit.rlim_max == RLIM_INFINITY)
		sl_doctor_add(d, SL_DOCTOR_OK, "open files", NULL, "unlimited (%s)", whose);
	else if (limit.rlim_max >= need)
		sl_doctor_add(d, SL_DOCTOR_OK, "open files", NULL, "up to %ju (%s), up to %ju needed",
			      (uintmax_t)limit.rlim_max, whose, (uintmax_t)need);
	else
		sl_doctor_add(d, SL_DOCTOR_FAIL, "open files",
			      "raise it: ulimit -Hn, or LimitNOFILE= of the unit",
			      "up to %ju (%s), %ju needed for a link to each learner",
			      (uintmax_t)limit.rlim_max, whose, (uintmax_t)need);
}

/* Return about how much memory holds secrets: twice the size of the model, for the trained model and the
 * masked state. Several exchanges take more. */
static uint64_t secret_bytes(const struct sl_doctor *d)
{
	struct stat st;
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/checkpoints/latest.safetensors", d->settings.state);
	uint64_t bytes = stat(path, &st) == 0 && !sl_vector_memory_paged((size_t)st.st_size)
				 ? 2 * (uint64_t)st.st_size
				 : 0;
	return bytes > MEMORY_LEAST ? bytes : MEMORY_LEAST;
}

static void check_memory(struct sl_doctor *d)
{
	struct rlimit limit;
	bool its = read_limit(d, RLIMIT_MEMLOCK, &limit);
	double need = (double)secret_bytes(d) / (1 << 20), has = (double)limit.rlim_cur / (1 << 20);
	const char *whose = its ? "of the learner" : "of this shell";
	if (limit.rlim_cur == RLIM_INFINITY)
		sl_doctor_add(d, SL_DOCTOR_OK, "locked memory", NULL, "unlimited (%s)", whose);
	else if (has >= need)
		sl_doctor_add(d, SL_DOCTOR_OK, "locked memory", NULL, "%.1f MiB (%s), about %.1f MiB needed",
			      has, whose, need);
	else
		sl_doctor_add(d, SL_DOCTOR_WARN, "locked memory",
			      "secrets could be swapped to disk: ulimit -l unlimited, or "
			      "LimitMEMLOCK=infinity in the unit",
			      "%.1f MiB (%s), about %.1f MiB needed", has, whose, need);
}

void sl_doctor_resources(struct sl_doctor *d)
{
	check_listen(d);
	check_disk(d);
	check_files(d);
	check_memory(d);
}
