/* One run of a history: the jobs of its learners, attempt after attempt. */
#include "common/base/bytes.h"
#include "common/compute/job_mix.h"
#include "test/leak/replay.h"

struct writing {
	struct replay *replay;
	uint32_t attempt;
	uint64_t *outputs;
	size_t count;
};

static void emit(struct writing *writing, enum row_kind kind, uint32_t from, uint32_t to,
		 const uint64_t *elements)
{
	for (size_t l = 0; l < writing->replay->history->elements; l++) {
		assert_true(writing->count < writing->replay->outputs);
		writing->replay->rows[writing->count] = (struct row){kind, writing->attempt, from, to, l};
		writing->outputs[writing->count++] = elements[l];
	}
}

void replay_work(struct fixture *fixture, uint32_t attempt, enum sl_job_kind kind, struct sl_buffer *buffers,
		 struct sl_job_result *result)
{
	struct sl_job job = {.kind = kind, .view = &fixture->views[attempt], .buffers = buffers};
	sl_job_run(&fixture->workspace, &job, result);
	assert_int_equal(result->code, SL_OK);
}

static bool all_zero(const uint64_t *elements, size_t count)
{
	uint64_t any = 0;
	for (size_t l = 0; l < count; l++)
		any |= elements[l];
	return any == 0;
}

/* Let the seeds of a learner stand for its random numbers. */
static void own_seeds(struct replay *replay, struct fixture *fixture, const struct sl_view *view)
{
	struct random_script *random_script = &fixture->random_script;
	for (uint32_t r = 0; r < view->degree; r++, random_script->next += view->elements) {
		assert_true(random_script->next + view->elements <= random_script->count);
		seeds_own(&replay->seeds, &fixture->workspace.randomness[r], &replay->field,
			  random_script->randomness + random_script->next, view->elements);
	}
}

/* Send a share, or the seed that stands for it, to a neighbour. */
static void send(struct writing *writing, uint32_t i, uint32_t to, const uint8_t *bytes,
		 const struct sl_view *view)
{
	struct replay *replay = writing->replay;
	uint64_t *elements = calloc(view->elements, sizeof *elements);
	memcpy(replay->mail[i][to], bytes, sl_view_share_bytes(view, 0));
	if (view->sharing == SL_SHARING_SEEDED)
		memcpy(elements, seeds_randomness(&replay->seeds, bytes), view->elements * sizeof *elements);
	else
		sl_bytes_unpack(elements, bytes, view->elements, view->field.bytes);
	emit(writing, ROW_SHARE, i, to, elements);
	free(elements);
}

/* The encoding is an input, not the model: any field element, not only encodings of floats. */
static void share(struct writing *writing, uint32_t i, const uint64_t *x)
{
	struct replay *replay = writing->replay;
	struct fixture *fixture = &replay->fixtures[i];
	struct sl_workspace *workspace = &fixture->workspace;
	const struct sl_view *view = &fixture->views[writing->attempt];
	struct sl_job_result result;
	size_t elements = view->elements;
	if (replay->rewinds)
		fixture->random_script.next = 0;
	workspace->state_file = (struct sl_slots){fixture->slots, sl_slot_bytes(view)};
	memset(fixture->slots, 0, replay_state_file_bytes(view));
	replay_work(fixture, writing->attempt, SL_JOB_ENCODE, NULL, &result);
	memcpy(workspace->x, x, elements * sizeof *x);
	if (view->sharing == SL_SHARING_SEEDED)
		own_seeds(replay, fixture, view);
	replay_work(fixture, writing->attempt, SL_JOB_SHARE, NULL, &result);
	assert_true(all_zero(workspace->x, elements) &&
		    all_zero(workspace->rows[view->degree], elements)); /* wiped after use */
	for (uint32_t r = 0; r < view->degree; r++)
		send(writing, i, sl_view_peer(view, r), workspace->shares[r], view);
	emit(writing, ROW_OWN, i, i, workspace->s);
}

