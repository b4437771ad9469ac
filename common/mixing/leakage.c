#include "common/mixing/leakage.h"

#include <assert.h>
#include <string.h>

#define ALIGNMENT_BYTES_MOST 64u /* of the arena, per piece */
#define PIECES 8u

size_t sl_audit_bytes(uint32_t n)
{
	size_t per_vertex = n * sizeof(uint64_t) + sizeof(uint64_t *) + sizeof(uint64_t) +
			    3 * sizeof(uint32_t) + 2 * sizeof(bool);
	return n * per_vertex + PIECES * ALIGNMENT_BYTES_MOST;
}

int sl_audit_init(struct sl_audit *audit, uint32_t n, const struct sl_field *field, struct sl_arena *arena)
{
	size_t before = sl_arena_mark(arena);
	*audit = (struct sl_audit){.field = *field, .n = n};
	audit->unled_vertex = SL_TAKE(arena, n, uint32_t);
	audit->coalition = SL_TAKE(arena, n, bool);
	audit->out = SL_TAKE(arena, n, bool);
	audit->row = SL_TAKE(arena, n, uint64_t *);
	audit->rows = SL_TAKE(arena, (size_t)n * n, uint64_t);
	audit->rest = SL_TAKE(arena, n, uint64_t);
	audit->label = SL_TAKE(arena, n, uint32_t);
	audit->list = SL_TAKE(arena, n, uint32_t);
	if (audit->unled_vertex == NULL || audit->coalition == NULL || audit->out == NULL || audit->row == NULL ||
	    audit->rows == NULL || audit->rest == NULL || audit->label == NULL || audit->list == NULL) {
		sl_arena_reset(arena, before);
		return SL_ERR_NOMEM;
	}
	sl_audit_forget(audit);
	return SL_OK;
}

int sl_audit_coalition(struct sl_audit *audit, const uint32_t *members, size_t count)
{
	for (size_t k = 0; k < count; k++)
		if (members[k] >= audit->n)
			return SL_ERR_RANGE;
	memset(audit->coalition, 0, audit->n * sizeof *audit->coalition);
	for (size_t k = 0; k < count; k++)
		audit->coalition[members[k]] = true;
	sl_audit_forget(audit);
	return SL_OK;
}

void sl_audit_forget(struct sl_audit *audit)
{
	audit->rank = audit->unled = 0;
	for (uint32_t v = 0; v < audit->n; v++) {
		audit->row[v] = NULL;
		if (!audit->coalition[v])
			audit->unled_vertex[audit->unled++] = v;
	}
}

/* Subtract factor * row from `into` where a row differs from its unit vector. Most factors are 1 or -1. */
static void subtract(const struct sl_audit *audit, uint64_t *into, uint64_t factor, const uint64_t *row)
{
	const struct sl_field *field = &audit->field;
	for (uint32_t k = 0; k < audit->unled; k++) {
		uint32_t u = audit->unled_vertex[k];
		if (factor == 1)
			into[u] = sl_sub(field, into[u], row[u]);
		else if (factor == field->p - 1)
			into[u] = sl_add(field, into[u], row[u]);
		else if (row[u] != 0)
			into[u] = sl_sub(field, into[u], sl_mul(field, factor, row[u]));
	}
}

/* Reduce `rest` by the basis, to vertices at which no row leads. Return the first such vertex with a coefficient, or NONE
 * if `rest` was in the span. */
static uint32_t reduce(struct sl_audit *audit)
{
	for (uint32_t v = 0; v < audit->n; v++) {
		if (audit->row[v] == NULL || audit->rest[v] == 0)
			continue;
		subtract(audit, audit->rest, audit->rest[v], audit->row[v]);
		audit->rest[v] = 0;
	}
	for (uint32_t k = 0; k < audit->unled; k++)
		if (audit->rest[audit->unled_vertex[k]] != 0)
			return audit->unled_vertex[k];
	return SL_AUDIT_NONE;
}

