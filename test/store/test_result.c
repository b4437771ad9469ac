/* Results on disk: the exact bytes, what comes back, and that nothing goes before its successor is there to
 * stay. */
#include "test/lib/test.h"
#include "test/store/result_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

/* --- what the writer asks of the system, in order --- */

static char asked[256];
static int fsyncs_left; /* until one fails; below 0: none does */

int __real_fsync(int fd);
int __real_renameat(int from, const char *old, int to, const char *new);
int __real_unlinkat(int folder, const char *name, int flags);

static void note(const char *what, const char *name)
{
	size_t used = strlen(asked);
	snprintf(asked + used, sizeof asked - used, "%s%s%s;", what, name[0] != '\0' ? " " : "", name);
}

int __wrap_fsync(int fd)
{
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	note(S_ISDIR(st.st_mode) ? "fsync folder" : "fsync file", "");
	if (fsyncs_left == 0) {
		errno = EIO;
		return -1;
	}
	fsyncs_left--;
	return __real_fsync(fd);
}

int __wrap_renameat(int from, const char *old, int to, const char *new)
{
	note("name", new);
	return __real_renameat(from, old, to, new);
}

int __wrap_unlinkat(int folder, const char *name, int flags)
{
	note("remove", name);
	return __real_unlinkat(folder, name, flags);
}

static int setup(void **state)
{
	asked[0] = '\0';
	fsyncs_left = -1;
	return folder_setup(state);
}

/* --- tests --- */

static uint8_t no_matter[SL_HASH_BYTES];

static bool there(const char *folder, const char *name)
{
	return access(folder_path(folder, name), F_OK) == 0;
}

/* Encoded by protoc and hashed by another program. */
TEST_WITH(the_exact_bytes, setup, folder_teardown)
{
	static const char header[] =
		"{\"__metadata__\":{\"checksum\":\"9a9bb393d9b4fe007e7ae74a129b015c4cb7d9beed08402add3175d"
		"0fbd8c71a\",\"digests\":\"08461003180522200a0d101316191c1f2225282b2e3134373a3d404346494c"
		"4f5255585b5e6164672a200104070a0d101316191c1f2225282b2e3134373a3d404346494c4f5255585b"
		"5e32200205080b0e1114171a1d202326292c2f3235383b3e4144474a4d505356595c5f3a400b0e111417"
		"1a1d202326292c2f3235383b3e4144474a4d505356595c5f6265686b6e7174777a7d808386898c8f9295"
		"989b9ea1a4a7aaadb0b3b6b9bcbfc2c5c8 08651003180522200c0f1215181b1e2124272a2d303336393"
		"c3f4245484b4e5154575a5d606366692a200104070a0d101316191c1f2225282b2e3134373a3d4043464"
		"94c4f5255585b5e32200205080b0e1114171a1d202326292c2f3235383b3e4144474a4d505356595c5f3"
		"a400d101316191c1f2225282b2e3134373a3d404346494c4f5255585b5e6164676a6d707376797c7f828"
		"5888b8e9194979a9da0a3a6a9acafb2b5b8bbbec1c4c7ca\",\"format\":\"starling-result-8\",\"n\":\"3"
		"\",\"round\":\"0803100518ffffffff07300362200306090c0f1215181b1e2124272a2d303336393c3f424"
		"5484b4e5154575a5d606a2004070a0d101316191c1f2225282b2e3134373a3d404346494c4f5255585b5"
		"e61722833003400350036003700380039003a003b003c003d003e003f004000410042004300440045004"
		"6007a2005080b0e1114171a1d202326292c2f3235383b3e4144474a4d505356595c5f628001078a01800"
		"206090c0f1215181b1e2124272a2d303336393c3f4245484b4e5154575a5d606366696c6f7275787b7e8"
		"184878a8d909396999c9fa2a5a8abaeb1b4b7babdc0c3c6c9cccfd2d5d8dbdee1e4e7eaedf0f3f6f9fcf"
		"f0205080b0e1114171a1d202326292c2f3235383b3e4144474a4d505356595c5f6265686b6e7174777a7"
		"d808386898c8f9295989b9ea1a4a7aaadb0b3b6b9bcbfc2c5c8cbced1d4d7dadde0e3e6e9eceff2f5f8f"
		"bfe0104070a0d101316191c1f2225282b2e3134373a3d404346494c4f5255585b5e6164676a6d7073767"
		"97c7f8285888b8e9194979a9da0a3a6a9acafb2b5b8bbbec1c4c7cacdd0d3d6d9dcdfe2e5e8ebeef1f4f"
		"7fafd0003\",\"run\":\"a\"},\"model\":{\"data_offsets\":[0,16],\"dtype\":\"U8\",\"shape\":["
		"16]}}";
	size_t size, length = (sizeof header - 1 + 7) / 8 * 8;
	write_made(*state, RUN, 3);
	uint8_t *bytes = folder_get(*state, THIRD, &size);
	assert_int_equal(size, 8 + length + sizeof made_z);
	assert_int_equal(bytes[0] + 256 * bytes[1], length);
	assert_memory_equal(bytes + 2, "\0\0\0\0\0", 6);
	assert_memory_equal(bytes + 8, header, sizeof header - 1);
	for (size_t i = 8 + sizeof header - 1; i < 8 + length; i++)
		assert_int_equal(bytes[i], ' ');
	assert_memory_equal(bytes + 8 + length, made_z, sizeof made_z);
	free(bytes);
	assert_int_equal(folder_count(*state), 1);
}

