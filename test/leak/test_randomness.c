/* The random numbers of shares are uniform and used once (ROUND.md §5 Randomness and shares): for all
 * words of the source, and over a vector of more than one chunk. */
#include <sodium.h>

#include "common/base/bytes.h"
#include "test/leak/probe.h"
#include "test/lib/test.h"

#define TRIANGLE 7
#define ELEMENTS (SL_CHUNK_ELEMENTS + 300)
#define DEGREE 2

/* --- each word of few bits --- */

struct words {
	uint32_t first, second, shift;
};

/* Give two words, then only rejected ones. Bits above those of p are noise. */
static void two_words(void *context, uint8_t *bytes, size_t n)
{
	const struct words *words = context;
	uint32_t noise = 0xa5a5a5a5u << words->shift;
	memset(bytes, n == SL_KEY_BYTES ? 1 : 0xff, n);
	if (n == SL_KEY_BYTES)
		return;
	bytes[0] = (uint8_t)(words->first | noise);
	bytes[1] = (uint8_t)(words->second | ~noise << words->shift);
}

/* Of all pairs of words in which one is accepted, each share value comes from equally many. */
static void count_words(uint64_t p, enum sl_sharing_kind kind)
{
	struct sl_field field = field_of(p);
	struct brute pair = brute_numbered(2, 1);
	struct history history = history_of(2, 1);
	struct attempt attempt = attempt_of(&pair, 3);
	struct replay replay;
	uint32_t words = 1u << field.bits, seen[8] = {0};
	history_add(&history, &attempt);
	replay_open(&replay, &history, &field, kind);
	uint64_t *inputs = calloc(replay.inputs, sizeof *inputs),
		 *outputs = calloc(replay.outputs, sizeof *outputs);
	struct words given = {.shift = field.bits};
	replay.fixtures[0].workspace.source = replay.fixtures[1].workspace.source = two_words;
	replay.fixtures[0].workspace.source_context = replay.fixtures[1].workspace.source_context = &given;
	for (given.first = 0; given.first < words; given.first++)
		for (given.second = 0; given.second < words; given.second++) {
			if (given.first >= p && given.second >= p)
				continue;
			replay_run(&replay, inputs, outputs);
			assert_true(replay.rows[0].kind == ROW_SHARE && replay.rows[0].from == 0);
			seen[outputs[0]]++;
		}
	for (uint64_t v = 0; v < p; v++)
		assert_int_equal(seen[v], words + (words - p));
	free(inputs);
	free(outputs);
	replay_close(&replay);
}

static int prepare(void **state)
{
	(void)state;
	return sodium_init() < 0;
}
TEST_SETUP(prepare, NULL)

TEST(uniform)
{
	for (enum sl_sharing_kind kind = SL_SHARING_SHAMIR; kind <= SL_SHARING_OS; kind++) {
		count_words(5, kind);
		count_words(7, kind);
	}
}

/* --- a long vector --- */

/* A source that never repeats a word, and keeps its keys. */
struct counter {
	uint32_t words, keys;
	uint8_t key[DEGREE][SL_KEY_BYTES];
};

static void count_up(void *context, uint8_t *bytes, size_t n)
{
	struct counter *counter = context;
	if (n == SL_KEY_BYTES) {
		assert_true(counter->keys < DEGREE);
		randombytes_buf(bytes, n);
		memcpy(counter->key[counter->keys++], bytes, n);
		return;
	}
	for (size_t at = 0; at + 4 <= n; at += 4, counter->words++)
		for (uint32_t b = 0; b < 4; b++)
			bytes[at + b] = (uint8_t)(counter->words >> (8 * b));
}

struct long_vector {
	struct replay replay;
	struct history history;
	struct counter counter;
	uint64_t *shares[DEGREE + 1]; /* all coordinates; the own share is the last */
	uint64_t *randomness[DEGREE];
};

