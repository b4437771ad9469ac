/* attempt.h - an attempt of three learners whose jobs a test runs. */
#pragma once

#include "common/compute/job.h"

#define LEARNERS 3u
#define ELEMENTS (SL_CHUNK_ELEMENTS + 3u) /* two chunks */
#define WORKERS_MOST 8u
#define PRIME ((UINT64_C(1) << 36) - 5)
#define WIDE_PRIME ((UINT64_C(1) << 61) - 1)

/* Learner 0 of three on a complete graph. The masked states `state` add up to 0 in every coordinate, and to
 * the weight LEARNERS. */
struct attempt {
	struct sl_view view;
	struct sl_workspace workspace;
	void *graph;
	uint64_t state[LEARNERS][ELEMENTS];
	uint8_t keys[LEARNERS][SL_KEY_BYTES]; /* deposit keys */
	uint64_t random;
};

/* Make an attempt in *state, by `shamir` or `seeded`, with the model encoded and the secrets drawn. */
int attempt_setup(void **state);
int attempt_setup_seeded(void **state);
/* By `shamir` modulo WIDE_PRIME. */
int attempt_setup_wide(void **state);
int attempt_teardown(void **state);

/* Run a job of learner 0, and one that must succeed. */
struct sl_job_result attempt_run(struct attempt *a, struct sl_job job);
void attempt_run_well(struct attempt *a, enum sl_job_kind kind, uint32_t chunk);

/* Let the view have noise. */
void attempt_set_noise(struct attempt *a, double noise, enum sl_dp_unit unit);

/* Set s; return element `l` of it. */
void attempt_set_state(struct attempt *a, const uint64_t state[ELEMENTS]);
uint64_t attempt_state(const struct attempt *a, size_t l);

/* Add `change`, which may be below 0, to element l of the sum of the masked states. */
void attempt_add(struct attempt *a, size_t l, uint64_t change);

/* Write the deposit of learner i to `packed`. */
void attempt_deposit(struct attempt *a, uint32_t i, uint8_t *packed);
/* Fetch a chunk of the deposits of learners first .. last by one job; all chunks of all. */
void attempt_fetch(struct attempt *a, uint32_t first, uint32_t last, uint32_t chunk);
void attempt_fetch_all(struct attempt *a);
