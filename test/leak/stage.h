/* stage.h - the attempts of a history, played by the real jobs on the workspaces of its learners; everything
 * that leaves a workspace is written down.
 *
 * Owns workspaces and views. A run takes inputs (all coins, learner by learner, then all models) and gives
 * outputs, one element each; the same history gives the same list of rows each time.
 *
 *   ENCODE, SHARE -> rows for the neighbours --packed--> GATHER, EXPAND, SEAL -> masked state
 *   spoken: MIX .., CLOSE -> states, Z, D;  FETCH .., CHECK .., SUM -> Z, D again
 */
#pragma once

#include "common/compute/job.h"
#include "test/leak/map.h"
#include "test/leak/seeds.h"

#define REPLAY_ITERATIONS 60u /* of metropolis: enough for graphs as small as these */

struct fixture { /* a learner's */
	struct sl_workspace workspace;
	struct random_script random_script;
	uint8_t *slots;			   /* memory of its state file */
	uint8_t commitment[SL_HASH_BYTES]; /* as in its Ready */
	struct sl_view views[HISTORY_ATTEMPTS];
};

struct replay {
	const struct history *history;
	struct sl_field field;
	struct sl_arena arena;
	struct fixture *fixtures;
	size_t coin_start[HISTORY_LEARNERS + 1]; /* first input that is a coin of learner i */
	size_t inputs, outputs;
	struct row *rows;				   /* outputs */
	uint8_t *mail[HISTORY_LEARNERS][HISTORY_LEARNERS]; /* packed share or seed, from, to */
	struct seeds seeds;
	bool rewinds; /* the deliberate mistake: each attempt takes the coins of the first */
	uint8_t *
		spoken; /* if not NULL: of attempts that completed, every state of every iteration, Z and D */
	size_t spoken_size, spoken_room;
};

static inline size_t replay_state_file_bytes(const struct sl_view *view)
{
	return view->n * sl_slot_bytes(view);
}

/* history is borrowed. */
void replay_open(struct replay *replay, const struct history *history, const struct sl_field *field,
		 enum sl_sharing_kind kind);
/* From now on what follows the release is played too: written to `spoken`. */
void replay_speak(struct replay *replay, enum sl_engine engine);
void replay_close(struct replay *replay);
void replay_run(struct replay *replay, const uint64_t *inputs, uint64_t *outputs);
