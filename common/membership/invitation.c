#include "common/membership/invitation.h"

#include <sodium.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/config/roster.h"

#define PREFIX "starling1-"
#define CHECKSUM_DOMAIN "starling invitation 1"
#define PROOF_DOMAIN "starling join proof 1"
#define CHECKSUM_BYTES 4u
#define BLANKS " \t\r\n"
#define BYTES_MAX                                                                                            \
	(1 + SL_NAME_BYTES + SL_KEY_BYTES + 1 + SL_INVITATION_ADDRESSES_MAX * (1 + SL_ADDRESS_BYTES) +       \
	 SL_INVITATION_ID_BYTES + SL_INVITATION_SECRET_BYTES + 4 + CHECKSUM_BYTES)
#define BASE64 sodium_base64_VARIANT_URLSAFE_NO_PADDING

static_assert(SL_ADDRESS_BYTES <= 256 && SL_NAME_BYTES <= 256, "a length fits a byte");
static_assert(sizeof PREFIX + (BYTES_MAX * 4 + 2) / 3 + 1 <= SL_INVITATION_TEXT_BYTES, "the text fits");

static void checksum(const uint8_t *bytes, size_t size, uint8_t sum[static CHECKSUM_BYTES])
{
	uint8_t hash[SL_HASH_BYTES];
	crypto_generichash_state state;
	crypto_generichash_init(&state, NULL, 0, sizeof hash);
	crypto_generichash_update(&state, (const uint8_t *)CHECKSUM_DOMAIN, sizeof CHECKSUM_DOMAIN - 1);
	crypto_generichash_update(&state, bytes, size);
	crypto_generichash_final(&state, hash, sizeof hash);
	memcpy(sum, hash, CHECKSUM_BYTES);
}

static void put_text(struct sl_writer *w, const char *text)
{
	uint8_t size = (uint8_t)strlen(text);
	sl_bytes_put(w, &size, 1);
	sl_bytes_put(w, text, size);
}

void sl_invitation_text(const struct sl_invitation *invitation, char text[static SL_INVITATION_TEXT_BYTES])
{
	uint8_t bytes[BYTES_MAX], count = (uint8_t)invitation->address_count, sum[CHECKSUM_BYTES];
	struct sl_writer w = {.bytes = bytes, .size = sizeof bytes};
	put_text(&w, invitation->group);
	sl_bytes_put(&w, invitation->admin, sizeof invitation->admin);
	sl_bytes_put(&w, &count, 1);
	for (uint32_t i = 0; i < invitation->address_count; i++)
		put_text(&w, invitation->addresses[i]);
	sl_bytes_put(&w, invitation->id, sizeof invitation->id);
	sl_bytes_put(&w, invitation->secret, sizeof invitation->secret);
	sl_bytes_put_u32(&w, invitation->expires);
	checksum(bytes, w.used, sum);
	sl_bytes_put(&w, sum, sizeof sum);
	assert(w.used <= w.size);
	memcpy(text, PREFIX, sizeof PREFIX - 1);
	sodium_bin2base64(text + sizeof PREFIX - 1, SL_INVITATION_TEXT_BYTES - sizeof PREFIX + 1, bytes,
			  w.used, BASE64);
	sodium_memzero(bytes, sizeof bytes);
}

/* ---- reading ---- */

struct reader {
	const uint8_t *at;
	size_t left;
	bool failed;
};

static void take(struct reader *r, void *to, size_t size)
{
	if (r->failed || size > r->left) {
		r->failed = true;
		memset(to, 0, size);
		return;
	}
	memcpy(to, r->at, size);
	r->at += size;
	r->left -= size;
}

/* Read a text that is shorter than `size`, and has no zero byte in it. */
static void take_text(struct reader *r, char *to, size_t size)
{
	uint8_t n;
	take(r, &n, 1);
	r->failed = r->failed || n >= size;
	if (r->failed)
		return;
	take(r, to, n);
	to[n] = '\0';
	r->failed = r->failed || strlen(to) != n;
}

