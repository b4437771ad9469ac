/* Feed a byte stream to the deframer and each frame to the codec. An accepted message keeps the rules of
 * check.h, as sl_codec_bytes asserts, and is encoded to the bytes that it came from. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/codec.h"
#include "common/wire/frame.h"
#include "test/fuzz/fuzz.h"
#include "test/wire/stream.h"

static void expect_same(const struct sl_message *message, const struct sl_deframer *s)
{
	size_t size = sl_codec_bytes(message);
	assert(size == SL_FRAME_HEADER_BYTES + s->size);
	uint8_t *frame = malloc(size);
	assert(frame != NULL);
	sl_codec_encode(message, frame, size, NULL);
	assert(memcmp(frame, s->header, SL_FRAME_HEADER_BYTES) == 0);
	assert(s->size == 0 || memcmp(frame + SL_FRAME_HEADER_BYTES, s->payload, s->size) == 0);
	free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct sl_deframer s = {0};
	while (stream_take(&s, &bytes, &count) == SL_OK) {
		struct sl_decoded decoded;
		const char *why;
		if (sl_codec_decode(s.kind, s.payload, s.size, &decoded, &why) == SL_OK)
			expect_same(&decoded.message, &s);
		sl_codec_close(&decoded);
		sl_deframer_next(&s);
	}
	sl_deframer_close(&s);
	return 0;
}
