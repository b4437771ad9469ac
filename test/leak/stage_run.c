/* One run of a history: the jobs of its learners, attempt after attempt. */
#include "common/base/bytes.h"
#include "common/compute/job_mix.h"
#include "test/leak/stage_parts.h"

struct writing {
	struct stage *stage;
	uint32_t attempt;
	uint64_t *outputs;
	size_t count;
};

static void emit(struct writing *writing, enum row_kind kind, uint32_t from, uint32_t to, const uint64_t *elements)
{
	for (size_t l = 0; l < writing->stage->history->elements; l++) {
		assert_true(writing->count < writing->stage->outputs);
		writing->stage->rows[writing->count] = (struct row){kind, writing->attempt, from, to, l};
		writing->outputs[writing->count++] = elements[l];
	}
}

void stage_work(struct desk *desk, uint32_t attempt, enum sl_job_kind kind, struct sl_buffer *buffers, struct sl_job_result *result)
{
	struct sl_job job = {.kind = kind, .view = &desk->views[attempt], .buffers = buffers};
	sl_job_run(&desk->vault, &job, result);
	assert_int_equal(result->code, SL_OK);
}

static bool all_zero(const uint64_t *elements, size_t count)
{
	uint64_t any = 0;
	for (size_t l = 0; l < count; l++)
		any |= elements[l];
	return any == 0;
}

/* The coins that the seeds of learner i stand for. */
static void own_seeds(struct stage *stage, struct desk *desk, const struct sl_view *view)
{
	struct tape *tape = &desk->tape;
	for (uint32_t r = 0; r < view->degree; r++, tape->next += view->elements) {
		assert_true(tape->next + view->elements <= tape->count);
		seeds_own(&stage->seeds, &desk->vault.coins[r], &stage->field, tape->coins + tape->next, view->elements);
	}
}

/* What a neighbour gets: its elements, or what stands for them. */
static void send(struct writing *writing, uint32_t i, uint32_t to, const uint8_t *bytes, const struct sl_view *view)
{
	struct stage *stage = writing->stage;
	uint64_t *elements = calloc(view->elements, sizeof *elements);
	memcpy(stage->mail[i][to], bytes, sl_share_bytes(view, 0));
	if (view->sharing == SL_SHARING_SEEDED)
		memcpy(elements, seeds_coins(&stage->seeds, bytes), view->elements * sizeof *elements);
	else
		sl_unpack(elements, bytes, view->elements, view->field.bytes);
	emit(writing, ROW_SHARE, i, to, elements);
	free(elements);
}

/* The model goes in as its encoding: any element of the field, not only what a float encodes to. */
static void share(struct writing *writing, uint32_t i, const uint64_t *x)
{
	struct stage *stage = writing->stage;
	struct desk *desk = &stage->desks[i];
	struct sl_vault *vault = &desk->vault;
	const struct sl_view *view = &desk->views[writing->attempt];
	struct sl_job_result result;
	size_t elements = view->elements;
	if (stage->rewinds)
		desk->tape.next = 0;
	vault->spool = (struct sl_spool){desk->slots, sl_slot_bytes(view)};
	memset(desk->slots, 0, stage_spool_bytes(view));
	stage_work(desk, writing->attempt, SL_JOB_ENCODE, NULL, &result);
	memcpy(vault->x, x, elements * sizeof *x);
	if (view->sharing == SL_SHARING_SEEDED)
		own_seeds(stage, desk, view);
	stage_work(desk, writing->attempt, SL_JOB_SHARE, NULL, &result);
	assert_true(all_zero(vault->x, elements) && all_zero(vault->rows[view->degree], elements)); /* no longer needed */
	for (uint32_t r = 0; r < view->degree; r++)
		send(writing, i, sl_view_peer(view, r), vault->shares[r], view);
	emit(writing, ROW_OWN, i, i, vault->s);
}

