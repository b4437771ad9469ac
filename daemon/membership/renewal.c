#include "daemon/membership/renewal.h"

#include <sodium.h>

#include "common/base/bytes.h"

#define DOMAIN "starling renew proof 1"
#define MESSAGE_BYTES (sizeof DOMAIN - 1 + 2 * SL_HASH_BYTES + SL_KEY_BYTES)

static void message(const uint8_t next[static SL_KEY_BYTES], const uint8_t exported[static SL_HASH_BYTES],
		    const uint8_t present_pin[static SL_HASH_BYTES], uint8_t bytes[static MESSAGE_BYTES])
{
	struct sl_writer w = {.bytes = bytes, .size = MESSAGE_BYTES};
	sl_bytes_put(&w, DOMAIN, sizeof DOMAIN - 1);
	sl_bytes_put(&w, exported, SL_HASH_BYTES);
	sl_bytes_put(&w, present_pin, SL_HASH_BYTES);
	sl_bytes_put(&w, next, SL_KEY_BYTES);
}

void sl_renewal_sign(const struct sl_identity *next, const uint8_t exported[static SL_HASH_BYTES],
		     const uint8_t present_pin[static SL_HASH_BYTES], uint8_t proof[static SL_SIG_BYTES])
{
	uint8_t bytes[MESSAGE_BYTES];
	message(next->public_key, exported, present_pin, bytes);
	crypto_sign_detached(proof, NULL, bytes, sizeof bytes, next->sign_key);
}

bool sl_renewal_verify(const uint8_t next[static SL_KEY_BYTES], const uint8_t exported[static SL_HASH_BYTES],
		       const uint8_t present_pin[static SL_HASH_BYTES],
		       const uint8_t proof[static SL_SIG_BYTES])
{
	uint8_t bytes[MESSAGE_BYTES];
	message(next, exported, present_pin, bytes);
	return crypto_sign_verify_detached(proof, bytes, sizeof bytes, next) == 0;
}
