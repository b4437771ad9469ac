/* phase.h - where a learner is in its round: one diagram, one table, one function that moves.
 *
 *            trained        window closed      view passed the gate     all shares held
 *   TRAIN ----------> DISCOVER ----------> AGREE ------------> SHARE ----------------> READY
 *     ^ ^                ^                   |                    |                       | all Readys
 *     | |                +------------- given up ----------------+-----------------------+ v
 *     | |                                                                              RELEASE
 *     | |                                                                                 | durable: own
 * state goes out | |                                                                                 v
 *     +-+---------------- COMMIT <---------------- CONFIRM <------------------------------- MIX
 *           next round      | durable     digests        K iterations
 *                           v
 *                          DONE   after round T; from TRAIN at the start, when that is committed already.
 * Back to TRAIN when others turn out to have agreed on more rounds
 *
 *   RELEASE, MIX, CONFIRM --a neighbour is lost--> RECOVER --all masked states are here--> CONFIRM
 *                        the attempt can never complete: '--> DISCOVER, or TRAIN where the model is burned
 *
 *   DISCOVER, READY, RECOVER --a neighbour has committed this round--> CATCHUP --durable--> TRAIN, DONE
 *        ^------------------------ it cannot show it ---------------------'
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
/* Whether the diagram has the arrow. */
bool sl_phase_allows(enum sl_phase from, enum sl_phase to);