static void open_long(struct long_vector *v, enum sl_sharing_kind kind)
{
	struct sl_field field = field_of(SL_P_MERSENNE31);
	struct brute triangle = brute_numbered(3, TRIANGLE);
	struct attempt attempt = attempt_of(&triangle, 0);
	*v = (struct long_vector){.history = history_of(3, ELEMENTS)};
	history_add(&v->history, &attempt);
	replay_open(&v->replay, &v->history, &field, kind);
	for (uint32_t r = 0; r <= DEGREE; r++)
		v->shares[r] = calloc(ELEMENTS, sizeof **v->shares);
	for (uint32_t r = 0; r < DEGREE; r++)
		v->randomness[r] = calloc(ELEMENTS, sizeof **v->randomness);
	v->replay.fixtures[0].views[0].chunks = 2;
	v->replay.fixtures[0].workspace.source = count_up;
	v->replay.fixtures[0].workspace.source_context = &v->counter;
}

static void close_long(struct long_vector *v)
{
	for (uint32_t r = 0; r <= DEGREE; r++)
		free(v->shares[r]);
	for (uint32_t r = 0; r < DEGREE; r++)
		free(v->randomness[r]);
	replay_close(&v->replay);
}

/* Return the elements of the block that begins at element `at`. */
static size_t block_elements(uint32_t at)
{
	return ELEMENTS - at < SL_BLOCK_ELEMENTS ? ELEMENTS - at : SL_BLOCK_ELEMENTS;
}

/* Take chunk m of the shares as the neighbours do; expand a seed. */
static void take_rows(struct long_vector *v, const struct sl_view *view, uint32_t m)
{
	const struct sl_workspace *workspace = &v->replay.fixtures[0].workspace;
	for (uint32_t r = 0; r < DEGREE; r++) {
		struct sl_prg randomness;
		if (view->sharing != SL_SHARING_SEEDED) {
			sl_bytes_unpack(v->shares[r] + m * SL_CHUNK_ELEMENTS, workspace->shares[r],
					sl_view_chunk_elements(view, m), view->field.bits);
			continue;
		}
		memset(v->shares[r], 0, ELEMENTS * sizeof **v->shares);
		for (uint32_t at = 0; at < ELEMENTS; at += SL_BLOCK_ELEMENTS) {
			sl_prg_open_at(&randomness, workspace->shares[r], at / SL_BLOCK_ELEMENTS + 1);
			sl_prg_add(&randomness, &view->field, v->shares[r] + at, block_elements(at));
		}
	}
}

/* The shares add up to the encoding of zeros with weight 1. */
static void expect_total(const struct long_vector *v)
{
	for (size_t l = 0; l < ELEMENTS; l++) {
		uint64_t sum = 0;
		for (uint32_t r = 0; r <= DEGREE; r++)
			sum = sl_field_add(&v->replay.field, sum, v->shares[r][l]);
		assert_int_equal(sum, l == ELEMENTS - 1);
	}
}

static void share_long(struct long_vector *v, bool from_os)
{
	struct sl_workspace *workspace = &v->replay.fixtures[0].workspace;
	struct sl_job job = {.kind = SL_JOB_ENCODE, .view = &v->replay.fixtures[0].views[0]};
	struct sl_job_result result;
	workspace->randomness_from_os = from_os;
	v->counter.keys = 0;
	sl_job_run(workspace, &job, &result);
	assert_int_equal(result.code, SL_OK);
	job.kind = SL_JOB_SHARE;
	for (; job.chunk < job.view->chunks; job.chunk = sl_view_share_end(job.view, job.chunk)) {
		sl_job_run(workspace, &job, &result);
		take_rows(v, job.view, job.chunk);
	}
	sl_bytes_unpack(v->shares[DEGREE], workspace->s, ELEMENTS, job.view->field.bits);
	expect_total(v);
	sl_job_wipe(workspace);
}

/* Return the inverse of the map from random numbers and model to the shares of one coordinate: a row for each
 * random number, then the model. */
