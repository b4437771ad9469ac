/* The audit against elimination: what it says a coalition learns is the span of the sums over the components
 * that are left without the coalition. test/leak shows that the messages of a round tell exactly these sums.
 */
#include "test/graph/graphs.h"
#include "test/lib/test.h"

#include "common/mixing/leakage.h"

#define LEARNERS 5u
#define MANY 24u /* learners */
#define ROWS 80u

/* Sums over learners: a row is a combination of models. */
struct sums {
	uint32_t rows, columns;
	uint64_t entry[ROWS][MANY];
};

/* Clear column c below row `at`, if some row from there on has it. */
static bool eliminate(struct sums *m, const struct sl_field *field, uint32_t at, uint32_t c)
{
	uint32_t pivot = at;
	while (pivot < m->rows && m->entry[pivot][c] == 0)
		pivot++;
	if (pivot == m->rows)
		return false;
	for (uint32_t k = 0; k < m->columns; k++) {
		uint64_t kept = m->entry[at][k];
		m->entry[at][k] = m->entry[pivot][k];
		m->entry[pivot][k] = kept;
	}
	uint64_t scale = sl_field_inverse(field, m->entry[at][c]);
	for (uint32_t r = at + 1; r < m->rows; r++) {
		uint64_t factor = sl_field_mul(field, m->entry[r][c], scale);
		for (uint32_t k = c; k < m->columns && factor != 0; k++)
			m->entry[r][k] = sl_field_sub(field, m->entry[r][k],
						      sl_field_mul(field, factor, m->entry[at][k]));
	}
	return true;
}

static uint32_t rank_of(struct sums m, const struct sl_field *field)
{
	uint32_t rank = 0;
	for (uint32_t c = 0; c < m.columns; c++)
		rank += eliminate(&m, field, rank, c);
	return rank;
}

static bool in_span(const struct sums *known, const struct sl_field *field, const uint64_t *x)
{
	struct sums more = *known;
	memcpy(more.entry[more.rows++], x, known->columns * sizeof *x);
	return rank_of(more, field) == rank_of(*known, field);
}

static void expect_echelon(const struct sl_leakage *leakage)
{
	uint32_t rows = 0;
	for (uint32_t v = 0; v < leakage->n; v++) {
		const uint64_t *row = sl_leakage_row(leakage, v);
		if (row == NULL)
			continue;
		rows++;
		for (uint32_t u = 0; u < leakage->n; u++) {
			bool zero = u < v || (u != v && sl_leakage_row(leakage, u) != NULL) ||
				    leakage->coalition[u];
			assert_true(row[u] < leakage->field.p);
			assert_true(u == v ? row[u] == 1 : !zero || row[u] == 0);
		}
	}
	assert_int_equal(rows, leakage->rank);
}

/* The audit's span is that of `known`: as many dimensions, and each row of one in the other. */
static void expect_span(struct sl_leakage *leakage, const struct sums *known)
{
	assert_int_equal(leakage->rank, rank_of(*known, &leakage->field));
	expect_echelon(leakage);
	for (uint32_t k = 0; k < known->rows; k++)
		assert_true(sl_leakage_knows(leakage, known->entry[k]));
	for (uint32_t v = 0; v < leakage->n; v++) {
		uint64_t x[MANY] = {0};
		x[v] = 1;
		if (sl_leakage_row(leakage, v) != NULL)
			assert_true(in_span(known, &leakage->field, sl_leakage_row(leakage, v)));
		if (leakage->coalition[v])
			continue;
		assert_int_equal(sl_leakage_reveals(leakage, v), in_span(known, &leakage->field, x));
		assert_int_equal(sl_leakage_reveals(leakage, v), sl_leakage_knows(leakage, x));
	}
}

/* Every round that can complete among n learners or some of them. */
struct world {
	struct sl_field field;
	struct brute brute[1024];
	struct sl_graph graph[1024];
	bool participants[1024][LEARNERS];
	uint32_t count;
	struct sl_leakage leakage;
};

/* Return true if the graph is connected without its vertices of degree 0; participants are the others. */
static bool completes(const struct sl_graph *g, bool *participants)
{
	uint32_t alone = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		participants[v] = sl_graph_degree(g, v) > 0;
		alone += !participants[v];
	}
	return alone < g->n && sl_graph_components(g, NULL, &arena) == alone + 1;
}