/* Make `rest`, reduced and 1 at `lead`, a row, and eliminate `lead` from the rows above it. */
static void insert(struct sl_audit *audit, uint32_t lead)
{
	uint64_t *row = audit->rows + (size_t)audit->rank * audit->n;
	memcpy(row, audit->rest, audit->n * sizeof *row);
	for (uint32_t v = 0; v < lead; v++)
		if (audit->row[v] != NULL && audit->row[v][lead] != 0)
			subtract(audit, audit->row[v], audit->row[v][lead], row);
	audit->row[lead] = row;
	audit->rank++;
	uint32_t kept = 0;
	for (uint32_t k = 0; k < audit->unled; k++)
		if (audit->unled_vertex[k] != lead)
			audit->unled_vertex[kept++] = audit->unled_vertex[k];
	audit->unled = kept;
}

/* Add the sum of x over the listed vertices to the span. */
static void learn(struct sl_audit *audit, const uint32_t *members, uint32_t count)
{
	memset(audit->rest, 0, audit->n * sizeof *audit->rest);
	for (uint32_t k = 0; k < count; k++)
		audit->rest[members[k]] = 1;
	uint32_t lead = reduce(audit);
	if (lead == SL_AUDIT_NONE)
		return;
	uint64_t scale = sl_inverse(&audit->field, audit->rest[lead]);
	for (uint32_t k = 0; k < audit->unled; k++) {
		uint64_t *entry = &audit->rest[audit->unled_vertex[k]];
		*entry = sl_mul(&audit->field, *entry, scale);
	}
	insert(audit, lead);
}

uint32_t sl_audit_round(struct sl_audit *audit, const struct sl_graph *graph, const bool *participants,
			uint32_t *group)
{
	uint32_t groups = 0;
	assert(graph->n == audit->n);
	memset(audit->label, 0xff, audit->n * sizeof *audit->label);
	for (uint32_t v = 0; v < audit->n; v++)
		audit->out[v] = audit->coalition[v] || (participants != NULL && !participants[v]);
	for (uint32_t v = 0; v < audit->n; v++) {
		if (audit->out[v] || audit->label[v] != SL_AUDIT_NONE)
			continue;
		uint32_t count = sl_graph_component(graph, v, groups++, audit->out, audit->label, audit->list);
		if (audit->unled > 0)
			learn(audit, audit->list, count);
	}
	if (group != NULL)
		memcpy(group, audit->label, audit->n * sizeof *group);
	return groups;
}

bool sl_audit_knows(struct sl_audit *audit, const uint64_t *combination)
{
	memcpy(audit->rest, combination, audit->n * sizeof *audit->rest);
	return reduce(audit) == SL_AUDIT_NONE;
}

bool sl_audit_reveals(const struct sl_audit *audit, uint32_t v)
{
	if (audit->row[v] == NULL)
		return false;
	for (uint32_t k = 0; k < audit->unled; k++)
		if (audit->row[v][audit->unled_vertex[k]] != 0)
			return false;
	return true;
}

const uint64_t *sl_audit_row(const struct sl_audit *audit, uint32_t v)
{
	return audit->row[v];
}

static bool scale_row(const struct sl_audit *audit, const uint64_t *row, int32_t scale, int32_t most,
		      int32_t *coefficients)
{
	uint64_t factor = (uint64_t)scale % audit->field.p;
	for (uint32_t u = 0; u < audit->n; u++) {
		int64_t c =
			row[u] == 0 ? 0 : sl_centred(&audit->field, sl_mul(&audit->field, factor, row[u]));
		if (c < -most || c > most)
			return false;
		coefficients[u] = (int32_t)c;
	}
	return true;
}

bool sl_audit_integers(const struct sl_audit *audit, uint32_t v, int32_t most, int32_t *coefficients)
{
	if (audit->row[v] == NULL)
		return false;
	for (int32_t scale = 1; scale <= most && (uint64_t)scale < audit->field.p; scale++)
		if (scale_row(audit, audit->row[v], scale, most, coefficients))
			return true;
	return false;
}
