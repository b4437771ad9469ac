/* estimate.h - what a round will cost in exchanges, bytes and memory (`starling estimate`).
 *
 * Per learner and round, with n floats, d neighbours, p of b bits and v(b) = the frames of a vector of n + 1
 * elements of b bits, TLS records included (about (n + 1) b / 8 bytes):
 *
 *   sharing    bytes sent                  mixing       exchanges   bytes sent
 *   shamir     d v(b)                      metropolis   K           d (v(b) + (K - 1) v(64))
 *   os         d v(b)                      exact        deg r       deg r d v(b)
 *   seeded     d messages of 32 bytes      forest       2 depth     v(b) (1 + load / T)
 *
 * With forest of T trees, a learner sends 1/T of a vector over each of its edges in the trees, `load` in all,
 * and its deposit to one neighbour (while no attempt of the round failed; ROUND.md §5.6 Deposits); all
 * learners together send (3N - 2) v(b).
 *
 * Besides, every signed record goes over every link at least once: 2 N (2E - N + 1) records of a few hundred
 * bytes of all together, an N-th of that per learner (ROUND.md §7.6 Link states and the flood; a link
 * where both ends send at once carries a record twice). K, deg r and depth: graph.h.
 *
 * Memory of a learner, for each float: 8 bytes of models (trained and committed), b / 8 of the state, and 8
 * more if an engine has a second vector (metropolis; exact with several exchanges). A learner that fetches a
 * model from a peer needs 4 more for that time, which are not counted. Besides, chunks under way for each
 * neighbour, and 18 MB of the process itself. Deposits are pages of a file, which the system keeps as long as
 * it has room; those of less than 4 MiB each count. An application shares two models more with its learner,
 * which count as memory of the application.
 */
#pragma once

#include "common/field/share.h"
#include "common/mixing/engine.h"
#include "tools/estimate/graph.h"

struct sl_estimate_input {
	struct sl_estimate_figures graph;
	uint64_t floats; /* n */
	uint64_t p;
};

/* Cost of an engine with a sharing. */
struct sl_estimate_cost {
	bool possible;
	uint64_t exchanges;
	double bytes_mean, bytes_most; /* sent by a learner, its part of the flood included */
	double bytes_all;	       /* sent by all learners */
	double memory;		       /* bytes of a learner, at most */
};

struct sl_estimated {
	uint64_t k;		  /* of metropolis; UINT64_MAX: mu is 1 */
	uint32_t p_bits_most;	  /* bits of the largest p with which metropolis can mix */
	double flood_bytes;	  /* of all learners, about */
	enum sl_engine automatic; /* the engine of `mixing: auto` */
	struct sl_estimate_cost costs[SL_ENGINES][SL_SHARING_KINDS];
};

/* Compute the cost of each engine with each sharing; input->p is a prime. */
void sl_estimate_cost_all(const struct sl_estimate_input *input, struct sl_estimated *planned);

/* Return the bytes of a vector on the wire: its chunks, each in a frame, cut into TLS records. */
double sl_estimate_vector_bytes(uint64_t elements, uint32_t bits);