static bool read_all(struct reader *r, struct sl_invitation *invitation)
{
	uint8_t count, expires[4];
	take_text(r, invitation->group, sizeof invitation->group);
	take(r, invitation->admin, sizeof invitation->admin);
	take(r, &count, 1);
	if (r->failed || count == 0 || count > SL_INVITATION_ADDRESSES_MAX)
		return false;
	invitation->address_count = count;
	for (uint32_t i = 0; i < count && !r->failed; i++)
		take_text(r, invitation->addresses[i], sizeof invitation->addresses[i]);
	take(r, invitation->id, sizeof invitation->id);
	take(r, invitation->secret, sizeof invitation->secret);
	take(r, expires, sizeof expires);
	invitation->expires = sl_bytes_get_u32(expires);
	return !r->failed && r->left == 0;
}

static bool texts_fit(const struct sl_invitation *invitation)
{
	bool fit = sl_roster_name_check(invitation->group, NULL) == SL_OK;
	for (uint32_t i = 0; fit && i < invitation->address_count; i++)
		fit = sl_roster_address_check(invitation->addresses[i], NULL) == SL_OK;
	return fit;
}

static bool parse(const char *text, size_t size, struct sl_invitation *invitation)
{
	uint8_t bytes[BYTES_MAX], sum[CHECKSUM_BYTES];
	size_t used;
	bool good = size > sizeof PREFIX && memcmp(text, PREFIX, sizeof PREFIX - 1) == 0 &&
		    sodium_base642bin(bytes, sizeof bytes, text + sizeof PREFIX - 1,
				      size - (sizeof PREFIX - 1), NULL, &used, NULL, BASE64) == 0 &&
		    used > CHECKSUM_BYTES;
	if (good) {
		struct reader r = {.at = bytes, .left = used - CHECKSUM_BYTES};
		checksum(bytes, r.left, sum);
		good = memcmp(sum, bytes + r.left, sizeof sum) == 0 && read_all(&r, invitation) &&
		       texts_fit(invitation);
	}
	sodium_memzero(bytes, sizeof bytes);
	return good;
}

int sl_invitation_parse(const char *text, struct sl_invitation *invitation, struct sl_error *error)
{
	*invitation = (struct sl_invitation){0};
	text += strspn(text, BLANKS);
	size_t size = strlen(text);
	while (size > 0 && strchr(BLANKS, text[size - 1]) != NULL)
		size--;
	if (parse(text, size, invitation))
		return SL_OK;
	sodium_memzero(invitation, sizeof *invitation);
	return sl_err_set(error, SL_ERR_INVALID,
			  "the invitation was cut or mistyped; copy the whole line that begins with " PREFIX);
}

void sl_invitation_prove(const uint8_t id[static SL_INVITATION_ID_BYTES],
			 const uint8_t secret[static SL_INVITATION_SECRET_BYTES],
			 const uint8_t exported[static SL_HASH_BYTES],
			 const uint8_t pin[static SL_HASH_BYTES],
			 uint8_t proof[static SL_INVITATION_PROOF_BYTES])
{
	crypto_generichash_state state;
	crypto_generichash_init(&state, secret, SL_INVITATION_SECRET_BYTES, SL_INVITATION_PROOF_BYTES);
	crypto_generichash_update(&state, (const uint8_t *)PROOF_DOMAIN, sizeof PROOF_DOMAIN - 1);
	crypto_generichash_update(&state, exported, SL_HASH_BYTES);
	crypto_generichash_update(&state, pin, SL_HASH_BYTES);
	crypto_generichash_update(&state, id, SL_INVITATION_ID_BYTES);
	crypto_generichash_final(&state, proof, SL_INVITATION_PROOF_BYTES);
	sodium_memzero(&state, sizeof state);
}