static void expect_digest(const struct sl_digest *got, const struct sl_digest *want)
{
	assert_true(got->id == want->id && got->t == want->t && got->a == want->a);
	assert_memory_equal(got->key, want->key, sizeof got->key);
	assert_memory_equal(got->view, want->view, sizeof got->view);
	assert_memory_equal(got->digest, want->digest, sizeof got->digest);
	assert_memory_equal(got->signature, want->signature, sizeof got->signature);
}

static void expect_round(const struct sl_round_head *got, const struct sl_round_head *want)
{
	assert_true(got->t == want->t && got->a == want->a && got->p == want->p);
#define X(name) assert_int_equal(got->name, want->name);
	SL_VIEW_NUMBERS(X)
#undef X
	assert_memory_equal(got->previous, want->previous, sizeof got->previous);
	assert_memory_equal(got->roster, want->roster, sizeof got->roster);
	assert_memory_equal(got->edges, want->edges, sizeof got->edges);
	assert_true(got->total == want->total);
	assert_memory_equal(got->strands, want->strands, sizeof got->strands);
	assert_int_equal(got->count, want->count);
	assert_memory_equal(got->members, want->members, want->count * sizeof *want->members);
}

static void expect_back(const char *folder, const char *run, const struct sl_certificate *certificate,
			uint64_t n, size_t float_bytes)
{
	struct sl_result result;
	struct sl_error error = {0};
	size_t bytes = n * float_bytes;
	uint8_t sum[SL_HASH_BYTES];
	uint8_t *model = malloc(bytes);
	assert_non_null(model);
	for (size_t i = 0; i < bytes; i++)
		model[i] = (uint8_t)(i * i + i / 256);
	assert_int_equal(sl_result_write(folder, run, certificate, n, model, bytes, NULL, 0, sum, &error),
			 SL_OK);
	assert_int_equal(sl_result_open(folder, run, n, certificate->t, &result, &error), SL_OK);
	assert_memory_equal(result.checksum, sum, sizeof sum);
	assert_int_equal(result.bytes, bytes);
	assert_int_equal((uintptr_t)result.model % 8, 0);
	assert_memory_equal(result.model, model, bytes);
	assert_true(result.certificate.t == certificate->t && result.certificate.a == certificate->a &&
		    result.certificate.count == certificate->count);
	expect_round(result.certificate.round, certificate->round);
	assert_memory_equal(result.certificate.view, certificate->view, sizeof certificate->view);
	assert_memory_equal(result.certificate.digest, certificate->digest, sizeof certificate->digest);
	for (uint32_t i = 0; i < certificate->count; i++)
		expect_digest(&result.certificate.digests[i], &certificate->digests[i]);
	sl_result_close(&result);
	assert_null(result.model);
	sl_result_close(&result);
	free(model);
}

TEST_WITH(round_trip, setup, folder_teardown)
{
	static const struct {
		uint64_t p, n;
		size_t float_bytes;
	} cases[] = {{3, 1, 4},
		     {1020431, 1000, 8},
		     {P31, 100000, 4},
		     {(UINT64_C(1) << 44) - 17, 2, 4},
		     {(UINT64_C(1) << 61) - 1, 70000, 8}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct sl_certificate certificate =
			certificate_of((sl_round)i + 1, i % 2 == 0 ? 1 : SL_LEARNERS_MAX);
		certificate.round = round_of(certificate.t, 5, cases[i].p, cases[i].n);
		expect_back(*state, RUN, &certificate, cases[i].n, cases[i].float_bytes);
	}
}

