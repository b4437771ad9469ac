/* Samples of the learners' threads (/proc/PID/task/TID/stat and schedstat) and of the links' counters, by a
 * process that wakes up every few milliseconds. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/dev/bench/hosts.h"

#define INTERVAL_NS 5000000L
#define LOOK_EACH 40u /* samples; learners started since the last look are found then */
#define SAMPLES_MOST 200000u

struct sl_hosts_samples {
	atomic_size_t count;
	struct sl_hosts_sample samples[SAMPLES_MOST];
};

/* Read a small file of /proc as text; "" if it is not there. */
static void read_small(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
}

/* A learner's process, and what all of its threads have had so far, ns. */
struct watched {
	int pid; /* 0: none */
	double ran, delayed;
};

/* Take up learners that have been started; one that has ended stays, and has no threads. */
static void find_learners(struct watched learners[static SL_HOSTS_MOST])
{
	uint32_t count = 0;
	DIR *folder = opendir("/proc");
	for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
		char path[64], name[32];
		if (!isdigit((unsigned char)entry->d_name[0]) || count == SL_HOSTS_MOST)
			continue;
		snprintf(path, sizeof path, "/proc/%.16s/comm", entry->d_name);
		read_small(path, name, sizeof name);
		if (strcmp(name, SL_HOSTS_PROGRAM "\n") != 0)
			continue;
		int pid = atoi(entry->d_name);
		if (learners[count].pid != pid)
			learners[count] = (struct watched){.pid = pid, .ran = -1};
		count++;
	}
	if (folder != NULL)
		closedir(folder);
}

/* Return the times of all threads of a process, and set *disk if one waits for the disk. */
static struct watched look_at_threads(int pid, bool *disk)
{
	struct watched now = {.pid = pid};
	char path[64], text[512];
	snprintf(path, sizeof path, "/proc/%d/task", pid);
	DIR *folder = opendir(path);
	for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
		unsigned long long ran, delayed;
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof path, "/proc/%d/task/%.16s/stat", pid, entry->d_name);
		read_small(path, text, sizeof text);
		const char *name_end = strrchr(text, ')');
		*disk |= name_end != NULL && strncmp(name_end, ") D", 3) == 0;
		snprintf(path, sizeof path, "/proc/%d/task/%.16s/schedstat", pid, entry->d_name);
		read_small(path, text, sizeof text);
		if (sscanf(text, "%llu %llu", &ran, &delayed) != 2)
			continue;
		now.ran += (double)ran;
		now.delayed += (double)delayed;
	}
	if (folder != NULL)
		closedir(folder);
	return now;
}

/* Take up how busy a learner was in the last `passed` seconds, if no other was busier. */
static void look_at_learner(struct watched *learner, double passed, struct sl_hosts_sample *sample)
{
	struct watched before = *learner;
	*learner = look_at_threads(before.pid, &sample->disk);
	double ran = 1e-9 * (learner->ran - before.ran) / passed,
	       delayed = 1e-9 * (learner->delayed - before.delayed) / passed, all = ran + delayed;
	if (before.ran < 0 || ran < 0 || delayed < 0) /* new, or a thread has ended */
		return;
	if (all > 1) {
		ran /= all;
		delayed /= all;
	}
	if (ran + delayed > sample->ran + sample->delayed) {
		sample->ran = ran;
		sample->delayed = delayed;
	}
}

static void look_at_links(const struct sl_hosts_net *net, uint64_t received[static SL_HOSTS_MOST],
			  const struct sl_hosts_sample *before, struct sl_hosts_sample *sample)
{
	double rate = net->what->mbit * 1e6 / 8, passed = sample->at_s - before->at_s;
	for (uint32_t i = 0; i < net->what->hosts; i++) {
		uint64_t now;
		sl_hosts_net_bytes(net, i, &sample->sent[i], &now);
		double out = (double)(sample->sent[i] - before->sent[i]) / passed / rate,
		       in = (double)(now - received[i]) / passed / rate;
		sample->busy = sample->busy > out ? sample->busy : out;
		sample->busy = sample->busy > in ? sample->busy : in;
		received[i] = now;
	}
}

/* Does not return. */
static void watch(const struct sl_hosts_net *net, struct sl_hosts_samples *shared)
{
	struct watched learners[SL_HOSTS_MOST] = {0};
	uint64_t received[SL_HOSTS_MOST] = {0};
	struct sl_hosts_sample before = {.at_s = 0};
	struct timespec interval = {.tv_nsec = INTERVAL_NS}, now;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sl_hosts_net_at_once();
	for (size_t i = 0; i < SAMPLES_MOST; i++) {
		struct sl_hosts_sample sample = {.busy = 0};
		if (i % LOOK_EACH == 0)
			find_learners(learners);
		clock_gettime(CLOCK_MONOTONIC, &now);
		sample.at_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
		for (uint32_t k = 0; k < SL_HOSTS_MOST && learners[k].pid != 0; k++)
			look_at_learner(&learners[k], sample.at_s - before.at_s, &sample);
		look_at_links(net, received, &before, &sample);
		shared->samples[i] = before = sample;
		atomic_store(&shared->count, i + 1);
		nanosleep(&interval, NULL);
	}
	_exit(0);
}

int sl_hosts_watch_start(struct sl_hosts_watch *w, const struct sl_hosts_net *net, struct sl_error *error)
{
	*w = (struct sl_hosts_watch){.pid = 0};
	w->shared = mmap(NULL, sizeof *w->shared, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->shared == MAP_FAILED) {
		w->shared = NULL;
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	}
	w->pid = fork();
	if (w->pid == 0)
		watch(net, w->shared);
	return w->pid > 0 ? SL_OK : sl_err_set(error, SL_ERR_IO, "cannot fork: %s", strerror(errno));
}

const struct sl_hosts_sample *sl_hosts_watch_stop(struct sl_hosts_watch *w, size_t *count)
{
	if (w->pid > 0) {
		kill(w->pid, SIGKILL);
		while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	w->pid = 0;
	*count = atomic_load(&w->shared->count);
	return w->shared->samples;
}

void sl_hosts_watch_close(struct sl_hosts_watch *w)
{
	size_t count;
	if (w->shared == NULL)
		return;
	sl_hosts_watch_stop(w, &count);
	munmap(w->shared, sizeof *w->shared);
	w->shared = NULL;
}
