#include "test/store/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/lib/folder.h"

#define FILES_MAX 8u

struct change {
	struct change *next;
	bool cut; /* to `offset` bytes */
	sqlite3_int64 offset;
	size_t size;
	uint8_t bytes[];
};

/* A file as it is there to stay, and what was done to it since. */
struct kept {
	char path[1024];
	bool exists, gone; /* gone: removed, but not to stay */
	uint8_t *bytes;
	size_t size, room;
	struct change *first, **end;
};

struct file {
	sqlite3_file base;
	struct kept *kept;
	sqlite3_file *real; /* behind this struct */
};

static sqlite3_vfs *real, disk;
static struct kept kept[FILES_MAX];
static unsigned kept_count, changes, synchronisations, cut_at, fail_at;
static bool failed;
static uint64_t draw_state;

static uint64_t draw(void)
{
	draw_state = draw_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return draw_state >> 33;
}

/* --- what is there to stay --- */

static void apply(struct kept *k, const struct change *c, size_t size)
{
	size_t end = (size_t)c->offset + size;
	if (c->cut ? (size_t)c->offset != k->size : end > k->size) {
		size_t grown = c->cut ? (size_t)c->offset : end;
		if (grown >= k->room) {
			k->room = 2 * grown + 1;
			k->bytes = realloc(k->bytes, k->room);
		}
		assert_non_null(k->bytes);
		if (grown > k->size)
			memset(k->bytes + k->size, 0, grown - k->size);
		k->size = grown;
	}
	if (size > 0)
		memcpy(k->bytes + c->offset, c->bytes, size);
}

static void settle(struct kept *k, enum disk_loss loss)
{
	while (k->first != NULL) {
		struct change *c = k->first;
		bool whole = loss == DISK_ALL || (loss == DISK_SOME && draw() % 2 == 0);
		if (whole)
			apply(k, c, c->size);
		else if (loss == DISK_SOME && !c->cut && draw() % 2 == 0)
			apply(k, c, c->size > 512 ? 512 * (draw() % (c->size / 512)) : 0);
		k->first = c->next;
		free(c);
	}
	k->end = &k->first;
}

static void add(struct kept *k, bool cut, sqlite3_int64 offset, const void *bytes, size_t size)
{
	struct change *c = calloc(1, sizeof *c + size);
	assert_non_null(c);
	c->cut = cut;
	c->offset = offset;
	c->size = size;
	if (size > 0)
		memcpy(c->bytes, bytes, size);
	*k->end = c;
	k->end = &c->next;
}

static struct kept *kept_of(const char *path)
{
	for (unsigned i = 0; i < kept_count; i++)
		if (strcmp(kept[i].path, path) == 0)
			return &kept[i];
	return NULL;
}

/* Keep the contents that `path` had before the test began. */
static struct kept *keep(const char *path)
{
	struct stat status;
	struct kept *k = kept_of(path);
	if (k != NULL)
		return k;
	assert_true(kept_count < FILES_MAX);
	k = &kept[kept_count++];
	*k = (struct kept){.exists = stat(path, &status) == 0};
	k->end = &k->first;
	snprintf(k->path, sizeof k->path, "%s", path);
	if (k->exists) {
		FILE *file = fopen(path, "rb");
		assert_non_null(file);
		k->size = (size_t)status.st_size;
		k->room = k->size + 1;
		k->bytes = malloc(k->room);
		assert_non_null(k->bytes);
		assert_int_equal(fread(k->bytes, 1, k->size, file), k->size);
		fclose(file);
	}
	return k;
}

/* --- its failures --- */

/* Counts a change: SQLITE_OK, or why it does not come about. */
static int change(int why)
{
	changes++;
	bool fails = changes == fail_at || (cut_at != 0 && changes >= cut_at);
	failed = failed || fails;
	if (fails)
		errno = 0; /* SQLite asks for it */
	return fails ? why : SQLITE_OK;
}

/* --- SQLite's way to it --- */

#define REAL(f) (((struct file *)(f))->real)
#define KEPT(f) (((struct file *)(f))->kept)

static int file_close(sqlite3_file *f)
{
	return REAL(f)->pMethods != NULL ? REAL(f)->pMethods->xClose(REAL(f)) : SQLITE_OK;
}

static int file_read(sqlite3_file *f, void *bytes, int size, sqlite3_int64 offset)
{
	return REAL(f)->pMethods->xRead(REAL(f), bytes, size, offset);
}

