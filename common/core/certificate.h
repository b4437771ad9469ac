/* certificate.h - the certificate of the last committed round, for learners that catch up: matching digests
 * of distinct signers, and chunks of Z (PROTOCOL.md §11.3 Certificates and signers).
 */
#pragma once

#include "common/core/state.h"

/* Begin a certificate: what digest `d` says, without any signer yet. */
void sl_certificate_begin(struct sl_certificate *certificate, const struct sl_digest *d);
/* Add the signer of `d`, if it says the same and has not signed yet. */
void sl_certificate_add(struct sl_certificate *certificate, const struct sl_digest *d);
/* Return true if `d` says the same as the certificate. */
bool sl_certificate_agrees(const struct sl_certificate *certificate, const struct sl_digest *d);

/* Send the own digest over the link of core->single, which has come up: the last one may have lost it. */
void sl_certificate_greet(struct sl_core *core);
/* Attest the last result, which was fetched from a peer: sign its digest for the peers of `to`. */
void sl_certificate_attest(struct sl_core *core, const uint64_t *to);
/* Send the certificate, which has a new signer, to the peers that received it with too few. */
void sl_certificate_signed(struct sl_core *core);
/* Answer a request for the last result. */
void sl_certificate_ask(struct sl_core *core, uint32_t peer, const struct sl_request *request);
/* Return the number of chunks of Z. */
uint32_t sl_certificate_chunks(const struct sl_core *core);
