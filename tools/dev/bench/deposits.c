/* Deposits: what the jobs on them cost, for each element and vector, in one thread of this process. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/compute/job.h"
#include "common/compute/state.h"
#include "tools/dev/bench/bench.h"

#define DEGREE 10u
#define CHUNKS 4u
#define ELEMENTS (CHUNKS * SL_CHUNK_ELEMENTS)

/* Learner 0 of DEGREE + 1 on a complete graph, with the deposits of all. */
struct learner {
	struct sl_view view;
	struct sl_workspace workspace;
	struct sl_arena arena; /* graph, vectors and slots */
	sl_id ids[DEGREE + 1];
	uint8_t keys[DEGREE + 1][SL_KEY_BYTES];
	struct sl_buffer states[DEGREE]; /* of a later exchange */
};

static void draw(void *context, uint8_t *bytes, size_t n)
{
	(void)context;
	randombytes_buf(bytes, n);
}

static struct sl_job_result run(struct learner *l, struct sl_job job)
{
	struct sl_job_result result;
	job.view = &l->view;
	job.keys = (const uint8_t(*)[SL_KEY_BYTES])l->keys;
	sl_job_run(&l->workspace, &job, &result);
	return result;
}

static int make_graph(struct learner *l)
{
	struct sl_edge edges[(DEGREE + 1) * DEGREE / 2];
	size_t count = 0;
	for (uint32_t a = 0; a <= DEGREE; a++)
		for (uint32_t b = a + 1; b <= DEGREE; b++)
			edges[count++] = (struct sl_edge){a, b};
	return sl_graph_init(&l->view.graph, DEGREE + 1, edges, count, &l->arena);
}

static int make_view(struct learner *l, uint64_t p)
{
	for (uint32_t i = 0; i <= DEGREE; i++)
		l->ids[i] = i + 1;
	l->view = (struct sl_view){.t = 1,
				   .a = 1,
				   .n = DEGREE + 1,
				   .ids = l->ids,
				   .elements = ELEMENTS,
				   .chunks = CHUNKS,
				   .max_weight = 1,
				   .degree = DEGREE,
				   .engine = SL_ENGINE_EXACT,
				   .steps = 2,
				   .sharing = SL_SHARING_OS,
				   .agreed = {.tolerance = 1},
				   .encoding = {.clipping_range = 1, .weight_total = DEGREE + 1}};
	int rc = sl_field_init(&l->view.field, p);
	if (rc == SL_OK)
		rc = make_graph(l);
	if (rc == SL_OK)
		l->view.neighbours = sl_graph_neighbours(&l->view.graph, 0);
	return rc;
}

/* Deposits and states are zeros, which cost as much as others. */
static int make_workspace(struct learner *l)
{
	struct sl_workspace *w = &l->workspace;
	size_t scratch = sl_job_scratch(&l->view, 1);
	*w = (struct sl_workspace){.n = ELEMENTS - 1, .weight = 1, .source = draw};
	w->trained = SL_ARENA_TAKE(&l->arena, ELEMENTS, float);
	w->s_bytes = sl_state_packed(&l->view);
	w->s = sl_arena_take(&l->arena, (w->s_bytes + 7) / 8, sizeof(uint64_t));
	w->second_elements = ELEMENTS;
	w->second = SL_ARENA_TAKE(&l->arena, ELEMENTS, uint64_t);
	uint8_t *room = SL_ARENA_TAKE(&l->arena, scratch, uint8_t);
	w->state_file.slot_bytes = sl_slot_bytes(&l->view);
	w->state_file.base = SL_ARENA_TAKE(&l->arena, (DEGREE + 1) * w->state_file.slot_bytes, uint8_t);
	if (w->trained == NULL || w->s == NULL || w->second == NULL || room == NULL ||
	    w->state_file.base == NULL)
		return SL_ERR_NOMEM;
	sl_arena_init(&w->scratch, room, scratch);
	for (uint32_t r = 0; r < DEGREE; r++)
		l->states[r] = (struct sl_buffer){.next = r + 1 < DEGREE ? &l->states[r + 1] : NULL,
						  .from = r,
						  .iteration = 1,
						  .bytes = sl_slot_state(&w->state_file, r + 1)};
	return SL_OK;
}

static int open_learner(struct learner *l, uint64_t p)
{
	size_t bytes = (size_t)ELEMENTS * (2 * DEGREE + 4) * sizeof(uint64_t) + (UINT64_C(32) << 20);
	*l = (struct learner){.arena.base = NULL};
	sl_arena_init(&l->arena, malloc(bytes), bytes);
	int rc = l->arena.base == NULL ? SL_ERR_NOMEM : make_view(l, p);
	if (rc == SL_OK)
		rc = make_workspace(l);
	if (rc == SL_OK)
		rc = run(l, (struct sl_job){.kind = SL_JOB_ENCODE}).code;
	return rc == SL_OK ? run(l, (struct sl_job){.kind = SL_JOB_SECRETS}).code : rc;
}

/* Sample the CPU time of one job, for each of `elements`. What the job finds makes no difference. */
static void measure(struct learner *l, struct sl_job job, double elements, uint32_t samples, const char *name,
		    uint32_t bits)
{
	for (uint32_t i = 0; i <= samples; i++) {
		double begun = sl_bench_thread_ns();
		run(l, job);
		if (i > 0) /* the first warms up */
			sl_bench_sample((sl_bench_thread_ns() - begun) / elements, "ns", "%s, %u bits", name,
					bits);
	}
}

static void measure_jobs(struct learner *l, uint32_t bits, uint32_t samples)
{
	static const uint8_t none[SL_HASH_BYTES];
	const struct {
		const char *name;
		struct sl_job job;
		double elements;
	} jobs[] = {
		{"mask", {.kind = SL_JOB_DEPOSIT}, SL_CHUNK_ELEMENTS},
		{"check the hash", {.kind = SL_JOB_CHECK, .chunk = 1, .expected = none}, ELEMENTS},
		{"exact, from states",
		 {.kind = SL_JOB_MIX, .iteration = 1, .buffers = l->states},
		 SL_CHUNK_ELEMENTS * DEGREE},
		{"exact, from deposits", {.kind = SL_JOB_MIX}, SL_CHUNK_ELEMENTS * DEGREE},
		{"checksums", {.kind = SL_JOB_CHECKSUM, .expected = none}, (double)ELEMENTS * (DEGREE + 2)},
		{"sum of all", {.kind = SL_JOB_SUM}, (double)ELEMENTS * (DEGREE + 1)},
	};
	for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++)
		measure(l, jobs[j].job, jobs[j].elements, samples, jobs[j].name, bits);
}

int sl_bench_deposits(const struct sl_bench *bench, struct sl_error *error)
{
	static const struct {
		uint64_t p;
		uint32_t bits;
	} primes[] = {{SL_P_MERSENNE31, 31}, {(UINT64_C(1) << 61) - 1, 61}};
	int rc = SL_OK;
	(void)error;
	for (size_t i = 0; rc == SL_OK && i < sizeof primes / sizeof *primes; i++) {
		struct learner l;
		rc = open_learner(&l, primes[i].p);
		if (rc == SL_OK)
			measure_jobs(&l, primes[i].bits, bench->repeat);
		free(l.arena.base);
	}
	return rc;
}
