/* The exact leak test: what the audit says a coalition learns, against what its messages say.
 *
 * Every message is linear in (models, coins). The real share code is run with one model or coin at 1 and all
 * else at 0, which gives the matrix of everything a coalition sees: the shares it receives and every masked
 * state. Its own models and coins it can subtract. Eliminating the honest coins leaves what it knows about
 * the honest models: the span that the audit reports, no more and no less.
 */
#include "test/graph/graphs.h"
#include "test/lib/test.h"

#include "common/mixing/leakage.h"
#include "common/field/share.h"

#define LEARNERS 5u
#define COINS (LEARNERS * (LEARNERS - 1)) /* of one round */
#define ROUNDS 3u
#define COLUMNS (ROUNDS * COINS + LEARNERS)
#define ROWS (ROUNDS * (COINS + LEARNERS))

/* Rows over coins, then models. */
struct view {
	uint32_t rows, columns;
	uint64_t entry[ROWS][COLUMNS];
};

/* What is known about the models: independent rows. */
struct knowledge {
	uint32_t rank;
	uint64_t row[LEARNERS][LEARNERS];
};

/* Byte l of the stream, a small field's word, is 1, every other 0: the l-th coordinate's coin. */
static void unit_coin(void *context, uint8_t *bytes, size_t n)
{
	memset(bytes, 0, n);
	bytes[*(const uint32_t *)context] = 1;
}

/* share[r][0]: what neighbour r (degree: oneself) gets of model 1 with coins 0; share[r][k], of model 0 with
 * the k-th coin 1 and the others 0. */
static void probe(const struct sl_field *field, enum sl_sharing_kind kind, const struct sl_graph *g,
		  uint32_t v, uint64_t share[LEARNERS][LEARNERS])
{
	struct sl_sharing sharing;
	struct sl_prg randomness[LEARNERS];
	uint64_t x[LEARNERS] = {1}, *shares[LEARNERS], scratch[2048];
	uint32_t degree = sl_graph_degree(g, v), coordinate[LEARNERS];
	sl_id ids[LEARNERS];
	size_t mark = sl_arena_mark(&arena);
	for (uint32_t k = 0; k < degree; k++) {
		ids[k] = sl_graph_neighbours(g, v)[k] + 1;
		coordinate[k] = k + 1;
		sl_prg_open_source(&randomness[k], unit_coin, &coordinate[k]);
	}
	for (uint32_t r = 0; r <= degree; r++)
		shares[r] = share[r];
	assert_true(sl_share_scratch(degree) <= 2048);
	assert_int_equal(sl_share_init(&sharing, field, v + 1, ids, degree, &arena), SL_OK);
	sl_share(&sharing, kind, randomness, x, degree + 1, shares, scratch);
	sl_arena_reset(&arena, mark);
}

/* One round on the participants: its coins are columns from `coin` on, models from `model` on. */
struct round {
	const struct sl_field *field;
	enum sl_sharing_kind kind;
	const struct sl_graph *graph;
	const bool *participants, *coalition;
	uint32_t coin, model;
};

/* Adds what `from` handed to its r-th neighbour to a row. What depends on the coalition's own data it knows.
 */
static void add_share(const struct round *round, uint64_t *row, uint32_t from, uint64_t *share)
{
	uint32_t coin = round->coin + from * (LEARNERS - 1);
	if (round->coalition[from])
		return;
	row[round->model + from] = sl_field_add(round->field, row[round->model + from], share[0]);
	for (uint32_t k = 0; k < sl_graph_degree(round->graph, from); k++)
		row[coin + k] = sl_field_add(round->field, row[coin + k], share[k + 1]);
}

/* Every share goes into the masked state of who holds it, and is a row by itself if that is a member of A. */
static void watch(struct view *view, const struct round *round)
{
	const struct sl_graph *g = round->graph;
	uint64_t *masked[LEARNERS];
	for (uint32_t v = 0; v < g->n; v++)
		masked[v] = round->participants[v] ? view->entry[view->rows++] : NULL;
	for (uint32_t v = 0; v < g->n; v++) {
		uint64_t share[LEARNERS][LEARNERS];
		if (!round->participants[v])
			continue;
		probe(round->field, round->kind, g, v, share);
		for (uint32_t r = 0; r < sl_graph_degree(g, v); r++) {
			uint32_t to = sl_graph_neighbours(g, v)[r];
			add_share(round, masked[to], v, share[r]);
			if (round->coalition[to])
				add_share(round, view->entry[view->rows++], v, share[r]);
		}
		add_share(round, masked[v], v, share[sl_graph_degree(g, v)]);
	}
}

