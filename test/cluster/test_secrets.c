/* A learner's secret key stands in its key.pem and nowhere else: not in a log, a checkpoint, a message or an
 * output. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ctype.h>
#include <ftw.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include "test/cluster/cluster.h"
#include "test/lib/test.h"

#define LEARNERS 3
#define SEED_BYTES 32
#define HALF 16 /* half of a key is found too */
#define NEEDLES_MAX 512
#define NEEDLE_BYTES 128

/* What is looked for: each half of each key, as bytes and in every way of writing them down. */
struct needle {
	uint32_t learner;
	const char *as;
	size_t size;
	char bytes[NEEDLE_BYTES];
};
static struct needle needles[NEEDLES_MAX];
static size_t needle_count;

static void seek(uint32_t learner, const char *as, const void *bytes, size_t size)
{
	assert_true(needle_count < NEEDLES_MAX && size >= HALF && size <= NEEDLE_BYTES);
	struct needle *needle = &needles[needle_count++];
	*needle = (struct needle){.learner = learner, .as = as, .size = size};
	memcpy(needle->bytes, bytes, size);
}

static void seek_numbers(uint32_t learner, const char *as, const uint8_t half[HALF], bool hex,
			 const char *between)
{
	char text[NEEDLE_BYTES];
	size_t used = 0;
	for (size_t i = 0; i < HALF; i++) {
		const char *comma = i == 0 ? "" : between;
		int n = hex ? snprintf(text + used, sizeof text - used, "%s%02x", comma, half[i])
			    : snprintf(text + used, sizeof text - used, "%s%u", comma, half[i]);
		used += (size_t)n;
	}
	seek(learner, as, text, used);
	for (size_t i = 0; i < used; i++)
		text[i] = (char)toupper((unsigned char)text[i]);
	if (hex)
		seek(learner, "HEX", text, used);
}

/* The bytes may begin at any of three places in a group of base64: only the characters that they fill alone
 * count. */
static void seek_base64(uint32_t learner, const uint8_t half[HALF])
{
	for (size_t before = 0; before < 3; before++) {
		uint8_t bytes[HALF + 2] = {0};
		char text[NEEDLE_BYTES], url[NEEDLE_BYTES];
		memcpy(bytes + before, half, HALF);
		EVP_EncodeBlock((unsigned char *)text, bytes, (int)(HALF + before));
		size_t first = (before * 8 + 5) / 6, last = (HALF + before) * 8 / 6;
		for (size_t i = 0; i < last; i++)
			url[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
		seek(learner, "base64", text + first, last - first);
		seek(learner, "base64url", url + first, last - first);
	}
}

static void seek_half(uint32_t learner, const uint8_t half[HALF])
{
	seek(learner, "bytes", half, HALF);
	seek_numbers(learner, "hex", half, true, "");
	seek_numbers(learner, "hex, spaced", half, true, " ");
	seek_numbers(learner, "hex, with colons", half, true, ":");
	seek_numbers(learner, "decimal", half, false, " ");
	seek_numbers(learner, "decimal, listed", half, false, ", ");
	seek_base64(learner, half);
}

static void seek_keys(const struct cluster *c)
{
	needle_count = 0;
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		char path[512];
		uint8_t seed[SEED_BYTES];
		size_t size = sizeof seed;
		cluster_path(c, LEARNERS, i, "identity/key.pem", path, sizeof path);
		FILE *file = fopen(path, "re");
		assert_non_null(file);
		EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
		fclose(file);
		assert_int_equal(EVP_PKEY_get_raw_private_key(key, seed, &size), 1);
		assert_int_equal(size, SEED_BYTES);
		EVP_PKEY_free(key);
		seek_half(i, seed);
		seek_half(i, seed + HALF);
	}
}

static uint32_t found, searched;

static bool stands_in(const struct needle *needle, const char *bytes, size_t size)
{
	return memmem(bytes, size, needle->bytes, needle->size) != NULL;
}

