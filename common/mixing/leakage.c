#include "common/mixing/leakage.h"

#include <assert.h>
#include <string.h>

#define PIECES 8u

size_t sl_leakage_bytes(uint32_t n)
{
	size_t per_vertex = n * sizeof(uint64_t) + sizeof(uint64_t *) + sizeof(uint64_t) +
			    3 * sizeof(uint32_t) + 2 * sizeof(bool);
	return n * per_vertex + PIECES * SL_ARENA_ALIGNMENT;
}

int sl_leakage_init(struct sl_leakage *leakage, uint32_t n, const struct sl_field *field,
		    struct sl_arena *arena)
{
	size_t before = sl_arena_mark(arena);
	*leakage = (struct sl_leakage){.field = *field, .n = n};
	leakage->unled_vertex = SL_ARENA_TAKE(arena, n, uint32_t);
	leakage->coalition = SL_ARENA_TAKE(arena, n, bool);
	leakage->out = SL_ARENA_TAKE(arena, n, bool);
	leakage->row = SL_ARENA_TAKE(arena, n, uint64_t *);
	leakage->rows = SL_ARENA_TAKE(arena, (size_t)n * n, uint64_t);
	leakage->rest = SL_ARENA_TAKE(arena, n, uint64_t);
	leakage->label = SL_ARENA_TAKE(arena, n, uint32_t);
	leakage->list = SL_ARENA_TAKE(arena, n, uint32_t);
	if (leakage->unled_vertex == NULL || leakage->coalition == NULL || leakage->out == NULL ||
	    leakage->row == NULL || leakage->rows == NULL || leakage->rest == NULL ||
	    leakage->label == NULL || leakage->list == NULL) {
		sl_arena_reset(arena, before);
		return SL_ERR_NOMEM;
	}
	sl_leakage_forget(leakage);
	return SL_OK;
}

int sl_leakage_coalition(struct sl_leakage *leakage, const uint32_t *members, size_t count)
{
	for (size_t k = 0; k < count; k++)
		if (members[k] >= leakage->n)
			return SL_ERR_RANGE;
	memset(leakage->coalition, 0, leakage->n * sizeof *leakage->coalition);
	for (size_t k = 0; k < count; k++)
		leakage->coalition[members[k]] = true;
	sl_leakage_forget(leakage);
	return SL_OK;
}

void sl_leakage_forget(struct sl_leakage *leakage)
{
	leakage->rank = leakage->unled = 0;
	for (uint32_t v = 0; v < leakage->n; v++) {
		leakage->row[v] = NULL;
		if (!leakage->coalition[v])
			leakage->unled_vertex[leakage->unled++] = v;
	}
}

/* Subtract factor * row from `into` where a row differs from its unit vector. Most factors are 1 or -1. */
static void subtract(const struct sl_leakage *leakage, uint64_t *into, uint64_t factor, const uint64_t *row)
{
	const struct sl_field *field = &leakage->field;
	for (uint32_t k = 0; k < leakage->unled; k++) {
		uint32_t u = leakage->unled_vertex[k];
		if (factor == 1)
			into[u] = sl_field_sub(field, into[u], row[u]);
		else if (factor == field->p - 1)
			into[u] = sl_field_add(field, into[u], row[u]);
		else if (row[u] != 0)
			into[u] = sl_field_sub(field, into[u], sl_field_mul(field, factor, row[u]));
	}
}

/* Reduce `rest` by the basis, to vertices at which no row leads. Return the first such vertex with a
 * coefficient, or NONE if `rest` was in the span. */
static uint32_t reduce(struct sl_leakage *leakage)
{
	for (uint32_t v = 0; v < leakage->n; v++) {
		if (leakage->row[v] == NULL || leakage->rest[v] == 0)
			continue;
		subtract(leakage, leakage->rest, leakage->rest[v], leakage->row[v]);
		leakage->rest[v] = 0;
	}
	for (uint32_t k = 0; k < leakage->unled; k++)
		if (leakage->rest[leakage->unled_vertex[k]] != 0)
			return leakage->unled_vertex[k];
	return SL_LEAKAGE_NONE;
}

