/* certificate.h - the certificate of the last committed round, for learners that catch up: its Round,
 * equal digests of participants, and chunks of the model (ROUND.md §11.3 Certificates and signers).
 */
#pragma once

#include "common/core/state.h"

/* Begin a certificate: what digest `d` says, without any signer yet; the caller gives it a Round and places.
 */
void sl_certificate_begin(struct sl_certificate *certificate, const struct sl_digest *d);
/* Add the signer of `d`, if it says the same, has not signed yet, and a place is free. */
void sl_certificate_add(struct sl_certificate *certificate, const struct sl_digest *d);
/* .. which has not signed yet. */
void sl_certificate_append(struct sl_certificate *certificate, const struct sl_digest *d);
/* Return true if `d` says the same as the certificate. */
bool sl_certificate_agrees(const struct sl_certificate *certificate, const struct sl_digest *d);
/* Return true if the stores have room for the members of the Round, which may be of an earlier roster. */
bool sl_certificate_fits(const struct sl_core *core, const struct sl_round_head *round);
/* Begin the certificate of the store with a copy of `round`, whose members fit; there is no signer yet. */
void sl_certificate_keep(struct sl_certificate_store *store, const struct sl_round_head *round);
/* Copy a certificate, with its Round. */
void sl_certificate_copy(struct sl_certificate_store *store, const struct sl_certificate *from);

/* Return the number of digests that show a result (q of ROUND.md §7.14 Confirm): by the own tolerance and
 * the `forgetful` of its Round. */
uint32_t sl_certificate_need(const struct sl_core *core, const struct sl_round_head *round);

/* Send the own digest to `to`: over a link that came up, since the last one may have lost it; over all, since
 * there are enough signers now, and peers that asked before may ask again. */
void sl_certificate_sign(struct sl_core *core, const uint64_t *to);
/* A Hello of `peer` came: if it is open in the last committed round, the digests may be all that it lacks. */
void sl_certificate_hello(struct sl_core *core, uint32_t peer);
/* Answer a request for the last result. */
void sl_certificate_ask(struct sl_core *core, uint32_t peer, const struct sl_request *request);
/* Return the number of chunks of a model, and the bytes of chunk `index`. */
uint32_t sl_certificate_chunks(const struct sl_core *core);
size_t sl_certificate_chunk_bytes(const struct sl_core *core, uint32_t index);
