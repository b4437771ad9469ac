/* estimate.h - what a round will cost, before anybody runs one (`starling plan`).
 *
 * Per learner and round, with n floats, d neighbours, p of w bytes and v(b) = the frames of a vector of n + 1
 * elements at b bytes, TLS records included (about (n + 1) b):
 *
 *   sharing    bytes sent                  mixing       exchanges   bytes sent
 *   shamir     d v(w)                      metropolis   K           K d v(8)
 *   additive   d v(w)                      exact        deg r       deg r d v(w)
 *   seeded     d messages of 32 bytes      tree         2 depth     v(w) (1 up + 1 down a child + 1 to
 * somebody beside its parent): at most (3N - 2) v(w) of all together
 *
 * and besides: every signed record goes over every link at least once, 2 N (2E - N + 1) records of a few
 * hundred bytes of all together, and of each learner an N-th of that (protocol 5; a link where both ends send
 * at once carries it twice). K, deg r and depth: graph.h.
 *
 * CPU of a learner, in the constants of machine.h:
 *
 *   (n + 1) ((d + 1) share + d gather + element) + exchanges d (n + 1) mix  +  sent byte  +  2 N verify
 *
 * where tree has 1 + children additions for exchanges d, `byte` is what a byte costs both ends, and `seeded`
 * expands d seeds of others beside its own. Seconds, where every learner has a machine of its own, its link
 * carries `speed` bytes a second each way and a message is `delay` seconds under way:
 *
 *   agree   2 (diameter ~ 2 depth) delay + 2 N verify + flooded bytes / speed (link states, then who is
 * ready) share   max(CPU, bytes / speed) + delay             mix   max(CPU, bytes / speed) + exchanges delay
 *   settle  delay + 3 records                           (tree: a learner with c children receives c vectors)
 *
 * and where all share one machine of C processors, CPU of all / C + 2 depth turns + 3 records: no delay, no
 * speed. Overheads that are neither, such as waiting for the slowest, are not in it, and the report that
 * compares it with measured rounds says by how much it is off.
 *
 * Memory of a learner: bytes a float (16 of models and encoding, 8 of the state; chunks under way a
 * neighbour) + what a process has anyway.
 */
#pragma once

#include "common/config/settings.h"
#include "tools/estimate/graph.h"
#include "tools/estimate/machine.h"

enum sl_estimate_engine { SL_ESTIMATE_METROPOLIS, SL_ESTIMATE_EXACT, SL_ESTIMATE_TREE, SL_ESTIMATE_ENGINES };
extern const char *const sl_estimate_engine_names[SL_ESTIMATE_ENGINES];
enum sl_estimate_sharing {
	SL_ESTIMATE_SHAMIR,
	SL_ESTIMATE_ADDITIVE,
	SL_ESTIMATE_SEEDED,
	SL_ESTIMATE_SHARINGS
};
extern const char *const sl_estimate_sharing_names[SL_ESTIMATE_SHARINGS];

struct sl_estimate_input {
	struct sl_estimate_figures graph;
	uint64_t floats; /* n */
	uint64_t p;
	double speed; /* bytes a second that a learner's link carries each way; 0: all on one machine */
	double delay; /* seconds one way; of one machine: 0 */
	struct sl_estimate_machine machine;
};

/* Of an engine with a sharing. */
struct sl_estimate_cost {
	bool possible;
	uint64_t exchanges;
	double bytes_mean, bytes_most; /* that a learner sends, its part of what is flooded included */
	double bytes_all;	       /* of all learners */
	double cpu_s;		       /* of a learner, mean */
	double seconds;		       /* of the round from the last trained model to the last commit */
	double memory;		       /* bytes of a learner, most */
};

struct sl_estimated {
	uint64_t k;		  /* of metropolis; UINT64_MAX: mu is 1 */
	uint32_t p_bits_most;	  /* that rounding leaves room for, metropolis */
	double flood_bytes;	  /* of all learners, about */
	enum sl_engine automatic; /* what `mixing: auto` takes */
	struct sl_estimate_cost costs[SL_ESTIMATE_ENGINES][SL_ESTIMATE_SHARINGS];
};

void sl_estimate_cost_all(const struct sl_estimate_input *input, struct sl_estimated *planned);

/* The frames of one vector in bytes on the wire: its chunks, each in a frame, cut into TLS records. */
double sl_estimate_vector_bytes(uint64_t elements, uint32_t width);
