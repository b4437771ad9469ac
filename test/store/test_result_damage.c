/* Damaged and foreign result files: refused with a reason, or ignored as those of another run. */
#include "test/lib/test.h"
#include "test/store/result_fixture.h"

#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/field/vector_hash.h"
#include "common/wire/codec.h"

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

/* Compute the checksum again: of the strands of Z, which have a word each, then of the other metadata. */
static void seal(json_t *metadata, const uint8_t *z)
{
	crypto_generichash_state state;
	uint8_t sum[SL_HASH_BYTES];
	char text[2 * SL_HASH_BYTES + 1];
	json_object_del(metadata, "checksum");
	char *rest = json_dumps(metadata, JSON_COMPACT | JSON_SORT_KEYS);
	crypto_generichash_init(&state, NULL, 0, sizeof sum);
	for (size_t k = 0; k < SL_STRANDS; k++) {
		uint8_t strand[8] = {0}, hash[SL_HASH_BYTES];
		if (8 * k < Z_BYTES)
			memcpy(strand, z + 8 * k, sizeof strand);
		crypto_generichash(hash, sizeof hash, strand, sizeof strand, NULL, 0);
		crypto_generichash_update(&state, hash, sizeof hash);
	}
	crypto_generichash_update(&state, (const uint8_t *)rest, strlen(rest));
	crypto_generichash_final(&state, sum, sizeof sum);
	free(rest);
	sodium_bin2hex(text, sizeof text, sum, sizeof sum);
	json_object_set_new(metadata, "checksum", json_string(text));
}

static void write_header(const char *folder, const json_t *root, const uint8_t *z)
{
	char *text = json_dumps(root, JSON_COMPACT);
	size_t length = strlen(text), padded = (length + 7) / 8 * 8;
	uint8_t *bytes = calloc(1, 8 + padded + Z_BYTES);
	assert_non_null(bytes);
	for (size_t i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(padded >> 8 * i);
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
						: "the size of the file does not match its header");
		}
		free(copy);
	}
	free(bytes);
}

/* sl_result_show checks a file that was just written except for its data. */
TEST_WITH(just_written_is_believed, folder_setup, folder_teardown)
{
	size_t size;
	struct sl_result result;
	uint8_t *bytes = third(*state, &size);
	bytes[size - 1] ^= 1;
	folder_put(*state, THIRD, bytes, size);
	assert_int_equal(sl_result_show(*state, RUN, FLOATS, 3, &result, NULL), SL_OK);
	assert_memory_equal(result.model, bytes + size - Z_BYTES, Z_BYTES);
	assert_int_equal(result.certificate.t, 3);
	sl_result_close(&result);
	expect_third(*state, SL_ERR_FORMAT, "damaged: it does not match its checksum");
	folder_put(*state, THIRD, bytes, size - 1);
	assert_int_equal(sl_result_show(*state, RUN, FLOATS, 3, &result, NULL), SL_ERR_FORMAT);
	free(bytes);
}