static void swap_rows(struct view *view, uint32_t a, uint32_t b)
{
	for (uint32_t c = 0; c < view->columns; c++) {
		uint64_t kept = view->entry[a][c];
		view->entry[a][c] = view->entry[b][c];
		view->entry[b][c] = kept;
	}
}

/* Clears column c below row `at`, if some row from there on has it. */
static bool eliminate(struct view *view, const struct sl_field *field, uint32_t at, uint32_t c)
{
	uint32_t pivot = at;
	while (pivot < view->rows && view->entry[pivot][c] == 0)
		pivot++;
	if (pivot == view->rows)
		return false;
	if (pivot != at)
		swap_rows(view, at, pivot);
	uint64_t scale = sl_field_inverse(field, view->entry[at][c]);
	for (uint32_t r = at + 1; r < view->rows; r++) {
		uint64_t factor = sl_field_mul(field, view->entry[r][c], scale);
		for (uint32_t k = c; k < view->columns && factor != 0; k++)
			view->entry[r][k] = sl_field_sub(field, view->entry[r][k],
							 sl_field_mul(field, factor, view->entry[at][k]));
	}
	return true;
}

/* Coins first: the rows that are left speak of models alone. */
static void conclude(struct view *view, const struct sl_field *field, uint32_t model, uint32_t n,
		     struct knowledge *knowledge)
{
	uint32_t at = 0;
	*knowledge = (struct knowledge){0};
	for (uint32_t c = 0; c < view->columns; c++) {
		if (!eliminate(view, field, at, c))
			continue;
		if (c >= model)
			memcpy(knowledge->row[knowledge->rank++], &view->entry[at][model],
			       n * sizeof(uint64_t));
		at++;
	}
}

/* All rounds in one matrix, each with coins of its own and the same models. */
static void truth(const struct round *rounds, uint32_t count, uint32_t n, struct knowledge *knowledge)
{
	static struct view view;
	uint32_t model = count * COINS;
	memset(&view, 0, sizeof view);
	view.columns = model + n;
	for (uint32_t t = 0; t < count; t++) {
		struct round round = rounds[t];
		round.coin = t * COINS;
		round.model = model;
		watch(&view, &round);
	}
	conclude(&view, rounds[0].field, model, n, knowledge);
}