static int file_write(sqlite3_file *f, const void *bytes, int size, sqlite3_int64 offset)
{
	int code = change(SQLITE_FULL);
	if (code != SQLITE_OK)
		return code;
	add(KEPT(f), false, offset, bytes, (size_t)size);
	return REAL(f)->pMethods->xWrite(REAL(f), bytes, size, offset);
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	int code = change(SQLITE_IOERR_TRUNCATE);
	if (code != SQLITE_OK)
		return code;
	add(KEPT(f), true, size, NULL, 0);
	return REAL(f)->pMethods->xTruncate(REAL(f), size);
}

static int file_sync(sqlite3_file *f, int flags)
{
	(void)flags;
	int code = change(SQLITE_IOERR_FSYNC);
	if (code != SQLITE_OK)
		return code;
	synchronisations++;
	settle(KEPT(f), DISK_ALL);
	KEPT(f)->exists = true;
	return SQLITE_OK;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
	return REAL(f)->pMethods->xFileSize(REAL(f), size);
}

static int file_lock(sqlite3_file *f, int level)
{
	return REAL(f)->pMethods->xLock(REAL(f), level);
}

static int file_unlock(sqlite3_file *f, int level)
{
	return REAL(f)->pMethods->xUnlock(REAL(f), level);
}

static int file_reserved(sqlite3_file *f, int *held)
{
	return REAL(f)->pMethods->xCheckReservedLock(REAL(f), held);
}

static int file_control(sqlite3_file *f, int what, void *argument)
{
	return what == SQLITE_FCNTL_VFSNAME ? SQLITE_NOTFOUND
					    : REAL(f)->pMethods->xFileControl(REAL(f), what, argument);
}

static int file_sector(sqlite3_file *f)
{
	(void)f;
	return 512;
}

/* The least that a disk promises. */
static int file_promises(sqlite3_file *f)
{
	(void)f;
	return 0;
}

static const sqlite3_io_methods methods = {.iVersion = 1,
					   .xClose = file_close,
					   .xRead = file_read,
					   .xWrite = file_write,
					   .xTruncate = file_truncate,
					   .xSync = file_sync,
					   .xFileSize = file_size,
					   .xLock = file_lock,
					   .xUnlock = file_unlock,
					   .xCheckReservedLock = file_reserved,
					   .xFileControl = file_control,
					   .xSectorSize = file_sector,
					   .xDeviceCharacteristics = file_promises};

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *out)
{
	(void)vfs;
	struct file *file = (struct file *)f;
	file->real = (sqlite3_file *)(file + 1);
	file->kept = keep(path);
	int code = real->xOpen(real, path, file->real, flags, out);
	file->base.pMethods = code == SQLITE_OK ? &methods : NULL;
	return code;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
	(void)vfs;
	struct kept *k = keep(path);
	int code = change(SQLITE_IOERR_DELETE);
	if (code != SQLITE_OK)
		return code;
	settle(k, DISK_NOTHING);
	k->gone = true;
	if (sync) {
		synchronisations++;
		k->exists = false;
	}
	return real->xDelete(real, path, 0);
}

/* --- the test's --- */

void disk_on(uint64_t seed)
{
	real = sqlite3_vfs_find(NULL);
	disk = *real;
	disk.zName = "disk";
	disk.szOsFile = (int)sizeof(struct file) + real->szOsFile;
	disk.xOpen = disk_open;
	disk.xDelete = disk_delete;
	assert_int_equal(sqlite3_vfs_register(&disk, 1), SQLITE_OK);
	kept_count = changes = synchronisations = cut_at = fail_at = 0;
	failed = false;
	draw_state = seed;
}

void disk_off(void)
{
	sqlite3_vfs_unregister(&disk);
	sqlite3_vfs_register(real, 1);
}

void disk_cut_at(unsigned at)
{
	cut_at = at;
}

void disk_fail_at(unsigned at)
{
	fail_at = at;
}

bool disk_failed(void)
{
	return failed;
}

unsigned disk_changes(void)
{
	return changes;
}

unsigned disk_synchronisations(void)
{
	return synchronisations;
}

static void put_back(struct kept *k, enum disk_loss loss)
{
	bool name = k->exists || (loss != DISK_NOTHING && !k->gone);
	settle(k, loss);
	if (loss == DISK_ALL && k->gone)
		name = false;
	remove(k->path);
	if (name) {
		int fd = open(k->path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, k->bytes, k->size), (ssize_t)k->size);
		close(fd);
	}
	free(k->bytes);
}

void disk_restart(enum disk_loss loss)
{
	for (unsigned i = 0; i < kept_count; i++)
		put_back(&kept[i], loss);
	kept_count = 0;
}
