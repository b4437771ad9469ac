#include "test/store/result_fixture.h"

#include <stdio.h>
#include <string.h>

#include "common/core/certificate.h"

const uint8_t made_z[Z_BYTES] = {1, 0, 0, 0, 0xfe, 0xff, 0xff, 0x7f, 7, 6, 5, 4, 0x10, 0x27, 0, 0};

static void fill(uint8_t *bytes, size_t size, unsigned first)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(first + 3 * i);
}

struct sl_round_head *round_of(sl_round t, sl_attempt a, uint64_t p, uint64_t n)
{
	static struct sl_round_head rounds[4];
	static uint32_t members[40];
	static unsigned turns;
	struct sl_round_head *round = &rounds[turns++ % 4];
	for (uint32_t i = 0; i < 20; i++)
		members[2 * i] = i + 51;
	*round = (struct sl_round_head){
		.t = t, .a = a, .p = p, .n = n, .count = 40, .members = members, .total = 7};
	fill(round->previous, sizeof round->previous, 3);
	fill(round->roster, sizeof round->roster, 4);
	fill(round->edges, sizeof round->edges, 5);
	fill(round->strands, sizeof round->strands, 6);
	return round;
}

struct sl_certificate certificate_of(sl_round t, uint32_t signers)
{
	static struct sl_digest digests[4][SL_LEARNERS_MAX];
	static unsigned turns;
	struct sl_certificate certificate = {.digests = digests[turns++ % 4], .room = SL_LEARNERS_MAX};
	struct sl_digest d = {.t = t, .a = 5};
	fill(d.view, sizeof d.view, 1);
	fill(d.digest, sizeof d.digest, 2);
	sl_certificate_begin(&certificate, &d);
	certificate.round = round_of(t, 5, P31, FLOATS);
	for (uint32_t i = 0; i < signers; i++) {
		d.id = i == 0 ? 70 : 100 + i;
		fill(d.key, sizeof d.key, 10 + 2 * i);
		fill(d.signature, sizeof d.signature, 11 + 2 * i);
		sl_certificate_add(&certificate, &d);
	}
	return certificate;
}

void write_made(const char *folder, const char *run, sl_round t)
{
	struct sl_certificate certificate = certificate_of(t, 2);
	struct sl_error error = {0};
	uint8_t sum[SL_HASH_BYTES];
	if (sl_result_write(folder, run, &certificate, FLOATS, made_z, sizeof made_z, NULL, 0, sum, &error) !=
	    SL_OK)
		fail_msg("%s", error.text);
}

void expect_third(const char *folder, int code, const char *reason)
{
	struct sl_result result;
	struct sl_error error = {0};
	char text[256];
	memset(&result, 0xa5, sizeof result);
	assert_int_equal(sl_result_open(folder, RUN, FLOATS, 3, &result, &error), code);
	if (reason != NULL) {
		snprintf(text, sizeof text, THIRD ": %s", reason);
		assert_string_equal(error.text, folder_path(folder, text));
	}
	if (code != SL_OK) {
		assert_int_equal(error.code, code);
		assert_null(result.map);
		assert_null(result.model);
		assert_int_equal(result.bytes, 0);
		assert_int_equal(result.certificate.count, 0);
	}
	sl_result_close(&result);
	assert_null(result.model);
}
