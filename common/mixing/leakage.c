#include "common/mixing/leakage.h"

#include <assert.h>
#include <string.h>

#define ALIGNMENT_BYTES_MOST 64u /* the arena's, per piece */
#define PIECES 8u

size_t sl_leakage_bytes(uint32_t n)
{
	size_t per_vertex = n * sizeof(uint64_t) + sizeof(uint64_t *) + 2 * sizeof(uint64_t) +
			    3 * sizeof(uint32_t) + sizeof(bool);
	return n * per_vertex + PIECES * ALIGNMENT_BYTES_MOST;
}

int sl_leakage_init(struct sl_leakage *leakage, uint32_t n, const struct sl_field *field,
		    struct sl_arena *arena)
{
	size_t before = sl_arena_mark(arena);
	*leakage = (struct sl_leakage){.field = *field, .n = n};
	leakage->unled_vertex = SL_ARENA_TAKE(arena, n, uint32_t);
	leakage->coalition = SL_ARENA_TAKE(arena, n, bool);
	leakage->row = SL_ARENA_TAKE(arena, n, uint64_t *);
	leakage->rows = SL_ARENA_TAKE(arena, (size_t)n * n, uint64_t);
	leakage->rest = SL_ARENA_TAKE(arena, n, uint64_t);
	leakage->work = SL_ARENA_TAKE(arena, n, uint64_t);
	leakage->label = SL_ARENA_TAKE(arena, n, uint32_t);
	leakage->list = SL_ARENA_TAKE(arena, n, uint32_t);
	if (leakage->unled_vertex == NULL || leakage->coalition == NULL || leakage->row == NULL ||
	    leakage->rows == NULL || leakage->rest == NULL || leakage->work == NULL ||
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

/* into -= factor * row, where a row is not its unit vector. Most factors are 1 or -1. */
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

/* Takes the basis out of rest: what is left stands where no row leads. The first such vertex, or NONE if the
 * rest was known. */
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

/* rest, 1 at `lead` and reduced, is taken out of the rows above it and becomes a row. */
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

/* The sum of x over the listed vertices is known. */
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

/* An honest participant that belongs to no component yet. */
static bool open_to(const struct sl_leakage *leakage, const bool *participants, uint32_t v)
{
	return leakage->label[v] == SL_LEAKAGE_NONE && !leakage->coalition[v] &&
	       (participants == NULL || participants[v]);
}

/* Lists the component of G - A around v; how many they are. */
static uint32_t collect(struct sl_leakage *leakage, const struct sl_graph *graph, const bool *participants,
			uint32_t v, uint32_t label)
{
	uint32_t count = 1;
	leakage->list[0] = v;
	leakage->label[v] = label;
	for (uint32_t at = 0; at < count; at++) {
		const uint32_t *neighbours = sl_graph_neighbours(graph, leakage->list[at]);
		for (uint32_t k = 0; k < sl_graph_degree(graph, leakage->list[at]); k++) {
			if (!open_to(leakage, participants, neighbours[k]))
				continue;
			leakage->label[neighbours[k]] = label;
			leakage->list[count++] = neighbours[k];
		}
	}
	return count;
}

uint32_t sl_leakage_round(struct sl_leakage *leakage, const struct sl_graph *graph, const bool *participants,
			  uint32_t *group)
{
	uint32_t groups = 0;
	assert(graph->n == leakage->n);
	memset(leakage->label, 0xff, leakage->n * sizeof *leakage->label);
	for (uint32_t v = 0; v < leakage->n; v++) {
		if (!open_to(leakage, participants, v))
			continue;
		uint32_t count = collect(leakage, graph, participants, v, groups++);
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

/* Modulo the span, x_v is a combination of the unled vertices: itself, or minus its row's rest. Its
 * coefficient at u.
 */
static uint64_t image(const struct sl_leakage *leakage, uint32_t v, uint32_t u)
{
	return leakage->row[v] == NULL ? v == u : sl_field_sub(&leakage->field, 0, leakage->row[v][u]);
}

/* The first nonzero coefficient of v's image; 0 when v is revealed, or the coalition's own. */
static uint64_t image_lead(const struct sl_leakage *leakage, uint32_t v)
{
	for (uint32_t k = 0; k < leakage->unled; k++) {
		uint64_t coefficient = image(leakage, v, leakage->unled_vertex[k]);
		if (coefficient != 0)
			return coefficient;
	}
	return 0;
}

/* Whether the images of v and w are proportional; work holds the inverses of their leads. */
static bool tied(const struct sl_leakage *leakage, uint32_t v, uint32_t w)
{
	for (uint32_t k = 0; k < leakage->unled; k++) {
		uint32_t u = leakage->unled_vertex[k];
		if (sl_field_mul(&leakage->field, image(leakage, v, u), leakage->work[v]) !=
		    sl_field_mul(&leakage->field, image(leakage, w, u), leakage->work[w]))
			return false;
	}
	return true;
}

/* Equal for proportional images. */
static uint64_t image_hash(const struct sl_leakage *leakage, uint32_t v)
{
	uint64_t hash = 0;
	for (uint32_t k = 0; k < leakage->unled; k++)
		hash = hash * UINT64_C(0x9e3779b97f4a7c15) +
		       sl_field_mul(&leakage->field, image(leakage, v, leakage->unled_vertex[k]),
				    leakage->work[v]);
	return hash;
}

/* The first of `count` listed vertices that v is tied to, or v itself, which is then listed. */
static uint32_t representative(struct sl_leakage *leakage, uint32_t v, uint32_t *count)
{
	for (uint32_t k = 0; k < *count; k++) {
		uint32_t w = leakage->list[k];
		if (leakage->rest[w] == leakage->rest[v] && tied(leakage, v, w))
			return w;
	}
	leakage->list[(*count)++] = v;
	return v;
}

/* label[v]: the least vertex that v is tied to; NONE for those revealed and the coalition. */
static void tie(struct sl_leakage *leakage)
{
	uint32_t count = 0;
	for (uint32_t v = 0; v < leakage->n; v++) {
		uint64_t lead = image_lead(leakage, v);
		leakage->label[v] = SL_LEAKAGE_NONE;
		if (lead == 0)
			continue;
		leakage->work[v] = sl_field_inverse(&leakage->field, lead);
		leakage->rest[v] = image_hash(leakage, v);
		leakage->label[v] = representative(leakage, v, &count);
	}
}

size_t sl_leakage_pairs(struct sl_leakage *leakage, struct sl_leakage_pair *pairs, size_t capacity)
{
	size_t found = 0;
	tie(leakage);
	for (uint32_t a = 0; a < leakage->n; a++) {
		if (leakage->label[a] == SL_LEAKAGE_NONE)
			continue;
		uint64_t minus_lead = sl_field_sub(&leakage->field, 0, image_lead(leakage, a));
		for (uint32_t b = a + 1; b < leakage->n; b++) {
			if (leakage->label[b] != leakage->label[a])
				continue;
			if (found < capacity)
				pairs[found] = (struct sl_leakage_pair){
					a, b, sl_field_mul(&leakage->field, minus_lead, leakage->work[b])};
			found++;
		}
	}
	return found;
}
