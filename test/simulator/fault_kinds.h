/* fault_kinds.h - the kinds of faults: how each begins and ends. Which one comes when is in fault.c.
 *
 * Each fault posts the events that change or end it; fault.c hands them to sl_sim_fault_heal and
 * sl_sim_fault_dead.
 */
#pragma once

#include "test/simulator/lie.h"

/* X(NAME, text, its name on the command line) */
#define SL_SIM_FAULTS(X)                                                                                     \
	X(LOSS, "link lost", "loss")                                                                         \
	X(SLOW_LINK, "slow link", "slow-link")                                                               \
	X(HELD, "held back", "held")                                                                         \
	X(ONE_WAY, "one way only", "one-way")                                                                \
	X(PARTITION, "partition", "partition")                                                               \
	X(CRASH, "crash", "crash")                                                                           \
	X(POWER, "power loss", "power")                                                                      \
	X(DISK, "failed write", "disk")                                                                      \
	X(PAUSE, "paused", "pause")                                                                          \
	X(CLOCK, "clock leaps", "clock")                                                                     \
	X(SLOW_WORK, "slow disk", "slow-disk")                                                               \
	X(TRAINER, "slow trainer", "trainer")                                                                \
	X(AWAY, "away", "away")                                                                              \
	X(REPLAY, "replayed", "replay")                                                                      \
	X(ABORT, "operator abort", "abort")                                                                  \
	X(LOST, "lost for good", "lost")                                                                     \
	X(ROLLBACK, "disk set back", "rollback")                                                             \
	X(WIPED, "disk emptied", "wiped")                                                                    \
	X(CORRUPT, "bit flipped", "corrupt")                                                                 \
	X(LIAR, "liar", "liar")                                                                              \
	X(ROSTER, "other roster", "roster")

enum sl_sim_fault {
#define X(name, ...) SL_SIM_FAULT_##name,
	SL_SIM_FAULTS(X)
#undef X
		SL_SIM_FAULT_COUNT
};
enum { SL_SIM_FAULTS_ALL = (1u << SL_SIM_FAULT_COUNT) - 1 }; /* a bit set */
const char *sl_sim_fault_name(enum sl_sim_fault kind);
/* Return the set of kinds, or for `lies` of lies, that `list` names, separated by commas; "all" is a name,
 * too. Return 0, and the name that is wrong in *wrong, if it is no such list. */
uint32_t sl_sim_fault_parse(const char *list, bool lies, const char **wrong);

/* Points of a crash: in a step, or in the work that a step asked for. */
#define SL_SIM_POINTS_MOST 64u
extern const uint32_t sl_sim_point_count;
const char *sl_sim_point_name(uint32_t point);
/* Return true if a learner that is about to do `action`, or (NULL) whose `work` is done, is at `point`. */
bool sl_sim_point_met(uint32_t point, const struct sl_action *action, const struct sl_work *work);

struct sl_sim_mix {
	uint32_t kinds;	    /* bit set */
	uint32_t gap_ms;    /* between one fault and the next, at most */
	uint32_t most;	    /* faults in all */
	uint32_t down_most; /* learners that are down at a time */
	bool to_the_end;    /* they do not stop before the last round is committed */
	uint32_t lost_most; /* learners that never come back */
	uint32_t lies;	    /* of a liar: bit set; DOUBLE is always told */
	bool two_liars;
	bool settings; /* quorum and forgetful change in mid-run, and the roster with them */
};

struct sl_sim_tally {
	uint16_t hit[SL_SIM_FAULT_COUNT][SL_PHASE_COUNT];
	uint16_t point[SL_SIM_POINTS_MOST];
};

#define SL_SIM_FAULT_SLOTS 64u

/* A fault that waits until a learner enters a phase. */
struct sl_sim_want {
	bool armed;
	uint32_t serial;
	enum sl_sim_fault kind;
	enum sl_phase phase;
};

struct sl_sim_faults {
	struct sl_sim *sim;
	struct sl_sim_mix mix;
	uint64_t random;
	struct sl_sim_want want;      /* of any phase, until a timeout */
	struct sl_sim_want rare_want; /* of a rare or short phase, without a timeout */
	bool calm;		      /* faults have ended */
	uint32_t count;
	uint32_t point, pointed; /* learner and point of a pending crash; SL_SIM_POINTS_MOST: none */
	uint64_t undo[SL_SIM_FAULT_SLOTS]; /* of a partition: one side of it */
	struct sl_sim_lies lies;
	uint32_t lost;	    /* learners */
	uint32_t forgetful; /* the learner whose disk may be set back */
	struct sl_parameters settings,
		lowest; /* quorum and forgetful of the newest roster; with the least quorum so far */
	uint8_t roster; /* .. its version; 0: the first */
	struct sl_sim_tally tally;
};

/* Return true if the fault can be drawn again and again during a run; the others are drawn once, at its
 * start.
 */
static inline bool sl_sim_fault_repeats(enum sl_sim_fault kind)
{
	return kind != SL_SIM_FAULT_LIAR && kind != SL_SIM_FAULT_ROSTER;
}

/* What a posted event is for. */
enum sl_sim_fault_call { CALL_WANT, CALL_FIRE, CALL_RARE, CALL_HEAL, CALL_DEAD, CALL_SETTINGS, CALL_TAKE };

/* Return a random number below `bound`. */
uint64_t sl_sim_fault_draw(struct sl_sim_faults *faults, uint64_t bound);
/* Return a duration, mostly short: uniform on a logarithmic scale. */
uint64_t sl_sim_fault_draw_us(struct sl_sim_faults *faults, uint64_t least_ms, uint64_t most_ms);
/* Return a learner other than i. */
uint32_t sl_sim_fault_other(struct sl_sim_faults *faults, uint32_t i);
/* Post an event for `what` of a fault of `kind`, `us` from now on. */
void sl_sim_fault_post(struct sl_sim_faults *faults, uint64_t us, enum sl_sim_fault_call what,
		       uint32_t learner, uint32_t kind, uint32_t peer);

/* Begin a fault of learner i. */
void sl_sim_fault_apply(struct sl_sim_faults *faults, enum sl_sim_fault kind, uint32_t i);
/* End a fault of learner i, with learner or slot j. */
void sl_sim_fault_heal(struct sl_sim_faults *faults, enum sl_sim_fault kind, uint32_t i, uint32_t j);
/* Cut the links that a fault of learner i, with learner j, has silenced for so long that they count as lost;
 * crash a learner that has not met its point. */
void sl_sim_fault_dead(struct sl_sim_faults *faults, enum sl_sim_fault kind, uint32_t i, uint32_t j);
/* End all faults of learner i, and of its links. */
void sl_sim_fault_end(struct sl_sim *sim, uint32_t i);
/* Let its operator give an attempt up: one that is not released, or that waits for a learner that is lost. */
void sl_sim_fault_operator_aborts(struct sl_sim_faults *faults, uint32_t i, bool released);
/* Return true if learner i crashes now, at the point that was drawn for it; see `failpoint` of struct sl_sim.
 */
bool sl_sim_fault_at_point(struct sl_sim *sim, uint32_t i, const struct sl_action *action,
			   const struct sl_work *work);
