/* One run of a history: the jobs of its learners, attempt after attempt. */
#include "common/base/bytes.h"
#include "common/compute/job_mix.h"
#include "common/compute/state.h"
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

struct sl_job_result replay_work(struct replay *replay, uint32_t attempt, uint32_t i, struct sl_job job)
{
	struct sl_job_result result;
	job.view = &replay->fixtures[i].views[attempt];
	job.keys = (const uint8_t(*)[SL_KEY_BYTES])replay->keys;
	sl_job_run(&replay->fixtures[i].workspace, &job, &result);
	assert_int_equal(result.code, SL_OK);
	return result;
}

static void work(struct writing *writing, uint32_t i, enum sl_job_kind kind)
{
	replay_work(writing->replay, writing->attempt, i, (struct sl_job){.kind = kind});
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
		sl_bytes_unpack(elements, bytes, view->elements, view->field.bits);
	emit(writing, ROW_SHARE, i, to, elements);
	free(elements);
}

/* --- the encoding is an input, not the model: any field elements, not only encodings of floats --- */

static _Thread_local const uint64_t *encoding; /* in the place of that of the model; NULL: none */

int __real_sl_encoding_encode_part(const struct sl_field *field, const struct sl_encoding *how,
				   const struct sl_tensors *tensors, const void *model, const void *base,
				   size_t n, size_t first, size_t count, uint64_t *x,
				   struct sl_encode_note *note);
int __wrap_sl_encoding_encode_part(const struct sl_field *field, const struct sl_encoding *how,
				   const struct sl_tensors *tensors, const void *model, const void *base,
				   size_t n, size_t first, size_t count, uint64_t *x,
				   struct sl_encode_note *note);

int __real_sl_encoding_noisy_part(const struct sl_field *field, const struct sl_encoding *how,
				  const struct sl_tensors *tensors, const void *model, const void *base,
				  size_t n, size_t first, size_t count, uint64_t *x,
				  struct sl_encode_note *note);
int __wrap_sl_encoding_noisy_part(const struct sl_field *field, const struct sl_encoding *how,
				  const struct sl_tensors *tensors, const void *model, const void *base,
				  size_t n, size_t first, size_t count, uint64_t *x,
				  struct sl_encode_note *note);

int __wrap_sl_encoding_noisy_part(const struct sl_field *field, const struct sl_encoding *how,
				  const struct sl_tensors *tensors, const void *model, const void *base,
				  size_t n, size_t first, size_t count, uint64_t *x,
				  struct sl_encode_note *note)
{
	int rc = __real_sl_encoding_noisy_part(field, how, tensors, model, base, n, first, count, x, note);
	if (rc == SL_OK && encoding != NULL)
		memcpy(x, encoding + first, count * sizeof *x);
	return rc;
}

int __wrap_sl_encoding_encode_part(const struct sl_field *field, const struct sl_encoding *how,
				   const struct sl_tensors *tensors, const void *model, const void *base,
				   size_t n, size_t first, size_t count, uint64_t *x,
				   struct sl_encode_note *note)
{
	int rc = __real_sl_encoding_encode_part(field, how, tensors, model, base, n, first, count, x, note);
	if (rc == SL_OK && encoding != NULL)
		memcpy(x, encoding + first, count * sizeof *x);
	return rc;
}

/* --- an attempt --- */

/* Return s, which the caller frees. */
static uint64_t *state_of(const struct fixture *fixture, const struct sl_view *view)
{
	uint64_t *state = calloc(view->elements, sizeof *state);
	sl_bytes_unpack(state, fixture->workspace.s, view->elements, view->field.bits);
	return state;
}

static void share(struct writing *writing, uint32_t i, const uint64_t *x)
{
	struct replay *replay = writing->replay;
	struct fixture *fixture = &replay->fixtures[i];
	struct sl_workspace *workspace = &fixture->workspace;
	const struct sl_view *view = &fixture->views[writing->attempt];
	size_t elements = view->elements;
	if (replay->rewinds)
		fixture->random_script.next = 0;
	workspace->state_file = (struct sl_slots){.base = fixture->slots, .slot_bytes = sl_slot_bytes(view)};
	memset(fixture->slots, 0, replay_state_file_bytes(view));
	work(writing, i, SL_JOB_ENCODE);
	if (replay->history->form == FORM_RANGED) /* what only its owner may know */
		workspace->ranges.own[0] = (uint8_t)(x[0] % SL_MAGNITUDES);
	if (replay->history->form == FORM_NOISY) /* the same in all runs */
		memset(workspace->noise.key, (int)(1 + i + HISTORY_LEARNERS * writing->attempt),
		       SL_KEY_BYTES);
	work(writing, i, SL_JOB_SECRETS);
	memcpy(replay->keys[view->self], workspace->secrets.key, SL_KEY_BYTES);
	if (view->sharing == SL_SHARING_SEEDED)
		own_seeds(replay, fixture, view);
	encoding = x;
	work(writing, i, SL_JOB_SHARE);
	encoding = NULL;
	assert_true(all_zero(workspace->rooms[0].x, elements) &&
		    all_zero(workspace->rooms[0].rows[view->degree], elements)); /* wiped after use */
	for (uint32_t r = 0; r < view->degree; r++)
		send(writing, i, sl_view_peer(view, r), workspace->shares[r], view);
	uint64_t *own = state_of(fixture, view);
	emit(writing, ROW_OWN, i, i, own);
	free(own);
}

