#include "common/wire/check.h"

#include <math.h>
#include <string.h>

#include "common/mixing/engine.h"
#include "common/field/encode.h" /* enum sl_encoding_kind */
#include "common/field/share.h"	 /* enum sl_sharing_kind */

#define CHUNKS_MAX ((SL_ELEMENTS_MAX + SL_CHUNK_ELEMENTS - 1) / SL_CHUNK_ELEMENTS)
#define P_END (UINT64_C(1) << 61)
#define ROUND_LAST (SL_ROUNDS_MAX + 1) /* who committed the last round may name the one after it */

static const char *moment_flaw(sl_round t, sl_attempt a)
{
	if (t < 1 || t > ROUND_LAST)
		return "round out of range";
	return a < 1 || a > SL_ATTEMPTS_MAX ? "attempt out of range" : NULL;
}

static const char *who_flaw(sl_id id, sl_round t, sl_attempt a)
{
	return id < 1 ? "id is 0" : moment_flaw(t, a);
}

static const char *hello_flaw(const struct sl_hello *hello)
{
	if (hello->status < SL_PEER_STATUS_TRAINING || hello->status > SL_PEER_STATUS_OPEN)
		return "unknown standing";
	return who_flaw(hello->id, hello->t, hello->a);
}

static bool clip_valid(uint64_t bits)
{
	double clipping_range;
	memcpy(&clipping_range, &bits, sizeof clipping_range);
	return isfinite(clipping_range) && clipping_range > 0;
}

static bool prime_range(uint64_t p)
{
	return p > 2 && p < P_END;
}

/* What shapes the graph and its mixing. */
static const char *graph_flaw(const struct sl_parameters *q)
{
	if (q->tolerance < 1 || q->tolerance > SL_LEARNERS_MAX - 2) /* two that do not collude are left */
		return "tolerance out of range";
	if (q->mixing > SL_ENGINE_AUTO)
		return "unknown mixing";
	if (q->iterations_rule > 1)
		return "k_fixed is neither 0 nor 1";
	if (q->k < q->iterations_rule || q->k > SL_ITERATIONS_MAX)
		return "k out of range";
	bool overlay = q->max_degree >= SL_DEGREE_LEAST && q->max_degree <= SL_LEARNERS_MAX;
	return overlay ? NULL : "degree_max out of range";
}

static const char *parameters_flaw(const struct sl_parameters *q)
{
	if (q->n < 1 || q->n >= SL_ELEMENTS_MAX) /* the weight is one element more */
		return "n out of range";
	if (q->p != 0 && !prime_range(q->p))
		return "p out of range";
	if (q->rounds < 1 || q->rounds > SL_ROUNDS_MAX)
		return "rounds out of range";
	if (q->quorum < 1 || q->quorum > SL_LEARNERS_MAX)
		return "quorum out of range";
	if (q->decimals > SL_DECIMALS_MAX)
		return "sigma out of range";
	if (!clip_valid(q->clipping_range))
		return "clip is not a positive number";
	if (q->max_weight < 1)
		return "max_weight is 0";
	if (q->encoding > SL_ENCODING_PAPER)
		return "unknown encoding";
	if (q->sharing > SL_SHARING_SEEDED)
		return "unknown sharing";
	return graph_flaw(q);
}

static const char *candidates_flaw(const sl_id *candidates, uint32_t count)
{
	if (count > SL_LEARNERS_MAX)
		return "too many candidates";
	sl_id last = 0; /* so that the first must be >= 1 */
	for (uint32_t i = 0; i < count; i++) {
		if (candidates[i] <= last)
			return "candidates not strictly ascending from 1";
		last = candidates[i];
	}
	return NULL;
}

static const char *link_state_flaw(const struct sl_link_state *ls)
{
	const char *flaw = who_flaw(ls->id, ls->t, ls->a);
	if (flaw == NULL && (ls->roster_size < 1 || ls->roster_size > SL_LEARNERS_MAX))
		flaw = "roster_size out of range";
	if (flaw == NULL)
		flaw = parameters_flaw(&ls->parameters);
	return flaw != NULL ? flaw : candidates_flaw(ls->candidates, ls->count);
}

