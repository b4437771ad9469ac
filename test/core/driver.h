/* driver.h - one real core, alone. A test writes as a script what happens to it, and what it must do:
 *
 *	play(p, "link up 2 -> hello t1 training to 2\n"
 *		"hello t1 ready from 2 3\n"
 *		"trained -> DISCOVER, *, link state of 1 a1 to 2 3");
 *
 * A line is a cause, or a cause and the effects that it must have, both as test/explorer/trace.h writes them.
 *In effects, * stands for any text; "invalid" says that the core refused the event. The first line starts the
 *core.
 *
 *	start, trained, operator abort
 *	link up ID .., link down ID ..
 *	deadline +MS                         the clock goes on by MS, then a deadline
 *	durable RECORD                       of the last PERSIST action of that kind; tN, aN: of another
 *	JOB done, JOB failed, late JOB done  late: of the epoch before that of the last job
 *	MESSAGE FIELDS from ID ..
 *	due +MS, due never                   no event: checks the next deadline
 *	holds N                              no event: N buffers may stay with the core at the end
 *
 * Several ids, or `all`, are as many events; the effects are those of the last one. Fields of messages, with
 * what holds if they are missing: of ID, the signer (the sender); tN, round (1); aN, attempt (that of the
 * view, or 1); iN, incarnation (1); kN (3; 0 for a state); mN, parameter `model` (the own); f1, parameter
 * `failed`; vN, first byte of h, the others 0 (h of the last job's view); dN, first byte of a digest (7);
 * names ID .., candidates (all others; n0: none); by ID, the holder of an opening; keys .., positions of a
 * have; of an abort, which else denies the signer's Ready: r1, it is never released; gN, `says`; xN, a change
 *of the first byte or number of a key share, opening, checksum; size +N, more bytes than are right; numbers:
 *chunk of a vector, positions of a have. A Round has all learners; later messages are of its view.
 *
 * Learner 1 is the core; the test plays 2, 3, ...
 */
#pragma once

#include <string.h>

#include "test/explorer/trace.h"

struct driver {
	struct sl_core_config config;
	struct sl_core *core;
	void *arena;
	sl_id *ids;
	sl_ms now;
	const struct sl_view *view;			/* of the last job */
	uint8_t h[SL_HASH_BYTES];			/* of that view; before the first job 9, 0, 0, .. */
	uint32_t epoch;					/* of the last job */
	uint32_t chunk[SL_JOB_KINDS];			/* of the last job of each kind */
	struct sl_durable asked[SL_PERSIST_COMMIT + 1]; /* of the last PERSIST action of each kind */
	struct sl_secrets secrets;			/* what SECRETS makes */
	uint8_t told[SL_HASH_BYTES];			/* `records` of the last Hello that the core sent */
	uint64_t off;					/* error of the checksum of Z */
	bool more;					/* another event follows each at once */
	struct sl_analysis analysis;			/* what ANALYSE finds; kappa 2, degree of r 3 */
	uint32_t given, back, holds;			/* buffers; those that the core may keep at the end */
	int code;					/* of the last step */
	struct sl_actions actions;
	struct sl_sim_trace trace;
};

/* A case that is nothing but a script, played to the driver `begin`. */
#define CASE(name, begin, script)                                                                            \
	TEST(name)                                                                                           \
	{                                                                                                    \
		struct driver *p = begin;                                                                    \
		play(p, script);                                                                             \
		driver_free(p);                                                                              \
	}

/* Return a driver with `learners` in the roster and models of n floats. p->config and p->analysis may be
 * changed; the first line of a script starts the core. */
struct driver *driver_new(uint32_t learners, uint64_t n);
/* Check that the core holds as many buffers as the script says, and free all. */
void driver_free(struct driver *p);

/* Play a script: a format and its arguments. */
#define play(p, ...) driver_play(p, __FILE__, __LINE__, __VA_ARGS__)
void __attribute__((format(printf, 4, 5)))
driver_play(struct driver *p, const char *file, int line, const char *script, ...);
/* Process one event; return its trace. */
const char *driver_step(struct driver *p, struct sl_event event);

/* Parts of a round, for a complete graph: all linked, trained and ready, and all link states of attempt 1
 * heard, up to ANALYSE; up to the first share; up to the own Ready; up to the own Key; up to CLOSE; up to the
 * own digest; up to the committed round. */
struct driver *driver_agree(struct driver *p);
struct driver *driver_share(struct driver *p);
struct driver *driver_ready(struct driver *p);
struct driver *driver_release(struct driver *p);
struct driver *driver_mix(struct driver *p);
struct driver *driver_confirm(struct driver *p);
struct driver *driver_commit(struct driver *p);

/* From the shares of the neighbours 2 and 3, the only ones, to their Readys. */
void driver_ready_with_2_and_3(struct driver *p);
/* Up to the own Key in a view of 1, 2 and 3: of four learners, 4 was not linked, and is by then. */
struct driver *driver_release_without_4(void);

/* Return true if the last step's trace contains `text`. */
bool driver_says(const struct driver *p, const char *text);
/* Return the last step's report of `kind`, or the own message of `kind` that it sent; fail without one. */
const struct sl_report *driver_report(const struct driver *p, enum sl_report_kind kind);
const struct sl_message *driver_sent(const struct driver *p, enum sl_message_kind kind);
struct sl_core_status driver_status(const struct driver *p);
