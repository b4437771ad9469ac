/* Jobs of one learner: what those on deposits cost, for each element and vector, in one thread of this
 * process; and how much sooner two threads share and mix. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/compute/job.h"
#include "common/compute/state.h"
#include "daemon/runtime/pool.h"
#include "tools/dev/bench/bench.h"

#define DEGREE 10u
#define ELEMENTS (4u * SL_CHUNK_ELEMENTS)
#define WORKERS 2u

/* What differs between the cases. */
struct shape {
	uint32_t degree, elements;
	enum sl_sharing_kind sharing;
	uint64_t p, steps;
};

/* Learner 0 of degree + 1 on a complete graph, with the deposits of all. */
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
	for (uint32_t a = 0; a < l->view.n; a++)
		for (uint32_t b = a + 1; b < l->view.n; b++)
			edges[count++] = (struct sl_edge){a, b};
	return sl_graph_init(&l->view.graph, l->view.n, edges, count, &l->arena);
}

static int make_view(struct learner *l, const struct shape *shape)
{
	for (uint32_t i = 0; i <= DEGREE; i++)
		l->ids[i] = i + 1;
	l->view = (struct sl_view){.t = 1,
				   .a = 1,
				   .n = shape->degree + 1,
				   .ids = l->ids,
				   .elements = shape->elements,
				   .chunks = (shape->elements - 1) / SL_CHUNK_ELEMENTS + 1,
				   .state_elements = SL_CHUNK_ELEMENTS,
				   .max_weight = 1,
				   .degree = shape->degree,
				   .engine = SL_ENGINE_EXACT,
				   .steps = shape->steps,
				   .sharing = shape->sharing,
				   .agreed = {.tolerance = 1},
				   .encoding = {.clipping_range = 1, .weight_total = shape->degree + 1}};
	int rc = sl_field_init(&l->view.field, shape->p);
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
	size_t scratch = sl_job_scratch(&l->view, WORKERS), elements = l->view.elements;
	*w = (struct sl_workspace){.n = elements - 1, .weight = 1, .source = draw};
	w->trained = SL_ARENA_TAKE(&l->arena, elements, float);
	w->s_bytes = sl_state_packed(&l->view);
	w->s = sl_arena_take(&l->arena, (w->s_bytes + 7) / 8, sizeof(uint64_t));
	w->second_elements = sl_state_second(&l->view);
	w->second = SL_ARENA_TAKE(&l->arena, w->second_elements, uint64_t);
	uint8_t *room = SL_ARENA_TAKE(&l->arena, scratch, uint8_t);
	w->state_file.slot_bytes = sl_slot_bytes(&l->view);
	w->state_file.base = SL_ARENA_TAKE(&l->arena, l->view.n * w->state_file.slot_bytes, uint8_t);
	if (w->trained == NULL || w->s == NULL || w->second == NULL || room == NULL ||
	    w->state_file.base == NULL)
		return SL_ERR_NOMEM;
	sl_arena_init(&w->scratch, room, scratch);
	for (uint32_t r = 0; r < l->view.degree; r++)
		l->states[r] = (struct sl_buffer){.next = r + 1 < l->view.degree ? &l->states[r + 1] : NULL,
						  .from = r,
						  .iteration = 1,
						  .bytes = sl_slot_state(&w->state_file, r + 1)};
	return SL_OK;
}

static int open_learner(struct learner *l, const struct shape *shape)
{
	size_t bytes =
		(size_t)shape->elements * (shape->degree + 4) * sizeof(uint64_t) + (UINT64_C(32) << 20);
	*l = (struct learner){.arena.base = NULL};
	sl_arena_init(&l->arena, malloc(bytes), bytes);
	int rc = l->arena.base == NULL ? SL_ERR_NOMEM : make_view(l, shape);
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
		struct shape shape = {DEGREE, ELEMENTS, SL_SHARING_OS, primes[i].p, 2};
		rc = open_learner(&l, &shape);
		if (rc == SL_OK)
			measure_jobs(&l, primes[i].bits, bench->repeat);
		free(l.arena.base);
	}
	return rc;
}

/* --- threads --- */

#define MANY 10000000u /* elements */
#define FEW 4u	       /* neighbours */

/* Run the jobs of the phase SHARE on all chunks, as they are without a network; then those of MIX. */
static void run_share(struct learner *l)
{
	uint8_t seeds[FEW][SL_KEY_BYTES];
	struct sl_buffer buffers[FEW];
	randombytes_buf(seeds, sizeof seeds);
	for (uint32_t r = 0; r < FEW; r++)
		buffers[r] = (struct sl_buffer){
			.next = r + 1 < FEW ? &buffers[r + 1] : NULL, .from = r, .bytes = seeds[r]};
	run(l, (struct sl_job){.kind = SL_JOB_GATHER, .buffers = buffers});
	for (uint32_t m = 0; m < l->view.chunks; m = sl_view_share_end(&l->view, m)) {
		run(l, (struct sl_job){.kind = SL_JOB_SHARE, .chunk = m});
		run(l, (struct sl_job){.kind = SL_JOB_EXPAND, .chunk = m});
	}
	for (uint32_t m = 0; m < l->view.chunks; m++)
		run(l, (struct sl_job){.kind = SL_JOB_DEPOSIT, .chunk = m});
}

static void run_mix(struct learner *l)
{
	for (uint32_t m = 0; m < l->view.chunks; m++)
		run(l, (struct sl_job){.kind = SL_JOB_MIX, .chunk = m});
}

/* Sample the time of a phase, and the CPU of all threads, by the clock and by getrusage. */
static double measure_phase(struct learner *l, void (*phase)(struct learner *l), const char *name,
			    uint32_t threads)
{
	uv_rusage_t before, after;
	uint64_t begun = uv_hrtime();
	uv_getrusage(&before);
	phase(l);
	uv_getrusage(&after);
	double wall = (double)(uv_hrtime() - begun) / 1e6,
	       cpu = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1e3 +
		     (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e3;
	sl_bench_sample(wall, "ms", "%s, threads: %u", name, threads);
	sl_bench_sample(cpu, "ms", "%s, threads: %u, CPU", name, threads);
	return wall;
}

int sl_bench_threads(const struct sl_bench *bench, struct sl_error *error)
{
	static const struct shape shape = {FEW, MANY, SL_SHARING_SEEDED, SL_P_MERSENNE31, 1};
	struct learner l;
	struct sl_pool pool;
	int rc = open_learner(&l, &shape);
	(void)error;
	if (sl_pool_open(&pool, WORKERS) != 0)
		rc = SL_ERR_IO;
	l.workspace.team = &pool.team;
	if (rc == SL_OK)
		rc = run(&l, (struct sl_job){.kind = SL_JOB_ENCODE}).code; /* with room for all */
	if (rc == SL_OK)
		rc = run(&l, (struct sl_job){.kind = SL_JOB_SECRETS}).code;
	for (uint32_t i = 0; rc == SL_OK && i < bench->repeat; i++) {
		double ms[2] = {0, 0};
		for (uint32_t k = 0; k < 2; k++) {
			l.workspace.team = k == 0 ? NULL : &pool.team;
			ms[k] += measure_phase(&l, run_share, "share", k + 1);
			ms[k] += measure_phase(&l, run_mix, "mix", k + 1);
		}
		sl_bench_sample(ms[0] / ms[1], "times", "as fast with 2 threads as with 1");
	}
	sl_pool_close(&pool);
	free(l.arena.base);
	return rc;
}