static void search(const char *where, const char *bytes, size_t size)
{
	searched++;
	for (size_t k = 0; k < needle_count; k++) {
		if (!stands_in(&needles[k], bytes, size))
			continue;
		print_message("%s: the key of learner %u as %s\n", where, needles[k].learner, needles[k].as);
		found++;
	}
}

static char *read_whole(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	char *bytes = malloc(*size + 1);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

static void search_file(const char *path)
{
	size_t size;
	char *bytes = read_whole(path, &size);
	search(path, bytes, size);
	free(bytes);
}

static bool is_key(const char *path)
{
	static const char name[] = "/identity/key.pem";
	size_t length = strlen(path);
	return length >= sizeof name && strcmp(path + length - (sizeof name - 1), name) == 0;
}

static int visit(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)walk;
	if (kind == FTW_F && S_ISREG(st->st_mode) && !is_key(path))
		search_file(path);
	return 0;
}

static void search_folder(const struct cluster *c)
{
	found = searched = 0;
	assert_int_equal(nftw(c->folder, visit, 16, FTW_PHYS), 0);
}

static void expect_mode(const struct cluster *c, const char *file, unsigned mode)
{
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		char path[512];
		struct stat st;
		cluster_path(c, LEARNERS, i, file, path, sizeof path);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, mode);
	}
}

TEST(keys_are_nowhere_else)
{
	struct cluster c;
	cluster_launch(&c, 60, "-n 3 --rounds 2 --set hidden=1");
	cluster_expect_exact(&c, 2, false);
	seek_keys(&c);
	search_folder(&c);
	search("standard output", c.outcome.out, strlen(c.outcome.out));
	search("standard error", c.outcome.err, strlen(c.outcome.err));
	assert_int_equal(found, 0);
	assert_true(searched >= 2 + LEARNERS * 5); /* log, config, certificate, two checkpoints */
	expect_mode(&c, "identity/key.pem", 0600);
	expect_mode(&c, "identity", 0700);
	expect_mode(&c, "state", 0700);
	cluster_close(&c);
}

TEST(nor_while_it_runs)
{
	struct cluster c;
	char launch[256], log[512];
	process_folder(c.folder, sizeof c.folder);
	snprintf(c.run, sizeof c.run, "%s/run", c.folder);
	snprintf(launch, sizeof launch, "%s/launch.txt", c.folder);
	const char *argv[] = {process_starling(),
			      "launch",
			      "-n",
			      "3",
			      "--rounds",
			      "1000",
			      "--run-dir",
			      c.run,
			      "--set",
			      "hidden=1",
			      "--set",
			      "log_level=debug",
			      NULL};
	pid_t pid = process_start(NULL, launch, argv);
	cluster_path(&c, LEARNERS, 1, "log.jsonl", log, sizeof log);
	assert_true(process_expect(log, "\"event\":\"committed\"", 60));
	expect_mode(&c, "control.sock", 0600);
	expect_mode(&c, "state", 0700);
	expect_mode(&c, "identity/key.pem", 0600);
	kill(pid, SIGINT);
	assert_int_equal(process_wait(pid, 30), 130);
	seek_keys(&c);
	search_folder(&c);
	assert_int_equal(found, 0);
	process_remove(c.folder);
}

/* The search is no pretence: where a key is, it is found, both halves of it. */
TEST(what_is_there_is_found)
{
	struct cluster c;
	char path[512];
	cluster_launch(&c, 60, "-n 3 --rounds 1 --set hidden=1");
	seek_keys(&c);
	for (uint32_t i = 1; i <= LEARNERS; i++) {
		size_t size, halves = 0;
		cluster_path(&c, LEARNERS, i, "identity/key.pem", path, sizeof path);
		char *bytes = read_whole(path, &size);
		for (size_t k = 0; k < needle_count; k++)
			halves += strcmp(needles[k].as, "base64") == 0 && stands_in(&needles[k], bytes, size);
		assert_int_equal(halves, 2);
		free(bytes);
	}
	cluster_close(&c);
}