static void world_init(struct world *world, uint32_t n, uint64_t p)
{
	sl_arena_reset(&arena, 0);
	world->field = field_of(p);
	world->count = 0;
	for (uint64_t number = 0; number < graphs_on(n); number++) {
		struct sl_edge edges[LEARNERS * LEARNERS];
		struct brute *b = &world->brute[world->count];
		struct sl_graph *g = &world->graph[world->count];
		*b = brute_numbered(n, number);
		assert_int_equal(sl_graph_init(g, n, edges, brute_edges(b, edges), &arena), SL_OK);
		world->count += completes(g, world->participants[world->count]);
	}
	assert_int_equal(sl_leakage_init(&world->leakage, n, &world->field, &arena), SL_OK);
}

/* Add the sums that coalition `set` learns from round `which`, and compare them with the audit's groups. */
static void watch(struct world *world, uint32_t which, uint32_t set, struct sums *known)
{
	const struct brute *b = &world->brute[which];
	const bool *participants = world->participants[which];
	uint32_t group[LEARNERS], out = set, first = known->rows;
	for (uint32_t v = 0; v < b->n; v++)
		out |= (uint32_t)!participants[v] << v;
	for (uint32_t v = 0, seen = out; v < b->n; v++) {
		uint32_t reached = seen >> v & 1 ? 0 : brute_reach(b, v, out);
		for (uint32_t u = 0; u < b->n; u++)
			known->entry[known->rows][u] = reached >> u & 1;
		known->rows += reached != 0;
		seen |= reached;
	}
	assert_int_equal(sl_leakage_round(&world->leakage, &world->graph[which], participants, group),
			 known->rows - first);
	for (uint32_t v = 0; v < b->n; v++)
		assert_true(out >> v & 1 ? group[v] == SL_LEAKAGE_NONE
					 : known->entry[first + group[v]][v] == 1);
}

/* Check the span that the coalition knows after these rounds, with unchanged models. */
static void expect_rounds(struct world *world, const uint32_t *which, uint32_t count, uint32_t set)
{
	uint32_t n = world->leakage.n, members[LEARNERS], size = 0;
	struct sums known = {.columns = n};
	for (uint32_t v = 0; v < n; v++)
		if (set >> v & 1)
			members[size++] = v;
	assert_int_equal(sl_leakage_coalition(&world->leakage, members, size), SL_OK);
	for (uint32_t t = 0; t < count; t++)
		watch(world, which[t], set, &known);
	expect_span(&world->leakage, &known);
}

static struct world world;

TEST_SETUP(open_arena, close_arena)

TEST(every_round)
{
	static const uint64_t primes[] = {7, 11, 31};
	for (uint32_t n = 2; n <= LEARNERS; n++)
		for (size_t i = 0; i < 3; i++) {
			world_init(&world, n, primes[i]);
			for (uint32_t a = 0; a < world.count; a++)
				for (uint32_t set = 0; set < 1u << n; set++)
					expect_rounds(&world, &a, 1, set);
		}
}

/* All pairs of up to 4 learners, and all triples for every coalition that leaves three. */
TEST(every_pair_and_triple_of_rounds)
{
	static const uint64_t primes[] = {7, 11, 31};
	for (uint32_t i = 0; i < 3 * 3; i++) {
		uint32_t n = 2 + i / 3;
		world_init(&world, n, primes[i % 3]);
		for (uint32_t a = 0; a < world.count; a++)
			for (uint32_t b = 0; b <= a; b++) {
				for (uint32_t set = 0; set < 1u << n; set++)
					expect_rounds(&world, (const uint32_t[]){a, b}, 2, set);
				for (uint32_t c = 0; c < b && b < a && i % 3 == 0 && n > 2; c++)
					for (uint32_t set = 0; set < 1u << n; set = set == 0 ? 1 : 2 * set)
						expect_rounds(&world, (const uint32_t[]){a, b, c}, 3, set);
			}
	}
}