static bool in_span(const struct knowledge *knowledge, const struct sl_field *field, uint32_t n,
		    const uint64_t *x)
{
	static struct view view;
	struct knowledge more;
	memset(&view, 0, sizeof view);
	view.columns = n;
	for (uint32_t k = 0; k < knowledge->rank; k++)
		memcpy(view.entry[view.rows++], knowledge->row[k], n * sizeof *x);
	memcpy(view.entry[view.rows++], x, n * sizeof *x);
	conclude(&view, field, 0, n, &more);
	return more.rank == knowledge->rank;
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

/* Each pair of the list is known and its members are not, and no other pair is. p must be small. */
static void expect_pairs(struct sl_leakage *leakage, const struct knowledge *known)
{
	struct sl_leakage_pair pairs[LEARNERS * LEARNERS];
	size_t found = sl_leakage_pairs(leakage, pairs, LEARNERS * LEARNERS), at = 0;
	for (uint32_t a = 0; a < leakage->n; a++)
		for (uint32_t b = a + 1; b < leakage->n; b++) {
			if (sl_leakage_reveals(leakage, a) || sl_leakage_reveals(leakage, b) ||
			    leakage->coalition[a] || leakage->coalition[b])
				continue;
			for (uint64_t factor = 1; factor < leakage->field.p; factor++) {
				uint64_t x[LEARNERS] = {0};
				x[a] = 1;
				x[b] = factor;
				if (!in_span(known, &leakage->field, leakage->n, x))
					continue;
				assert_true(at < found && pairs[at].a == a && pairs[at].b == b);
				assert_true(pairs[at++].factor == factor);
			}
		}
	assert_int_equal(at, found);
}

/* The audit's span is `known`: as many dimensions, and each row of one in the other. */
static void expect_span(struct sl_leakage *leakage, const struct knowledge *known)
{
	assert_int_equal(leakage->rank, known->rank);
	expect_echelon(leakage);
	for (uint32_t k = 0; k < known->rank; k++)
		assert_true(sl_leakage_knows(leakage, known->row[k]));
	for (uint32_t v = 0; v < leakage->n; v++) {
		uint64_t x[LEARNERS] = {0};
		x[v] = 1;
		if (sl_leakage_row(leakage, v) != NULL)
			assert_true(in_span(known, &leakage->field, leakage->n, sl_leakage_row(leakage, v)));
		if (!leakage->coalition[v]) {
			assert_int_equal(sl_leakage_reveals(leakage, v),
					 in_span(known, &leakage->field, leakage->n, x));
			assert_int_equal(sl_leakage_reveals(leakage, v), sl_leakage_knows(leakage, x));
		}
	}
}

/* Whether the graph is connected once the vertices of degree 0 are left out; participants are the others. */
static bool completes(const struct sl_graph *g, bool *participants)
{
	uint32_t alone = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		participants[v] = sl_graph_degree(g, v) > 0;
		alone += !participants[v];
	}
	return alone < g->n && sl_graph_components(g, NULL, &arena) == alone + 1;
}

static uint32_t members_of(uint32_t set, uint32_t n, uint32_t *members, bool *coalition)
{
	uint32_t count = 0;
	for (uint32_t v = 0; v < n; v++) {
		coalition[v] = set >> v & 1;
		if (coalition[v])
			members[count++] = v;
	}
	return count;
}

/* Every coalition watches one round: its knowledge is the audit's, and the groups are sums it knows. */
static void expect_round(const struct round *round, struct sl_leakage *leakage)
{
	uint32_t n = round->graph->n;
	for (uint32_t set = 0; set < 1u << n; set++) {
		bool coalition[LEARNERS];
		uint32_t members[LEARNERS], group[LEARNERS];
		struct knowledge known;
		struct round watched = *round;
		watched.coalition = coalition;
		assert_int_equal(
			sl_leakage_coalition(leakage, members, members_of(set, n, members, coalition)),
			SL_OK);
		uint32_t groups = sl_leakage_round(leakage, round->graph, round->participants, group);
		truth(&watched, 1, n, &known);
		assert_int_equal(groups, known.rank);
		expect_span(leakage, &known);
		for (uint32_t k = 0; k < groups; k++) {
			uint64_t sum[LEARNERS];
			for (uint32_t v = 0; v < n; v++)
				sum[v] = group[v] == k;
			assert_true(in_span(&known, round->field, n, sum));
		}
		for (uint32_t v = 0; v < n; v++)
			assert_int_equal(group[v] == SL_LEAKAGE_NONE,
					 coalition[v] || !round->participants[v]);
	}
}

TEST_SETUP(open_arena, close_arena)

/* Every graph up to 5 vertices on which a round can complete, every coalition, both generators. */
TEST(every_round)
{
	static const uint64_t primes[] = {7, 11, 31};
	for (uint32_t n = 2; n <= LEARNERS; n++)
		for (uint64_t number = 0; number < graphs_on(n); number++)
			for (uint32_t i = 0; i < 6; i++) {
				struct sl_field field = field_of(primes[i / 2]);
				struct sl_leakage leakage;
				bool participants[LEARNERS];
				struct sl_graph g = graph_of_number(n, number);
				if (!completes(&g, participants))
					break;
				assert_int_equal(sl_leakage_init(&leakage, n, &field, &arena), SL_OK);
				struct round round = {.field = &field,
						      .kind = i % 2 ? SL_SHARING_ADDITIVE : SL_SHARING_SHAMIR,
						      .graph = &g,
						      .participants = participants};
				expect_round(&round, &leakage);
			}
}