static void gather(struct writing *writing, uint32_t i)
{
	struct stage *stage = writing->stage;
	struct desk *desk = &stage->desks[i];
	const struct sl_view *view = &desk->views[writing->attempt];
	struct sl_buffer buffers[HISTORY_LEARNERS];
	struct sl_job_result result;
	for (uint32_t r = 0; r < view->degree; r++)
		buffers[r] = (struct sl_buffer){.next = r + 1 < view->degree ? &buffers[r + 1] : NULL,
						.from = r,
						.size = sl_share_bytes(view, 0),
						.bytes = stage->mail[sl_view_peer(view, r)][i]};
	stage_work(desk, writing->attempt, SL_JOB_GATHER, buffers, &result);
	for (uint32_t r = 0; view->sharing == SL_SHARING_SEEDED && r < view->degree; r++)
		seeds_hold(&stage->seeds, &desk->vault.theirs[r]);
	if (view->sharing == SL_SHARING_SEEDED)
		stage_work(desk, writing->attempt, SL_JOB_EXPAND, NULL, &result);
	emit(writing, ROW_STATE, i, i, desk->vault.s);
}

/* What is announced before the release is a commitment under a nonce of its own; what mixing starts from, and what others may
 * fetch, is the state alone. */
static void seal(struct writing *writing, uint32_t i, const uint64_t *state)
{
	struct desk *desk = &writing->stage->desks[i];
	struct sl_vault *vault = &desk->vault;
	const struct sl_view *view = &desk->views[writing->attempt];
	struct sl_job_result result;
	uint32_t nonces = desk->tape.nonces;
	stage_work(desk, writing->attempt, SL_JOB_SEAL, NULL, &result);
	memcpy(desk->commitment, result.hash, sizeof result.hash);
	for (size_t l = 0; l < view->elements; l++)
		assert_true(vault->s[l] == state[l]);
	if (vault->source != tape_read)
		return;
	uint8_t packed[64], commitment[SL_HASH_BYTES], *slot = sl_slot_state(&vault->spool, view->self);
	assert_true(sl_state_bytes(view) <= sizeof packed && desk->tape.nonces == nonces + 1);
	sl_pack(packed, state, view->elements, view->field.bytes);
	sl_canon_commitment(&vault->scope, packed, sl_state_bytes(view), desk->tape.nonce, commitment);
	assert_memory_equal(result.hash, commitment, sizeof commitment);
	assert_memory_equal(slot, packed, sl_state_bytes(view));
	assert_memory_equal(sl_slot_nonce(&vault->spool, view->self), desk->tape.nonce, SL_NONCE_BYTES);
}

/* --- after the release --- */

void stage_say(struct stage *stage, const void *bytes, size_t size)
{
	while (stage->spoken_size + size > stage->spoken_room) {
		stage->spoken_room *= 2;
		stage->spoken = realloc(stage->spoken, stage->spoken_room);
		assert_non_null(stage->spoken);
	}
	memcpy(stage->spoken + stage->spoken_size, bytes, size);
	stage->spoken_size += size;
}

static void iterate(struct stage *stage, uint32_t attempt, uint32_t i, uint8_t *old, uint64_t k)
{
	struct desk *desk = &stage->desks[i];
	const struct sl_view *view = &desk->views[attempt];
	struct sl_buffer buffers[HISTORY_LEARNERS];
	struct sl_job_result result;
	for (uint32_t r = 0; r < view->degree; r++) {
		uint32_t from = sl_view_peer(view, r);
		buffers[r] = (struct sl_buffer){.next = r + 1 < view->degree ? &buffers[r + 1] : NULL,
						.from = r,
						.iteration = k,
						.bytes = old + from * STATE_ROOM};
		memcpy(buffers[r].nonce, stage->desks[from].tape.nonce, SL_NONCE_BYTES);
	}
	stage_work(desk, attempt, SL_JOB_MIX, buffers, &result);
}

static void speak_states(struct stage *stage, uint32_t attempt, uint8_t *states, uint64_t k)
{
	for (uint32_t i = 0; i < stage->history->learners; i++)
		if (stage->history->attempts[attempt].present >> i & 1)
			sl_job_mix_write(&stage->desks[i].vault, &stage->desks[i].views[attempt], &(struct sl_chunk){.iteration = k},
				       states + i * STATE_ROOM);
	stage_say(stage, states, stage->history->learners * STATE_ROOM);
}

/* Its code says whether N models can sum to Z: here they need not. */
static void speak_result(struct stage *stage, uint32_t attempt, uint32_t i, enum sl_job_kind kind)
{
	struct desk *desk = &stage->desks[i];
	struct sl_job job = {.kind = kind, .view = &desk->views[attempt]};
	struct sl_job_result result;
	sl_job_run(&desk->vault, &job, &result);
	stage_say(stage, result.hash, sizeof result.hash);
	stage_say(stage, desk->vault.s, stage->history->elements * sizeof *desk->vault.s);
}

