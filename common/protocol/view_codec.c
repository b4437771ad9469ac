#include "common/protocol/view_codec.h"

static void put_head(struct sl_writer *w, const struct sl_view *view)
{
	sl_bytes_put_u64(w, view->t);
	sl_bytes_put_u64(w, view->a);
	sl_bytes_put_u64(w, view->field.p);
#define X(name) sl_bytes_put_u64(w, view->agreed.name);
	SL_VIEW_NUMBERS(X)
#undef X
	sl_bytes_put(w, view->previous, sizeof view->previous);
	sl_bytes_put_u64(w, view->n);
}

void sl_view_write(const struct sl_view *view, uint8_t *bytes)
{
	struct sl_writer w = {.bytes = bytes, .size = sl_view_bytes(view->n, view->graph.edges)};
	put_head(&w, view);
	for (uint32_t i = 0; i < view->n; i++) {
		sl_bytes_put_u64(&w, view->ids[i]);
		sl_bytes_put_u64(&w, view->incarnations[i]);
	}
	for (uint32_t i = 0; i < view->n; i++)
		for (uint32_t e = view->graph.start[i]; e < view->graph.start[i + 1]; e++)
			if (i < view->graph.adjacent[e]) {
				sl_bytes_put_u64(&w, view->ids[i]);
				sl_bytes_put_u64(&w, view->ids[view->graph.adjacent[e]]);
			}
}

int sl_view_read_head(const uint8_t *bytes, size_t size, struct sl_view *view, uint64_t *p, size_t *edges)
{
	if (size < SL_VIEW_HEAD_BYTES)
		return SL_ERR_FORMAT;
	view->t = (sl_round)sl_bytes_get_u64(bytes);
	view->a = (sl_attempt)sl_bytes_get_u64(bytes + 8);
	*p = sl_bytes_get_u64(bytes + 16);
	const uint8_t *at = bytes + 24;
#define X(name) view->agreed.name = sl_bytes_get_u64(at), at += 8;
	SL_VIEW_NUMBERS(X)
#undef X
	memcpy(view->previous, at, sizeof view->previous);
	uint64_t n = sl_bytes_get_u64(at + SL_HASH_BYTES);
	size_t rest = size - SL_VIEW_HEAD_BYTES;
	if (n < 2 || n > SL_LEARNERS_MAX || rest < n * SL_VIEW_MEMBER_BYTES)
		return SL_ERR_FORMAT;
	rest -= (size_t)n * SL_VIEW_MEMBER_BYTES;
	view->n = (uint32_t)n;
	*edges = rest / SL_VIEW_EDGE_BYTES;
	return rest % SL_VIEW_EDGE_BYTES == 0 ? SL_OK : SL_ERR_FORMAT;
}

void sl_view_read_member(const uint8_t *bytes, uint32_t i, sl_id *id, uint32_t *incarnation)
{
	const uint8_t *at = bytes + SL_VIEW_HEAD_BYTES + (size_t)i * SL_VIEW_MEMBER_BYTES;
	*id = (sl_id)sl_bytes_get_u64(at);
	*incarnation = (uint32_t)sl_bytes_get_u64(at + 8);
}

void sl_view_read_edge(const uint8_t *bytes, uint32_t n, size_t e, sl_id *a, sl_id *b)
{
	const uint8_t *at = bytes + sl_view_bytes(n, e);
	*a = (sl_id)sl_bytes_get_u64(at);
	*b = (sl_id)sl_bytes_get_u64(at + 8);
}

int sl_view_round(const struct sl_scope *scope, const uint8_t *bytes, size_t size, uint32_t n_max,
		  uint32_t *members, struct sl_round_head *round)
{
	struct sl_view head;
	size_t edges;
	*round = (struct sl_round_head){.members = members};
	if (sl_view_read_head(bytes, size, &head, &round->p, &edges) != SL_OK || head.n > n_max)
		return SL_ERR_FORMAT;
	round->t = head.t;
	round->a = head.a;
#define X(name) round->name = head.agreed.name;
	SL_VIEW_NUMBERS(X)
#undef X
	memcpy(round->previous, head.previous, sizeof round->previous);
	memcpy(round->roster, scope->roster, sizeof round->roster);
	round->count = 2 * head.n;
	for (uint32_t i = 0; i < head.n; i++)
		sl_view_read_member(bytes, i, &members[2 * i], &members[2 * i + 1]);
	sl_canonical_edges(scope, bytes + sl_view_bytes(head.n, 0), edges * SL_VIEW_EDGE_BYTES, round->edges);
	return SL_OK;
}