/* A bit of each byte of the file: another run's at best. */
TEST_WITH(any_bit_flipped, folder_setup, folder_teardown)
{
	size_t size;
	uint8_t *bytes = third(*state, &size);
	for (size_t i = 0; i < size; i++) {
		struct sl_result result;
		bytes[i] = (uint8_t)(bytes[i] ^ 1u << i % 8);
		folder_put(*state, THIRD, bytes, size);
		int rc = sl_result_open(*state, RUN, FLOATS, 3, &result, NULL);
		if (rc != SL_ERR_FORMAT && rc != SL_ERR_NOTFOUND)
			fail_msg("byte %zu: %d", i, rc);
		assert_null(result.model);
		bytes[i] = (uint8_t)(bytes[i] ^ 1u << i % 8);
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
	expect_replaced(*state, "\"digests\":\"0846", "\"digests\":\"0847", reason);
}

TEST_WITH(header_lengths_are_bounded, folder_setup, folder_teardown)
{
	static const uint8_t lengths[][8] = {{0},
					     {1},
					     {13},
					     {8, 0, 0, 0x08},
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
		{"\"model\":{", "\"modes\":{", "the header is not that of a result"},
		{"\"dtype\"", "\"shape\"", "the header is not JSON"}, /* a key twice */
		{"\"U8\"", "\"I8\"", "the model is not U8"},
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
	/* exponents are of n tensors, and of 65,536 without elements */
	static const json_int_t sizes[] = {0, 4 * FLOATS - 1, 8 * FLOATS + 2 * (FLOATS + 65536) + 1,
					   INT64_MAX, -16};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		size_t size;
		uint8_t *bytes = third(*state, &size);
		json_t *root = json_loadb((const char *)bytes + 8, size - 8 - Z_BYTES, 0, NULL);
		json_object_set_new(root, "model",
				    json_pack("{s:s,s:[I],s:[I,I]}", "dtype", "U8", "shape", sizes[i],
					      "data_offsets", (json_int_t)0, sizes[i]));
		write_header(*state, root, made_z);
		expect_third(*state, SL_ERR_FORMAT,
			     sizes[i] < 0 ? "shape and data_offsets do not agree"
					  : "the model is not n elements");
		json_decref(root);
		free(bytes);
	}
}

TEST_WITH(metadata_are_complete, folder_setup, folder_teardown)
{
	static const char *const names[] = {"format", "run", "n", "round", "digests", "checksum"};
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

/* Each with a right checksum, so that it is this rule which speaks. */
TEST_WITH(metadata_are_checked, folder_setup, folder_teardown)
{
	const char *hash = "checksum is not 64 hexadecimal digits",
		   *list = "round or digests are not hexadecimal digits",
		   *length = "hash, key, challenge or signature of a wrong length";
	const char *const cases[][3] = {
		{"format", "starling-result-7", "the format is not starling-result-8"},
		{"n", "4", "a result of another n"},
		{"n", "18446744073709551619", "n is no number"},
		{"n", "0x3", "n is no number"},
		{"n", "3 ", "n is no number"},
		{"checksum", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
		 "damaged: it does not match its checksum"},
		{"checksum", "00", hash},
		{"checksum", "", hash},
		{"digests", "", length},
		{"digests", " ", length},
		{"digests", "084", list},
		{"digests", "08x6", list},
		{"digests", "0846", length},
		{"round", "", length},
		{"round", "084", list},
		{"round", "0800", "not the canonical form"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect_tampered(*state, cases[i][0], cases[i][1], cases[i][2]);
	tamper(*state, "run", json_string("b"));
	expect_third(*state, SL_ERR_NOTFOUND, NULL);
}

/* Write the payload of `message` in hexadecimal. */
static void payload_text(const struct sl_message *message, char *text, size_t size)
{
	uint8_t frame[2048];
	size_t bytes = sl_codec_bytes(message);
	assert_true(bytes <= sizeof frame);
	sl_codec_encode(message, frame, bytes, NULL);
	sodium_bin2hex(text, size, frame + SL_FRAME_HEADER_BYTES, bytes - SL_FRAME_HEADER_BYTES);
}

/* Replace the digests by those of `certificate` and `more`. */
static void expect_certificate(const char *folder, const struct sl_certificate *certificate, const char *more,
			       const char *reason)
{
	static char text[(SL_LEARNERS_MAX + 1) * 600];
	size_t used = 0;
	for (uint32_t i = 0; i < certificate->count; i++) {
		struct sl_message message = {.kind = SL_MSG_DIGEST, .digest = certificate->digests[i]};
		if (i > 0)
			text[used++] = ' ';
		payload_text(&message, text + used, sizeof text - used);
		used += strlen(text + used);
	}
	strcpy(text + used, more);
	expect_tampered(folder, "digests", text, reason);
}

static void expect_round(const char *folder, const struct sl_round_head *round, const char *reason)
{
	struct sl_message message = {.kind = SL_MSG_ROUND, .round_head = *round};
	char text[2048];
	payload_text(&message, text, sizeof text);
	expect_tampered(folder, "round", text, reason);
}

TEST_WITH(certificates_are_checked, folder_setup, folder_teardown)
{
	struct sl_certificate good = certificate_of(3, 2), bad = certificate_of(4, 2);
	expect_certificate(*state, &good, "", NULL);
	expect_certificate(*state, &bad, "", "holds another round");
	bad = certificate_of(3, 2);
	bad.digests[1].id = bad.digests[0].id;
	expect_certificate(*state, &bad, "", "two digests of one signer");
	bad = certificate_of(3, 2);
	bad.digests[1].view[0] ^= 1;
	expect_certificate(*state, &bad, "", "digests that do not agree");
	expect_round(*state, good.round, NULL);
	expect_round(*state, round_of(3, 6, P31, FLOATS), "the Round is of another attempt");
	expect_round(*state, round_of(3, 5, 4, FLOATS), "p is not a prime between 2 and 2^61");
	bad = certificate_of(3, SL_LEARNERS_MAX);
	expect_certificate(*state, &bad, "", NULL);
	expect_certificate(*state, &bad, " 0846", "too many digests");
}

TEST_WITH(other_things_of_its_name, folder_setup, folder_teardown)
{
	const char *path = folder_path(*state, THIRD);
	assert_int_equal(mkdir(path, 0700), 0);
	expect_third(*state, SL_ERR_FORMAT, "shorter than a header");
	remove(path);
	assert_int_equal(mkfifo(path, 0600), 0); /* without a writer */
	expect_third(*state, SL_ERR_FORMAT, "shorter than a header");
}
