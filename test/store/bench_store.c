/* Time that a record takes until it is there to stay, on the disk of the current folder. */
#include "daemon/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/graph/bench.h"

#define TIMES 200u

static double spent[TIMES];

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void print(const char *what)
{
	qsort(spent, TIMES, sizeof *spent, ascending);
	printf("%-44s %8.2f %8.2f %8.2f\n", what, spent[TIMES / 2] / 1e6, spent[TIMES * 95 / 100] / 1e6,
	       spent[TIMES - 1] / 1e6);
}

#define MEASURE(what, body)                                                                                  \
	do {                                                                                                 \
		for (uint32_t i = 0; i < TIMES; i++) {                                                       \
			double from = now_ns();                                                              \
			body;                                                                                \
			spent[i] = now_ns() - from;                                                          \
		}                                                                                            \
		print(what);                                                                                 \
	} while (0)

static void must(int rc, const struct sl_error *error)
{
	if (rc == SL_OK)
		return;
	fprintf(stderr, "%s\n", error->text);
	abort();
}

static struct sl_store *open_store(const char *folder)
{
	struct sl_member members[] = {{.id = 1}, {.id = 2}};
	struct sl_roster roster = {.members = members, .size = 2};
	struct sl_store_owner owner = {.run = "bench", .roster = &roster};
	struct sl_store *store;
	struct sl_error error;
	must(sl_store_open(&store, folder, &owner, &error), &error);
	return store;
}

/* Prepared, of a view in which each has 20 neighbours. */
static void prepare(struct sl_store *store, sl_round t, uint32_t count)
{
	static uint8_t view[(16 + 160) * SL_LEARNERS_MAX];
	struct sl_ready own = {.id = 1, .t = t, .a = 1};
	struct sl_persist persist = {.what = {.kind = SL_PERSIST_PREPARED, .t = t, .a = 1},
				     .view = view,
				     .view_bytes = (size_t)176 * count,
				     .readys = &own,
				     .ready_count = 1};
	struct sl_error error;
	must(sl_store_record(store, &persist, &error), &error);
}

static void release(struct sl_store *store, sl_round t, uint32_t count)
{
	static struct sl_ready readys[SL_LEARNERS_MAX];
	struct sl_error error;
	for (uint32_t i = 0; i < count; i++)
		readys[i] = (struct sl_ready){.id = i + 1, .t = t, .a = 1};
	struct sl_persist persist = {.what = {.kind = SL_PERSIST_RELEASED, .t = t, .a = 1},
				     .readys = readys,
				     .ready_count = count};
	must(sl_store_record(store, &persist, &error), &error);
}

static void commit(struct sl_store *store, sl_round t)
{
	struct sl_error error;
	struct sl_store_round round = {.t = t, .a = 1, .p = 7, .learners = 20};
	snprintf(round.checkpoint, sizeof round.checkpoint, "round-%06u.safetensors", t);
	snprintf(round.result, sizeof round.result, "result-%06u.safetensors", t);
	must(sl_store_commit_round(store, &round, &error), &error);
}

static void write_and_sync(FILE *file)
{
	static const char page[4096];
	rewind(file);
	if (fwrite(page, 1, sizeof page, file) != sizeof page || fflush(file) != 0 ||
	    fsync(fileno(file)) != 0)
		abort();
}

static void remove_all(const char *folder)
{
	static const char *const names[] = {"page", "learner.db", "learner.db-journal", "lock",
					    "incarnation"};
	char path[256];
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		remove(path);
	}
	rmdir(folder);
}

int main(int argc, char **argv)
{
	uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000;
	char folder[] = "bench-store-XXXXXX";
	if (mkdtemp(folder) == NULL)
		abort();
	printf("%-44s %8s %8s %8s\n", "ms", "median", "95 of 100", "most");
	char path[64];
	snprintf(path, sizeof path, "%s/page", folder);
	FILE *file = fopen(path, "wb");
	if (file == NULL)
		abort();
	MEASURE("one page and fsync", write_and_sync(file));
	fclose(file);
	struct sl_store *store = open_store(folder);
	MEASURE("prepare among 20", prepare(store, i + 1, 20));
	MEASURE("release among 20", release(store, i + 1, 20));
	MEASURE("prepare among 2,000", prepare(store, TIMES + i + 1, SL_LEARNERS_MAX));
	MEASURE("release among 2,000", release(store, TIMES + i + 1, SL_LEARNERS_MAX));
	MEASURE("commit a round", commit(store, i + 1));
	MEASURE("prepare, release, commit, among 20",
		(prepare(store, 2 * TIMES + i + 1, 20), release(store, 2 * TIMES + i + 1, 20),
		 commit(store, 2 * TIMES + i + 1)));
	MEASURE("close and open", (sl_store_close(store), store = open_store(folder)));
	for (uint32_t t = 3 * TIMES + 1; t <= rounds; t++)
		commit(store, t);
	char what[64];
	snprintf(what, sizeof what, "close and open with %u rounds", rounds);
	MEASURE(what, (sl_store_close(store), store = open_store(folder)));
	sl_store_close(store);
	remove_all(folder);
	return 0;
}