TEST_WITH(the_largest_numbers, setup, folder_teardown)
{
	struct sl_certificate certificate = certificate_of(SL_ROUNDS_MAX, SL_LEARNERS_MAX);
	static uint32_t members[2 * SL_LEARNERS_MAX];
	struct sl_round_head *round = round_of(SL_ROUNDS_MAX, SL_ATTEMPTS_MAX, P31, FLOATS);
	certificate.a = SL_ATTEMPTS_MAX;
	certificate.round = round;
	round->count = 2 * SL_LEARNERS_MAX;
	round->members = members;
	for (uint32_t i = 0; i < SL_LEARNERS_MAX; i++) {
		members[2 * i] = UINT32_MAX - SL_LEARNERS_MAX + 1 + i;
		members[2 * i + 1] = UINT32_MAX;
	}
	for (uint32_t i = 0; i < certificate.count; i++) {
		certificate.digests[i].id = UINT32_MAX - i;
		certificate.digests[i].a = SL_ATTEMPTS_MAX;
	}
	expect_back(*state, "a run \"with\" \xc3\xa9", &certificate, FLOATS, 4);
	assert_true(there(*state, "result-1000000.safetensors"));
}

TEST_WITH(what_is_not_there, setup, folder_teardown)
{
	struct sl_result result;
	struct sl_error error;
	expect_third(*state, SL_ERR_NOTFOUND, NULL);
	write_made(*state, RUN, 2);
	write_made(*state, "b", 3);
	expect_third(*state, SL_ERR_NOTFOUND, NULL);
	assert_int_equal(sl_result_open(*state, "b", FLOATS, 2, &result, &error), SL_ERR_NOTFOUND);
	assert_int_equal(sl_result_open(*state, "b", FLOATS + 1, 2, &result, NULL), SL_ERR_NOTFOUND);
	assert_int_equal(sl_result_open(folder_path(*state, "no"), RUN, FLOATS, 3, &result, &error),
			 SL_ERR_NOTFOUND);
	sl_result_close(&result);
}

/* Of another run, with another n: no fault of that file. */
TEST_WITH(another_run_and_n, setup, folder_teardown)
{
	struct sl_certificate certificate = certificate_of(3, 1);
	certificate.round = round_of(3, 5, P31, 1);
	assert_int_equal(sl_result_write(*state, "b", &certificate, 1, made_z, 8, NULL, 0, no_matter, NULL),
			 SL_OK);
	expect_third(*state, SL_ERR_NOTFOUND, NULL);
	assert_int_equal(sl_result_write(*state, RUN, &certificate, 1, made_z, 8, NULL, 0, no_matter, NULL),
			 SL_OK);
	expect_third(*state, SL_ERR_FORMAT, "a result of another n");
}

TEST_WITH(older_ones_go, setup, folder_teardown)
{
	write_made(*state, "b", 2);
	write_made(*state, RUN, 9);
	write_made(*state, RUN, 1); /* which leaves 9 */
	size_t size;
	uint8_t *first = folder_get(*state, "result-000001.safetensors", &size);
	folder_put(*state, "result-000001.safetensors.kept", first, size);
	free(first);
	folder_put(*state, "result-000004.safetensors", "damaged", 7);
	folder_put(*state, "result-000005.safetensors.tmp", "half", 4);
	folder_put(*state, "result-5.safetensors", "not our name", 12);
	folder_put(*state, "result-000001.safetensors.tmp2", "", 0);
	folder_put(*state, "result-1", "", 0);
	folder_put(*state, "round-000001.safetensors", "a checkpoint", 12);
	write_made(*state, RUN, 7);
	assert_int_equal(folder_count(*state), 11);
	sl_result_sweep(*state, RUN, 7);
	assert_false(there(*state, "result-000001.safetensors"));
	assert_false(there(*state, "result-000005.safetensors.tmp"));
	assert_true(there(*state, "result-000002.safetensors"));
	assert_true(there(*state, "result-000004.safetensors"));
	assert_true(there(*state, "result-000007.safetensors"));
	assert_true(there(*state, "result-000009.safetensors"));
	assert_int_equal(folder_count(*state), 9);
}

