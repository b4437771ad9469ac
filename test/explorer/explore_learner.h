/* explore_learner.h - a learner as a number: its core, vectors, disk and memory of what it did (its *past*)
 * lie in one block, the stage, whose content is kept as a byte string. An operation takes a number to the
 * number of the learner after it and to the messages that it sends; each is computed once.
 *
 * Jobs and records are executed at once, in the order in which the core asks for them. The learner's clock
 * stands still but for timeouts. Owns all that it points to. One explorer may exist in a process at a time.
 */
#pragma once

#include <stdio.h>

#include "common/core/core.h"
#include "test/explorer/explore_store.h"

#define SL_EXPLORE_ACTORS 6u /* learners, and the second self of a liar */

enum sl_explore_operation {
	SL_EXPLORE_MESSAGE, /* `what` arrives from `peer` */
	SL_EXPLORE_LINK_UP, /* to `peer` */
	SL_EXPLORE_LINK_DOWN,
	SL_EXPLORE_TIMEOUT, /* the clock advances to the learner's next deadline */
	SL_EXPLORE_WAIT,    /* the clock advances by `what` ms; a deadline that is due is heeded */
	SL_EXPLORE_CRASH,   /* what is on the disk remains */
	SL_EXPLORE_RESTART, /* from the disk */
	SL_EXPLORE_FORGET,  /* restart from the disk as it was before record `what` of the learner's past */
	SL_EXPLORE_EMPTY,   /* restart from an empty disk */
	SL_EXPLORE_TWIN,    /* its masked state is another one from now on */
};
struct sl_explore_step {
	uint32_t learner; /* the number before */
	uint32_t operation, peer, what;
	uint32_t crash;	  /* k > 0: crash as soon as the k-th record of this step is durable */
	uint32_t corrupt; /* the first byte of the chunk is another one */
};

/* A record of the past; the disk may forget it, the past does not. */
struct sl_explore_record {
	uint32_t kind; /* of enum sl_persist_kind; SL_EXPLORE_FORGOTTEN */
	uint32_t a;
	uint32_t members; /* PREPARED: the own bit; RELEASED: of the view, as a bit set over the roster */
	uint32_t model;	  /* PREPARED: which model entered the attempt */
	uint64_t view, digest;
	uint32_t before; /* the learner before this record */
	uint32_t pad;
};
#define SL_EXPLORE_FORGOTTEN 100u
#define SL_EXPLORE_PAST 64u

/* What there is to know about a learner, by number. */
struct sl_explore_look {
	uint32_t actor; /* who it is */
	uint32_t past_count;
	const struct sl_explore_record *past;
	enum sl_phase phase;
	bool down, stopped;
	int code;
	sl_ms wait; /* until its deadline; SL_NEVER */
	sl_round committed;
	uint64_t digest;    /* D of the round; 0: not committed */
	const char *broken; /* a rule that its last step broke; NULL */
};

struct sl_explore_outcome {
	uint32_t learner; /* the number after */
	uint32_t sent;	  /* number in `lists`: pairs (receiver, number in `messages`) */
	uint32_t records; /* that became durable */
};

struct sl_explore_stage;
struct sl_explore_learners {
	struct sl_core_config config; /* of all learners, but for self and ids */
	uint32_t roster;
	sl_id ids[SL_EXPLORE_ACTORS];
	bool remember; /* keep the learner before each record: for FORGET */
	bool lies;     /* a learner may change its share: sums are not checked */
	FILE *lines;   /* NULL; or each step of a core is written as a line, and nothing is looked up */
	struct sl_explore_stage *stage;
	struct sl_explore_store blocks, learners, messages, lists, steps;
	struct sl_explore_look *looks; /* by number of a learner */
	uint32_t looks_room;
	struct sl_explore_outcome *outcomes; /* by number of a step */
	uint32_t outcomes_room;
	uint64_t executed; /* steps that were not known yet */
};

/* Begin: `config` without self and ids, `roster` learners. */
void sl_explore_learners_open(struct sl_explore_learners *learners, const struct sl_core_config *config,
			      uint32_t roster);
void sl_explore_learners_close(struct sl_explore_learners *learners);
/* Return learner `i`, started. */
uint32_t sl_explore_learners_first(struct sl_explore_learners *learners, uint32_t i);
struct sl_explore_outcome sl_explore_learners_step(struct sl_explore_learners *learners,
						   const struct sl_explore_step *step);
const struct sl_explore_look *sl_explore_learners_look(const struct sl_explore_learners *learners,
						       uint32_t number);
/* Return the bytes of memory taken. */
size_t sl_explore_learners_bytes(const struct sl_explore_learners *learners);