/* What the coalition knows of unchanged models after these rounds, from one matrix. */
static void expect_rounds(struct round *rounds, uint32_t count, uint32_t set, struct sl_leakage *leakage)
{
	uint32_t n = rounds[0].graph->n, members[LEARNERS];
	bool coalition[LEARNERS];
	struct knowledge known;
	assert_int_equal(sl_leakage_coalition(leakage, members, members_of(set, n, members, coalition)),
			 SL_OK);
	for (uint32_t t = 0; t < count; t++) {
		rounds[t].coalition = coalition;
		sl_leakage_round(leakage, rounds[t].graph, rounds[t].participants, NULL);
	}
	truth(rounds, count, n, &known);
	expect_span(leakage, &known);
	if (leakage->field.p == 7)
		expect_pairs(leakage, &known);
}

struct world {
	struct sl_field field;
	struct sl_graph graph[64];
	bool participants[64][LEARNERS];
	uint32_t count;
	struct sl_leakage leakage;
};

/* Every round that can complete among n <= 4 learners or some of them. */
static void world_init(struct world *world, uint32_t n, uint64_t p)
{
	sl_arena_reset(&arena, 0);
	*world = (struct world){.field = field_of(p)};
	for (uint64_t number = 0; number < graphs_on(n); number++) {
		struct sl_edge edges[COINS / 2];
		struct brute b = brute_numbered(n, number);
		struct sl_graph *g = &world->graph[world->count];
		assert_int_equal(sl_graph_init(g, n, edges, brute_edges(&b, edges), &arena), SL_OK);
		world->count += completes(g, world->participants[world->count]);
	}
	assert_int_equal(sl_leakage_init(&world->leakage, n, &world->field, &arena), SL_OK);
}

static struct round round_of(const struct world *world, uint32_t which)
{
	return (struct round){.field = &world->field,
			      .kind = which % 2 ? SL_SHARING_ADDITIVE : SL_SHARING_SHAMIR,
			      .graph = &world->graph[which],
			      .participants = world->participants[which]};
}

TEST(every_pair_of_rounds)
{
	static const uint64_t primes[] = {7, 11, 31};
	static struct world world;
	for (uint32_t i = 0; i < 3 * 3; i++) {
		uint32_t n = 2 + i / 3;
		world_init(&world, n, primes[i % 3]);
		for (uint32_t a = 0; a < world.count; a++)
			for (uint32_t b = 0; b <= a; b++)
				for (uint32_t set = 0; set < 1u << n; set++) {
					struct round rounds[] = {round_of(&world, a), round_of(&world, b)};
					expect_rounds(rounds, 2, set, &world.leakage);
				}
	}
}

/* All triples of up to 4 learners, for every coalition that leaves three (fewer: nothing that pairs do not
 * show). */
TEST(every_triple_of_rounds)
{
	static struct world world;
	for (uint32_t n = 3; n <= 4; n++) {
		world_init(&world, n, 7);
		for (uint32_t a = 0; a < world.count; a++)
			for (uint32_t b = 0; b < a; b++)
				for (uint32_t c = 0; c < b; c++)
					for (uint32_t set = 0; set < 1u << n; set = set == 0 ? 1 : 2 * set) {
						struct round rounds[] = {round_of(&world, a),
									 round_of(&world, b),
									 round_of(&world, c)};
						expect_rounds(rounds, 3, set, &world.leakage);
					}
	}
}

#define MIDDLE 24u /* learners; COLUMNS has room */

/* A sparse round of most learners: its sums become rows of the view, and are known. */
static void sparse_round(struct sl_leakage *leakage, struct view *view, uint64_t *seed)
{
	struct sl_edge edges[MIDDLE];
	struct sl_graph g;
	bool participants[MIDDLE];
	uint32_t group[MIDDLE];
	for (uint32_t v = 0; v < MIDDLE; v++) {
		participants[v] = any64(seed) % 8 != 0;
		edges[v] = (struct sl_edge){v, (v + 1 + (uint32_t)(any64(seed) % (MIDDLE - 1))) % MIDDLE};
	}
	assert_int_equal(sl_graph_init(&g, MIDDLE, edges, MIDDLE, &arena), SL_OK);
	uint32_t groups = sl_leakage_round(leakage, &g, participants, group), first = view->rows;
	view->rows += groups;
	for (uint32_t v = 0; v < MIDDLE; v++)
		if (group[v] != SL_LEAKAGE_NONE)
			view->entry[first + group[v]][v] = 1;
	for (uint32_t k = first; k < view->rows; k++)
		assert_true(sl_leakage_knows(leakage, view->entry[k]));
}