TEST_WITH(there_to_stay_before_it_has_its_name, setup, folder_teardown)
{
	write_made(*state, RUN, 2);
	asked[0] = '\0';
	write_made(*state, RUN, 3);
	assert_string_equal(asked, "fsync file;name " THIRD ";fsync folder;");
	sl_result_sweep(*state, RUN, 3);
	assert_string_equal(asked,
			    "fsync file;name " THIRD ";fsync folder;remove result-000002.safetensors;");
}

static void write_over(const char *folder, sl_round over, int code)
{
	struct sl_certificate certificate = certificate_of(3, 1);
	assert_int_equal(sl_result_write(folder, RUN, &certificate, FLOATS, made_z, Z_BYTES, NULL, over,
					 no_matter, NULL),
			 code);
}

#define FIRST "result-000001.safetensors"

/* One synchronisation, if there is such a file and none of the new name. */
TEST_WITH(one_file_over_another, setup, folder_teardown)
{
	write_made(*state, RUN, 1);
	write_made(*state, RUN, 2);
	asked[0] = '\0';
	write_over(*state, 1, SL_OK);
	assert_string_equal(asked, "name " THIRD ";fsync file;");
	assert_false(there(*state, FIRST));
	expect_third(*state, SL_OK, NULL);
	asked[0] = '\0';
	write_over(*state, 2, SL_OK); /* of a round that is there */
	write_over(*state, 1, SL_OK);
	assert_string_equal(asked,
			    "fsync file;name " THIRD ";fsync folder;fsync file;name " THIRD ";fsync folder;");
	assert_true(there(*state, "result-000002.safetensors"));
	remove(folder_path(*state, THIRD));
	fsyncs_left = 0;
	write_over(*state, 2, SL_ERR_IO);
}

/* A longer one leaves nothing behind. */
TEST_WITH(a_shorter_file_over_a_longer_one, setup, folder_teardown)
{
	size_t size, longer;
	write_over(*state, 0, SL_OK);
	uint8_t *whole = folder_get(*state, THIRD, &size), *old = calloc(1, 3 * size);
	remove(folder_path(*state, THIRD));
	folder_put(*state, FIRST, old, 3 * size);
	write_over(*state, 1, SL_OK);
	uint8_t *over = folder_get(*state, THIRD, &longer);
	assert_int_equal(longer, size);
	assert_memory_equal(over, whole, size);
	free(whole);
	free(over);
	free(old);
}

/* After a loss of power the file has its old name. */
TEST_WITH(an_old_name_is_put_right, setup, folder_teardown)
{
	write_made(*state, RUN, 3);
	assert_int_equal(rename(folder_path(*state, THIRD), folder_path(*state, FIRST)), 0);
	sl_result_sweep(*state, "b", 3);
	assert_true(there(*state, FIRST));
	sl_result_sweep(*state, RUN, 3);
	assert_false(there(*state, FIRST));
	expect_third(*state, SL_OK, NULL);
	write_made(*state, RUN, 1);
	sl_result_sweep(*state, RUN, 3);
	assert_int_equal(folder_count(*state), 1);
}

TEST_WITH(a_failed_fsync_removes_nothing, setup, folder_teardown)
{
	struct sl_certificate certificate = certificate_of(3, 1);
	struct sl_error error = {0};
	write_made(*state, RUN, 2);
	for (int file_then_folder = 0; file_then_folder < 2; file_then_folder++) {
		fsyncs_left = file_then_folder;
		assert_int_equal(sl_result_write(*state, RUN, &certificate, FLOATS, made_z, Z_BYTES, NULL, 0,
						 no_matter, &error),
				 SL_ERR_IO);
		assert_string_equal(
			error.text,
			folder_path(*state, THIRD
				    ": Input/output error; check the disk, then start the learner again"));
		assert_true(there(*state, "result-000002.safetensors"));
		assert_false(there(*state, THIRD ".tmp"));
		assert_int_equal(there(*state, THIRD), file_then_folder);
	}
}

