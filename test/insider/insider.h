/* insider.h - a learner with a roster key that lies: the daemon of this tree, whose outgoing messages pass
 * through a lie.
 *
 * The program `insider` is starlingd with a few functions wrapped by the linker. It holds the real core,
 * store, TLS and links, so that it follows the protocol in everything that its lie leaves alone, for every
 * engine. The environment variable STARLING_LIE=NAME[:ID] names the lie, and
 * the learner that tells it; without ID every learner started with it does. Messages whose signer is the
 * insider are signed again after the lie; messages of other signers, which it relays, reach the lie too. A
 * lie may also change what the insider shares: its own encoding.
 *
 * To add a lie: a function or two in a file of this folder, a row of its table (lies.h), and a row of the
 * table in test_insider.c, which says what the lie must lead to.
 */
#pragma once

#include "daemon/learner/daemon.h"

struct insider {
	struct sl_daemon *daemon;
	const struct lie *lie; /* NULL: it is honest */
	uint64_t ticks;	       /* calls of `tick` so far */
	uint64_t counter;      /* for the lie */
	sl_round round;	       /* for the lie */
	struct later *later;   /* frames that wait, in any order */
	uv_timer_t timer;
};

#define INSIDER_TICK_MS 20u

/* A part of the own encoding, of a ranged round (ROUND.md §4.3 Limbs and ranges). */
struct insider_part {
	const struct sl_field *field;
	const struct sl_encoding *encoding;
	size_t first, count; /* elements of the vector */
	uint64_t *x;
};

/* Any of the functions may be NULL. */
struct lie {
	const char *name;
	/* Change what the core starts with. */
	void (*configure)(struct sl_core_config *config);
	/* Change a part of the own encoding; called on the worker thread, for each part more than once. */
	void (*encode)(struct insider *insider, const struct insider_part *part);
	/* Change elements of the own share of noise; called like `encode`. */
	void (*noise)(struct insider *insider, int64_t *noise, size_t n);
	/* Change `out`, which is about to leave for `peer` (roster index); false: it does not leave. Pointers
	 * in it may be set to memory that lives until the function is called again. */
	bool (*send)(struct insider *insider, uint32_t peer, struct sl_message *out);
	/* Called every INSIDER_TICK_MS, to send more. */
	void (*tick)(struct insider *insider);
};

/* Return true if this learner signed `message`. */
bool insider_signs(const struct insider *insider, const struct sl_message *message);
/* Send `message` to `peer`, past the lie; signed, if this learner is its signer. */
void insider_send(struct insider *insider, uint32_t peer, struct sl_message *message);
void insider_send_all(struct insider *insider, struct sl_message *message);
/* The same, `ms` later. */
void insider_send_later(struct insider *insider, uint32_t peer, struct sl_message *message, uint64_t ms);
/* Return the round in which this learner is. */
sl_round insider_round(const struct insider *insider);
/* Return the last link state of this learner that the lie let pass, for lies that repeat it; NULL: none yet.
 */
const struct sl_link_state *insider_link_state(const struct insider *insider);
/* Add `value` mod p to the element `at` of a packed chunk. */
void insider_add(const struct insider *insider, struct sl_message *chunk, size_t at, uint64_t value);
