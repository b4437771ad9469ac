/* <starling/core.h> - one learner of a federation as a library: it decides, computes and packs messages. The
 * program has the sockets, the disk, the threads and the clock. libstarlingcore(3); ROUND.md has the
 * protocol.
 *
 *      what happens (events)                              what is to be done (duties)
 *      starling_core_link, _receive, _trained   +------+  record, send, links, train,
 *      starling_core_durable, _done, _tick ---->| core |-> committed, report, stop, jobs
 *                                               +------+
 *
 * A model is a vector of floats. In a round each learner trains it, and all of them get the exact mean of
 * what was trained. No learner sees the model of another (ROUND.md §2 to §5).
 *
 * The duties of the program. The safety of the protocol (ROUND.md §9 and §14) rests on them:
 *
 *   1. One call at a time for a learner, and none from within a duty. Only starling_core_run may run at
 *      the same time.
 *   2. record: append the bytes to the log of the learner. When they are on stable storage, and not
 *      sooner, call starling_core_durable, once for each record, in order. What depends on a record is
 *      sent in that call. If a record cannot be written, end the learner. Records have secrets: keep the
 *      log as a key is kept.
 *   3. send: at once and in order, over an encrypted link on which the peer has proved its key
 *      (LINKS.md §6.2). Frames that were sent arrive in order, or the link is down.
 *   4. Jobs: after each call, take the next job from starling_core_job, compute it by starling_core_run
 *      on any thread, and hand it in by starling_core_done.
 *   5. train: train `model`, which is the last committed one, in place, then call starling_core_trained.
 *      If `again` is not 0, the model must differ from that before: it may have been released (ROUND.md
 *      §9.4). A later call of train cancels the one before.
 *   6. links: keep links to these peers and to no others. Call starling_core_link when one is up or down,
 *      also for a peer that cannot be reached.
 *   7. The timer: after each call, set it to starling_core_deadline, and then call starling_core_tick.
 *   8. stop: the learner is done, or has failed with a code. Only starling_core_close may follow.
 *   9. A restart: starling_core_open as before, starling_core_restore with each record of the log in
 *      order, starling_core_start. Without its log a learner must not start again under its key.
 *
 * Units: time in milliseconds of a clock that never goes back; sizes in bytes; learners by their index in
 * the roster. Errors: 0 or a negative code, of which starling_core_error has the text. The library ends
 * the program (abort) if memory is exhausted, and if one of its own rules is broken.
 */
#ifndef STARLING_CORE_H
#define STARLING_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STARLING_CORE_NEVER UINT64_MAX /* as a time */

struct starling_core;	  /* a learner */
struct starling_core_job; /* slow arithmetic on its vectors */

struct starling_core_member {
	uint32_t id;	       /* not 0 */
	unsigned char key[32]; /* Ed25519, public */
};

/* The same at all learners, but for `self` and `secret`. Cores with other members, rounds, quorum, tolerance
 * or max_weight have another roster: neither is in a view of the other, and both report LEFT OUT or FAILED
 * with "roster". With other elements it is "other model". Copied, except members and secret. */
struct starling_core_options {
	const char *run;			    /* name: keys sign for one run only */
	const struct starling_core_member *members; /* the roster, ascending by id */
	uint32_t learners;			    /* in the roster: 3 or more */
	uint32_t self;
	const unsigned char *secret; /* 64 bytes: the own key pair, as crypto_sign_keypair of libsodium */
	size_t elements;	     /* of the model */
	uint32_t rounds;
	uint32_t quorum;     /* participants of a round, at least; 0: a majority */
	uint32_t tolerance;  /* learners that may collude without learning anything; 0: 1 */
	uint64_t max_weight; /* 0: 1, all models count alike */
};

struct starling_core_duties {
	/* `first` is not 0: the records before this one are needed no more. */
	void (*record)(void *context, const void *bytes, size_t size, int first);
	void (*send)(void *context, uint32_t peer, const void *frame, size_t size);
	void (*links)(void *context, const unsigned char *wanted); /* 0 or 1 for each learner; may be NULL */
	void (*train)(void *context, uint32_t round, int again, float *model);
	void (*committed)(void *context, uint32_t round, const float *model);
	/* A phase is entered ("MIX"), or something is worth a line ("FAILED", "quorum"). Texts are constants;
	 * `why` and `peer` are NULL and UINT32_MAX without one. May be NULL. */
	void (*report)(void *context, uint32_t round, const char *what, const char *why, uint32_t peer);
	void (*stop)(void *context, int code);
};

/* Return a learner, or NULL: an option is out of range. `duties` and `context` must stay valid. */
struct starling_core *starling_core_open(const struct starling_core_options *options,
					 const struct starling_core_duties *duties, void *context);
int starling_core_restore(struct starling_core *core, const void *record, size_t size);
int starling_core_start(struct starling_core *core);  /* runs when its first record is durable */
void starling_core_close(struct starling_core *core); /* wipes what is secret; NULL: nothing to do */

int starling_core_link(struct starling_core *core, uint32_t peer, int up, uint64_t now);
int starling_core_receive(struct starling_core *core, uint32_t peer, const void *frame, size_t size,
			  uint64_t now); /* a frame that cannot be right: an error; drop the link */
int starling_core_trained(struct starling_core *core, uint32_t round, uint64_t weight, uint64_t now);
int starling_core_durable(struct starling_core *core, uint64_t now);
int starling_core_tick(struct starling_core *core, uint64_t now);
uint64_t starling_core_deadline(const struct starling_core *core);

struct starling_core_job *starling_core_job(struct starling_core *core); /* NULL: none is due */
void starling_core_run(struct starling_core_job *job);
int starling_core_done(struct starling_core_job *job, uint64_t now); /* frees it */

/* Make a key pair: 32 and 64 bytes. */
int starling_core_keys(unsigned char *key, unsigned char *secret);
const char *starling_core_error(int code);

#ifdef __cplusplus
}
#endif
#endif
