/* A full disk: the learner stops with an error, loses nothing that is committed, and continues when there is
 * room.
 *
 * Its state folder is a small file system, in a mount namespace of this program: skipped where that is not
 * permitted.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "test/lib/cluster.h"

#define LEARNERS 4u
#define DISK_BYTES "4194304"

/* Enter a namespace in which this program may mount. A user who is not root becomes root in it. */
static bool enter(void)
{
	uid_t uid = getuid();
	char map[64];
	if (unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0)
		return false;
	int fd = uid == 0 ? -1 : open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		int n = snprintf(map, sizeof map, "0 %u 1\n", (unsigned)uid);
		bool mapped = write(fd, map, (size_t)n) == n;
		close(fd);
		if (!mapped)
			return false;
	}
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* Leave so many bytes. */
static void fill(const char *disk, size_t leave)
{
	char path[PATH_MAX];
	struct statvfs st;
	snprintf(path, sizeof path, "%s/filler", disk);
	assert_int_equal(statvfs(disk, &st), 0);
	size_t room = st.f_bavail * st.f_frsize;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	if (room > leave)
		assert_int_equal(posix_fallocate(fd, 0, (off_t)(room - leave)), 0);
	close(fd);
}

static void free_room(const char *disk)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/filler", disk);
	assert_int_equal(unlink(path), 0);
}

static int expect_end(struct cluster *c)
{
	int status = cluster_wait(c, 2);
	assert_int_not_equal(status, 0);
	return status;
}

/* With so much room left a round may still be done: then the next one is not. */
static void full_and_freed(struct cluster *c, const char *disk, size_t leave)
{
	int fatal = cluster_count(c, 2, "\"event\":\"fatal\"");
	fill(disk, leave);
	assert_int_equal(expect_end(c), 1);
	assert_int_equal(cluster_count(c, 2, "\"event\":\"fatal\""), fatal + 1);
	cluster_start(c, 2, ""); /* without room it gets no further, and loses nothing by it */
	expect_end(c);
	free_room(disk);
	cluster_start(c, 2, "");
	cluster_expect_commits(c, CLUSTER_BIT(2), 2);
}

CLUSTER_TEST(a_full_disk_loses_nothing)
{
	static const size_t leave[] = {0, 20480, 65536};
	cluster_open(c, LEARNERS, "rounds=10000 mixing=metropolis iterations=20 epochs=10");
	const char *disk = cluster_path(c, 2, "state");
	if (!enter() || mount("starling-test", disk, "tmpfs", MS_NOSUID | MS_NODEV,
			      "size=" DISK_BYTES ",mode=0700") != 0) {
		print_message("no file system may be mounted here: %s\n", strerror(errno));
		process_remove(c->folder);
		skip();
	}
	cluster_start_all(c, "");
	cluster_expect(c, 2, "round 1 committed");
	for (size_t i = 0; i < sizeof leave / sizeof *leave; i++)
		full_and_freed(c, cluster_path(c, 2, "state"), leave[i]);
	cluster_stop(c);
	assert_true(cluster_expect_exact(c) > 0);
	umount2(cluster_path(c, 2, "state"), MNT_DETACH);
}

/* Its mapped file of masked states is cut short by hand while the learner runs. */
CLUSTER_TEST(a_file_cut_short_is_said)
{
	int status = 0;
	double end = process_now() + PATIENCE_S;
	cluster_open(c, LEARNERS, "rounds=100000");
	cluster_start_all(c, "");
	cluster_expect(c, 2, "round 1 committed");
	while (!process_ended(c->pids[1], &status) && process_now() < end) {
		cluster_shell(c, "truncate -c -s 0 learner-02/state/attempt.states");
		process_look_again();
	}
	c->pids[1] = 0;
	assert_int_equal(status, 128 + SIGBUS);
	cluster_expect(c, 2, "was cut short while it was in use, or its disk has failed");
	cluster_start(c, 2, ""); /* and it goes on */
	cluster_expect_commits(c, CLUSTER_BIT(2), 2);
	cluster_stop(c);
	assert_true(cluster_expect_exact(c) > 0);
}