/* The span of many rounds, in wide fields too: its rank against elimination of all the sums at once. */
TEST(many_rounds)
{
	static const uint64_t primes[] = {29, SL_P_MERSENNE31, (UINT64_C(1) << 61) - 1};
	static struct view view;
	uint64_t seed = 14;
	for (uint32_t i = 0; i < 300; i++) {
		struct sl_field field = field_of(primes[i % 3]);
		struct sl_leakage leakage;
		uint32_t members[3], rank = 0;
		sl_arena_reset(&arena, 0);
		memset(&view, 0, sizeof view);
		view.columns = MIDDLE;
		assert_int_equal(sl_leakage_init(&leakage, MIDDLE, &field, &arena), SL_OK);
		for (uint32_t k = 0; k < 3; k++)
			members[k] = (uint32_t)(any64(&seed) % MIDDLE);
		assert_int_equal(sl_leakage_coalition(&leakage, members, 3), SL_OK);
		while (view.rows + MIDDLE <= ROWS)
			sparse_round(&leakage, &view, &seed);
		for (uint32_t c = 0; c < MIDDLE; c++)
			rank += eliminate(&view, &field, rank, c);
		assert_int_equal(leakage.rank, rank);
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

static void expect_pair(const struct sl_leakage_pair *pair, uint32_t a, uint32_t b, uint64_t factor)
{
	assert_true(pair->a == a && pair->b == b && pair->factor == factor);
}

/* Two pairings give the pairs and differences of the rest, the third gives every model. */
TEST(pairings)
{
	struct sl_field field = field_of(SL_P_MERSENNE31);
	struct sl_leakage leakage;
	struct sl_leakage_pair pairs[6];
	sl_arena_reset(&arena, 0);
	struct sl_graph first = pairing(1, 2, 3, 4), second = pairing(1, 3, 2, 4),
			third = pairing(1, 4, 2, 3);
	assert_int_equal(sl_leakage_init(&leakage, 5, &field, &arena), SL_OK);
	assert_int_equal(sl_leakage_coalition(&leakage, (const uint32_t[]){0, 0}, 2), SL_OK);
	assert_int_equal(sl_leakage_round(&leakage, &first, NULL, NULL), 2);
	assert_int_equal(sl_leakage_pairs(&leakage, pairs, 6), 2);
	expect_pair(&pairs[0], 1, 2, 1);
	expect_pair(&pairs[1], 3, 4, 1);
	assert_int_equal(sl_leakage_round(&leakage, &first, NULL, NULL), 2); /* nothing new */
	assert_int_equal(leakage.rank, 2);
	sl_leakage_round(&leakage, &second, NULL, NULL);
	assert_int_equal(leakage.rank, 3);
	assert_int_equal(sl_leakage_pairs(&leakage, pairs, 6),
			 6); /* 12 13 24 34 as sums, 14 23 as differences */
	expect_pair(&pairs[1], 1, 3, 1);
	expect_pair(&pairs[2], 1, 4, field.p - 1);
	expect_pair(&pairs[3], 2, 3, field.p - 1);
	assert_int_equal(sl_leakage_pairs(&leakage, pairs, 1), 6);
	for (uint32_t v = 0; v < 5; v++)
		assert_false(sl_leakage_reveals(&leakage, v));
	sl_leakage_round(&leakage, &third, NULL, NULL);
	assert_int_equal(leakage.rank, 4);
	for (uint32_t v = 1; v < 5; v++)
		assert_true(sl_leakage_reveals(&leakage, v));
	assert_int_equal(sl_leakage_pairs(&leakage, pairs, 6), 0);
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