TEST_WITH(a_full_disk_leaves_the_old_one, setup, folder_teardown)
{
	struct sl_certificate certificate = certificate_of(3, 1);
	struct sl_error error = {0};
	struct rlimit kept, small = {64, 64};
	write_made(*state, RUN, 2);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
	small.rlim_max = kept.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int rc = sl_result_write(*state, RUN, &certificate, FLOATS, made_z, Z_BYTES, NULL, 0, no_matter,
				 &error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
	assert_int_equal(rc, SL_ERR_IO);
	assert_string_equal(error.text,
			    folder_path(*state, THIRD
					": File too large; allow larger files (ulimit -f, LimitFSIZE= of "
					"the unit), then start the learner again"));
	assert_int_equal(folder_count(*state), 1);
	assert_true(there(*state, "result-000002.safetensors"));
}

/* A peer that catches up may still be fetching it. */
TEST_WITH(the_map_outlives_the_file, setup, folder_teardown)
{
	struct sl_result result;
	write_made(*state, RUN, 3);
	assert_int_equal(sl_result_open(*state, RUN, FLOATS, 3, &result, NULL), SL_OK);
	write_made(*state, RUN, 3); /* another of its name */
	write_made(*state, RUN, 4);
	sl_result_sweep(*state, RUN, 4);
	assert_false(there(*state, THIRD));
	assert_memory_equal(result.model, made_z, sizeof made_z);
	sl_result_close(&result);
}

static void expect_not_written(const char *folder, const struct sl_certificate *certificate, uint64_t n,
			       size_t bytes, const char *reason)
{
	struct sl_error error = {0};
	char text[128];
	assert_int_equal(
		sl_result_write(folder, RUN, certificate, n, made_z, bytes, NULL, 0, no_matter, &error),
		SL_ERR_INVALID);
	snprintf(text, sizeof text, "result-%06u.safetensors: %s", certificate->t, reason);
	assert_string_equal(error.text, folder_path(folder, text));
	assert_int_equal(folder_count(folder), 0);
}

/* Each thing that open would refuse. */
TEST_WITH(only_what_can_be_read_is_written, setup, folder_teardown)
{
	struct sl_certificate good = certificate_of(3, 3), bad;
	struct sl_digest digests[3];
	struct sl_round_head round = *good.round; /* which does not last that long */
	good.round = &round;
#define REFUSED(spoil, reason)                                                                               \
	do {                                                                                                 \
		bad = good;                                                                                  \
		bad.digests = memcpy(digests, good.digests, sizeof digests);                                 \
		spoil;                                                                                       \
		expect_not_written(*state, &bad, FLOATS, Z_BYTES, reason);                                   \
	} while (0)
	REFUSED(bad.round = round_of(3, 5, 4, FLOATS), "p is not a prime between 2 and 2^61");
	REFUSED(bad.round = round_of(3, 5, 0, FLOATS), "modulus out of range");
	REFUSED(bad.round = round_of(3, 5, P31, FLOATS + 1), "a result of another n");
	REFUSED(bad.round = round_of(4, 5, P31, FLOATS), "the Round is of another attempt");
	REFUSED(bad.round = round_of(3, 6, P31, FLOATS), "the Round is of another attempt");
	REFUSED(bad.round = NULL, "the Round is of another attempt");
	REFUSED(bad.count = 0, "no digest, or too many");
	REFUSED(bad.count = SL_LEARNERS_MAX + 1, "no digest, or too many");
	REFUSED(bad.digests[2].id = bad.digests[0].id, "two digests of one signer");
	REFUSED(bad.digests[2].id = 0, "id is 0");
	REFUSED(bad.digests[2].t = 4, "digests that do not agree");
	REFUSED(bad.digests[2].a = 4, "digests that do not agree");
	REFUSED(bad.digests[2].view[31] ^= 1, "digests that do not agree");
	REFUSED(bad.digests[2].digest[31] ^= 1, "digests that do not agree");
	REFUSED(bad.count = 1; bad.t = bad.digests[0].t = SL_ROUNDS_MAX + 1, "round out of range");
	REFUSED(bad.count = 1; bad.t = bad.digests[0].t = 0;
		bad.round = round_of(0, 5, P31, FLOATS), "round out of range");
	expect_not_written(*state, &good, FLOATS, 4 * FLOATS - 1, "the model is not n elements");
	expect_not_written(*state, &good, FLOATS, 0, "the model is not n elements");
	expect_not_written(*state, &good, 0, 4, "a result of another n");
	expect_not_written(*state, &good, SL_ELEMENTS_MAX, 4 * ((size_t)SL_ELEMENTS_MAX + 1),
			   "a result of another n");
	expect_not_written(*state, &good, UINT64_MAX, 0, "a result of another n");
#undef REFUSED
	assert_int_equal(
		sl_result_write(*state, "\xff", &good, FLOATS, made_z, Z_BYTES, NULL, 0, no_matter, NULL),
		SL_ERR_INVALID);
	assert_int_equal(sl_result_write(folder_path(*state, "no"), RUN, &good, FLOATS, made_z, Z_BYTES, NULL,
					 0, no_matter, NULL),
			 SL_ERR_IO);
}