/* A sparse round of most learners: its sums become rows of the view, and are known. */
static void sparse_round(struct sl_leakage *leakage, struct sums *known, uint64_t *seed)
{
	struct sl_edge edges[MANY];
	struct sl_graph g;
	bool participants[MANY];
	uint32_t group[MANY];
	for (uint32_t v = 0; v < MANY; v++) {
		participants[v] = any64(seed) % 8 != 0;
		edges[v] = (struct sl_edge){v, (v + 1 + (uint32_t)(any64(seed) % (MANY - 1))) % MANY};
	}
	assert_int_equal(sl_graph_init(&g, MANY, edges, MANY, &arena), SL_OK);
	uint32_t groups = sl_leakage_round(leakage, &g, participants, group), first = known->rows;
	known->rows += groups;
	for (uint32_t v = 0; v < MANY; v++)
		if (group[v] != SL_LEAKAGE_NONE)
			known->entry[first + group[v]][v] = 1;
	for (uint32_t k = first; k < known->rows; k++)
		assert_true(sl_leakage_knows(leakage, known->entry[k]));
}

/* The span of many rounds, in wide fields too: its rank against elimination of all the sums at once. */
TEST(many_rounds)
{
	static const uint64_t primes[] = {29, SL_P_MERSENNE31, (UINT64_C(1) << 61) - 1};
	uint64_t seed = 14;
	for (uint32_t i = 0; i < 300; i++) {
		struct sl_field field = field_of(primes[i % 3]);
		struct sums known = {.columns = MANY};
		struct sl_leakage leakage;
		uint32_t members[3];
		sl_arena_reset(&arena, 0);
		assert_int_equal(sl_leakage_init(&leakage, MANY, &field, &arena), SL_OK);
		for (uint32_t k = 0; k < 3; k++)
			members[k] = (uint32_t)(any64(&seed) % MANY);
		assert_int_equal(sl_leakage_coalition(&leakage, members, 3), SL_OK);
		while (known.rows + MANY <= ROWS)
			sparse_round(&leakage, &known, &seed);
		assert_int_equal(leakage.rank, rank_of(known, &field));
		expect_echelon(&leakage);
	}
}

/* A hub in the coalition and pairs around it. Its own models do not count. */
static struct sl_graph pairing(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const struct sl_edge edges[] = {{a, b}, {c, d}, {0, a}, {0, c}};
	struct sl_graph g;
	assert_int_equal(sl_graph_init(&g, 5, edges, 4, &arena), SL_OK);
	return g;
}

/* Two pairings give the pairs and differences of the rest, the third gives every model. */
TEST(pairings)
{
	struct sl_field field = field_of(SL_P_MERSENNE31);
	struct sl_leakage leakage;
	sl_arena_reset(&arena, 0);
	struct sl_graph first = pairing(1, 2, 3, 4), second = pairing(1, 3, 2, 4),
			third = pairing(1, 4, 2, 3);
	assert_int_equal(sl_leakage_init(&leakage, 5, &field, &arena), SL_OK);
	assert_int_equal(sl_leakage_coalition(&leakage, (const uint32_t[]){0, 0}, 2), SL_OK);
	assert_int_equal(sl_leakage_round(&leakage, &first, NULL, NULL), 2);
	assert_true(sl_leakage_knows(&leakage, (const uint64_t[]){0, 1, 1, 0, 0}));
	assert_true(sl_leakage_knows(&leakage, (const uint64_t[]){0, 0, 0, 1, 1}));
	assert_false(sl_leakage_knows(&leakage, (const uint64_t[]){0, 1, 0, 1, 0}));
	assert_int_equal(sl_leakage_round(&leakage, &first, NULL, NULL), 2); /* nothing new */
	assert_int_equal(leakage.rank, 2);
	sl_leakage_round(&leakage, &second, NULL, NULL);
	assert_int_equal(leakage.rank, 3);
	assert_true(sl_leakage_knows(
		&leakage, (const uint64_t[]){0, 1, 0, 1, 0})); /* 1 and 4, 2 and 3 as differences */
	assert_true(sl_leakage_knows(&leakage, (const uint64_t[]){0, 1, 0, 0, field.p - 1}));
	assert_true(sl_leakage_knows(&leakage, (const uint64_t[]){0, 0, 1, field.p - 1, 0}));
	for (uint32_t v = 0; v < 5; v++)
		assert_false(sl_leakage_reveals(&leakage, v));
	sl_leakage_round(&leakage, &third, NULL, NULL);
	assert_int_equal(leakage.rank, 4);
	for (uint32_t v = 1; v < 5; v++)
		assert_true(sl_leakage_reveals(&leakage, v));
	sl_leakage_forget(&leakage); /* the models have changed */
	assert_int_equal(leakage.rank, 0);
	sl_leakage_round(&leakage, &third, NULL, NULL);
	assert_int_equal(leakage.rank, 2);
	assert_true(sl_leakage_knows(&leakage, (const uint64_t[]){7, 5, 3, 3, 5}));
	assert_false(sl_leakage_knows(&leakage, (const uint64_t[]){7, 5, 3, 4, 5}));
	sl_leakage_coalition(&leakage, NULL, 0);
	assert_int_equal(sl_leakage_round(&leakage, &third, NULL, NULL), 1);
	assert_int_equal(leakage.rank, 1);
}

