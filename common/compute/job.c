#include "common/compute/job.h"

#include <math.h>
#include <sodium.h>

#include "common/base/bytes.h"
#include "common/compute/blocks.h"
#include "common/compute/job_analysis.h"
#include "common/compute/job_deposit.h"
#include "common/compute/job_mix.h"
#include "common/compute/job_model.h"
#include "common/compute/job_noise.h"
#include "common/compute/job_share.h"
#include "common/compute/state.h"
#include "common/field/vector.h"
#include "common/field/vector_hash.h"

#define PIECE (256u << 10) /* bytes that are hashed at a time */

size_t sl_job_scratch(const struct sl_view *view, uint32_t workers)
{
	size_t mixing =
		(view->degree + 1) * (sizeof(struct sl_divisor) + sizeof(uint64_t) + sizeof(uint8_t *)) +
		3 * 64;
	size_t attempt = sl_job_share_bytes(view, workers) + mixing + sl_job_deposit_bytes(view, workers),
	       analysis = sl_job_analysis_scratch(view);
	return attempt > analysis ? attempt : analysis;
}

static void run_analysis(struct sl_workspace *workspace, const struct sl_job *job,
			 struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	sl_arena_reset(&workspace->scratch, 0);
	result->analysis = &workspace->analysis;
	result->code = sl_job_analysis_run(view, &workspace->analysis, &workspace->scratch);
	sl_arena_reset(&workspace->scratch, 0);
}

static void run_encode(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	bool equal = view->max_weight == 1 && !sl_encoding_is_noisy(&view->encoding);
	workspace->theirs = NULL; /* GATHER may follow a failed ENCODE: it must find no streams */
	if (workspace->weight > view->max_weight || (workspace->weight == 0 && equal)) {
		result->total = workspace->weight;
		result->code = SL_ERR_REFUSED;
		return;
	}
	sl_arena_reset(&workspace->scratch, 0);
	result->code = sl_job_share_open(workspace, view);
	if (result->code == SL_OK)
		result->code = sl_job_mix_open(workspace, view);
	sl_job_noise_open(workspace, view, sl_job_model_base(workspace, view));
	if (result->code == SL_OK)
		result->code = sl_job_model_check(workspace, view, result);
	if (result->code == SL_OK)
		result->total = result->note.clamped;
	result->scaled = sl_encoding_is_noisy(&view->encoding) && workspace->noise.factor < 1;
	memcpy(workspace->encoded, view->h, SL_HASH_BYTES);
	memset(workspace->s, 0, sl_state_packed(view));
}

static void run_gather(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	if (view->sharing == SL_SHARING_SEEDED) {
		sl_job_share_take(workspace, job->buffers);
		return;
	}
	for (const struct sl_buffer *b = job->buffers; b != NULL && result->code == SL_OK; b = b->next) {
		result->code =
			sl_job_share_add(workspace, view, b->bytes, (size_t)b->index * SL_CHUNK_ELEMENTS,
					 sl_view_chunk_elements(view, b->index));
		result->from = b->from;
	}
}

static void run_secrets(struct sl_workspace *workspace, const struct sl_job *job,
			struct sl_job_result *result)
{
	result->code = sl_job_deposit_secrets(workspace, job->view);
	result->secrets = &workspace->secrets;
}

static void run_deposit(struct sl_workspace *workspace, const struct sl_job *job,
			struct sl_job_result *result)
{
	(void)result;
	sl_job_deposit_mask(workspace, job->view, job->chunk);
}

static void run_commitment(struct sl_workspace *workspace, const struct sl_job *job,
			   struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	sl_job_share_close(workspace, view);
	sl_job_noise_close(workspace);
	sl_canonical_deposit(&workspace->scope, sl_slot_state(&workspace->state_file, view->self),
			     sl_slot_state_bytes(view), workspace->state_file.used, result->hash);
	sl_slot_used(&workspace->state_file, sl_slot_state(&workspace->state_file, view->self),
		     sl_slot_state_bytes(view));
}

static uint32_t check_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	uint64_t z[SL_BLOCK_ELEMENTS];
	const uint64_t *limit = blocks->context;
	sl_state_take(blocks->workspace, blocks->view, block->first, block->count, z);
	return sl_vector_magnitude(&blocks->view->field, z, block->count) > *limit;
}

/* Return true if no coordinate of Z exceeds `limit`: of the values and their lower limbs. */
static bool within(struct sl_workspace *workspace, const struct sl_view *view, uint64_t limit)
{
	uint64_t counts = sl_view_ranged(view) ? (uint64_t)SL_MAGNITUDES * workspace->ranges.count : 0;
	struct sl_blocks blocks = {.workspace = workspace, .view = view, .context = &limit};
	return sl_blocks_run(&blocks, 0, view->elements - 1 - counts, check_block) == 0;
}

