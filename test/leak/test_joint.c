/* The conclusion from uniform random numbers, checked by trying all of them: what a coalition sees has one
 * distribution for all models with the same component sums, and models with other sums give disjoint ones. */
#include "test/leak/probe.h"
#include "test/lib/test.h"

#define SEEN_MOST 16807 /* 7^5 */

struct trial {
	struct history history;
	struct probe probe;
	uint32_t coalition;
	uint64_t *inputs, *outputs;
	size_t free_inputs[16], free_count; /* random numbers of the others, for their shares */
};

static void open_trial(struct trial *trial, uint32_t n, uint64_t number, uint32_t coalition,
		       uint32_t released, uint64_t p, enum sl_sharing_kind kind)
{
	struct sl_field field = field_of(p);
	struct brute graph = brute_numbered(n, number);
	struct attempt attempt = attempt_of(&graph, released | coalition);
	uint64_t seed = p;
	*trial = (struct trial){.history = history_of(n, 1), .coalition = coalition};
	history_add(&trial->history, &attempt);
	probe_open(&trial->probe, &trial->history, &field, kind, MISTAKE_NONE);
	const struct replay *replay = &trial->probe.replay;
	trial->inputs = calloc(replay->inputs, sizeof *trial->inputs);
	trial->outputs = calloc(replay->outputs, sizeof *trial->outputs);
	for (uint32_t i = 0; i < n; i++)
		for (size_t c = replay->random_start[i]; c < replay->random_start[i + 1]; c++) {
			trial->inputs[c] = any64(&seed) % p;
			bool masks = c + 1 == replay->random_start[i + 1]; /* of one deposit only */
			if (!(coalition >> i & 1) && !masks)
				trial->free_inputs[trial->free_count++] = c;
		}
}

static void close_trial(struct trial *trial)
{
	probe_close(&trial->probe);
	free(trial->inputs);
	free(trial->outputs);
}

/* Set some inputs to their next values. Return false after the last. */
static bool next(const struct trial *trial, const size_t *inputs, size_t count)
{
	for (size_t c = 0; c < count; c++) {
		uint64_t *input = &trial->inputs[inputs[c]];
		*input = (*input + 1) % trial->probe.replay.field.p;
		if (*input != 0)
			return true;
	}
	return false;
}

/* Return what the coalition sees, as one number. */
static uint64_t look(struct trial *trial)
{
	struct replay *replay = &trial->probe.replay;
	uint64_t seen = 0;
	replay_run(replay, trial->inputs, trial->outputs);
	for (size_t o = 0; o < replay->outputs; o++)
		if (!(trial->coalition >> replay->rows[o].from & 1) && replay->rows[o].kind != ROW_DEPOSIT &&
		    map_sees(&trial->probe.map, trial->coalition, &replay->rows[o]))
			seen = seen * replay->field.p + trial->outputs[o];
	return seen;
}

static void draw_histogram(struct trial *trial, uint32_t *histogram)
{
	memset(histogram, 0, SEEN_MOST * sizeof *histogram);
	for (size_t c = 0; c < trial->free_count; c++)
		trial->inputs[trial->free_inputs[c]] = 0;
	do {
		uint64_t seen = look(trial);
		assert_true(seen < SEEN_MOST);
		histogram[seen]++;
	} while (next(trial, trial->free_inputs, trial->free_count));
}

/* Return the sums that the coalition may learn, as one number. */
static uint64_t sums_of(const struct trial *trial, const struct matrix *allowed)
{
	const struct sl_field *field = &trial->probe.replay.field;
	const uint64_t *models = trial->inputs + trial->probe.replay.random_start[trial->history.learners];
	uint64_t sums = 0;
	for (size_t r = 0; r < allowed->rows; r++) {
		uint64_t sum = 0;
		for (size_t c = 0; c < allowed->columns; c++)
			sum = sl_field_add(field, sum,
					   sl_field_mul(field, matrix_row(allowed, r)[c], models[c]));
		sums = sums * field->p + sum;
	}
	return sums;
}

static bool apart(const uint32_t *a, const uint32_t *b)
{
	for (size_t seen = 0; seen < SEEN_MOST; seen++)
		if (a[seen] != 0 && b[seen] != 0)
			return false;
	return true;
}

static void compare_all(struct trial *trial)
{
	static uint32_t histogram[SEEN_MOST], known[64][SEEN_MOST];
	bool met[64] = {false};
	const struct replay *replay = &trial->probe.replay;
	struct matrix allowed = history_allowed(&trial->history, &replay->field, trial->coalition);
	size_t models[HISTORY_LEARNERS], count = 0;
	for (uint32_t i = 0; i < trial->history.learners; i++)
		if (!(trial->coalition >> i & 1))
			models[count++] = replay->random_start[trial->history.learners] + i;
	do {
		uint64_t sums = sums_of(trial, &allowed);
		assert_true(sums < 64);
		draw_histogram(trial, histogram);
		if (met[sums])
			assert_memory_equal(histogram, known[sums], sizeof histogram);
		else
			memcpy(known[sums], histogram, sizeof histogram);
		met[sums] = true;
	} while (next(trial, models, count));
	for (size_t a = 0; a < 64; a++)
		for (size_t b = 0; b < a; b++)
			assert_true(!met[a] || !met[b] || apart(known[a], known[b]));
	matrix_free(&allowed);
}

static void ask(uint32_t n, uint64_t number, uint32_t coalition, uint32_t released, uint64_t p)
{
	struct trial trial;
	for (enum sl_sharing_kind kind = SL_SHARING_SHAMIR; kind <= SL_SHARING_SEEDED; kind++) {
		open_trial(&trial, n, number, coalition, released, p, kind);
		compare_all(&trial);
		close_trial(&trial);
	}
}

#define PAIR 1	   /* 0-1 */
#define TRIANGLE 7 /* 0-1 0-2 1-2 */
#define LINE 5	   /* 0-1 1-2 */

static void ask_completed(uint64_t p)
{
	ask(2, PAIR, 0, 3, p);
	ask(2, PAIR, 1, 3, p);
	ask(3, LINE, 1, 7, p);
	ask(3, LINE, 2, 7, p); /* the learner between learns both models */
	ask(3, LINE, 5, 7, p);
	ask(3, TRIANGLE, 1, 7, p);
	ask(3, TRIANGLE, 6, 7, p);
}

static void ask_released_in_part(uint64_t p)
{
	ask(2, PAIR, 0, 1, p);
	ask(3, LINE, 1, 2, p);
	ask(3, LINE, 1, 4, p);
	ask(3, LINE, 2, 1, p);
	ask(3, TRIANGLE, 1, 2, p);
	ask(3, TRIANGLE, 1, 0, p);
}

TEST(joint)
{
	ask_completed(5);
	ask_released_in_part(5);
}

TEST_NIGHTLY(joint_in_a_larger_field)
{
	ask_completed(7);
	ask_released_in_part(7);
	ask(3, LINE, 0, 7, 5);
	ask(3, LINE, 0, 6, 5);
}
