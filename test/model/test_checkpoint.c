/* Checkpoints: the exact bytes, the round trip, and every kind of damage. */
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/model/checkpoint.h"
#include "common/model/disk_error.h"

#define N 3
#define FIRST "round-000001.safetensors"

static const float floats[N] = {0.5f, -2.0f, 1e-30f};
static const struct sl_tensor parts[] = {{.name = "w", .dtype = SL_FLOAT32, .dimensions = 2, .shape = {1, 2}},
					 {.name = "b", .dtype = SL_FLOAT32}};
static const struct sl_tensors tensors = {.items = parts, .count = 2};

static struct sl_checkpoint checkpoint_of(const char *run, sl_round round)
{
	struct sl_checkpoint c = {.round = round, .learners = 10, .total_weight = UINT64_MAX, .n = N};
	strcpy(c.run, run);
	for (size_t i = 0; i < SL_HASH_BYTES; i++)
		c.digest[i] = (uint8_t)(i * 8 + 1);
	return c;
}

static void write_round(const char *folder, const char *run, sl_round round)
{
	struct sl_checkpoint c = checkpoint_of(run, round);
	struct sl_error error = {0};
	int rc = sl_checkpoint_write(folder, &c, &tensors, floats, &error);
	assert_ok(rc, error);
}

static int first(const char *folder, const struct sl_tensors *of, struct sl_checkpoint *c,
		 struct sl_error *error)
{
	float model[N + 1];
	*error = (struct sl_error){0};
	return sl_checkpoint_read(folder, "a", 1, of, c, model, error);
}

TEST_WITH(the_exact_bytes, folder_setup, folder_teardown)
{
	static const char header[] =
		"{\"__metadata__\":{\"checksum\":"
		"\"c1f13213c6be38ce1d54e733df41345b306941204e011cdffece8ef741724baa\",\"digest\":"
		"\"0109111921293139414951596169717981899199a1a9b1b9c1c9d1d9e1e9f1f9\","
		"\"format\":\"starling-2\",\"learners\":\"10\",\"round\":\"1\",\"run\":"
		"\"a\",\"total_weight\":\"18446744073709551615\"},"
		"\"b\":{\"data_offsets\":[8,12],\"dtype\":\"F32\",\"shape\":[]},"
		"\"w\":{\"data_offsets\":[0,8],\"dtype\":\"F32\",\"shape\":[1,2]}}";
	size_t size, length = (sizeof header - 1 + 7) / 8 * 8;
	write_round(*state, "a", 1);
	uint8_t *bytes = folder_get(*state, FIRST, &size);
	assert_int_equal(size, 8 + length + sizeof floats);
	assert_int_equal(bytes[0] + 256 * bytes[1], length);
	assert_memory_equal(bytes + 2, "\0\0\0\0\0", 6);
	assert_memory_equal(bytes + 8, header, sizeof header - 1);
	for (size_t i = 8 + sizeof header - 1; i < 8 + length; i++)
		assert_int_equal(bytes[i], ' ');
	assert_memory_equal(bytes + 8 + length, floats, sizeof floats);
	free(bytes);
	assert_int_equal(folder_count(*state), 1);
}

TEST_WITH(round_trip, folder_setup, folder_teardown)
{
	struct sl_checkpoint wrote = checkpoint_of("a run \"with\" \xc3\xa9", 1000000), read = {0};
	struct sl_error error = {0};
	float model[N] = {0};
	char name[SL_FILE_NAME_BYTES];
	assert_int_equal(sl_checkpoint_write(*state, &wrote, &tensors, floats, &error), SL_OK);
	sl_checkpoint_name(wrote.round, name);
	assert_string_equal(name, "round-1000000.safetensors");
	assert_int_equal(sl_checkpoint_read(*state, wrote.run, wrote.round, &tensors, &read, model, &error),
			 SL_OK);
	assert_string_equal(read.run, wrote.run);
	assert_int_equal(read.round, wrote.round);
	assert_int_equal(read.learners, wrote.learners);
	assert_true(read.total_weight == wrote.total_weight && read.n == N);
	assert_memory_equal(read.digest, wrote.digest, SL_HASH_BYTES);
	assert_memory_equal(read.checksum, wrote.checksum, SL_HASH_BYTES);
	assert_memory_equal(model, floats, sizeof floats);
	assert_int_equal(sl_checkpoint_read(*state, wrote.run, wrote.round, NULL, &read, NULL, &error),
			 SL_OK);
}

