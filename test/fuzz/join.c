/* Feed bytes to the decoders of requests and answers of learners that join. An accepted message is encoded to
 * the bytes that it came from. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/join_codec.h"
#include "test/fuzz/fuzz.h"

static void expect_same(const uint8_t *packed, size_t size, const uint8_t *bytes, size_t count)
{
	assert(size == SL_JOIN_HEAD_BYTES + count);
	assert(memcmp(packed + SL_JOIN_HEAD_BYTES, bytes, count) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static uint8_t packed[SL_JOIN_HEAD_BYTES + SL_JOIN_ANSWER_BYTES_MAX];
	struct sl_join_request request;
	struct sl_join_answer answer;
	if (sl_join_codec_take_request(bytes, count, &request) == NULL)
		expect_same(packed, sl_join_codec_put_request(&request, packed), bytes, count);
	if (sl_join_codec_take_answer(bytes, count, &answer) == NULL)
		expect_same(packed, sl_join_codec_put_answer(&answer, packed), bytes, count);
	return 0;
}