static void mix_all(struct stage *stage, uint32_t attempt)
{
	uint32_t present = stage->history->attempts[attempt].present;
	uint64_t steps = stage->desks[__builtin_ctz(present)].views[attempt].steps;
	uint8_t *states = calloc(stage->history->learners, STATE_ROOM);
	for (uint64_t k = 0; k < steps; k++) {
		speak_states(stage, attempt, states, k);
		for (uint32_t i = 0; i < stage->history->learners; i++)
			if (present >> i & 1)
				iterate(stage, attempt, i, states, k);
	}
	free(states);
}

static void mix(struct stage *stage, uint32_t attempt)
{
	uint32_t present = stage->history->attempts[attempt].present;
	if (stage->desks[__builtin_ctz(present)].views[attempt].engine == SL_ENGINE_TREE)
		stage_mix_tree(stage, attempt);
	else
		mix_all(stage, attempt);
	for (uint32_t i = 0; i < stage->history->learners; i++)
		if (present >> i & 1)
			speak_result(stage, attempt, i, SL_JOB_CLOSE);
}

/* Every slot comes from its owner, who may have been lost since. */
static void fetch_all(struct stage *stage, uint32_t attempt, uint32_t i)
{
	struct desk *desk = &stage->desks[i];
	const struct sl_view *view = &desk->views[attempt];
	for (uint32_t from = 0; from < view->n; from++) {
		const struct desk *owner = &stage->desks[view->members[from]];
		struct sl_buffer buffer = {.from = from, .size = sl_state_bytes(view)};
		struct sl_job job = {.kind = SL_JOB_CHECK, .view = view, .chunk = from, .expected = owner->commitment};
		struct sl_job_result result;
		buffer.bytes = sl_slot_state(&owner->vault.spool, from);
		memcpy(buffer.nonce, sl_slot_nonce(&owner->vault.spool, from), SL_NONCE_BYTES);
		if (owner != desk)
			stage_work(desk, attempt, SL_JOB_FETCH, &buffer, &result);
		sl_job_run(&desk->vault, &job, &result);
		assert_int_equal(result.code, SL_OK);
	}
}

static void finish(struct stage *stage, uint32_t attempt)
{
	for (uint32_t i = 0; i < stage->history->learners; i++)
		if (stage->history->attempts[attempt].present >> i & 1) {
			fetch_all(stage, attempt, i);
			speak_result(stage, attempt, i, SL_JOB_SUM);
		}
}

/* --- all of it --- */

static void play(struct writing *writing, const uint64_t *models)
{
	struct stage *stage = writing->stage;
	const struct history *history = stage->history;
	const struct attempt *attempt = &history->attempts[writing->attempt];
	for (uint32_t i = 0; i < history->learners; i++)
		if (attempt->present >> i & 1)
			share(writing, i, models + history_model(history, i, attempt->draw[i], 0));
	for (uint32_t i = 0; i < history->learners; i++)
		if (attempt->present >> i & 1) {
			gather(writing, i);
			seal(writing, i, writing->outputs + writing->count - history->elements);
		}
	if (stage->spoken != NULL && attempt->shown == attempt->present) {
		mix(stage, writing->attempt);
		finish(stage, writing->attempt);
	}
	for (uint32_t i = 0; i < history->learners; i++)
		if (attempt->present >> i & 1)
			sl_vault_wipe(&stage->desks[i].vault);
}

void stage_run(struct stage *stage, const uint64_t *inputs, uint64_t *outputs)
{
	struct writing writing = {.stage = stage, .outputs = outputs};
	stage->spoken_size = 0;
	seeds_free(&stage->seeds);
	for (uint32_t i = 0; i < stage->history->learners; i++) {
		struct tape *tape = &stage->desks[i].tape;
		tape->coins = inputs + stage->coin_start[i];
		tape->count = stage->coin_start[i + 1] - stage->coin_start[i];
		tape->next = 0;
	}
	for (; writing.attempt < stage->history->count; writing.attempt++)
		play(&writing, inputs + stage->coin_start[stage->history->learners]);
	assert_int_equal(writing.count, stage->outputs);
}