/* Three dtypes: the bytes of the model are those at the end of the file. */
TEST_WITH(mixed_dtypes, folder_setup, folder_teardown)
{
	static const struct sl_tensor items[] = {
		{.name = "z", .dtype = SL_INT64},
		{.name = "mean", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {2}},
		{.name = "none", .dtype = SL_INT64, .dimensions = 2, .shape = {0, 3}},
		{.name = "a, \"var\"",
		 .dtype = SL_FLOAT32,
		 .dimensions = 1,
		 .shape = {3},
		 .nonnegative = true}};
	static const uint64_t model[5] = {UINT64_C(0xfffffffffffffffe), 0x3ff8000000000000, 1, 2, 3};
	const struct sl_tensors mixed = {.items = items, .count = 4};
	struct sl_checkpoint c = checkpoint_of("a", 1), read = {0};
	struct sl_error error = {0};
	uint8_t back[36], *bytes;
	size_t size;
	c.n = 6;
	assert_int_equal(sl_checkpoint_write(*state, &c, &mixed, model, &error), SL_OK);
	assert_int_equal(sl_checkpoint_read(*state, "a", 1, &mixed, &read, back, &error), SL_OK);
	assert_memory_equal(back, model, sizeof back);
	assert_int_equal(read.n, 6);
	bytes = folder_get(*state, FIRST, &size);
	assert_memory_equal(bytes + size - 36, model, 36);
	free(bytes);
}

/* A learner that starts again takes the declaration from its checkpoint; a checkpoint without it is of
 * another model. */
TEST_WITH(non_negative_tensors_are_kept, folder_setup, folder_teardown)
{
	struct sl_tensor items[] = {parts[0], parts[1]};
	const struct sl_tensors declared = {.items = items, .count = 2};
	struct sl_checkpoint c = checkpoint_of("a", 1);
	struct sl_tensors found;
	struct sl_error error = {0};
	float model[N];
	items[1].nonnegative = true;
	assert_int_equal(sl_checkpoint_write(*state, &c, &declared, floats, &error), SL_OK);
	assert_int_equal(sl_checkpoint_tensors(*state, "a", 1, &found, &error), SL_OK);
	assert_true(!found.items[0].nonnegative && found.items[1].nonnegative);
	free((void *)found.items);
	assert_int_equal(sl_checkpoint_read(*state, "a", 1, &declared, &c, model, &error), SL_OK);
	assert_int_not_equal(sl_checkpoint_read(*state, "a", 1, &tensors, &c, model, &error), SL_OK);
	write_round(*state, "a", 1);
	assert_int_not_equal(sl_checkpoint_read(*state, "a", 1, &declared, &c, model, &error), SL_OK);
}

TEST_WITH(the_link_leads_to_the_latest, folder_setup, folder_teardown)
{
	size_t size;
	write_round(*state, "a", 1);
	sl_checkpoint_link(*state, 1);
	write_round(*state, "a", 2);
	sl_checkpoint_link(*state, 2);
	sl_checkpoint_link(folder_path(*state, "no"), 2);
	assert_int_equal(folder_count(*state), 3);
	sl_checkpoint_delete(*state, 1);
	sl_checkpoint_delete(*state, 1); /* no error */
	uint8_t *bytes = folder_get(*state, SL_CHECKPOINT_LATEST, &size);
	bytes[size - 1] = '\0';
	assert_non_null(memmem(bytes, size, "\"round\":\"2\"", 11));
	free(bytes);
}

