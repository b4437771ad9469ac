/* Read an invitation: the bytes as its text, and the bytes in its text, with their checksum, which the fuzzer
 * does not find. One that is accepted is written as the text that it came from. */
#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/membership/invitation.h"
#include "test/fuzz/fuzz.h"

#define PREFIX "starling1-"
#define DOMAIN "starling invitation 1"
#define CHECKSUM_BYTES 4
#define MOST 8192

static bool read(const char *text, const char *same)
{
	static char again[SL_INVITATION_TEXT_BYTES];
	struct sl_invitation invitation;
	if (sl_invitation_parse(text, &invitation, NULL) != SL_OK)
		return false;
	sl_invitation_text(&invitation, again);
	assert(same == NULL || strcmp(again, same) == 0);
	return true;
}

static void read_bytes(const uint8_t *bytes, size_t count)
{
	static uint8_t whole[MOST + CHECKSUM_BYTES], hash[SL_HASH_BYTES];
	static char text[2 * MOST];
	crypto_generichash_state state;
	crypto_generichash_init(&state, NULL, 0, sizeof hash);
	crypto_generichash_update(&state, (const uint8_t *)DOMAIN, sizeof DOMAIN - 1);
	crypto_generichash_update(&state, bytes, count);
	crypto_generichash_final(&state, hash, sizeof hash);
	memcpy(whole, bytes, count);
	memcpy(whole + count, hash, CHECKSUM_BYTES);
	strcpy(text, PREFIX);
	sodium_bin2base64(text + sizeof PREFIX - 1, sizeof text - sizeof PREFIX, whole,
			  count + CHECKSUM_BYTES, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	read(text, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	char *text = malloc(count + 1);
	assert(text != NULL);
	memcpy(text, bytes, count);
	text[count] = '\0';
	read(text, NULL);
	free(text);
	if (count > 0 && count <= MOST)
		read_bytes(bytes, count);
	return 0;
}