static void gather(struct writing *writing, uint32_t i)
{
	struct replay *replay = writing->replay;
	struct fixture *fixture = &replay->fixtures[i];
	const struct sl_view *view = &fixture->views[writing->attempt];
	struct sl_buffer buffers[HISTORY_LEARNERS];
	for (uint32_t r = 0; r < view->degree; r++)
		buffers[r] = (struct sl_buffer){.next = r + 1 < view->degree ? &buffers[r + 1] : NULL,
						.from = r,
						.size = sl_view_share_bytes(view, 0),
						.bytes = replay->mail[sl_view_peer(view, r)][i]};
	replay_work(replay, writing->attempt, i, (struct sl_job){.kind = SL_JOB_GATHER, .buffers = buffers});
	for (uint32_t r = 0; view->sharing == SL_SHARING_SEEDED && r < view->degree; r++)
		seeds_hold(&replay->seeds, &fixture->workspace.theirs[r]);
	if (view->sharing == SL_SHARING_SEEDED)
		work(writing, i, SL_JOB_EXPAND);
}

/* The deposit is the masked state under the stream of its key. Emit it under a mask of random numbers. */
static void deposit(struct writing *writing, uint32_t i)
{
	struct fixture *fixture = &writing->replay->fixtures[i];
	struct random_script *random_script = &fixture->random_script;
	const struct sl_view *view = &fixture->views[writing->attempt];
	const struct sl_field *field = &view->field;
	uint64_t *state = state_of(fixture, view), *slot = calloc(view->elements, sizeof *slot);
	struct sl_prg mask;
	work(writing, i, SL_JOB_DEPOSIT);
	sl_bytes_unpack(slot, sl_slot_state(&fixture->workspace.state_file, view->self), view->elements,
			field->bits);
	sl_prg_open_at(&mask, fixture->workspace.secrets.key, 1);
	sl_prg_subtract(&mask, field, slot, view->elements);
	assert_memory_equal(slot, state, view->elements * sizeof *slot);
	assert_true(random_script->next + view->elements <= random_script->count);
	for (size_t l = 0; l < view->elements; l++)
		slot[l] = sl_field_add(field, state[l], random_script->randomness[random_script->next++]);
	emit(writing, ROW_DEPOSIT, i, i, slot);
	emit(writing, ROW_STATE, i, i, state);
	free(slot);
	free(state);
}

