/* Feed the codec: the first byte is the kind of the message, the others are its payload. An accepted message
 * is encoded to the bytes that it came from. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/codec.h"
#include "common/wire/frame.h"
#include "test/fuzz/fuzz.h"

static void expect_same(const struct sl_message *message, const uint8_t *payload, size_t size)
{
	size_t all = sl_codec_bytes(message);
	assert(all == SL_FRAME_HEADER_BYTES + size && size <= sl_frame_limit(message->kind));
	uint8_t *frame = malloc(all);
	assert(frame != NULL);
	sl_codec_encode(message, frame, all, NULL);
	assert(memcmp(frame + SL_FRAME_HEADER_BYTES, payload, size) == 0);
	free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct sl_decoded decoded;
	const char *why;
	if (count == 0 || count - 1 > sl_frame_limit(bytes[0]))
		return 0;
	if (sl_codec_decode(bytes[0], bytes + 1, count - 1, &decoded, &why) == SL_OK)
		expect_same(&decoded.message, bytes + 1, count - 1);
	else
		assert(why != NULL);
	sl_codec_close(&decoded);
	return 0;
}
