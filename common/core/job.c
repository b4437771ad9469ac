#include "common/core/job.h"

#include <math.h>
#include <sodium.h>

#include "common/base/bytes.h"
#include "common/math/connect.h"
#include "common/math/reinforce.h"
#include "common/math/spectrum.h"

#define BLOCK 1024u

static size_t row_elements(const struct sl_view *view)
{
	return view->elements < SL_CHUNK_ELEMENTS ? (size_t)view->elements : SL_CHUNK_ELEMENTS;
}

static size_t survey_scratch(const struct sl_view *view)
{
	const struct sl_graph *g = &view->graph;
	uint32_t target = (uint32_t)view->agreed.tolerance + 1;
	size_t mu = sl_mu_scratch(view->n), kappa = sl_connectivity_scratch(g->n, g->edges);
	size_t missing = (size_t)view->n * target * sizeof(struct sl_edge) + sl_reinforce_scratch(g->n, g->edges, target);
	size_t most = mu > kappa ? mu : kappa;
	return (most > missing ? most : missing) + 4096;
}

size_t sl_vault_scratch(const struct sl_view *view)
{
	size_t degree = view->degree;
	size_t shares = (degree + 1) * (row_elements(view) * sizeof(uint64_t) + 64) + sl_share_scratch(view->degree) * 8;
	size_t small = (degree + 1) * (sizeof(struct sl_coins) + sizeof(struct sl_divisor) + 256) + 8192;
	size_t attempt = shares + small, survey = survey_scratch(view);
	return attempt > survey ? attempt : survey;
}

/* Whom c colluders cut off from the others: every cut vertex when one is enough, else the members of a smallest cut. */
static int find_weak(const struct sl_graph *graph, struct sl_survey *survey, struct sl_arena *scratch)
{
	if (survey->kappa != 1)
		return SL_OK; /* they are known already, or there are none */
	return sl_articulation(graph, survey->weak, &survey->weak_count, scratch);
}

/* Edges that would make the graph tolerate c colluders. */
static int find_missing(const struct sl_view *view, struct sl_survey *survey, struct sl_arena *scratch)
{
	size_t mark = sl_arena_mark(scratch), count = 0, room = (size_t)view->n * (view->agreed.tolerance + 1);
	struct sl_edge *edges = SL_TAKE(scratch, room, struct sl_edge);
	int rc = edges == NULL ? SL_ERR_NOMEM
			       : sl_reinforce(&view->graph, (uint32_t)view->agreed.tolerance + 1, edges, room, &count, scratch);
	if (rc == SL_OK) {
		survey->missing_count = (uint32_t)count;
		memcpy(survey->missing, edges, (count < SL_ADVICE_MAX ? count : SL_ADVICE_MAX) * sizeof *edges);
	}
	sl_arena_reset(scratch, mark);
	return rc;
}

static int survey_connectivity(const struct sl_view *view, struct sl_survey *survey, struct sl_arena *scratch)
{
	uint32_t wanted = (uint32_t)view->agreed.tolerance + 1;
	if (view->n <= wanted)
		return SL_OK; /* no graph of so few would do: the gate says that */
	int rc = sl_connectivity(&view->graph, wanted, &survey->kappa, survey->weak, scratch);
	if (rc != SL_OK || survey->kappa >= wanted)
		return rc;
	survey->weak_count = survey->kappa;
	rc = find_weak(&view->graph, survey, scratch);
	return rc == SL_OK ? find_missing(view, survey, scratch) : rc;
}

static void run_survey(struct sl_vault *vault, const struct sl_view *view, struct sl_job_result *result)
{
	struct sl_survey *survey = &vault->survey;
	*survey = (struct sl_survey){.mu = 1};
	sl_arena_reset(&vault->scratch, 0);
	result->survey = survey;
	result->code = sl_mu(&view->graph, &vault->scratch, &survey->mu);
	if (result->code == SL_OK)
		result->code = survey_connectivity(view, survey, &vault->scratch);
	sl_arena_reset(&vault->scratch, 0);
}

/* One fresh 32-byte key per (attempt, neighbour), or every coin from the operating system. */
static void open_coins(struct sl_vault *vault, uint32_t degree)
{
	uint8_t key[SL_KEY_BYTES];
	for (uint32_t r = 0; r < degree; r++) {
		if (vault->coins_from_os) {
			sl_coins_open_source(&vault->coins[r], vault->source, vault->source_context);
			continue;
		}
		vault->source(vault->source_context, key, sizeof key);
		sl_coins_open(&vault->coins[r], key);
	}
	sodium_memzero(key, sizeof key);
}

