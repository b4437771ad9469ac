/* A disk that is full: the learner stops and says so, loses nothing that is committed, and goes on when there
 * is room.
 *
 * Its state folder is a small file system of its own, in a mount namespace of this program: skipped where
 * that is not permitted.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "test/chaos/group.h"
#include "test/lib/test.h"

#define LEARNERS 4u
#define DISK_BYTES "4194304"

/* A namespace in which this program may mount; as another user than root, one in which it is root. */
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

static bool mount_disk(const struct group *g, char *path, size_t size)
{
	group_path(g, 2, "state", path, size);
	return mount("starling-test", path, "tmpfs", MS_NOSUID | MS_NODEV, "size=" DISK_BYTES ",mode=0700") ==
	       0;
}

/* All but so many bytes are taken. */
static void fill(const char *disk, size_t leave)
{
	char path[4200];
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
	char path[4200];
	snprintf(path, sizeof path, "%s/filler", disk);
	assert_int_equal(unlink(path), 0);
}

/* With so much room left a round may still be done: then the next one is not. */
static void full_and_freed(struct group *g, const char *disk, size_t leave)
{
	int status = 0, said = group_count(g, 2, "\"event\":\"fatal\"");
	double end = process_now() + 60;
	fill(disk, leave);
	while (!group_ended(g, 2, &status) && process_now() < end)
		process_look_again();
	assert_int_equal(status, 1);
	int fatal = group_count(g, 2, "\"event\":\"fatal\"") - said;
	print_message("%zu bytes left: ended with status %d, %d fatal\n", leave, status, fatal);
	assert_int_equal(fatal, 1);
	group_start(g, 2, NULL); /* without room: it gets no further, and loses nothing by it */
	end = process_now() + 60;
	while (!group_ended(g, 2, &status) && process_now() < end)
		process_look_again();
	assert_int_not_equal(status, 0);
	free_room(disk);
	int committed = group_count(g, 2, "\"event\":\"committed\"");
	group_start(g, 2, NULL);
	end = process_now() + 60;
	while (group_count(g, 2, "\"event\":\"committed\"") < committed + 2 && process_now() < end)
		process_look_again();
	assert_true(group_count(g, 2, "\"event\":\"committed\"") >= committed + 2);
}

TEST(a_full_disk_loses_nothing)
{
	struct group g;
	char disk[4096];
	static const size_t leave[] = {0, 20480, 65536};
	group_open(&g, LEARNERS, (const char *const[]){"rounds=10000", "k=20", "epochs=10", NULL});
	if (!enter() || !mount_disk(&g, disk, sizeof disk)) {
		group_close(&g);
		print_message("no file system may be mounted here: %s\n", strerror(errno));
		skip();
	}
	group_start_all(&g);
	group_expect(&g, 2, "round 1 committed", 60);
	for (size_t i = 0; i < sizeof leave / sizeof *leave; i++)
		full_and_freed(&g, disk, leave[i]);
	for (uint32_t i = 1; i <= LEARNERS; i++)
		group_signal(&g, i, SIGTERM);
	group_finish(&g, 30);
	group_expect_exact(&g, group_committed(&g));
	umount2(disk, MNT_DETACH);
	group_close(&g);
}
