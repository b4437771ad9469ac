/* driver_message.h - the messages of the learners that a script plays (driver.h). */
#pragma once

#include "test/core/driver_words.h"

#define MESSAGE_VALUES_MAX 1024u

/* A message and what it points to. */
struct played {
	struct sl_message message;
	uint8_t held[WORDS_LIST_MAX], keys[WORDS_LIST_MAX];
	struct sl_held_share share;
	uint8_t packed[MESSAGE_VALUES_MAX];
	uint32_t members[2 * WORDS_LIST_MAX];
};

/* Return the kind that the words before the fields name, or SL_MESSAGE_KINDS. */
uint32_t message_kind(const char *head);
/* Make the message of `kind` that `from` sends, with the fields that the words name. */
void message_play(struct driver *p, struct words *w, enum sl_message_kind kind, sl_id from, struct played *m);
/* Return what comes with a message of a vector: zeros, or a key share; the core owns it. */
struct sl_buffer *message_buffer(const struct driver *p, const struct words *w, const struct sl_message *m,
				 sl_id from);
/* Write the checksums that learner `id` signs: of the masked state of position i, i + 1 at each point. Return
 * their number. */
size_t message_checksums(const struct driver *p, sl_id id, uint64_t *values);
/* Write the root of the own key shares. */
void message_root(const struct driver *p, uint8_t *root);