/* Return true if the counts of each tensor are those of N learners, each of which has one magnitude. */
static bool counts_all(const struct sl_workspace *workspace, const struct sl_view *view)
{
	const struct sl_ranges *ranges = &workspace->ranges;
	bool all = true;
	for (uint32_t k = 0; all && sl_view_ranged(view) && k < ranges->count; k++) {
		size_t first = sl_ranges_counts_at(ranges, view->encoding.update_bits, k);
		uint64_t sum = 0, most = 0;
		for (uint32_t b = 0; b < SL_MAGNITUDES; b++) {
			uint64_t count = sl_state_element(workspace, view, first + b);
			most = count > most ? count : most;
			sum += count;
		}
		all = most <= view->n && sum == view->n;
	}
	return all;
}

/* Return true if Z, with the total weight `z_n`, can be the sum of N encodings (ROUND.md §4.7 Plausibility
 * of a sum): the total weight is possible for N learners, none of which has weight 0 if max_weight is 1 and
 * there is no noise, no coordinate exceeds the largest element times that weight, or, with noise, times N,
 * and the magnitudes of each tensor are those of N learners. All learners of a view come to the same answer.
 */
static bool plausible(struct sl_workspace *workspace, const struct sl_view *view, uint64_t z_n)
{
	bool weighted = view->encoding.kind == SL_ENCODING_WEIGHTED,
	     noisy = sl_encoding_is_noisy(&view->encoding);
	uint64_t total = weighted ? z_n : 1;
	uint64_t least = !weighted ? 1 : view->max_weight == 1 && !noisy ? view->n : 0;
	uint64_t most = weighted ? view->n * view->max_weight : 1;
	if (total < least || total > most || !counts_all(workspace, view))
		return false;
	uint64_t limit;
	total = noisy ? view->n : total; /* each adds noise, whatever its weight */
	return __builtin_mul_overflow(sl_encoding_largest(&view->encoding), total, &limit) ||
	       within(workspace, view, limit);
}

/* The two hashes of a result, side by side. */
struct hashes {
	struct sl_workspace *workspace;
	const struct sl_view *view;
	uint8_t model[SL_STRANDS_BYTES], *strands;
	bool finite;
};

static void hash_state(const struct sl_workspace *workspace, const struct sl_view *view, uint8_t *strands)
{
	struct sl_vector_hash hash;
	size_t bytes = sl_state_packed(view);
	sl_vector_hash_begin(&hash);
	for (size_t at = 0, n; at < bytes && !sl_workspace_over(workspace); at += n) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		sl_vector_hash_add(&hash, workspace->s + at, n);
	}
	sl_vector_hash_end(&hash, strands);
}

static void hash_part(void *context, uint32_t index, uint32_t worker)
{
	struct hashes *hashes = context;
	(void)worker;
	if (index == 0)
		hashes->finite = sl_job_model_hash(hashes->workspace, hashes->view, hashes->model);
	else
		hash_state(hashes->workspace, hashes->view, hashes->strands);
}

/* Fill in weight, strands and D of Z; if Z is not plausible, the code alone. */
static void judge(struct sl_workspace *workspace, const struct sl_view *view, struct sl_job_result *result)
{
	struct hashes hashes = {.workspace = workspace, .view = view, .strands = result->strands};
	bool weightless;
	result->total = sl_state_element(workspace, view, (size_t)view->elements - 1);
	weightless = view->encoding.kind == SL_ENCODING_WEIGHTED && result->total == 0;
	if (!plausible(workspace, view, result->total))
		result->code = SL_ERR_INVALID;
	if (result->code != SL_OK || weightless) /* there is no mean */
		return;
	sl_blocks_parts(workspace, 2, hash_part, &hashes);
	if (!hashes.finite) {
		result->code = SL_ERR_INVALID;
		return;
	}
	sl_canonical_result_of(&workspace->scope, view->h, result->total, result->strands, hashes.model,
			       sl_workspace_bytes(workspace), result->hash);
	memcpy(workspace->strands, hashes.model, sizeof hashes.model);
}

static void run_close(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	result->real = sl_job_mix_close(workspace, view);
	judge(workspace, view, result);
}

static void run_fetch(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	(void)result;
	for (const struct sl_buffer *b = job->buffers; b != NULL; b = b->next) {
		uint8_t *chunk = sl_slot_chunk(&workspace->state_file, job->view, b->from, b->index);
		memcpy(chunk, b->bytes, b->size);
		sl_slot_used(&workspace->state_file, chunk, b->size);
	}
}

static void run_check(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	result->code = sl_job_deposit_check(workspace, job->view, job->chunk, job->expected);
}

static uint32_t sum_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	uint64_t s[SL_BLOCK_ELEMENTS];
	for (uint32_t i = 0; i < blocks->view->n; i++)
		if (!sl_job_deposit_unmask(blocks, block, i, s, i > 0))
			return 1 + i;
	sl_state_put(blocks->workspace, blocks->view, block->first, block->count, s);
	return 0;
}