static struct matrix invert_sharing(enum sl_sharing_kind kind)
{
	struct sl_field field = field_of(SL_P_MERSENNE31);
	struct brute triangle = brute_numbered(3, TRIANGLE);
	struct history history = history_of(3, 1);
	struct attempt attempt = attempt_of(&triangle, 0);
	struct probe probe;
	history_add(&history, &attempt);
	probe_open(&probe, &history, &field, kind, MISTAKE_NONE);
	size_t model = probe.replay.random_start[3];
	struct matrix both = matrix_of(&field, 2 * (DEGREE + 1));
	for (uint32_t r = 0; r <= DEGREE;
	     r++) { /* the first rows are learner 0's: shares to 1 and 2, then its own */
		uint64_t *row = matrix_add(&both);
		for (uint32_t c = 0; c <= DEGREE; c++)
			row[c] = matrix_row(&probe.map.cells, r)[c < DEGREE ? c : model];
		row[DEGREE + 1 + r] = 1;
	}
	matrix_reduce(&both);
	assert_int_equal(both.rows, DEGREE + 1);
	probe_close(&probe);
	return both;
}

/* Compute the random numbers from the shares. */
static void recover_randomness(struct long_vector *v, const struct matrix *inverse)
{
	const struct sl_field *field = &v->replay.field;
	for (size_t l = 0; l < ELEMENTS; l++)
		for (uint32_t c = 0; c < DEGREE; c++) {
			uint64_t number = 0;
			for (uint32_t r = 0; r <= DEGREE; r++)
				number = sl_field_add(field, number,
						      sl_field_mul(field,
								   matrix_row(inverse, c)[DEGREE + 1 + r],
								   v->shares[r][l]));
			v->randomness[c][l] = number;
		}
}

static void expect_once(const struct long_vector *v)
{
	uint8_t *used = calloc(v->counter.words, 1);
	for (uint32_t c = 0; c < DEGREE; c++)
		for (size_t l = 0; l < ELEMENTS; l++) {
			uint64_t number = v->randomness[c][l];
			assert_true(number < v->counter.words && !used[number]);
			used[number] = 1;
		}
	free(used);
}

/* `sharing: os`: every coordinate of every neighbour has a word of its own, also in a second attempt. */
TEST(from_the_system)
{
	for (enum sl_sharing_kind kind = SL_SHARING_SHAMIR; kind <= SL_SHARING_OS; kind++) {
		struct matrix inverse = invert_sharing(kind);
		struct long_vector v;
		open_long(&v, kind);
		for (int attempt = 0; attempt < 2; attempt++) {
			uint32_t before = v.counter.words;
			share_long(&v, true);
			recover_randomness(&v, &inverse);
			expect_once(&v);
			for (size_t l = 0; l < ELEMENTS; l++)
				assert_true(v.randomness[0][l] >= before && v.randomness[1][l] >= before);
		}
		close_long(&v);
		matrix_free(&inverse);
	}
}

/* `sharing: seeded` and `shamir`: a key for each attempt and neighbour; each element of its blocks once, in
 * order. */
TEST(from_keys)
{
	uint64_t *stream = calloc(ELEMENTS, sizeof *stream);
	for (enum sl_sharing_kind kind = SL_SHARING_SHAMIR; kind <= SL_SHARING_SEEDED; kind++) {
		struct matrix inverse = invert_sharing(kind);
		struct long_vector v;
		open_long(&v, kind);
		for (int attempt = 0; attempt < 2; attempt++) {
			share_long(&v, false);
			recover_randomness(&v, &inverse);
			assert_int_equal(v.counter.keys, DEGREE);
			for (uint32_t c = 0; c < DEGREE; c++) {
				struct sl_prg randomness;
				for (uint32_t at = 0; at < ELEMENTS; at += SL_BLOCK_ELEMENTS) {
					sl_prg_open_at(&randomness, v.counter.key[c],
						       at / SL_BLOCK_ELEMENTS + 1);
					sl_prg_fill(&randomness, &v.replay.field, stream + at,
						    block_elements(at));
				}
				assert_memory_equal(stream, v.randomness[c], ELEMENTS * sizeof *stream);
			}
		}
		close_long(&v);
		matrix_free(&inverse);
	}
	free(stream);
}
