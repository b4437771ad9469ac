/* brute.h - small graphs as bit masks, and what they tolerate, by trying every coalition. Shares no code
 * with the product.
 *
 * Graph number g on n vertices has edge number e iff bit e of g is set; edges are counted 0-1, 0-2, .., 1-2,
 * ..
 */
#pragma once

#include "test/graph/unit.h"

#include "common/graph/graph.h"

#define BRUTE_MOST 24 /* vertices */

struct brute {
	uint32_t n;
	uint32_t adjacent[BRUTE_MOST];
};

static inline uint32_t pairs_of(uint32_t n)
{
	return n * (n - 1) / 2;
}

static inline uint64_t graphs_on(uint32_t n)
{
	return UINT64_C(1) << pairs_of(n);
}

static inline void brute_join(struct brute *b, uint32_t u, uint32_t v)
{
	b->adjacent[u] |= 1u << v;
	b->adjacent[v] |= 1u << u;
}

static inline bool brute_has(const struct brute *b, uint32_t u, uint32_t v)
{
	return b->adjacent[u] >> v & 1;
}

static inline struct brute brute_numbered(uint32_t n, uint64_t g)
{
	struct brute b = {.n = n};
	uint32_t e = 0;
	for (uint32_t u = 0; u < n; u++)
		for (uint32_t v = u + 1; v < n; v++)
			if (g >> e++ & 1)
				brute_join(&b, u, v);
	return b;
}

/* Each pair with probability percent / 100. */
static inline struct brute brute_random(uint32_t n, uint32_t percent, uint64_t *seed)
{
	struct brute b = {.n = n};
	for (uint32_t u = 0; u < n; u++)
		for (uint32_t v = u + 1; v < n; v++)
			if (any64(seed) % 100 < percent)
				brute_join(&b, u, v);
	return b;
}

/* Returns how many there are; room for pairs_of(n). */
static inline size_t brute_edges(const struct brute *b, struct sl_edge *edges)
{
	size_t count = 0;
	for (uint32_t u = 0; u < b->n; u++)
		for (uint32_t v = u + 1; v < b->n; v++)
			if (brute_has(b, u, v))
				edges[count++] = (struct sl_edge){u, v};
	return count;
}

/* Return the set that `v` reaches without the vertices of `gone`. */
static inline uint32_t brute_reach(const struct brute *b, uint32_t v, uint32_t gone)
{
	uint32_t reached = 1u << v, before = 0;
	while (reached != before) {
		before = reached;
		for (uint32_t u = 0; u < b->n; u++)
			if (reached >> u & 1)
				reached |= b->adjacent[u] & ~gone;
	}
	return reached;
}

static inline uint32_t brute_components(const struct brute *b, uint32_t gone)
{
	uint32_t count = 0, seen = gone;
	for (uint32_t v = 0; v < b->n; v++) {
		if (seen >> v & 1)
			continue;
		seen |= brute_reach(b, v, gone);
		count++;
	}
	return count;
}

/* The next set of as many vertices, in ascending order of the masks (Gosper). */
static inline uint32_t brute_next(uint32_t set)
{
	uint32_t low = set & -set, high = set + low;
	return high | (((set ^ high) >> 2) / low);
}

static inline bool brute_parts(const struct brute *b, uint32_t size)
{
	uint32_t gone = (1u << size) - 1;
	if (size == 0)
		return brute_components(b, 0) > 1;
	for (; gone >> b->n == 0; gone = brute_next(gone))
		if (brute_components(b, gone) > 1)
			return true;
	return false;
}

/* The size of the least coalition whose absence parts the others; n-1 where none does. */
static inline uint32_t brute_kappa(const struct brute *b)
{
	uint32_t size = 0;
	while (size + 1 < b->n && !brute_parts(b, size))
		size++;
	return size;
}

/* Two random graphs without triangles that share `hinge` vertices: long ways round, and nothing near that
 * helps. */
static inline struct brute brute_hinged(uint32_t n, uint32_t hinge, uint32_t percent, uint64_t *seed)
{
	struct brute b = {.n = n};
	uint32_t name[BRUTE_MOST], half = (n - hinge) / 2;
	for (uint32_t v = 0; v < n; v++) {
		uint32_t at = (uint32_t)(any64(seed) % (v + 1));
		name[v] = name[at];
		name[at] = v;
	}
	for (uint32_t u = 0; u < n;
	     u++) { /* the first `hinge` are in both halves, the next in one, the last in the other */
		for (uint32_t v = u + 1; v < n; v++) {
			bool apart = u >= hinge && u < hinge + half && v >= hinge + half;
			if (!apart && (u + v) % 2 == 1 && any64(seed) % 100 < percent)
				brute_join(&b, name[u], name[v]);
		}
	}
	return b;
}
