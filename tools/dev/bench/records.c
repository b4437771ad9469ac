/* Time until a record of a round is durable, on the disk of the working directory. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "daemon/store/store.h"
#include "tools/dev/bench/bench.h"

#define VIEW_BYTES_OF_ONE 176u /* of a learner with 20 neighbours */

static double wall_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

#define NEIGHBOURS 16u /* the usual max_degree */

static int prepare(struct sl_store *store, sl_round t, uint32_t learners, struct sl_error *error)
{
	static uint8_t view[VIEW_BYTES_OF_ONE * SL_LEARNERS_MAX];
	static struct sl_held_share shares[NEIGHBOURS];
	struct sl_ready own = {.id = 1, .t = t, .a = 1};
	struct sl_secrets secrets = {.count = NEIGHBOURS, .shares = shares};
	for (uint32_t r = 0; r < NEIGHBOURS; r++)
		shares[r].size = SL_KEY_SHARE_BYTES + 4 * SL_HASH_BYTES; /* a path of 16 holders */
	struct sl_persist persist = {.what = {.kind = SL_PERSIST_PREPARED, .t = t, .a = 1},
				     .secrets = &secrets,
				     .view = view,
				     .view_bytes = (size_t)VIEW_BYTES_OF_ONE * learners,
				     .readys = &own,
				     .ready_count = 1};
	return sl_store_record(store, &persist, error);
}

static int release(struct sl_store *store, sl_round t, uint32_t learners, struct sl_error *error)
{
	static struct sl_ready readys[SL_LEARNERS_MAX];
	for (uint32_t i = 0; i < learners; i++)
		readys[i] = (struct sl_ready){.id = i + 1, .t = t, .a = 1};
	struct sl_persist persist = {.what = {.kind = SL_PERSIST_RELEASED, .t = t, .a = 1},
				     .readys = readys,
				     .ready_count = learners};
	return sl_store_record(store, &persist, error);
}

static int sign(struct sl_store *store, sl_round t, uint32_t learners, struct sl_error *error)
{
	(void)learners;
	struct sl_persist persist = {.what = {.kind = SL_PERSIST_SIGNS, .t = t, .a = 1}};
	return sl_store_record(store, &persist, error);
}

static int commit(struct sl_store *store, sl_round t, uint32_t learners, struct sl_error *error)
{
	struct sl_store_round round = {.t = t, .a = 1, .p = SL_P_MERSENNE31, .learners = learners};
	snprintf(round.checkpoint, sizeof round.checkpoint, "round-%06u.safetensors", t);
	snprintf(round.result, sizeof round.result, "result-%06u.safetensors", t);
	return sl_store_commit_round(store, &round, error);
}

static int measure(uint32_t repeat, struct sl_store *store, uint32_t learners, sl_round *t,
		   struct sl_error *error)
{
	static int (*const steps[])(struct sl_store *, sl_round, uint32_t,
				    struct sl_error *) = {prepare, release, sign, commit};
	static const char *const names[] = {"prepared", "released", "signed", "committed"};
	int rc = SL_OK;
	for (uint32_t i = 0; rc == SL_OK && i < repeat; i++) {
		++*t;
		for (int k = 0; rc == SL_OK && k < 4; k++) {
			double begun = wall_ms();
			rc = steps[k](store, *t, learners, error);
			sl_bench_sample(wall_ms() - begun, "ms", "%s, N %u", names[k], learners);
		}
	}
	return rc;
}

/* Write a page and wait until it is durable: the cost of the disk without a database. */
static int measure_page(uint32_t repeat, struct sl_error *error)
{
	static const char page[4096];
	FILE *file = fopen("page", "wb");
	int rc = file != NULL ? SL_OK : sl_err_set(error, SL_ERR_IO, "cannot write a file");
	for (uint32_t i = 0; rc == SL_OK && i < repeat; i++) {
		double begun = wall_ms();
		if (fwrite(page, 1, sizeof page, file) != sizeof page || fflush(file) != 0 ||
		    fsync(fileno(file)) != 0)
			rc = sl_err_set(error, SL_ERR_IO, "cannot write a page");
		sl_bench_sample(wall_ms() - begun, "ms", "a page and fsync");
	}
	if (file != NULL)
		fclose(file);
	return rc;
}

int sl_bench_records(const struct sl_bench *bench, struct sl_error *error)
{
	struct sl_member members[] = {{.id = 1}, {.id = 2}};
	struct sl_roster roster = {.members = members, .size = 2};
	struct sl_store_owner owner = {.run = "bench", .roster = &roster};
	struct sl_store *store = NULL;
	sl_round t = 0;
	int rc = sl_store_open(&store, "records", &owner, error);
	if (rc == SL_OK)
		rc = measure_page(bench->repeat, error);
	if (rc == SL_OK)
		rc = measure(bench->repeat, store, 20, &t, error);
	if (rc == SL_OK)
		rc = measure(bench->repeat, store, SL_LEARNERS_MAX, &t, error);
	sl_store_close(store);
	return rc;
}