static int take_rows(struct sl_vault *vault, const struct sl_view *view)
{
	struct sl_arena *arena = &vault->scratch;
	vault->coins = SL_TAKE(arena, view->degree, struct sl_coins);
	vault->shares = SL_TAKE(arena, view->degree + 1, uint64_t *);
	vault->share_scratch = SL_TAKE(arena, sl_share_scratch(view->degree), uint64_t);
	vault->divisors = SL_TAKE(arena, view->degree, struct sl_divisor);
	vault->states = SL_TAKE(arena, view->degree, const uint8_t *);
	if (!vault->coins || !vault->shares || !vault->share_scratch || !vault->divisors || !vault->states)
		return SL_ERR_NOMEM;
	for (uint32_t r = 0; r <= view->degree; r++)
		if ((vault->shares[r] = SL_TAKE(arena, row_elements(view), uint64_t)) == NULL)
			return SL_ERR_NOMEM;
	return SL_OK;
}

static int open_sharing(struct sl_vault *vault, const struct sl_view *view)
{
	sl_arena_reset(&vault->scratch, 0);
	sl_id *neighbours = SL_TAKE(&vault->scratch, view->degree, sl_id);
	if (neighbours == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t r = 0; r < view->degree; r++)
		neighbours[r] = view->ids[view->neighbours[r]];
	int rc = sl_sharing_init(&vault->sharing, &view->field, view->ids[view->self], neighbours, view->degree,
				 &vault->scratch);
	if (rc == SL_OK)
		rc = take_rows(vault, view);
	if (rc != SL_OK)
		return rc;
	for (uint32_t r = 0; r < view->degree; r++)
		sl_divisor_init(&vault->divisors[r], sl_metropolis(&view->graph, view->self, view->neighbours[r]));
	open_coins(vault, view->degree);
	return SL_OK;
}

static void run_encode(struct sl_vault *vault, const struct sl_view *view, struct sl_job_result *result)
{
	struct sl_encoding encoding = view->encoding;
	encoding.weight = vault->weight;
	encoding.clamp = vault->clamp;
	if (vault->weight == 0 || vault->weight > view->max_weight) {
		result->total = vault->weight;
		result->code = SL_ERR_REFUSED;
		return;
	}
	result->code = open_sharing(vault, view);
	if (result->code == SL_OK)
		result->code = sl_encode(&view->field, &encoding, vault->trained, vault->n, vault->x, &result->note);
	if (result->code == SL_OK)
		result->total = result->note.clamped;
	memset(vault->s, 0, (vault->n + 1) * sizeof *vault->s);
}

static void run_share(struct sl_vault *vault, const struct sl_view *view, const struct sl_job *job)
{
	size_t count = sl_chunk_elements(view, job->chunk);
	uint64_t *x = vault->x + (size_t)job->chunk * SL_CHUNK_ELEMENTS;
	uint64_t *s = vault->s + (size_t)job->chunk * SL_CHUNK_ELEMENTS;
	sl_share(&vault->sharing, view->sharing, vault->coins, x, count, vault->shares, vault->share_scratch);
	const uint64_t *own = vault->shares[view->degree];
	for (size_t l = 0; l < count; l++)
		s[l] = sl_add(&view->field, s[l], own[l]);
	sodium_memzero(vault->shares[view->degree], count * sizeof *own);
	sodium_memzero(x, count * sizeof *x); /* its shares are out: the encoding is not needed again */
}

/* A share is added to s; a piece of Z is s. */
static int gather_one(struct sl_vault *vault, const struct sl_view *view, const struct sl_buffer *buffer, bool share)
{
	uint64_t element[BLOCK];
	size_t count = sl_chunk_elements(view, buffer->index);
	uint64_t *s = vault->s + (size_t)buffer->index * SL_CHUNK_ELEMENTS;
	int rc = SL_OK;
	for (size_t at = 0; at < count && rc == SL_OK; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		sl_unpack(element, buffer->bytes + at * view->field.bytes, n, view->field.bytes);
		for (size_t l = 0; l < n; l++) {
			if (element[l] >= view->field.p)
				rc = SL_ERR_INVALID;
			s[at + l] = share ? sl_add(&view->field, s[at + l], element[l]) : element[l];
		}
	}
	sodium_memzero(element, sizeof element);
	return rc;
}

static void run_gather(struct sl_vault *vault, const struct sl_view *view, const struct sl_job *job,
		       struct sl_job_result *result)
{
	for (const struct sl_buffer *b = job->buffers; b != NULL && result->code == SL_OK; b = b->next) {
		result->code = gather_one(vault, view, b, job->kind == SL_JOB_GATHER);
		result->from = b->from;
	}
}