static void gather(struct writing *writing, uint32_t i)
{
	struct replay *replay = writing->replay;
	struct fixture *fixture = &replay->fixtures[i];
	const struct sl_view *view = &fixture->views[writing->attempt];
	struct sl_buffer buffers[HISTORY_LEARNERS];
	struct sl_job_result result;
	for (uint32_t r = 0; r < view->degree; r++)
		buffers[r] = (struct sl_buffer){.next = r + 1 < view->degree ? &buffers[r + 1] : NULL,
						.from = r,
						.size = sl_view_share_bytes(view, 0),
						.bytes = replay->mail[sl_view_peer(view, r)][i]};
	replay_work(fixture, writing->attempt, SL_JOB_GATHER, buffers, &result);
	for (uint32_t r = 0; view->sharing == SL_SHARING_SEEDED && r < view->degree; r++)
		seeds_hold(&replay->seeds, &fixture->workspace.theirs[r]);
	if (view->sharing == SL_SHARING_SEEDED)
		replay_work(fixture, writing->attempt, SL_JOB_EXPAND, NULL, &result);
	emit(writing, ROW_STATE, i, i, fixture->workspace.s);
}

/* The Ready has a commitment with a nonce. Mixing starts from the state alone, and so do fetches. */
static void commit(struct writing *writing, uint32_t i, const uint64_t *state)
{
	struct fixture *fixture = &writing->replay->fixtures[i];
	struct sl_workspace *workspace = &fixture->workspace;
	const struct sl_view *view = &fixture->views[writing->attempt];
	struct sl_job_result result;
	replay_work(fixture, writing->attempt, SL_JOB_COMMITMENT, NULL, &result);
	memcpy(fixture->commitment, result.hash, sizeof result.hash);
	for (size_t l = 0; l < view->elements; l++)
		assert_true(workspace->s[l] == state[l]);
}

/* --- after the release --- */

void replay_say(struct replay *replay, const void *bytes, size_t size)
{
	while (replay->spoken_size + size > replay->spoken_room) {
		replay->spoken_room *= 2;
		replay->spoken = realloc(replay->spoken, replay->spoken_room);
		assert_non_null(replay->spoken);
	}
	memcpy(replay->spoken + replay->spoken_size, bytes, size);
	replay->spoken_size += size;
}

static void iterate(struct replay *replay, uint32_t attempt, uint32_t i, uint8_t *old, uint64_t k)
{
	struct fixture *fixture = &replay->fixtures[i];
	const struct sl_view *view = &fixture->views[attempt];
	struct sl_buffer buffers[HISTORY_LEARNERS];
	struct sl_job_result result;
	for (uint32_t r = 0; r < view->degree; r++) {
		uint32_t from = sl_view_peer(view, r);
		buffers[r] = (struct sl_buffer){.next = r + 1 < view->degree ? &buffers[r + 1] : NULL,
						.from = r,
						.iteration = k,
						.bytes = old + from * STATE_ROOM};
		memcpy(buffers[r].nonce, replay->fixtures[from].random_script.nonce, SL_NONCE_BYTES);
	}
	replay_work(fixture, attempt, SL_JOB_MIX, buffers, &result);
}

static void speak_states(struct replay *replay, uint32_t attempt, uint8_t *states, uint64_t k)
{
	for (uint32_t i = 0; i < replay->history->learners; i++)
		if (replay->history->attempts[attempt].present >> i & 1)
			sl_job_mix_write(&replay->fixtures[i].workspace, &replay->fixtures[i].views[attempt],
					 &(struct sl_chunk){.iteration = k}, states + i * STATE_ROOM);
	replay_say(replay, states, replay->history->learners * STATE_ROOM);
}

/* The result's code is not checked: here Z need not be the sum of N models. */
static void speak_result(struct replay *replay, uint32_t attempt, uint32_t i, enum sl_job_kind kind)
{
	struct fixture *fixture = &replay->fixtures[i];
	struct sl_job job = {.kind = kind, .view = &fixture->views[attempt]};
	struct sl_job_result result;
	sl_job_run(&fixture->workspace, &job, &result);
	replay_say(replay, result.hash, sizeof result.hash);
	replay_say(replay, fixture->workspace.s, replay->history->elements * sizeof *fixture->workspace.s);
}