static void expect_integers(struct sl_leakage *leakage, uint32_t v, int32_t most, const int32_t *want)
{
	int32_t coefficients[5];
	assert_true(sl_leakage_integers(leakage, v, most, coefficients));
	assert_memory_equal(coefficients, want, leakage->n * sizeof *want);
}

/* x0 + x1, x1 + x2 and x0 + x2 + x3 leave each of the first three with half of x3. */
TEST(rows_for_people)
{
	struct sl_field field = field_of(1020431);
	struct sl_leakage leakage;
	struct sl_graph g = graph_of("complete", 4);
	int32_t coefficients[5];
	assert_int_equal(sl_leakage_init(&leakage, 4, &field, &arena), SL_OK);
	sl_leakage_round(&leakage, &g, (const bool[]){true, true, false, false}, NULL);
	expect_integers(&leakage, 0, 1, (const int32_t[]){1, 1, 0, 0});
	assert_false(sl_leakage_integers(&leakage, 1, 9, coefficients));
	sl_leakage_round(&leakage, &g, (const bool[]){false, true, true, false}, NULL);
	expect_integers(&leakage, 0, 1, (const int32_t[]){1, 0, -1, 0});
	sl_leakage_round(&leakage, &g, (const bool[]){true, false, true, true}, NULL);
	assert_false(sl_leakage_integers(&leakage, 0, 1, coefficients));
	expect_integers(&leakage, 0, 2, (const int32_t[]){2, 0, 0, 1});
	expect_integers(&leakage, 1, 9, (const int32_t[]){0, 2, 0, -1});
	expect_integers(&leakage, 2, 9, (const int32_t[]){0, 0, 2, 1});
	assert_null(sl_leakage_row(&leakage, 3));
}

TEST(refusals)
{
	struct sl_field field = field_of(7);
	struct sl_leakage leakage;
	struct sl_graph g;
	uint32_t group[5];
	sl_arena_reset(&arena, 0);
	size_t need = sl_leakage_bytes(5);
	struct sl_arena tiny = {.base = arena.base + 1, .size = need / 2};
	struct sl_arena enough = {.base = arena.base + 1, .size = need};
	assert_int_equal(sl_leakage_init(&leakage, 5, &field, &tiny), SL_ERR_NOMEM);
	assert_int_equal(tiny.used, 0);
	assert_int_equal(sl_leakage_init(&leakage, 5, &field, &enough), SL_OK);
	arena.used = need + 1;
	assert_int_equal(sl_leakage_coalition(&leakage, (const uint32_t[]){1}, 1), SL_OK);
	assert_int_equal(sl_leakage_coalition(&leakage, (const uint32_t[]){2, 5}, 2), SL_ERR_RANGE);
	assert_int_equal(sl_graph_init(&g, 5, &(struct sl_edge){0, 4}, 1, &arena), SL_OK);
	assert_int_equal(sl_leakage_round(&leakage, &g, NULL, group),
			 3); /* not connected: each part by itself */
	assert_memory_equal(group, ((const uint32_t[]){0, SL_LEAKAGE_NONE, 1, 2, 0}), sizeof group);
	assert_int_equal(
		sl_leakage_round(&leakage, &g, (const bool[]){false, true, false, false, false}, group), 0);
	assert_int_equal(leakage.rank, 3);
	assert_true(sl_leakage_reveals(&leakage, 2) && !sl_leakage_reveals(&leakage, 0) &&
		    !sl_leakage_reveals(&leakage, 1));
}
