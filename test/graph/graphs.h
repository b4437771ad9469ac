/* graphs.h - the graphs of the tests, and the memory they share.
 *
 * Each graph_of... empties the arena first: there is one graph at a time.
 */
#pragma once

#include "test/graph/brute.h"

extern struct sl_arena arena;

/* The arena of a whole suite, as cmocka wants them; benches pass NULL. */
int open_arena(void **state);
int close_arena(void **state);

/* A member of a family: "ring", "regular:4". */
struct sl_graph graph_of(const char *topology, uint32_t n);
/* The same in an arena of one's own, behind what is there. */
struct sl_graph graph_in(struct sl_arena *own, const char *topology, uint32_t n);

struct sl_graph graph_of_edges(uint32_t n, const struct sl_edge *edges, size_t count);
struct sl_graph graph_of_brute(const struct brute *b);
/* number < graphs_on(n) */
struct sl_graph graph_of_number(uint32_t n, uint64_t number);

/* Two different vertices of n >= 2. */
struct sl_edge any_edge(uint32_t n, uint64_t *seed);
