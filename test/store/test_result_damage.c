/* Result files as a broken disk or a stranger would leave them: refused with a reason, or not ours. */
#include "test/lib/test.h"
#include "test/store/result_fixture.h"

#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- verbs --- */

static uint8_t *third(const char *folder, size_t *size)
{
	write_made(folder, RUN, 3);
	return folder_get(folder, THIRD, size);
}

static void expect_bytes(const char *folder, const void *bytes, size_t size, const char *reason)
{
	folder_put(folder, THIRD, bytes, size);
	expect_third(folder, SL_ERR_FORMAT, reason);
}

/* Puts `with` (of the same length) where `what` stands. */
static void expect_replaced(const char *folder, const char *what, const char *with, const char *reason)
{
	size_t size;
	uint8_t *bytes = third(folder, &size), *at = memmem(bytes, size, what, strlen(what));
	assert_non_null(at);
	assert_int_equal(strlen(what), strlen(with));
	memcpy(at, with, strlen(with));
	expect_bytes(folder, bytes, size, reason);
	free(bytes);
}

/* The checksum over again: Z, then the other texts by name. */
static void seal(json_t *metadata, const uint8_t *z)
{
	crypto_generichash_state state;
	uint8_t sum[SL_HASH_BYTES];
	char text[2 * SL_HASH_BYTES + 1];
	static const char *const names[] = {"attempt", "clip",	   "digest", "digests", "encoding",
					    "format",  "learners", "n",	     "p",	"round",
					    "run",     "sigma",	   "view"};
	crypto_generichash_init(&state, NULL, 0, sizeof sum);
	crypto_generichash_update(&state, z, Z_BYTES);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *value = json_string_value(json_object_get(metadata, names[i]));
		if (value != NULL)
			crypto_generichash_update(&state, (const uint8_t *)value, strlen(value) + 1);
	}
	crypto_generichash_final(&state, sum, sizeof sum);
	sodium_bin2hex(text, sizeof text, sum, sizeof sum);
	json_object_set_new(metadata, "checksum", json_string(text));
}

static void write_header(const char *folder, const json_t *root, const uint8_t *z)
{
	char *text = json_dumps(root, JSON_COMPACT);
	size_t length = strlen(text), padded = (length + 7) / 8 * 8;
	uint8_t *bytes = calloc(1, 8 + padded + Z_BYTES);
	assert_non_null(bytes);
	bytes[0] = (uint8_t)padded;
	bytes[1] = (uint8_t)(padded >> 8);
	memset(bytes + 8, ' ', padded);
	memcpy(bytes + 8, text, length);
	memcpy(bytes + 8 + padded, z, Z_BYTES);
	folder_put(folder, THIRD, bytes, 8 + padded + Z_BYTES);
	free(bytes);
	free(text);
}

/* Round 3 with one of its metadata set (NULL: taken away) and the checksum right again. */
static void tamper(const char *folder, const char *name, json_t *value)
{
	size_t size;
	uint8_t *bytes = third(folder, &size);
	json_t *root = json_loadb((const char *)bytes + 8, size - 8 - Z_BYTES, 0, NULL);
	json_t *metadata = json_object_get(root, "__metadata__");
	assert_non_null(metadata);
	if (value != NULL)
		json_object_set_new(metadata, name, value);
	else
		json_object_del(metadata, name);
	if (strcmp(name, "checksum") != 0)
		seal(metadata, bytes + size - Z_BYTES);
	write_header(folder, root, bytes + size - Z_BYTES);
	json_decref(root);
	free(bytes);
}

static void expect_tampered(const char *folder, const char *name, const char *value, const char *reason)
{
	tamper(folder, name, json_string(value));
	expect_third(folder, reason == NULL ? SL_OK : SL_ERR_FORMAT, reason);
}

/* --- tests --- */

TEST_WITH(cut_anywhere, folder_setup, folder_teardown)
{
	size_t size;
	uint8_t *bytes = third(*state, &size);
	size_t data = size - Z_BYTES;
	for (size_t n = 0; n <= size + 8; n++) { /* folder_get has room for one more, which is copied */
		uint8_t *copy = calloc(1, n + 1);
		assert_non_null(copy);
		memcpy(copy, bytes, n < size ? n : size);
		if (n == size) {
			folder_put(*state, THIRD, copy, n);
			expect_third(*state, SL_OK, NULL);
		} else {
			expect_bytes(*state, copy, n,
				     n < 8	? "shorter than a header"
				     : n < data ? "shorter than its header"
						: "the file's size is not what its header says");
		}
		free(copy);
	}
	free(bytes);
}

