/* explore_world.h - learners and what is on the way between them, as one value; the choices that a world
 * leaves open, and the rules that every world has to keep.
 *
 * A queue holds what will happen to a learner from one peer: messages in order, the end of the link, a new
 * link. The order between queues is open; so is whether messages before the end of a link arrive.
 */
#pragma once

#include "test/explorer/explore_learner.h"

struct sl_explore_budget { /* how often it may happen still */
	uint8_t crashes;   /* with a restart, at once or when all is quiet */
	uint8_t losses;	   /* for good */
	uint8_t cuts;	   /* a learner from all others, until all is quiet */
	uint8_t forgets;   /* restarts from an earlier disk or an empty one */
	uint8_t timeouts;  /* of one learner before all is quiet */
	uint8_t splits;	   /* a liar becomes two learners with one key, each with some of its peers */
	uint8_t lies;	   /* a chunk of the liar is another one */
	uint8_t delays;	   /* deliveries out of the usual order; SL_EXPLORE_ANY: any order */
};
#define SL_EXPLORE_ANY UINT8_MAX

struct sl_explore_world {
	uint32_t learner[SL_EXPLORE_ACTORS];
	uint32_t queue[SL_EXPLORE_ACTORS][SL_EXPLORE_ACTORS]; /* receiver, sender: number in `lists` */
	struct sl_explore_budget left;
	uint8_t down, gone, cut; /* bit sets over the actors: to be restarted; for good; from all others */
	uint8_t split;		 /* peers of the liar's second self, a bit set; 0: there is none */
	uint8_t waits;		 /* times that all was quiet and time went by, since a learner came back */
	uint8_t faults;		 /* 1: something was forgotten, or a lie told */
	uint8_t root;		 /* 1: nothing was chosen yet */
};

enum sl_explore_after { /* what follows the operation of a choice at once */
			SL_EXPLORE_NOTHING,
			SL_EXPLORE_DOWN,
			SL_EXPLORE_UP_AGAIN,
			SL_EXPLORE_FORGETS, /* `record` */
			SL_EXPLORE_EMPTIED,
			SL_EXPLORE_LOST,
			SL_EXPLORE_CUT,
			SL_EXPLORE_TIMES_OUT,
};
enum sl_explore_act {
	SL_EXPLORE_ACT_NONE,	/* only what follows */
	SL_EXPLORE_ACT_DELIVER, /* the first of a queue */
	SL_EXPLORE_ACT_SKIP,	/* the link ends, messages before its end are lost */
	SL_EXPLORE_ACT_RETURN,	/* restart */
	SL_EXPLORE_ACT_HEAL,
	SL_EXPLORE_ACT_WAIT, /* until the next deadline */
	SL_EXPLORE_ACT_SPLIT,
};
struct sl_explore_choice {
	uint8_t act, actor, peer, after, record, crash, corrupt, delay;
	uint8_t lossy; /* what is on the links that end is lost */
};
#define SL_EXPLORE_CHOICES 4096u

struct sl_explore_options {
	uint32_t learners;
	uint32_t quorum;
	uint32_t tolerance;
	uint32_t forgetful;
	uint8_t late; /* bit set: not started before all is quiet */
	uint8_t fault_who,
		cut_who;    /* bit sets: learners that may crash, be lost or forget; that may be cut off */
	enum sl_phase from; /* the exploration begins when all have reached this phase */
	enum sl_engine mixing;
	enum sl_values
		values; /* UPDATE, NOISY_UPDATE: of a common initial model, so that the round has ranges */
	struct sl_explore_budget budget;
	uint8_t waits;	   /* timeouts when all is quiet, at most, since a learner was away last */
	uint8_t absence;   /* .. while one is away */
	uint8_t tolerates; /* losses with which all others have to commit or, if few, leave the attempt */
	bool ring;	   /* links are possible on a ring only, by id */
	bool group;	   /* a cut separates all of cut_who, with the links among them, from all others */
	bool heals;	   /* a learner that is cut off is linked again when all is quiet */
	bool reduce;	   /* leave out orders of deliveries that lead to the same worlds */
	uint32_t states_most, megabytes_most;
};

struct sl_explore {
	struct sl_explore_options options;
	struct sl_explore_learners learners;
	uint32_t actors, liar;
	struct sl_explore_choice choices[SL_EXPLORE_CHOICES];
	uint32_t choice_count;
	char broken[256]; /* the rule that the last world broke; empty: none */
};

/* Make the first world. */
void sl_explore_world_first(struct sl_explore *x, struct sl_explore_world *world);
/* List the choices of `world` in x->choices. None: it is the last one of a history. */
void sl_explore_world_choices(struct sl_explore *x, const struct sl_explore_world *world);
/* Make the choice. x->broken tells whether a rule does not hold afterwards. */
void sl_explore_world_choose(struct sl_explore *x, struct sl_explore_world *world,
			     const struct sl_explore_choice *choice);
/* Check a world without choices: those that can have to have committed. */
void sl_explore_world_last(struct sl_explore *x, const struct sl_explore_world *world);
/* Write the choice as a line. */
void sl_explore_world_tell(const struct sl_explore *x, const struct sl_explore_choice *choice, FILE *out);
