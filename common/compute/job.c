#include "common/compute/job.h"

#include <math.h>
#include <sodium.h>

#include "common/base/bytes.h"
#include "common/compute/job_analysis.h"
#include "common/compute/job_mix.h"
#include "common/compute/job_share.h"
#include "common/field/vector.h"

#define BLOCK 1024u

size_t sl_vault_scratch(const struct sl_view *view)
{
	size_t mixing = (view->degree + 1) * (sizeof(struct sl_divisor) + sizeof(uint64_t) + sizeof(uint8_t *)) + 3 * 64;
	size_t attempt = sl_job_share_bytes(view) + mixing, survey = sl_survey_scratch(view);
	return attempt > survey ? attempt : survey;
}

static void run_survey(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	sl_arena_reset(&vault->scratch, 0);
	result->survey = &vault->survey;
	result->code = sl_survey_run(view, &vault->survey, &vault->scratch);
	sl_arena_reset(&vault->scratch, 0);
}

static void run_encode(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	struct sl_encoding encoding = view->encoding;
	encoding.weight = vault->weight;
	encoding.clamp = vault->clamp;
	vault->theirs = NULL; /* GATHER may follow a failed ENCODE: it must find no streams */
	if (vault->weight == 0 || vault->weight > view->max_weight) {
		result->total = vault->weight;
		result->code = SL_ERR_REFUSED;
		return;
	}
	sl_arena_reset(&vault->scratch, 0);
	result->code = sl_job_share_open(vault, view);
	if (result->code == SL_OK)
		result->code = sl_job_mix_open(vault, view);
	if (result->code == SL_OK)
		result->code = sl_encode(&view->field, &encoding, vault->trained, vault->n, vault->x, &result->note);
	if (result->code == SL_OK)
		result->total = result->note.clamped;
	memset(vault->s, 0, (vault->n + 1) * sizeof *vault->s);
}

static void run_gather(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	if (job->kind == SL_JOB_GATHER && view->sharing == SL_SHARING_SEEDED) {
		sl_job_share_take(vault, job->buffers);
		return;
	}
	bool share = job->kind == SL_JOB_GATHER; /* a share is added to s; a chunk of Z replaces it */
	for (const struct sl_buffer *b = job->buffers; b != NULL && result->code == SL_OK; b = b->next) {
		uint64_t *s = vault->s + (size_t)b->index * SL_CHUNK_ELEMENTS;
		result->code = sl_take_packed(&view->field, s, b->bytes, sl_chunk_elements(view, b->index), share);
		result->from = b->from;
	}
}

static void run_seal(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	uint8_t *nonce = sl_slot_nonce(&vault->spool, view->self), *state = sl_slot_state(&vault->spool, view->self);
	sl_job_share_close(vault, view);
	do
		vault->source(vault->source_context, nonce, SL_NONCE_BYTES);
	while (sodium_is_zero(nonce, SL_NONCE_BYTES));
	sl_pack(state, vault->s, view->elements, view->field.bytes);
	sl_canon_commitment(&vault->scope, state, sl_state_bytes(view), nonce, result->hash);
}

static double scale_of(const struct sl_encoding *encoding)
{
	double scale = 1;
	for (uint32_t d = 0; d < encoding->sigma; d++)
		scale *= 10;
	return scale;
}

/* Return the greatest |centred(z_l)|. */
static uint64_t greatest(const struct sl_field *field, const uint64_t *z, size_t count)
{
	uint64_t most = 0;
	for (size_t l = 0; l < count; l++) {
		uint64_t magnitude = z[l] < field->p - z[l] ? z[l] : field->p - z[l];
		most = magnitude > most ? magnitude : most;
	}
	return most;
}

/* Return true if Z can be the sum of N encodings (PROTOCOL.md §4.7 Plausibility of a sum): the total weight is possible for N
 * learners, and no coordinate exceeds the clipping range times that weight. All learners of a view come to the same
 * answer. Doubles are exact up to 2^53 and p < 2^61, so the limit is off by an ulp. */
static bool plausible(const struct sl_view *view, const uint64_t *z)
{
	bool weighted = view->encoding.kind == SL_ENCODING_WEIGHTED;
	uint64_t total = weighted ? z[view->elements - 1] : 1;
	uint64_t least = weighted && view->max_weight == 1 ? view->n : 1;
	uint64_t most = weighted ? view->n * view->max_weight : 1;
	if (total < least || total > most)
		return false;
	double limit = (ceil(view->encoding.clip * scale_of(&view->encoding)) + 1) * (double)total;
	return limit >= (double)view->field.p || greatest(&view->field, z, (size_t)view->elements - 1) <= (uint64_t)limit;
}

static void judge(struct sl_vault *vault, const struct sl_view *view, struct sl_job_result *result)
{
	const uint64_t *z = vault->s;
	result->total = z[view->elements - 1];
	if (!plausible(view, z))
		result->code = SL_ERR_INVALID;
	sl_canon_result(&vault->scope, view->h, z, view->elements, view->field.bytes, result->hash);
}

static void run_close(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	result->real = sl_job_mix_close(vault, view);
	judge(vault, view, result);
}

static void run_fetch(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_buffer *b = job->buffers;
	(void)result;
	memcpy(sl_slot_chunk(&vault->spool, job->view, b->from, b->index), b->bytes, b->size);
	if (b->index == 0)
		memcpy(sl_slot_nonce(&vault->spool, b->from), b->nonce, SL_NONCE_BYTES);
}