/* What was written a moment ago is shown unread: all but the data is looked at. */
TEST_WITH(just_written_is_believed, folder_setup, folder_teardown)
{
	size_t size;
	struct sl_result result;
	uint8_t *bytes = third(*state, &size);
	bytes[size - 1] ^= 1;
	folder_put(*state, THIRD, bytes, size);
	assert_int_equal(sl_result_show(*state, RUN, FLOATS, 3, &result, NULL), SL_OK);
	assert_memory_equal(result.z, bytes + size - Z_BYTES, Z_BYTES);
	assert_int_equal(result.certificate.t, 3);
	sl_result_close(&result);
	expect_third(*state, SL_ERR_FORMAT, "damaged: it does not match its checksum");
	folder_put(*state, THIRD, bytes, size - 1);
	assert_int_equal(sl_result_show(*state, RUN, FLOATS, 3, &result, NULL), SL_ERR_FORMAT);
	free(bytes);
}

/* Any bit of the file: another run's at best. */
TEST_WITH(any_bit_flipped, folder_setup, folder_teardown)
{
	size_t size;
	uint8_t *bytes = third(*state, &size);
	for (size_t bit = 0; bit < 8 * size; bit++) {
		struct sl_result result;
		bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
		folder_put(*state, THIRD, bytes, size);
		int rc = sl_result_open(*state, RUN, FLOATS, 3, &result, NULL);
		if (rc != SL_ERR_FORMAT && rc != SL_ERR_NOTFOUND)
			fail_msg("bit %zu: %d", bit, rc);
		assert_null(result.z);
		bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1u << bit % 8);
	}
	free(bytes);
}

TEST_WITH(damaged_elements, folder_setup, folder_teardown)
{
	const char *reason = "damaged: it does not match its checksum";
	size_t size;
	uint8_t *bytes = third(*state, &size);
	for (size_t i = size - Z_BYTES; i < size; i++) {
		bytes[i] ^= 0x80;
		expect_bytes(*state, bytes, size, reason);
		bytes[i] ^= 0x80;
	}
	free(bytes);
	expect_replaced(*state, "70 0a0d", "70 0a0e", reason);
	expect_replaced(*state, "\"attempt\":\"5\"", "\"attempt\":\"6\"", reason);
}

