/* Which vectors are freed when the round is decided: large ones, whose disk the files of the commit need. */
#include "test/lib/test.h"

#include <stdlib.h>

#include "daemon/learner/vectors.h"
#include "daemon/runtime/vector_memory.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

static size_t paged_from; /* bytes of a large vector */
static int taken;	  /* vectors */

bool __wrap_sl_vector_memory_paged(size_t size)
{
	return size >= paged_from;
}

void *__wrap_sl_vector_memory(const char *folder, size_t size)
{
	assert_string_equal(folder, "state");
	taken++;
	return calloc(1, size);
}

void __wrap_sl_vector_memory_free(void *memory, size_t size)
{
	(void)size;
	taken -= memory != NULL;
	free(memory);
}

static struct sl_workspace decided; /* 15 elements of 31 bits */
static struct sl_view view;

static void run(enum sl_job_kind kind)
{
	sl_vectors_shrink(&decided, &(struct sl_job){.kind = kind, .view = &view});
}

/* A learner that has accepted its sum; large vectors begin at so many bytes. */
static void decide(size_t from)
{
	paged_from = from;
	decided = (struct sl_workspace){.n = 15};
	view = (struct sl_view){.elements = 16, .field.bits = 31};
	assert_int_equal(sl_vectors_open(&decided, "state"), SL_OK);
	assert_int_equal(
		sl_vectors_grow(&decided, "state", &(struct sl_job){.kind = SL_JOB_SUM, .view = &view}),
		SL_OK);
	run(SL_JOB_SUM);
	assert_int_equal(taken, 3);
	run(SL_JOB_ACCEPT);
}

static void close_all(void)
{
	sl_vectors_free(&decided);
	assert_int_equal(taken, 0);
}

TEST(large_vectors_go)
{
	decide(1);
	assert_int_equal(taken, 1);
	assert_non_null(decided.committed);
	assert_int_equal(sl_vectors_train(&decided, "state"), SL_OK);
	assert_non_null(decided.trained);
	assert_int_equal(
		sl_vectors_grow(&decided, "state", &(struct sl_job){.kind = SL_JOB_SUM, .view = &view}),
		SL_OK);
	assert_non_null(decided.s);
	assert_int_equal(taken, 3);
	close_all();
}

TEST(small_vectors_stay)
{
	decide(1000);
	assert_int_equal(taken, 3);
	void *before = decided.trained;
	assert_int_equal(sl_vectors_train(&decided, "state"), SL_OK);
	assert_ptr_equal(decided.trained, before);
	close_all();
}