/* Whatever else is there. */
TEST_WITH(one_round_of_the_own_run, folder_setup, folder_teardown)
{
	struct sl_checkpoint c = {.round = 77};
	struct sl_error error;
	float model[N];
	write_round(*state, "a", 9);
	write_round(*state, "b", 10);
	folder_put(*state, "round-000012.safetensors", "damaged", 7);
	assert_int_equal(sl_checkpoint_read(*state, "a", 10, &tensors, &c, model, &error), SL_ERR_NOTFOUND);
	assert_string_equal(
		error.text,
		folder_path(*state,
			    "round-000010.safetensors: the checkpoint is missing or belongs to another run"));
	assert_int_equal(sl_checkpoint_read(*state, "a", 11, &tensors, &c, model, &error), SL_ERR_NOTFOUND);
	assert_int_equal(sl_checkpoint_read(*state, "a", 12, &tensors, &c, model, &error), SL_ERR_FORMAT);
	assert_int_equal(c.round, 77);
	assert_int_equal(sl_checkpoint_read(*state, "a", 9, &tensors, &c, model, &error), SL_OK);
	assert_int_equal(c.round, 9);
	assert_memory_equal(model, floats, sizeof floats);
}

/* The newest file's bytes are `size` of `bytes`: SL_ERR_FORMAT with exactly this reason. */
static void expect_damage(const char *folder, const void *bytes, size_t size, const char *reason)
{
	struct sl_checkpoint c = {.round = 77};
	struct sl_error error;
	char text[256];
	snprintf(text, sizeof text, FIRST ": %s", reason);
	folder_put(folder, FIRST, bytes, size);
	assert_int_equal(first(folder, &tensors, &c, &error), SL_ERR_FORMAT);
	assert_string_equal(error.text, folder_path(folder, text));
	assert_int_equal(c.round, 77); /* untouched */
}

TEST_WITH(the_tensors_of_a_checkpoint, folder_setup, folder_teardown)
{
	struct sl_tensors found;
	struct sl_error error;
	write_round(*state, "a", 1);
	assert_int_equal(sl_checkpoint_tensors(*state, "a", 1, &found, &error), SL_OK);
	assert_int_equal(found.count, tensors.count);
	for (uint32_t i = 0; i < found.count; i++)
		assert_memory_equal(&found.items[i].dtype, &tensors.items[i].dtype,
				    sizeof *found.items - offsetof(struct sl_tensor, dtype));
	assert_string_equal(found.items[0].name, tensors.items[0].name);
	free((void *)found.items);
	assert_int_equal(sl_checkpoint_tensors(*state, "b", 1, &found, &error), SL_ERR_NOTFOUND);
	assert_int_equal(sl_checkpoint_tensors(*state, "a", 2, &found, &error), SL_ERR_NOTFOUND);
}

TEST_WITH(cut_files_are_refused, folder_setup, folder_teardown)
{
	size_t size;
	write_round(*state, "a", 1);
	uint8_t *bytes = folder_get(*state, FIRST, &size);
	expect_damage(*state, bytes, 0, "shorter than a header");
	expect_damage(*state, bytes, 7, "shorter than a header");
	expect_damage(*state, bytes, 100, "shorter than its header");
	expect_damage(*state, bytes, size - 1, "the size of the file does not match its header");
	expect_damage(*state, bytes, size + 1, "the size of the file does not match its header");
	free(bytes);
}

TEST_WITH(header_lengths_are_bounded, folder_setup, folder_teardown)
{
	size_t size;
	write_round(*state, "a", 1);
	uint8_t *bytes = folder_get(*state, FIRST, &size);
	static const uint8_t lengths[][8] = {{0}, {13}, {8, 0, 0, 0x08}, {0, 0, 0, 0, 0, 0, 0, 0x80}};
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		memcpy(bytes, lengths[i], 8);
		expect_damage(*state, bytes, size, "the header's length is out of range");
	}
	memcpy(bytes, (uint8_t[8]){0, 0, 0, 0x08}, 8); /* the most */
	expect_damage(*state, bytes, size, "shorter than its header");
	free(bytes);
}