/* The Ready has the hash of the deposit. Mixing starts from the state alone. */
static void commit(struct writing *writing, uint32_t i)
{
	struct fixture *fixture = &writing->replay->fixtures[i];
	size_t bytes = sl_state_packed(&fixture->views[writing->attempt]);
	uint8_t *before = malloc(bytes);
	memcpy(before, fixture->workspace.s, bytes);
	struct sl_job_result result =
		replay_work(writing->replay, writing->attempt, i, (struct sl_job){.kind = SL_JOB_COMMITMENT});
	memcpy(fixture->deposit, result.hash, sizeof result.hash);
	assert_memory_equal(fixture->workspace.s, before, bytes);
	free(before);
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

/* The first exchange is from the slots. */
static void iterate(struct replay *replay, uint32_t attempt, uint32_t i, uint8_t *old, uint64_t k)
{
	const struct sl_view *view = &replay->fixtures[i].views[attempt];
	struct sl_buffer buffers[HISTORY_LEARNERS];
	for (uint32_t r = 0; r < view->degree; r++)
		buffers[r] = (struct sl_buffer){.next = r + 1 < view->degree ? &buffers[r + 1] : NULL,
						.from = r,
						.iteration = k,
						.bytes = old + sl_view_peer(view, r) * STATE_ROOM};
	replay_work(replay, attempt, i,
		    (struct sl_job){.kind = SL_JOB_MIX, .iteration = k, .buffers = k == 0 ? NULL : buffers});
}

/* Speak the states of exchange k; those of exchange 0 are the masked states, which are in nobody's State. */
static void speak_states(struct replay *replay, uint32_t attempt, uint8_t *states, uint64_t k)
{
	for (uint32_t i = 0; i < replay->history->learners; i++) {
		const struct fixture *fixture = &replay->fixtures[i];
		const struct sl_view *view = &fixture->views[attempt];
		if (!(replay->history->attempts[attempt].present >> i & 1))
			continue;
		if (k == 0)
			memcpy(states + i * STATE_ROOM, fixture->workspace.s, sl_state_packed(view));
		else
			sl_job_mix_write(&fixture->workspace, view, &(struct sl_chunk){.iteration = k},
					 states + i * STATE_ROOM);
	}
	replay_say(replay, states, replay->history->learners * STATE_ROOM);
}

/* The result's code is not checked: here Z need not be the sum of N models. */
static void speak_result(struct replay *replay, uint32_t attempt, uint32_t i, enum sl_job_kind kind)
{
	struct fixture *fixture = &replay->fixtures[i];
	struct sl_job job = {.kind = kind,
			     .view = &fixture->views[attempt],
			     .keys = (const uint8_t(*)[SL_KEY_BYTES])replay->keys};
	struct sl_job_result result;
	sl_job_run(&fixture->workspace, &job, &result);
	replay->results += result.code == SL_OK;
	replay_say(replay, result.hash, sizeof result.hash);
	uint64_t *z = state_of(fixture, &fixture->views[attempt]);
	replay_say(replay, z, replay->history->elements * sizeof *z);
	free(z);
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

/* Speak the checksums of the own masked state, of those kept, and of Z, at points that nobody could foresee.
 */
static void speak_checksums(struct replay *replay, uint32_t attempt, uint32_t i)
{
	const struct sl_view *view = &replay->fixtures[i].views[attempt];
	static const uint8_t seed[SL_HASH_BYTES] = {9};
	uint32_t count = 2;
	struct sl_job_result result =
		replay_work(replay, attempt, i, (struct sl_job){.kind = SL_JOB_CHECKSUM, .expected = seed});
	for (uint32_t r = 0; r < view->degree; r++)
		count += sl_view_keeps(view, r);
	replay_say(replay, result.values, (size_t)count * sl_view_points(view) * sizeof *result.values);
}

static void mix(struct replay *replay, uint32_t attempt)
{
	uint32_t present = replay->history->attempts[attempt].present;
	if (replay->fixtures[__builtin_ctz(present)].views[attempt].engine == SL_ENGINE_FOREST)
		replay_mix_forest(replay, attempt);
	else
		mix_all(replay, attempt);
	for (uint32_t i = 0; i < replay->history->learners; i++)
		if (present >> i & 1) {
			speak_result(replay, attempt, i, SL_JOB_CLOSE);
			speak_checksums(replay, attempt, i);
		}
}

/* Fetch every deposit from its owner, and check it. */
static void fetch_all(struct replay *replay, uint32_t attempt, uint32_t i)
{
	struct fixture *fixture = &replay->fixtures[i];
	const struct sl_view *view = &fixture->views[attempt];
	for (uint32_t from = 0; from < view->n; from++) {
		const struct fixture *owner = &replay->fixtures[view->members[from]];
		struct sl_buffer buffer = {.from = from, .size = sl_slot_state_bytes(view)};
		buffer.bytes = sl_slot_state(&owner->workspace.state_file, from);
		if (owner != fixture)
			replay_work(replay, attempt, i,
				    (struct sl_job){.kind = SL_JOB_FETCH, .buffers = &buffer});
		replay_work(replay, attempt, i,
			    (struct sl_job){.kind = SL_JOB_CHECK, .chunk = from, .expected = owner->deposit});
	}
}

static void finish(struct replay *replay, uint32_t attempt)
{
	uint32_t present = replay->history->attempts[attempt].present;
	assert_true(replay->history->elements * SL_STATE_BYTES <= STATE_ROOM);
	for (uint32_t i = 0; i < replay->history->learners; i++)
		if (present >> i & 1)
			fetch_all(replay, attempt, i);
	mix(replay, attempt);
	for (uint32_t i = 0; i < replay->history->learners; i++)
		if (present >> i & 1)
			speak_result(replay, attempt, i, SL_JOB_SUM);
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
			deposit(writing, i);
			commit(writing, i);
		}
	if (replay->spoken != NULL && attempt->shown == attempt->present)
		finish(replay, writing->attempt);
	for (uint32_t i = 0; i < history->learners; i++)
		if (attempt->present >> i & 1)
			sl_job_wipe(&replay->fixtures[i].workspace);
}

void replay_run(struct replay *replay, const uint64_t *inputs, uint64_t *outputs)
{
	struct writing writing = {.replay = replay, .outputs = outputs};
	replay->spoken_size = replay->results = 0;
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
