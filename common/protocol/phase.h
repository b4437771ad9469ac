/* phase.h - the phases of a round and the allowed moves (ROUND.md §7.1 Phases). common/core/phases.c says
 * what happens in each.
 *
 *          trained             window closed      privacy check  shares, deposits held
 *   TRAIN ----------> DISCOVER ----------> AGREE ------------> SHARE ----------------> READY
 *    ^ ^                 ^                   |                   |                       | all Readys
 *    | |                 +--- attempt ends --+-------------------+                       v
 *    | |                                                                               RELEASE
 *    | |                                                              RELEASED durable   |
 *    | |                                                                                 v
 *    +-+------- COMMIT <----- CONFIRM <---------------------- CHECK <------------------ MIX
 *    next round    | durable   q digests      checksums agree         all exchanges done
 *                  v
 *                DONE   after round T; from TRAIN at the start, if round T is committed already, or
 *                       when the application ends the run. Back to TRAIN if c+1 peers go on (§7.16).
 *
 *   From MIX straight to CONFIRM, where no sums of masked states were passed on.
 *
 *   RELEASE, MIX, CHECK, CONFIRM --a cause--> RECOVER --all deposits and keys--> CONFIRM
 *
 *   READY --own Abort--> RECOVER, bound
 *
 *   READY, RECOVER, CONFIRM --the attempt is over--> DISCOVER, or TRAIN if the model is invalidated
 *
 *   DISCOVER, READY, RECOVER --a peer has committed this round--> CATCHUP --durable--> TRAIN, DONE
 *        ^------------------- it does not show the result --------------'
 *
 *   After a restart in the middle of an attempt: TRAIN --> READY or RECOVER.
 */
#pragma once

#include "common/base/types.h"

#define SL_PHASES(X)                                                                                         \
	X(TRAIN)                                                                                             \
	X(DISCOVER)                                                                                          \
	X(AGREE)                                                                                             \
	X(SHARE)                                                                                             \
	X(READY)                                                                                             \
	X(RELEASE)                                                                                           \
	X(MIX)                                                                                               \
	X(CHECK)                                                                                             \
	X(CONFIRM)                                                                                           \
	X(COMMIT)                                                                                            \
	X(RECOVER)                                                                                           \
	X(CATCHUP)                                                                                           \
	X(DONE)

enum sl_phase {
#define X(name) SL_PHASE_##name,
	SL_PHASES(X)
#undef X
		SL_PHASE_COUNT
};

const char *sl_phase_name(enum sl_phase phase);
/* Return the phase of a name; TRAIN if there is none, or NULL. */
enum sl_phase sl_phase_find(const char *name);
/* Return true if the diagram has the arrow. */
bool sl_phase_allows(enum sl_phase from, enum sl_phase to);