/* Puts `with` (of the same length) where `what` stands in the header. */
static void expect_replaced(const char *folder, const char *what, const char *with, const char *reason)
{
	size_t size;
	write_round(folder, "a", 1);
	uint8_t *bytes = folder_get(folder, FIRST, &size);
	uint8_t *at = memmem(bytes, size, what, strlen(what));
	assert_non_null(at);
	assert_int_equal(strlen(what), strlen(with));
	memcpy(at, with, strlen(with));
	expect_damage(folder, bytes, size, reason);
	free(bytes);
}

TEST_WITH(header_contents_are_checked, folder_setup, folder_teardown)
{
	static const char *const cases[][3] = {
		{"{\"__m", "[\"__m", "the header is not JSON"},
		{"\"dtype\"", "\"shape\"", "the header is not JSON"}, /* a key twice */
		{"\"dtype\"", "\"dtipe\"", "the header is not that of a model"},
		{"\"shape\":[]", "\"shape\":{}", "the header is not that of a model"},
		{"\"F32\"", "\"F16\"", "a tensor is not F32, F64 or I64"},
		{"[1,2]", "[1,3]", "shape and data_offsets do not agree"},
		{"[1,2]", "[-1]]", "the header is not JSON"},
		{"[1,2]", "[-12]", "a shape is not that of a tensor"},
		{"[8,12]", "[4, 8]", "the tensors do not lie one after the other"},
		{"[0,8]", "[1,9]", "the tensors do not lie one after the other"},
		{"\"digest\":", "\"dygest\":", "the metadata are not those of a checkpoint"},
		{"\"10\",\"round\"", "1234,\"round\"", "the metadata are not those of a checkpoint"},
		{"starling-2", "starling-1", "the format is not starling-2"},
		{"\"10\"", "\"-1\"", "round, learners or total_weight is no number"},
		{"18446744073709551615", "18446744073709551616",
		 "round, learners or total_weight is no number"},
		{"0109", "010g", "digest or checksum is not 64 hexadecimal digits"},
		{"\"checksum\":\"c1f1", "\"checksum\":\"g1f1",
		 "digest or checksum is not 64 hexadecimal digits"},
		{"\"round\":\"1\"", "\"round\":\"2\"", "holds round 2"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect_replaced(*state, cases[i][0], cases[i][1], cases[i][2]);
}

TEST_WITH(damaged_floats_are_refused, folder_setup, folder_teardown)
{
	size_t size;
	write_round(*state, "a", 1);
	uint8_t *bytes = folder_get(*state, FIRST, &size);
	bytes[size - 1] ^= 1;
	expect_damage(*state, bytes, size, "damaged: the model does not match its checksum");
	free(bytes);
}

TEST_WITH(other_tensors_are_refused, folder_setup, folder_teardown)
{
	static const struct sl_tensor others[][2] = {
		{{.name = "w", .dtype = SL_FLOAT32, .dimensions = 2, .shape = {1, 2}},
		 {.name = "c", .dtype = SL_FLOAT32}},
		{{.name = "w", .dtype = SL_FLOAT32, .dimensions = 2, .shape = {2, 1}},
		 {.name = "b", .dtype = SL_FLOAT32}},
		{{.name = "b", .dtype = SL_FLOAT32},
		 {.name = "w", .dtype = SL_FLOAT32, .dimensions = 2, .shape = {1, 2}}},
		{{.name = "w", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {1}},
		 {.name = "b", .dtype = SL_FLOAT32}},
	};
	struct sl_checkpoint c = {0};
	struct sl_error error;
	write_round(*state, "a", 1);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct sl_tensors of = {.items = others[i], .count = 2};
		assert_int_equal(first(*state, &of, &c, &error), SL_ERR_INVALID);
		assert_string_equal(
			error.text,
			folder_path(*state, FIRST ": its tensors are not those of this run's model"));
	}
	assert_int_equal(first(*state, &(struct sl_tensors){.items = parts, .count = 1}, &c, &error),
			 SL_ERR_INVALID);
}

/* --- ranges --- */

static int16_t some_ranges[] = {-40, 7};

static void write_ranges(const char *folder)
{
	struct sl_checkpoint c = checkpoint_of("a", 1);
	struct sl_error error = {0};
	c.exponents = some_ranges;
	c.ranges = 2;
	assert_int_equal(sl_checkpoint_write(folder, &c, &tensors, floats, &error), SL_OK);
}

/* Read round 1 with so many exponents, to `exponents`. */
static int read_ranges(const char *folder, uint32_t count, int16_t *exponents, struct sl_error *error)
{
	struct sl_checkpoint c = {.exponents = exponents, .ranges = count};
	int rc = first(folder, &tensors, &c, error);
	if (rc == SL_OK)
		assert_true(c.exponents == exponents && c.ranges == count);
	return rc;
}

TEST_WITH(ranges_are_read_back, folder_setup, folder_teardown)
{
	static const char text[] = "\"ranges\":\"[-40,7]\"",
			  sum[] = "f0a1a58b64f5d6bc1c070ae6a0166dc485df45c63dd4617923d875fc1777dc76";
	struct sl_checkpoint c = checkpoint_of("a", 2), header = {0};
	struct sl_error error = {0};
	int16_t exponents[3] = {0, 0, 99};
	size_t size;
	write_ranges(*state);
	assert_int_equal(read_ranges(*state, 2, exponents, &error), SL_OK);
	assert_true(exponents[0] == -40 && exponents[1] == 7 && exponents[2] == 99);
	uint8_t *bytes = folder_get(*state, FIRST, &size);
	assert_non_null(memmem(bytes, size, text, sizeof text - 1));
	assert_non_null(memmem(bytes, size, sum, sizeof sum - 1)); /* of another program */
	free(bytes);
	assert_int_equal(sl_checkpoint_read(*state, "a", 1, NULL, &header, NULL, &error), SL_OK);
	assert_true(header.exponents == NULL && header.ranges == 0); /* of the header alone, none are read */
	c.exponents = exponents;
	c.ranges = 2;
	exponents[0] = 1020; /* the ends */
	exponents[1] = -960;
	assert_int_equal(sl_checkpoint_write(*state, &c, &tensors, floats, &error), SL_OK);
	memset(exponents, 0, sizeof exponents);
	float model[N];
	assert_int_equal(sl_checkpoint_read(*state, "a", 2, &tensors, &c, model, &error), SL_OK);
	assert_true(exponents[0] == 1020 && exponents[1] == -960);
}

/* As many as the model has tensors; with `values: model`, none. */
TEST_WITH(ranges_of_another_number, folder_setup, folder_teardown)
{
	static const char *const texts[] = {": this run averages updates: `values` cannot change",
					    ": its ranges are not those of its tensors", NULL,
					    ": its ranges are not those of its tensors"};
	struct sl_error error;
	char text[128];
	int16_t exponents[4] = {0};
	write_ranges(*state);
	for (uint32_t count = 0; count <= 3; count++) {
		int want = count == 0 ? SL_ERR_INVALID : count == 2 ? SL_OK : SL_ERR_FORMAT;
		assert_int_equal(read_ranges(*state, count, exponents, &error), want);
		snprintf(text, sizeof text, FIRST "%s", count == 2 ? "" : texts[count]);
		if (count != 2)
			assert_string_equal(error.text, folder_path(*state, text));
	}
	write_round(*state, "a", 1);
	assert_int_equal(read_ranges(*state, 0, NULL, &error), SL_OK);
	assert_int_equal(read_ranges(*state, 2, exponents, &error), SL_ERR_INVALID);
	assert_string_equal(error.text,
			    folder_path(*state, FIRST ": this run averages models: `values` cannot change"));
}

TEST_WITH(ranges_that_are_none, folder_setup, folder_teardown)
{
	static const struct {
		const char *list, *reason; /* in the place of [-40,7] */
	} cases[] = {
		{"[-40,8]", "damaged: the model does not match its checksum"},
		{"[-41,7]", "damaged: the model does not match its checksum"},
		{"[7,-40]", "damaged: the model does not match its checksum"},
		{"[1021,0]", "its ranges are not those of its tensors"},
		{"[0,-961]", "its ranges are not those of its tensors"},
		{"[65536,7]", "its ranges are not those of its tensors"},
		{"[-4.0,7]", "its ranges are not those of its tensors"},
		{"[true,7]", "its ranges are not those of its tensors"},
		{"[[-40],7]", "its ranges are not those of its tensors"},
		{"[-40,7", "its ranges are not those of its tensors"},
		{"[-40,7,0]", "its ranges are not those of its tensors"},
		{"{}", "its ranges are not those of its tensors"},
		{"", "its ranges are not those of its tensors"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sl_error error;
		char text[256];
		int16_t exponents[2];
		size_t size, cut = strlen("[-40,7]"), put = strlen(cases[i].list);
		write_ranges(*state);
		uint8_t *bytes = folder_get(*state, FIRST, &size);
		uint8_t *at = memmem(bytes, size, "[-40,7]", cut), *end = bytes + size - sizeof floats;
		assert_non_null(at);
		if (put > cut) { /* the header ends with spaces */
			memmove(at + put, at + cut, (size_t)(end - at) - put);
		} else {
			memmove(at + put, at + cut, (size_t)(end - at) - cut);
			memset(end - (cut - put), ' ', cut - put);
		}
		memcpy(at, cases[i].list, put);
		folder_put(*state, FIRST, bytes, size);
		free(bytes);
		snprintf(text, sizeof text, FIRST ": %s", cases[i].reason);
		assert_int_equal(read_ranges(*state, 2, exponents, &error), SL_ERR_FORMAT);
		assert_string_equal(error.text, folder_path(*state, text));
	}
}

/* Such that every step is a double, whatever the checksum is. */
TEST_WITH(ranges_within_their_ends, folder_setup, folder_teardown)
{
	static int16_t cases[][2] = {{1020, -960}, {1021, 0}, {0, -961}, {INT16_MAX, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sl_checkpoint c = checkpoint_of("a", 1);
		struct sl_error error = {0};
		int16_t exponents[2];
		c.exponents = cases[i];
		c.ranges = 2;
		assert_int_equal(sl_checkpoint_write(*state, &c, &tensors, floats, &error), SL_OK);
		assert_int_equal(read_ranges(*state, 2, exponents, &error), i == 0 ? SL_OK : SL_ERR_FORMAT);
	}
}

TEST_WITH(a_failed_write_leaves_nothing, folder_setup, folder_teardown)
{
	struct sl_checkpoint c = checkpoint_of("a", 2);
	struct sl_error error = {0};
	struct rlimit kept, small = {64, 64};
	write_round(*state, "a", 1);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
	small.rlim_max = kept.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int rc = sl_checkpoint_write(*state, &c, &tensors, floats, &error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
	assert_int_equal(rc, SL_ERR_IO);
	assert_string_equal(
		error.text,
		folder_path(*state, "round-000002.safetensors: File too large; allow larger files (ulimit "
				    "-f, LimitFSIZE= of the unit), then start the learner again"));
	assert_int_equal(folder_count(*state), 1);
}

TEST(errors_of_the_disk_name_the_remedy)
{
	static const struct {
		int why;
		const char *remedy;
	} cases[] = {{ENOSPC, "make room"},   {EROFS, "writable"},   {ENOENT, "make the folder"},
		     {ENOLCK, "no locks"},    {EMFILE, "ulimit -n"}, {ENFILE, "ulimit -n"},
		     {ENOMEM, "free memory"}, {EFBIG, "ulimit -f"},  {EIO, "check the disk"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sl_error error;
		assert_int_equal(sl_disk_error(&error, "file", cases[i].why), SL_ERR_IO);
		assert_non_null(strstr(error.text, cases[i].remedy));
	}
}

TEST_WITH(bad_requests_are_errors, folder_setup, folder_teardown)
{
	struct sl_checkpoint c = checkpoint_of("\xff", 1);
	struct sl_error error = {0};
	assert_int_equal(sl_checkpoint_write(*state, &c, &tensors, floats, &error), SL_ERR_INVALID);
	strcpy(c.run, "a");
	assert_int_equal(sl_checkpoint_write(folder_path(*state, "no"), &c, &tensors, floats, &error),
			 SL_ERR_IO);
	assert_int_equal(folder_count(*state), 0);
}
