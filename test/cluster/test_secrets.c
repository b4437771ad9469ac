/* A learner's secret key stands in its key.pem and nowhere else: not in a log, a checkpoint, a message or an
 * output. */
#include <ctype.h>
#include <ftw.h>
#include <linux/capability.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "test/lib/cluster.h"

#define LEARNERS 3u
#define HALF 16 /* bytes: half of a key is found too */
#define NEEDLES_MAX 128
#define NEEDLE_BYTES 128

/* What is looked for: each half of each key, as bytes and in every usual way of writing them down. */
static struct needle {
	size_t size;
	char bytes[NEEDLE_BYTES];
} needles[NEEDLES_MAX];
static size_t needle_count;

static void seek(const void *bytes, size_t size)
{
	assert_true(needle_count < NEEDLES_MAX && size >= HALF && size <= NEEDLE_BYTES);
	needles[needle_count].size = size;
	memcpy(needles[needle_count++].bytes, bytes, size);
}

static void seek_numbers(const uint8_t half[HALF], bool hex, const char *between)
{
	char text[NEEDLE_BYTES];
	size_t used = 0;
	for (size_t i = 0; i < HALF; i++) {
		const char *comma = i == 0 ? "" : between;
		int n = hex ? snprintf(text + used, sizeof text - used, "%s%02x", comma, half[i])
			    : snprintf(text + used, sizeof text - used, "%s%u", comma, half[i]);
		used += (size_t)n;
	}
	seek(text, used);
	for (size_t i = 0; i < used; i++)
		text[i] = (char)toupper((unsigned char)text[i]);
	if (hex)
		seek(text, used);
}

/* The bytes may begin at any of three places in a group of base64: only the characters that they fill alone
 * count. */
static void seek_base64(const uint8_t half[HALF])
{
	for (size_t before = 0; before < 3; before++) {
		uint8_t bytes[HALF + 2] = {0};
		char text[NEEDLE_BYTES];
		memcpy(bytes + before, half, HALF);
		EVP_EncodeBlock((unsigned char *)text, bytes, (int)(HALF + before));
		size_t first = (before * 8 + 5) / 6, last = (HALF + before) * 8 / 6;
		seek(text + first, last - first);
	}
}

static void seek_keys(const struct cluster *c)
{
	needle_count = 0;
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		uint8_t key[2 * HALF];
		size_t size = sizeof key;
		FILE *file = fopen(cluster_path(c, i, "identity/key.pem"), "re");
		assert_non_null(file);
		EVP_PKEY *pkey = PEM_read_PrivateKey(file, NULL, NULL, NULL);
		fclose(file);
		assert_int_equal(EVP_PKEY_get_raw_private_key(pkey, key, &size), 1);
		EVP_PKEY_free(pkey);
		for (const uint8_t *half = key; half < key + sizeof key; half += HALF) {
			seek(half, HALF);
			seek_numbers(half, true, "");
			seek_numbers(half, true, " ");
			seek_numbers(half, true, ":");
			seek_numbers(half, false, " ");
			seek_numbers(half, false, ", ");
			seek_base64(half);
		}
	}
}

static uint32_t in_key_files, elsewhere, searched;

static int search(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	bool key_file = strcmp(path + walk->base, "key.pem") == 0;
	if (kind != FTW_F || !S_ISREG(st->st_mode))
		return 0;
	size_t size = (size_t)st->st_size;
	char *bytes = malloc(size + 1);
	FILE *file = fopen(path, "re");
	assert_true(bytes != NULL && file != NULL);
	size = fread(bytes, 1, size, file);
	fclose(file);
	searched++;
	for (size_t k = 0; k < needle_count; k++) {
		if (memmem(bytes, size, needles[k].bytes, needles[k].size) == NULL)
			continue;
		if (!key_file)
			print_message("%s: needle %zu\n", path, k);
		*(key_file ? &in_key_files : &elsewhere) += 1;
	}
	free(bytes);
	return 0;
}

static void expect_mode(const struct cluster *c, const char *file, unsigned mode)
{
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		struct stat st;
		assert_int_equal(stat(cluster_path(c, i, file), &st), 0);
		assert_int_equal(st.st_mode & 07777, mode);
	}
}

CLUSTER_TEST(keys_are_nowhere_else)
{
	cluster_launch_start(c, "-n 3 --rounds 1000 --set hidden_units=1 --set log_level=debug");
	cluster_expect(c, 1, "round 2 committed");
	expect_mode(c, "control.sock", 0600);
	expect_mode(c, "identity/key.pem", 0600);
	expect_mode(c, "identity", 0700);
	expect_mode(c, "state", 0700);
	kill(c->launcher, SIGINT);
	cluster_launch_wait(c);
	expect_outcome(c, 130, "", "interrupted");
	assert_false(process_alive(c->folder));
	seek_keys(c);
	assert_int_equal(nftw(c->folder, search, 16, FTW_PHYS), 0);
	assert_int_equal(in_key_files,
			 2 * LEARNERS); /* both halves of each: the search finds what is there */
	assert_int_equal(elsewhere, 0);
	assert_true(searched >= 2 + LEARNERS * 5); /* output; log, config, certificate, two checkpoints */
}

/* A learner that may lock no memory says so. */
CLUSTER_TEST(memory_that_cannot_be_locked)
{
	struct rlimit limit, none = {0, 0};
#ifdef __SANITIZE_ADDRESS__
	skip(); /* its mlock does nothing, and says that it has */
#endif
	cluster_open(c, 3, "rounds=1");
	cluster_start(c, 1, "");
	cluster_expect(c, 1, "\"event\":\"listening\"");
	assert_int_equal(cluster_count(c, 1, "\"event\":\"not_locked\""), 0);
	prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0); /* of root; for the programs that it starts */
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
	none.rlim_max = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	cluster_start(c, 2, "");
	cluster_start(c, 3, "");
	cluster_expect(c, 2, "keys and models cannot be locked in memory");
	cluster_finish(c);
	assert_int_equal(cluster_count(c, 2, "\"event\":\"not_locked\""), 1);
	setrlimit(RLIMIT_MEMLOCK, &limit);
}
