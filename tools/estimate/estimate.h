/* estimate.h - what a round will cost, before anybody runs one (`starling plan`).
 *
 * Per learner and round, with n floats, d neighbours, p of w bytes and v(b) = the frames of a vector of n + 1 elements at b
 * bytes, TLS records included (about (n + 1) b):
 *
 *   sharing    bytes sent                  mixing       exchanges   bytes sent
 *   shamir     d v(w)                      metropolis   K           K d v(8)
 *   additive   d v(w)                      exact        deg r       deg r d v(w)
 *   seeded     d messages of 32 bytes      tree         2 depth     v(w) (1 up + 1 down a child + 1 to somebody beside its
 *                                                                   parent): at most (3N - 2) v(w) of all together
 *
 * and besides: every signed record goes over every link at least once, 2 N (2E - N + 1) records of a few hundred bytes of all
 * together, and of each learner an N-th of that (protocol 5; a link where both ends send at once carries it twice). K, deg r and
 * depth: graph.h.
 *
 * CPU of a learner, in the constants of machine.h:
 *
 *   (n + 1) ((d + 1) share + d gather + element) + exchanges d (n + 1) mix  +  sent byte  +  2 N verify
 *
 * where tree has 1 + children additions for exchanges d, `byte` is what a byte costs both ends, and `seeded` expands d seeds of
 * others beside its own. Seconds, where every learner has a machine of its own, its link carries `speed` bytes a second each way
 * and a message is `delay` seconds under way:
 *
 *   agree   2 (diameter ~ 2 depth) delay + 2 N verify + flooded bytes / speed (link states, then who is ready)
 *   share   max(CPU, bytes / speed) + delay             mix   max(CPU, bytes / speed) + exchanges delay
 *   settle  delay + 3 records                           (tree: a learner with c children receives c vectors)
 *
 * and where all share one machine of C processors, CPU of all / C + 2 depth turns + 3 records: no delay, no speed. Overheads
 * that are neither, such as waiting for the slowest, are not in it, and the
 * report that compares it with measured rounds says by how much it is off.
 *
 * Memory of a learner: bytes a float (16 of models and encoding, 8 of the state; chunks under way a neighbour) + what a process
 * has anyway.
 */
#pragma once

#include "common/config/settings.h"
#include "tools/estimate/graph.h"
#include "tools/estimate/machine.h"

enum sl_plan_engine { SL_PLAN_METROPOLIS, SL_PLAN_EXACT, SL_PLAN_TREE, SL_PLAN_ENGINES };
extern const char *const sl_plan_engine_names[SL_PLAN_ENGINES];
enum sl_plan_sharing { SL_PLAN_SHAMIR, SL_PLAN_ADDITIVE, SL_PLAN_SEEDED, SL_PLAN_SHARINGS };
extern const char *const sl_plan_sharing_names[SL_PLAN_SHARINGS];

struct sl_plan_input {
	struct sl_graph_figures graph;
	uint64_t floats;	 /* n */
	uint64_t p;
	double speed;		 /* bytes a second that a learner's link carries each way; 0: all on one machine */
	double delay;		 /* seconds one way; of one machine: 0 */
	struct sl_plan_machine machine;
};

/* Of an engine with a sharing. */
struct sl_plan_cost {
	bool possible;
	uint64_t exchanges;
	double bytes_mean, bytes_most; /* that a learner sends, its part of what is flooded included */
	double bytes_all;	       /* of all learners */
	double cpu_s;		       /* of a learner, mean */
	double seconds;		       /* of the round from the last trained model to the last commit */
	double memory;		       /* bytes of a learner, most */
};

struct sl_planned {
	uint64_t k;	       /* of metropolis; UINT64_MAX: mu is 1 */
	uint32_t p_bits_most;  /* that rounding leaves room for, metropolis */
	double flood_bytes;    /* of all learners, about */
	enum sl_engine automatic; /* what `mixing: auto` takes */
	struct sl_plan_cost costs[SL_PLAN_ENGINES][SL_PLAN_SHARINGS];
};

void sl_plan_cost_all(const struct sl_plan_input *input, struct sl_planned *planned);

/* The frames of one vector in bytes on the wire: its chunks, each in a frame, cut into TLS records. */
double sl_plan_vector_bytes(uint64_t elements, uint32_t width);