TEST_WITH(header_lengths_are_bounded, folder_setup, folder_teardown)
{
	static const uint8_t lengths[][8] = {{0},
					     {1},
					     {13},
					     {8, 0, 1},
					     {0, 0, 0, 0, 1},
					     {0, 0, 0, 0, 0, 0, 0, 0x80},
					     {0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	size_t size;
	uint8_t *bytes = third(*state, &size);
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		memcpy(bytes, lengths[i], 8);
		expect_bytes(*state, bytes, size, "the header's length is out of range");
	}
	memcpy(bytes, (const uint8_t[]){0, 0, 1, 0, 0, 0, 0, 0}, 8); /* the largest there may be */
	expect_bytes(*state, bytes, size, "shorter than its header");
	free(bytes);
}

TEST_WITH(tensors_are_checked, folder_setup, folder_teardown)
{
	static const char *const cases[][3] = {
		{"{\"__m", "[\"__m", "the header is not JSON"},
		{"\"z\":{", "\"y\":{", "the header is not that of a result"},
		{"\"dtype\"", "\"shape\"", "the header is not JSON"}, /* a key twice */
		{"\"U8\"", "\"I8\"", "z is not U8"},
		{"\"shape\":[16]", "\"shape\":[15]", "shape and data_offsets do not agree"},
		{"\"shape\":[16]", "\"shape\":[-1]", "shape and data_offsets do not agree"},
		{"\"shape\":[16]", "\"shape\":\"16\"", "the header is not that of a result"},
		{"[0,16]", "[1,17]", "shape and data_offsets do not agree"},
		{"[0,16]", "[0, 9]", "shape and data_offsets do not agree"},
		{"[0,16]", "[0.16]", "the header is not that of a result"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect_replaced(*state, cases[i][0], cases[i][1], cases[i][2]);
}

/* Shape, offsets and file agree with one another, but not with n. */
TEST_WITH(sizes_are_those_of_n, folder_setup, folder_teardown)
{
	static const json_int_t sizes[] = {0, 15, 17, INT64_MAX, -16};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		size_t size;
		uint8_t *bytes = third(*state, &size);
		json_t *root = json_loadb((const char *)bytes + 8, size - 8 - Z_BYTES, 0, NULL);
		json_object_set_new(root, "z",
				    json_pack("{s:s,s:[I],s:[I,I]}", "dtype", "U8", "shape", sizes[i],
					      "data_offsets", (json_int_t)0, sizes[i]));
		write_header(*state, root, made_z);
		expect_third(*state, SL_ERR_FORMAT,
			     sizes[i] < 0 ? "shape and data_offsets do not agree" : "z is not n+1 elements");
		json_decref(root);
		free(bytes);
	}
}

TEST_WITH(metadata_are_complete, folder_setup, folder_teardown)
{
	static const char *const names[] = {"format", "run", "round",	 "attempt", "view",    "digest",
					    "p",      "n",   "learners", "digests", "checksum"};
	const char *reason = "the metadata are not those of a result";
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		tamper(*state, names[i], NULL);
		expect_third(*state, SL_ERR_FORMAT, reason);
		tamper(*state, names[i], json_integer(3)); /* not a text */
		expect_third(*state, SL_ERR_FORMAT, reason);
	}
	tamper(*state, "more", json_string(""));
	expect_third(*state, SL_ERR_FORMAT, reason);
}

#define HASH "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* Each with a right checksum, so that it is this rule which speaks. */
TEST_WITH(metadata_are_checked, folder_setup, folder_teardown)
{
	const char *number = "round, attempt, p, learners, n, sigma, encoding or clip is no number",
		   *prime = "p is not a prime between 2 and 2^61";
	const char *hash = "view, digest or checksum is not 64 hexadecimal digits";
	const char *const cases[][3] = {
		{"attempt", "6", NULL}, /* a right checksum makes it another result */
		{"format", "starling-result-1", "the format is not starling-result-2"},
		{"round", "4", "holds another round"},
		{"round", "03", number},
		{"round", "4294967299", number},
		{"attempt", "4294967301", number},
		{"attempt", "-1", number},
		{"attempt", "0", "attempt out of range"},
		{"attempt", "16777217", "attempt out of range"},
		{"p", "18446744073709551616", number},
		{"p", "", number},
		{"p", "0", prime},
		{"p", "2147483646", prime},
		{"p", "2305843009213693967", prime}, /* of 62 bits */
		{"p", "2147483629", NULL},	     /* another prime of 4 bytes */
		{"p", "3", "z is not n+1 elements"},
		{"p", "4294967311", "z is not n+1 elements"},
		{"learners", "1", "learners out of range"},
		{"learners", "2001", "learners out of range"},
		{"learners", "4294967316", number},
		{"n", "4", "a result of another n"},
		{"n", "18446744073709551619", number},
		{"n", "0x3", number},
		{"n", "3 ", number},
		{"view", HASH, NULL},
		{"view", HASH "0", hash},
		{"view", HASH "-", hash},
		{"view", "", hash},
		{"digest", HASH, NULL},
		{"digest", "z0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", hash},
		{"digest", "A0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", hash},
		{"checksum", HASH, "damaged: it does not match its checksum"},
		{"checksum", "00", hash},
		{"checksum", "", hash},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect_tampered(*state, cases[i][0], cases[i][1], cases[i][2]);
	tamper(*state, "run", json_string("b"));
	expect_third(*state, SL_ERR_NOTFOUND, NULL);
}

#define SIGNED(id) id " " HASH " " HASH HASH

TEST_WITH(signers_are_checked, folder_setup, folder_teardown)
{
	const char *form = "digests is not a list of ids, keys and signatures";
	const char *const cases[][2] = {
		{SIGNED("1"), NULL},
		{SIGNED("4294967295") ", " SIGNED("2"), NULL},
		{"", "no digest, or too many"},
		{SIGNED("0"), "id is 0"},
		{SIGNED("7") ", " SIGNED("8") ", " SIGNED("7"), "two digests of one signer"},
		{SIGNED("4294967296"), form},
		{SIGNED("01"), form},
		{SIGNED("-1"), form},
		{SIGNED("1") ",", form},
		{SIGNED("1") ", ", form},
		{SIGNED("1") "," SIGNED("2"), form},
		{SIGNED("1") SIGNED("2"), form},
		{SIGNED("1") ";" SIGNED("2"), form},
		{" " SIGNED("1"), form},
		{SIGNED("1") "0", form},
		{"1 " HASH " " HASH, form},
		{"1 " HASH, form},
		{"1 " HASH "00 " HASH HASH, form},
		{"1  " HASH " " HASH HASH, form},
		{"1\n" HASH " " HASH HASH, form},
		{"1", form},
		{"none", form},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect_tampered(*state, "digests", cases[i][0], cases[i][1]);
}

TEST_WITH(not_too_many_signers, folder_setup, folder_teardown)
{
	char text[(SL_SIGNERS_MAX + 1) * 256] = "";
	for (unsigned i = 1; i <= SL_SIGNERS_MAX + 1; i++) {
		size_t used = strlen(text);
		snprintf(text + used, sizeof text - used, "%s%u " HASH " " HASH HASH, i > 1 ? ", " : "", i);
		expect_tampered(*state, "digests", text, i <= SL_SIGNERS_MAX ? NULL : "too many digests");
	}
}

TEST_WITH(other_things_of_its_name, folder_setup, folder_teardown)
{
	const char *path = folder_path(*state, THIRD);
	assert_int_equal(mkdir(path, 0700), 0);
	expect_third(*state, SL_ERR_FORMAT, "shorter than a header");
	remove(path);
	assert_int_equal(mkfifo(path, 0600), 0); /* and nobody writes */
	expect_third(*state, SL_ERR_FORMAT, "shorter than a header");
}