static const char *ready_flaw(const struct sl_ready *ready)
{
	if (ready->k > SL_ITERATIONS_NONE)
		return "K out of range";
	return who_flaw(ready->id, ready->t, ready->a);
}

static const char *digest_flaw(const struct sl_digest *digest)
{
	if (!prime_range(digest->p))
		return "p out of range";
	if (digest->learners < 2 || digest->learners > SL_LEARNERS_MAX)
		return "learners out of range";
	if (digest->decimals > SL_DECIMALS_MAX)
		return "sigma out of range";
	if (digest->encoding > SL_ENCODING_PAPER)
		return "unknown encoding";
	if (!clip_valid(digest->clipping_range))
		return "clip is not a positive number";
	return who_flaw(digest->id, digest->t, digest->a);
}

static const char *request_flaw(const struct sl_request *request)
{
	if (request->t > ROUND_LAST) /* 0 asks for the last one */
		return "round out of range";
	bool masked = request->origin != 0;
	if (masked != (request->a != 0) || request->a > SL_ATTEMPTS_MAX || (masked && request->t == 0))
		return "neither for a result nor for a masked state";
	return request->index >= CHUNKS_MAX ? "chunk index out of range" : NULL;
}

static const char *abort_flaw(const struct sl_abort *abort_record)
{
	sl_attempt last = 0; /* so that the first must be >= 1 */
	for (uint32_t i = 0; i < abort_record->count; i++) {
		if (abort_record->released[i] <= last || abort_record->released[i] > abort_record->a)
			return "released attempts not strictly ascending from 1 to a";
		last = abort_record->released[i];
	}
	if (abort_record->closed > abort_record->a)
		return "dead attempt above a";
	return who_flaw(abort_record->id, abort_record->t, abort_record->a);
}

static const char *have_flaw(const struct sl_have *have)
{
	if (have->size < 1 || have->size > SL_LEARNERS_MAX / 8)
		return "set of members out of range";
	return moment_flaw(have->t, have->a);
}

static bool nonce_shown(const struct sl_chunk *chunk)
{
	static const uint8_t none[SL_NONCE_BYTES];
	return memcmp(chunk->nonce, none, sizeof none) != 0;
}

static const char *chunk_flaw(enum sl_message_kind kind, const struct sl_chunk *chunk)
{
	if (chunk->iteration >= (kind == SL_MSG_STATE ? SL_ITERATIONS_MAX : 1))
		return "iteration out of range";
	if ((chunk->origin != 0) != (kind == SL_MSG_MASKED))
		return "origin of what has none, or none";
	if (nonce_shown(chunk) != sl_message_nonce_due(kind, chunk))
		return "nonce missing, or where none belongs";
	if (chunk->index >= CHUNKS_MAX)
		return "chunk index out of range";
	if (chunk->size < 1 || chunk->size > SL_CHUNK_BYTES_MAX)
		return "chunk size out of range";
	return moment_flaw(chunk->t, chunk->a);
}

const char *sl_check_message(const struct sl_message *m)
{
	switch (m->kind) {
	case SL_MSG_HELLO:
		return hello_flaw(&m->hello);
	case SL_MSG_LINK_STATE:
		return link_state_flaw(&m->link_state);
	case SL_MSG_READY:
		return ready_flaw(&m->ready);
	case SL_MSG_DIGEST:
		return digest_flaw(&m->digest);
	case SL_MSG_REQUEST:
		return request_flaw(&m->request);
	case SL_MSG_ABORT:
		return abort_flaw(&m->abort_record);
	case SL_MSG_HAVE:
		return have_flaw(&m->have);
	case SL_MSG_SHARE:
	case SL_MSG_STATE:
	case SL_MSG_RESULT:
	case SL_MSG_MASKED:
		return chunk_flaw(m->kind, &m->chunk);
	default:
		return "unknown kind";
	}
}
