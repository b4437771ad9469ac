/* invitation.h - the invitation to a group: one line of text that a learner shows to join it
 * (GROUP.md §12.9 Joining).
 *
 *   starling1-BASE64URL(u8 n | group | admin key | u8 count | (u8 n | address) ... | id | secret | u32
 * expires | checksum)
 *
 * The secret is never sent: a learner proves that it knows the secret. Owns nothing.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

#define SL_INVITATION_ID_BYTES 8u
#define SL_INVITATION_SECRET_BYTES 16u
#define SL_INVITATION_ADDRESSES_MAX SL_ADDRESSES_MAX
#define SL_INVITATION_PROOF_BYTES 32u
#define SL_INVITATION_USES_MAX 1000u

struct sl_invitation {
	char group[SL_NAME_BYTES];
	uint8_t admin[SL_KEY_BYTES]; /* Ed25519 public key of the inviting admin */
	char addresses[SL_INVITATION_ADDRESSES_MAX][SL_ADDRESS_BYTES]; /* of the inviting learner */
	uint32_t address_count;
	uint8_t id[SL_INVITATION_ID_BYTES];
	uint8_t secret[SL_INVITATION_SECRET_BYTES];
	uint32_t expires; /* seconds since 1970, of the inviting machine's clock */
};

#define SL_INVITATION_TEXT_BYTES 2048u
/* Write the line of text. */
void sl_invitation_text(const struct sl_invitation *invitation, char text[static SL_INVITATION_TEXT_BYTES]);
/* Read it; blanks around it do not matter. SL_ERR_INVALID: it was cut or mistyped. */
int sl_invitation_parse(const char *text, struct sl_invitation *invitation, struct sl_error *error);

/* Compute the proof that a learner with key `pin` knows the secret. `exported` is derived from the TLS
 * connection on which the proof is sent. */
void sl_invitation_prove(const uint8_t id[static SL_INVITATION_ID_BYTES],
			 const uint8_t secret[static SL_INVITATION_SECRET_BYTES],
			 const uint8_t exported[static SL_HASH_BYTES],
			 const uint8_t pin[static SL_HASH_BYTES],
			 uint8_t proof[static SL_INVITATION_PROOF_BYTES]);