static void run_seal(struct sl_vault *vault, const struct sl_view *view, struct sl_job_result *result)
{
	uint8_t nonce[SL_NONCE_BYTES];
	vault->source(vault->source_context, nonce, sizeof nonce);
	sl_canon_commitment(&vault->scope, vault->s, view->elements, nonce, result->hash);
	sl_mix_open(vault->s, view->fraction, view->elements, (int64_t *)vault->s);
	sodium_memzero(nonce, sizeof nonce);
}

static void run_mix(struct sl_vault *vault, const struct sl_view *view, const struct sl_job *job)
{
	int64_t *state = (int64_t *)vault->s + (size_t)job->chunk * SL_CHUNK_ELEMENTS;
	for (const struct sl_buffer *b = job->buffers; b != NULL; b = b->next)
		vault->states[b->from] = b->bytes;
	sl_mix_step(state, sl_chunk_elements(view, job->chunk), vault->states, vault->divisors, view->degree);
}

static double scale_of(const struct sl_encoding *encoding)
{
	double scale = 1;
	for (uint32_t d = 0; d < encoding->sigma; d++)
		scale *= 10;
	return scale;
}

/* Whether Z can be the sum of N encodings: a weight that N learners can have, and nothing beyond clip times it. All
 * learners of a view come to the same answer. p < 2^61 and exact doubles up to 2^53: the bound is loose by an ulp. */
static bool plausible(const struct sl_view *view, const uint64_t *z)
{
	bool weighted = view->encoding.kind == SL_ENCODING_WEIGHTED;
	uint64_t total = weighted ? z[view->elements - 1] : 1;
	uint64_t least = weighted && view->max_weight == 1 ? view->n : 1;
	uint64_t most = weighted ? view->n * view->max_weight : 1;
	if (total < least || total > most)
		return false;
	double limit = (ceil(view->encoding.clip * scale_of(&view->encoding)) + 1) * (double)total;
	for (size_t l = 0; l + 1 < view->elements; l++) {
		int64_t sum = sl_centred(&view->field, z[l]);
		if ((double)(sum < 0 ? -sum : sum) > limit)
			return false;
	}
	return true;
}

static void run_close(struct sl_vault *vault, const struct sl_view *view, struct sl_job_result *result)
{
	uint64_t *z = vault->s;
	result->real = sl_mix_close(&view->field, view->n, view->fraction, (const int64_t *)z, view->elements, z);
	result->total = z[view->elements - 1];
	if (!plausible(view, z))
		result->code = SL_ERR_INVALID;
	sl_canon_result(&vault->scope, view->h, z, view->elements, result->hash);
}

/* The result of others: taken only if it is what they signed. */
static void run_adopt(struct sl_vault *vault, const struct sl_view *view, const struct sl_job *job,
		      struct sl_job_result *result)
{
	const uint64_t *z = vault->s;
	result->total = z[view->elements - 1];
	sl_canon_result(&vault->scope, view->h, z, view->elements, result->hash);
	if (!plausible(view, z) || memcmp(result->hash, job->expected, SL_HASH_BYTES) != 0)
		result->code = SL_ERR_INVALID;
	else
		result->code = sl_decode(&view->field, &view->encoding, z, vault->n, vault->committed);
}

void sl_job_run(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	*result = (struct sl_job_result){.kind = job->kind, .epoch = job->epoch, .chunk = job->chunk};
	switch (job->kind) {
	case SL_JOB_SURVEY:
		run_survey(vault, view, result);
		break;
	case SL_JOB_ENCODE:
		run_encode(vault, view, result);
		break;
	case SL_JOB_SHARE:
		run_share(vault, view, job);
		break;
	case SL_JOB_GATHER:
	case SL_JOB_ABSORB:
		run_gather(vault, view, job, result);
		break;
	case SL_JOB_SEAL:
		run_seal(vault, view, result);
		break;
	case SL_JOB_MIX:
		run_mix(vault, view, job);
		break;
	case SL_JOB_CLOSE:
		run_close(vault, view, result);
		break;
	case SL_JOB_DECODE:
		result->code = sl_decode(&view->field, &view->encoding, vault->s, vault->n, vault->committed);
		break;
	case SL_JOB_ADOPT:
		run_adopt(vault, view, job, result);
		break;
	}
}

void sl_vault_wipe(struct sl_vault *vault)
{
	sodium_memzero(vault->x, (vault->n + 1) * sizeof *vault->x);
	sodium_memzero(vault->s, (vault->n + 1) * sizeof *vault->s);
	sodium_memzero(vault->scratch.base, vault->scratch.size);
	sl_arena_reset(&vault->scratch, 0);
}
