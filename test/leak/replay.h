/* replay.h - the attempts of a history, played by the real jobs on the workspaces of its learners; all that
 * leaves a workspace is recorded.
 *
 * Owns workspaces and views. A run takes inputs (all random numbers, learner by learner, then all models) and
 * gives outputs, one element each; the same history gives the same list of rows each time.
 *
 *   ENCODE, SECRETS, SHARE -> rows for the neighbours --packed--> GATHER, EXPAND, DEPOSIT, COMMITMENT ->
 * deposit, masked state spoken: FETCH .., CHECK .., MIX .., CLOSE -> states, Z, D;  CHECKSUM -> phi;  SUM ->
 * Z, D again
 */
#pragma once

#include "common/compute/job.h"
#include "test/leak/map.h"
#include "test/leak/random_script.h"

#define STATE_ROOM (SL_STATE_BYTES * 22u)
#define REPLAY_ITERATIONS 160u /* of metropolis: a path of four at 31 bits needs 120 */

struct fixture { /* of a learner */
	struct sl_workspace workspace;
	struct random_script random_script;
	uint8_t *slots;			/* memory of its state file */
	uint8_t deposit[SL_HASH_BYTES]; /* as in its Ready */
	struct sl_view views[HISTORY_ATTEMPTS];
};

struct replay {
	const struct history *history;
	struct sl_field field;
	struct sl_arena arena;
	struct fixture *fixtures;
	size_t random_start[HISTORY_LEARNERS + 1]; /* first random number of learner i */
	size_t inputs, outputs;
	struct row *rows;				   /* outputs */
	uint8_t keys[HISTORY_LEARNERS][SL_KEY_BYTES];	   /* deposit keys of the attempt, by position */
	uint8_t *mail[HISTORY_LEARNERS][HISTORY_LEARNERS]; /* packed share or seed, from, to */
	struct seeds seeds;
	bool rewinds;	 /* deliberate mistake: each attempt uses the random numbers of the first */
	uint8_t *spoken; /* not NULL: of completed attempts, each state of each exchange, Z and D */
	size_t spoken_size, spoken_room;
	uint32_t results; /* of the last run: sums that were plausible */
};

static inline size_t replay_state_file_bytes(const struct sl_view *view)
{
	return view->n * sl_slot_bytes(view);
}

/* Open a replay of `history`, which is borrowed. */
void replay_open(struct replay *replay, const struct history *history, const struct sl_field *field,
		 enum sl_sharing_kind kind);
/* From now on, also play what follows the release: written to `spoken`. */
void replay_speak(struct replay *replay, enum sl_engine engine);
void replay_close(struct replay *replay);
void replay_run(struct replay *replay, const uint64_t *inputs, uint64_t *outputs);

/* --- between the files that play a history --- */

/* Run a job of learner i, which must succeed. */
struct sl_job_result replay_work(struct replay *replay, uint32_t attempt, uint32_t i, struct sl_job job);
/* Append to `spoken`. */
void replay_say(struct replay *replay, const void *bytes, size_t size);
/* Mix by forest: Z is at every learner, CLOSE is left to do. */
void replay_mix_forest(struct replay *replay, uint32_t attempt);