/* Make `rest`, reduced and 1 at `lead`, a row, and eliminate `lead` from the rows above it. */
static void insert(struct sl_leakage *leakage, uint32_t lead)
{
	uint64_t *row = leakage->rows + (size_t)leakage->rank * leakage->n;
	memcpy(row, leakage->rest, leakage->n * sizeof *row);
	for (uint32_t v = 0; v < lead; v++)
		if (leakage->row[v] != NULL && leakage->row[v][lead] != 0)
			subtract(leakage, leakage->row[v], leakage->row[v][lead], row);
	leakage->row[lead] = row;
	leakage->rank++;
	uint32_t kept = 0;
	for (uint32_t k = 0; k < leakage->unled; k++)
		if (leakage->unled_vertex[k] != lead)
			leakage->unled_vertex[kept++] = leakage->unled_vertex[k];
	leakage->unled = kept;
}

/* Add the sum of x over the listed vertices to the span. */
static void learn(struct sl_leakage *leakage, const uint32_t *members, uint32_t count)
{
	memset(leakage->rest, 0, leakage->n * sizeof *leakage->rest);
	for (uint32_t k = 0; k < count; k++)
		leakage->rest[members[k]] = 1;
	uint32_t lead = reduce(leakage);
	if (lead == SL_LEAKAGE_NONE)
		return;
	uint64_t scale = sl_field_inverse(&leakage->field, leakage->rest[lead]);
	for (uint32_t k = 0; k < leakage->unled; k++) {
		uint64_t *entry = &leakage->rest[leakage->unled_vertex[k]];
		*entry = sl_field_mul(&leakage->field, *entry, scale);
	}
	insert(leakage, lead);
}

uint32_t sl_leakage_round(struct sl_leakage *leakage, const struct sl_graph *graph, const bool *participants,
			  uint32_t *group)
{
	uint32_t groups = 0;
	assert(graph->n == leakage->n);
	memset(leakage->label, 0xff, leakage->n * sizeof *leakage->label);
	for (uint32_t v = 0; v < leakage->n; v++)
		leakage->out[v] = leakage->coalition[v] || (participants != NULL && !participants[v]);
	for (uint32_t v = 0; v < leakage->n; v++) {
		if (leakage->out[v] || leakage->label[v] != SL_LEAKAGE_NONE)
			continue;
		uint32_t count =
			sl_graph_component(graph, v, groups++, leakage->out, leakage->label, leakage->list);
		if (leakage->unled > 0)
			learn(leakage, leakage->list, count);
	}
	if (group != NULL)
		memcpy(group, leakage->label, leakage->n * sizeof *group);
	return groups;
}

bool sl_leakage_knows(struct sl_leakage *leakage, const uint64_t *combination)
{
	memcpy(leakage->rest, combination, leakage->n * sizeof *leakage->rest);
	return reduce(leakage) == SL_LEAKAGE_NONE;
}

bool sl_leakage_reveals(const struct sl_leakage *leakage, uint32_t v)
{
	if (leakage->row[v] == NULL)
		return false;
	for (uint32_t k = 0; k < leakage->unled; k++)
		if (leakage->row[v][leakage->unled_vertex[k]] != 0)
			return false;
	return true;
}

const uint64_t *sl_leakage_row(const struct sl_leakage *leakage, uint32_t v)
{
	return leakage->row[v];
}

static bool scale_row(const struct sl_leakage *leakage, const uint64_t *row, int32_t scale, int32_t most,
		      int32_t *coefficients)
{
	uint64_t factor = (uint64_t)scale % leakage->field.p;
	for (uint32_t u = 0; u < leakage->n; u++) {
		int64_t c = row[u] == 0 ? 0
					: sl_field_centred(&leakage->field,
							   sl_field_mul(&leakage->field, factor, row[u]));
		if (c < -most || c > most)
			return false;
		coefficients[u] = (int32_t)c;
	}
	return true;
}

bool sl_leakage_integers(const struct sl_leakage *leakage, uint32_t v, int32_t most, int32_t *coefficients)
{
	if (leakage->row[v] == NULL)
		return false;
	for (int32_t scale = 1; scale <= most && (uint64_t)scale < leakage->field.p; scale++)
		if (scale_row(leakage, leakage->row[v], scale, most, coefficients))
			return true;
	return false;
}