/* Add up all masked states: the Z that mixing would have come to. */
static void run_sum(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	struct sl_blocks blocks = {.workspace = workspace, .view = view, .job = job};
	uint32_t failed = 0;
	for (uint32_t m = 0; m < view->chunks && failed == 0; m++) {
		failed = sl_blocks_run_chunk(&blocks, m, sum_block);
		for (uint32_t i = 0; i < view->n; i++)
			sl_job_deposit_used(workspace, view, i, m);
	}
	if (failed == 0) {
		judge(workspace, view, result);
		return;
	}
	result->code = SL_ERR_INVALID;
	result->from = failed - 1;
}

static void run_absorb(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	(void)result;
	for (const struct sl_buffer *b = job->buffers; b != NULL; b = b->next)
		memcpy((uint8_t *)workspace->fetched + (size_t)b->index * SL_RESULT_BYTES, b->bytes, b->size);
}

/* Commit to a model from others if it is the one whose digest they signed. */
static void run_adopt(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	uint8_t model[SL_STRANDS_BYTES];
	size_t bytes = sl_workspace_bytes(workspace);
	sl_canonical_strands(workspace->fetched, bytes, model);
	sl_canonical_result_of(&workspace->scope, job->view->h, job->round->total, job->round->strands, model,
			       bytes, result->hash);
	if (memcmp(result->hash, job->expected, SL_HASH_BYTES) != 0) {
		result->code = SL_ERR_INVALID;
		return;
	}
	void *before = workspace->committed;
	workspace->committed = workspace->fetched;
	workspace->fetched = before;
	memcpy(workspace->strands, model, sizeof model);
}

static void run_accept(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	(void)result;
	sl_job_model_accept(workspace, job->view);
}

static void run_share(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	(void)result;
	sl_job_share_make(workspace, job->view, job->chunk);
}

static void run_expand(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	(void)result;
	sl_job_share_expand(workspace, job->view, job->chunk);
}

static void run_mix(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	workspace->spread = NAN;
	result->code = sl_job_mix_step(workspace, job, &result->from);
	result->real = workspace->spread;
}

/* --- the table --- */

/* The slots that a job touches. */
enum slots {
	NONE,
	OWN,
	CHECKED, /* of position job->chunk; reading a hole of a mapped file on a full disk may be a SIGBUS */
	FETCHED, /* of the owners of the chunks */
};

static const struct {
	void (*run)(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result);
	enum slots slots;
} jobs[SL_JOB_KINDS] = {
	[SL_JOB_ANALYSE] = {run_analysis, NONE},
	[SL_JOB_ENCODE] = {run_encode, NONE},
	[SL_JOB_SECRETS] = {run_secrets, NONE},
	[SL_JOB_SHARE] = {run_share, NONE},
	[SL_JOB_GATHER] = {run_gather, NONE},
	[SL_JOB_EXPAND] = {run_expand, NONE},
	[SL_JOB_DEPOSIT] = {run_deposit, OWN},
	[SL_JOB_COMMITMENT] = {run_commitment, OWN},
	[SL_JOB_FETCH] = {run_fetch, FETCHED},
	[SL_JOB_CHECK] = {run_check, CHECKED},
	[SL_JOB_MIX] = {run_mix, NONE},
	[SL_JOB_CLOSE] = {run_close, NONE},
	[SL_JOB_CHECKSUM] = {sl_job_deposit_checksum, NONE},
	[SL_JOB_SUM] = {run_sum, NONE},
	[SL_JOB_ABSORB] = {run_absorb, NONE},
	[SL_JOB_ADOPT] = {run_adopt, NONE},
	[SL_JOB_ACCEPT] = {run_accept, NONE},
};

void sl_job_run(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	*result = (struct sl_job_result){.kind = job->kind, .epoch = job->epoch, .chunk = job->chunk};
	jobs[job->kind].run(workspace, job, result);
}

int sl_job_slots(const struct sl_job *job,
		 int (*touch)(void *context, uint32_t position, struct sl_error *error), void *context,
		 struct sl_error *error)
{
	int rc = SL_OK;
	switch (jobs[job->kind].slots) {
	case NONE:
		break;
	case OWN:
		return touch(context, job->view->self, error);
	case CHECKED:
		return touch(context, job->chunk, error);
	case FETCHED:
		for (const struct sl_buffer *b = job->buffers; b != NULL && rc == SL_OK; b = b->next)
			rc = touch(context, b->from, error);
		break;
	}
	return rc;
}

void sl_job_wipe(struct sl_workspace *workspace)
{
	if (workspace->s != NULL)
		sodium_memzero(workspace->s, workspace->s_bytes);
	if (workspace->second != NULL)
		sodium_memzero(workspace->second, workspace->second_elements * sizeof *workspace->second);
	sl_job_noise_close(workspace);
	sodium_memzero(&workspace->secrets, sizeof workspace->secrets);
	sodium_memzero(workspace->scratch.base, workspace->scratch.most);
	workspace->scratch.most = 0;
	sl_arena_reset(&workspace->scratch, 0);
}
