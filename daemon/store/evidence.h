/* evidence.h - files that prove that a learner broke the protocol: records with its signature that no honest
 * learner signs together (GROUP.md §12.5 Equivocation and evidence).
 *
 *   {"format": "starling evidence 1", "kind": "two link states", "run": "study", "roster": HEX, "key": HEX,
 *    "records": [{"message": "link_state", "payload": HEX}, ...]}
 *
 * A payload is that of the frame in which the record travels, so that a file holds records of every kind. A
 * new kind of evidence is a row of the table in evidence.c. A file proves nothing about other keys: the
 * roster says to which learner the key belongs.
 */
#pragma once

#include "common/base/err.h"
#include "common/protocol/canonical.h"
#include "common/wire/codec.h"

#define SL_EVIDENCE_FILE_BYTES 96u /* name of such a file, with its terminating zero */

enum sl_evidence_kind {
	SL_EVIDENCE_TWO_LINK_STATES, /* of one round, attempt and incarnation */
	SL_EVIDENCE_TWO_READYS,	     /* of one attempt */
	SL_EVIDENCE_READY_AND_ABORT, /* of one attempt; the Abort does not name the Ready */
	SL_EVIDENCE_KINDS
};

struct sl_evidence {
	enum sl_evidence_kind kind;
	char run[SL_NAME_BYTES];
	struct sl_scope scope; /* of the learner that wrote the file */
	uint8_t key[SL_KEY_BYTES];
	struct sl_message records[2]; /* signed */
	/* What the records point to, of evidence that was read; owned. */
	struct sl_decoded decoded[2];
	uint8_t *payloads[2];
};

/* Return the kind of two records that the core reports. */
enum sl_evidence_kind sl_evidence_kind(const struct sl_message records[static 2]);

/* Write the file into `folder`; `name` receives its name. SL_ERR_IO; SL_ERR_REFUSED: it has SL_EVIDENCE_FILES
 * of this signer. */
#define SL_EVIDENCE_FILES 100u
int sl_evidence_write(const char *folder, const struct sl_evidence *evidence,
		      char name[static SL_EVIDENCE_FILE_BYTES], struct sl_error *error);
/* Read a file. SL_ERR_IO: it cannot be opened; SL_ERR_FORMAT: it is no evidence file. Close `evidence` in any
 * case. */
int sl_evidence_read(const char *path, struct sl_evidence *evidence, struct sl_error *error);
void sl_evidence_close(struct sl_evidence *evidence);

/* Return SL_OK if the records prove what the kind says of the owner of the key; otherwise the error says why
 * not. */
int sl_evidence_check(const struct sl_evidence *evidence, struct sl_error *error);

/* Return the name of the kind, as in the file, and what its signer did: "signed two different link states".
 */
const char *sl_evidence_name(enum sl_evidence_kind kind);
const char *sl_evidence_conflict(enum sl_evidence_kind kind);
/* What the records are about; of evidence that passed the check. */
sl_id sl_evidence_signer(const struct sl_evidence *evidence);
sl_round sl_evidence_round(const struct sl_evidence *evidence);
sl_attempt sl_evidence_attempt(const struct sl_evidence *evidence);
/* Write the names of the fields in which two records of one message differ, but for the signature: "a, b". */
void sl_evidence_differences(const struct sl_evidence *evidence, char *text, size_t size);
