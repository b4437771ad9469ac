/* The table of cases. */
#include <string.h>

#include "tools/dev/bench/daemons.h"

static const struct sl_bench_daemons exchange[2] = {
	{.learners = 3,
	 .size = 1000000,
	 .topology = "complete",
	 .set = {"mixing=metropolis", "iterations=10"}},
	{.learners = 3,
	 .size = 1000000,
	 .topology = "complete",
	 .set = {"mixing=metropolis", "iterations=50"}},
};

static const struct sl_bench_daemons demo = {.learners = 10, .topology = "regular:4"};
static const struct sl_bench_daemons complete10 = {.learners = 10,
						   .size = 100000,
						   .topology = "complete",
						   .set = {"sharing=shamir", "mixing=exact"},
						   .memory = true};
static const struct sl_bench_daemons ring10 = {
	.learners = 10, .size = 1000000, .topology = "ring", .set = {"sharing=seeded", "mixing=tree"}};
static const struct sl_bench_daemons crowd100 = {.learners = 100,
						 .size = 100000,
						 .topology = "neighbours:10",
						 .set = {"sharing=seeded", "mixing=tree"}};
static const struct sl_bench_daemons crowd100additive = {.learners = 100,
							 .size = 100000,
							 .topology = "neighbours:10",
							 .set = {"sharing=additive", "mixing=exact"},
							 .floor = true};

const struct sl_bench_case sl_bench_cases[] = {
	{"kernels", "making shares, with their randomness", sl_bench_kernels, NULL},
	{"deposits", "masks, checks and checksums of deposits", sl_bench_deposits, NULL},
	{"instructions", "shares and steps of mixing, by instruction set", sl_bench_instructions, NULL},
	{"analysis", "graph analysis of a round", sl_bench_analysis, NULL},
	{"records", "durable records of a round, on the disk of --folder", sl_bench_records, NULL},
	{"monitoring", "log records and metrics of a learner", sl_bench_monitoring, NULL},
	{"monitored", "their part of a round's CPU, N 10, as ./tools/demo", sl_bench_monitored, &demo},
	{"monitored10", "the same without training, as complete10", sl_bench_monitored, &complete10},
	{"exchange", "large states, N 3, n 1,000,000", sl_bench_exchange, exchange},
	{"demo", "daemons, N 10, 4 neighbours, as ./tools/demo", sl_bench_daemons, &demo},
	{"complete10", "daemons, N 10 complete, n 100,000, shamir + exact", sl_bench_daemons, &complete10},
	{"ring10", "daemons, N 10 ring, n 1,000,000, seeded + tree", sl_bench_daemons, &ring10},
	{"crowd100", "daemons, N 100, 10 neighbours, n 100,000, seeded + tree", sl_bench_daemons, &crowd100},
	{"crowd100additive", "daemons, N 100, 10 neighbours, n 100,000, additive + exact", sl_bench_daemons,
	 &crowd100additive},
};
const size_t sl_bench_case_count = sizeof sl_bench_cases / sizeof *sl_bench_cases;

const struct sl_bench_case *sl_bench_case_find(const char *name)
{
	for (size_t i = 0; i < sl_bench_case_count; i++)
		if (strcmp(sl_bench_cases[i].name, name) == 0)
			return &sl_bench_cases[i];
	return NULL;
}