static void mix_all(struct replay *replay, uint32_t attempt)
{
	uint32_t present = replay->history->attempts[attempt].present;
	uint64_t steps = replay->fixtures[__builtin_ctz(present)].views[attempt].steps;
	uint8_t *states = calloc(replay->history->learners, STATE_ROOM);
	for (uint64_t k = 0; k < steps; k++) {
		speak_states(replay, attempt, states, k);
		for (uint32_t i = 0; i < replay->history->learners; i++)
			if (present >> i & 1)
				iterate(replay, attempt, i, states, k);
	}
	free(states);
}

static void mix(struct replay *replay, uint32_t attempt)
{
	uint32_t present = replay->history->attempts[attempt].present;
	if (replay->fixtures[__builtin_ctz(present)].views[attempt].engine == SL_ENGINE_TREE)
		replay_mix_tree(replay, attempt);
	else
		mix_all(replay, attempt);
	for (uint32_t i = 0; i < replay->history->learners; i++)
		if (present >> i & 1)
			speak_result(replay, attempt, i, SL_JOB_CLOSE);
}

/* Fetch every slot from its owner. */
static void fetch_all(struct replay *replay, uint32_t attempt, uint32_t i)
{
	struct fixture *fixture = &replay->fixtures[i];
	const struct sl_view *view = &fixture->views[attempt];
	for (uint32_t from = 0; from < view->n; from++) {
		const struct fixture *owner = &replay->fixtures[view->members[from]];
		struct sl_buffer buffer = {.from = from, .size = sl_slot_state_bytes(view)};
		struct sl_job job = {
			.kind = SL_JOB_CHECK, .view = view, .chunk = from, .expected = owner->commitment};
		struct sl_job_result result;
		buffer.bytes = sl_slot_state(&owner->workspace.state_file, from);
		memcpy(buffer.nonce, sl_slot_nonce(&owner->workspace.state_file, from), SL_NONCE_BYTES);
		if (owner != fixture)
			replay_work(fixture, attempt, SL_JOB_FETCH, &buffer, &result);
		sl_job_run(&fixture->workspace, &job, &result);
		assert_int_equal(result.code, SL_OK);
	}
}

static void finish(struct replay *replay, uint32_t attempt)
{
	for (uint32_t i = 0; i < replay->history->learners; i++)
		if (replay->history->attempts[attempt].present >> i & 1) {
			fetch_all(replay, attempt, i);
			speak_result(replay, attempt, i, SL_JOB_SUM);
		}
}

/* --- all of it --- */

static void play(struct writing *writing, const uint64_t *models)
{
	struct replay *replay = writing->replay;
	const struct history *history = replay->history;
	const struct attempt *attempt = &history->attempts[writing->attempt];
	for (uint32_t i = 0; i < history->learners; i++)
		if (attempt->present >> i & 1)
			share(writing, i, models + history_model(history, i, attempt->draw[i], 0));
	for (uint32_t i = 0; i < history->learners; i++)
		if (attempt->present >> i & 1) {
			gather(writing, i);
			commit(writing, i, writing->outputs + writing->count - history->elements);
		}
	if (replay->spoken != NULL && attempt->shown == attempt->present) {
		mix(replay, writing->attempt);
		finish(replay, writing->attempt);
	}
	for (uint32_t i = 0; i < history->learners; i++)
		if (attempt->present >> i & 1)
			sl_job_wipe(&replay->fixtures[i].workspace);
}

void replay_run(struct replay *replay, const uint64_t *inputs, uint64_t *outputs)
{
	struct writing writing = {.replay = replay, .outputs = outputs};
	replay->spoken_size = 0;
	seeds_free(&replay->seeds);
	for (uint32_t i = 0; i < replay->history->learners; i++) {
		struct random_script *random_script = &replay->fixtures[i].random_script;
		random_script->randomness = inputs + replay->random_start[i];
		random_script->count = replay->random_start[i + 1] - replay->random_start[i];
		random_script->next = 0;
	}
	for (; writing.attempt < replay->history->count; writing.attempt++)
		play(&writing, inputs + replay->random_start[replay->history->learners]);
	assert_int_equal(writing.count, replay->outputs);
}