/* Add the slot of `position` to s or, without `add`, only check it. SL_ERR_INVALID: an element is not of the field. */
static int add_slot(struct sl_vault *vault, const struct sl_view *view, uint32_t position, bool add)
{
	uint64_t element[BLOCK], worst = 0;
	const uint8_t *state = sl_slot_state(&vault->spool, position);
	for (size_t at = 0; at < view->elements; at += BLOCK) {
		size_t n = view->elements - at < BLOCK ? (size_t)view->elements - at : BLOCK;
		sl_unpack(element, state + at * view->field.bytes, n, view->field.bytes);
		for (size_t l = 0; l < n; l++)
			worst = element[l] > worst ? element[l] : worst;
		if (worst >= view->field.p)
			return SL_ERR_INVALID;
		for (size_t l = 0; add && l < n; l++)
			vault->s[at + l] = sl_add(&view->field, vault->s[at + l], element[l]);
	}
	return SL_OK;
}

/* Check the slot of position job->chunk against the commitment of its owner. */
static void run_check(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	const uint8_t *nonce = sl_slot_nonce(&vault->spool, job->chunk);
	result->code = SL_ERR_NOTFOUND;
	if (sodium_is_zero(nonce, SL_NONCE_BYTES))
		return;
	sl_canon_commitment(&vault->scope, sl_slot_state(&vault->spool, job->chunk), sl_state_bytes(view), nonce, result->hash);
	if (memcmp(result->hash, job->expected, SL_HASH_BYTES) == 0)
		result->code = add_slot(vault, view, job->chunk, false);
}

/* Add up all slots: the Z that mixing would have come to. */
static void run_sum(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	memset(vault->s, 0, (size_t)view->elements * sizeof *vault->s);
	for (uint32_t i = 0; i < view->n && result->code == SL_OK; i++)
		result->code = add_slot(vault, view, i, true);
	if (result->code == SL_OK)
		judge(vault, view, result);
}

/* Take Z from others if it hashes to the digest that they signed. */
static void run_adopt(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	const uint64_t *z = vault->s;
	result->total = z[view->elements - 1];
	sl_canon_result(&vault->scope, view->h, z, view->elements, view->field.bytes, result->hash);
	if (!plausible(view, z) || memcmp(result->hash, job->expected, SL_HASH_BYTES) != 0)
		result->code = SL_ERR_INVALID;
	else
		result->code = sl_decode(&view->field, &view->encoding, z, vault->n, vault->committed);
}

static void run_share(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	(void)result;
	sl_job_share_make(vault, job->view, job->chunk);
}

static void run_expand(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	(void)result;
	sl_job_share_expand(vault, job->view, job->chunk);
}

static void run_mix(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	result->code = sl_job_mix_step(vault, job->view, job->chunk, job->buffers, &result->from);
}

static void run_decode(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	result->code = sl_decode(&view->field, &view->encoding, vault->s, vault->n, vault->committed);
}

static void run_keep(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	(void)result;
	for (const struct sl_buffer *b = job->buffers; b != NULL; b = b->next)
		sl_job_mix_keep(vault, job->view, b); /* elements that are not of the field will not match the commitment */
}

/* --- the table --- */

/* The slots that a job touches. */
enum slots {
	NONE,
	OWN,
	SENDERS, /* of the neighbours that sent first states */
	CHECKED, /* of position job->chunk; it is read through the map, where a hole on a full disk may be a SIGBUS */
	FETCHED, /* of the position that the chunk is from */
};

static const struct {
	void (*run)(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result);
	enum slots slots;
} jobs[SL_JOB_KINDS] = {
	[SL_JOB_SURVEY] = {run_survey, NONE},
	[SL_JOB_ENCODE] = {run_encode, NONE},
	[SL_JOB_SHARE] = {run_share, NONE},
	[SL_JOB_GATHER] = {run_gather, NONE},
	[SL_JOB_EXPAND] = {run_expand, NONE},
	[SL_JOB_SEAL] = {run_seal, OWN},
	[SL_JOB_MIX] = {run_mix, SENDERS},
	[SL_JOB_CLOSE] = {run_close, NONE},
	[SL_JOB_DECODE] = {run_decode, NONE},
	[SL_JOB_KEEP] = {run_keep, SENDERS},
	[SL_JOB_FETCH] = {run_fetch, FETCHED},
	[SL_JOB_CHECK] = {run_check, CHECKED},
	[SL_JOB_SUM] = {run_sum, NONE},
	[SL_JOB_ABSORB] = {run_gather, NONE},
	[SL_JOB_ADOPT] = {run_adopt, NONE},
};

void sl_job_run(struct sl_vault *vault, const struct sl_job *job, struct sl_job_result *result)
{
	*result = (struct sl_job_result){.kind = job->kind, .epoch = job->epoch, .chunk = job->chunk};
	jobs[job->kind].run(vault, job, result);
}

int sl_job_slots(const struct sl_job *job, int (*touch)(void *context, uint32_t position, struct sl_error *error), void *context,
		 struct sl_error *error)
{
	int rc = SL_OK;
	switch (jobs[job->kind].slots) {
	case NONE:
		break;
	case OWN:
		return touch(context, job->view->self, error);
	case SENDERS:
		for (const struct sl_buffer *b = job->buffers; b != NULL && rc == SL_OK; b = b->next)
			if (b->iteration == 0)
				rc = touch(context, job->view->neighbours[b->from], error);
		break;
	case CHECKED:
		return touch(context, job->chunk, error);
	case FETCHED:
		return touch(context, job->buffers->from, error);
	}
	return rc;
}

void sl_vault_wipe(struct sl_vault *vault)
{
	sodium_memzero(vault->x, (vault->n + 1) * sizeof *vault->x);
	sodium_memzero(vault->s, (vault->n + 1) * sizeof *vault->s);
	sodium_memzero(vault->scratch.base, vault->scratch.size);
	sl_arena_reset(&vault->scratch, 0);
}
