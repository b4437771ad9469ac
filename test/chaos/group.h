/* group.h - daemons that a test starts, stops and kills itself: a run folder as the launcher makes it, and no
 * launcher.
 *
 * Every learner reaches every other through a proxy, by a roster of its own; all are in range of all. They
 * reveal their encodings, so that every committed model can be compared with the exact mean of its view.
 */
#pragma once

#include <stdint.h>

#include "test/chaos/proxy.h"
#include "test/cluster/process.h"
#include "tools/lib/run_folder.h"

struct group {
	struct sl_run_folder run;
	uint32_t n;
	struct proxy *proxy;
	uint16_t ports[PROXY_LEARNERS_MAX];
	pid_t pids[PROXY_LEARNERS_MAX]; /* 0: does not run */
	const char *program, *crashing; /* of a learner; of one that is to die at a named place
					   (daemon/runtime/failpoint.h) */
	char folder[128];
};

/* n learners with these settings (KEY=VALUE, ended by NULL); none is started. */
void group_open(struct group *group, uint32_t n, const char *const *settings);
/* Ends whoever runs, and takes the folder away. */
void group_close(struct group *group);

/* Starts learner i (from 1); `crash`: its STARLING_CRASH, NULL for none. */
void group_start(struct group *group, uint32_t i, const char *crash);
void group_start_all(struct group *group);
/* A signal; after SIGKILL it is waited for. */
void group_signal(struct group *group, uint32_t i, int signal);
/* Waits until learner i has ended: its status, as process_wait. */
int group_wait(struct group *group, uint32_t i, double seconds);
/* Whether it has ended by itself; then *status is set, and it may be started again. */
bool group_ended(struct group *group, uint32_t i, int *status);
/* All end by themselves, with status 0, within so many seconds. */
void group_finish(struct group *group, double seconds);
/* The same, and whoever is killed meanwhile is started again: how many were. */
int group_tend(struct group *group, double seconds);

/* Path of a file of learner i. */
void group_path(const struct group *group, uint32_t i, const char *file, char *path, size_t size);
/* Waits until learner i has logged this; fails the test after so many seconds. */
void group_expect(const struct group *group, uint32_t i, const char *text, double seconds);
/* Times that learner i has logged this. */
int group_count(const struct group *group, uint32_t i, const char *text);
/* Waits until learner i has entered this phase in a round. */
void group_expect_phase(const struct group *group, uint32_t i, uint32_t round, const char *phase,
			double seconds);

/* Every round up to `rounds` has the exact mean of its view's revealed encodings in the checkpoint of
 * everybody, and nobody has said anything fatal. */
void group_expect_exact(const struct group *group, uint32_t rounds);
/* The last round that every learner has, by its log. */
uint32_t group_committed(const struct group *group);
