/* The table of cases. */
#include <string.h>

#include "tools/dev/bench/hosts.h"

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
/* With the default settings, as most runs are. */
static const struct sl_bench_daemons complete10 = {
	.learners = 10, .size = 100000, .topology = "complete", .memory = true};
static const struct sl_bench_daemons ring10 = {.learners = 10, .size = 1000000, .topology = "ring"};
static const struct sl_bench_daemons crowd100 = {
	.learners = 100, .size = 100000, .topology = "neighbours:10"};
static const struct sl_bench_daemons complete10shamir = {.learners = 10,
							 .size = 100000,
							 .topology = "complete",
							 .set = {"sharing=shamir", "mixing=exact"},
							 .memory = true};
static const struct sl_bench_daemons crowd100additive = {.learners = 100,
							 .size = 100000,
							 .topology = "neighbours:10",
							 .set = {"sharing=additive", "mixing=exact"},
							 .floor = true};

/* The first settings are the defaults. */
#define WAYS                                                                                                 \
	{                                                                                                    \
		"sharing=seeded mixing=auto", "sharing=seeded mixing=exact", "sharing=seeded mixing=forest", \
			"sharing=shamir mixing=exact"                                                        \
	}
static const struct sl_bench_hosts hosts[] = {
	{.hosts = 5, .mbit = 100, .size = 1000000, .topology = "complete", .ways = WAYS},
	{.hosts = 5, .mbit = 20, .size = 1000000, .topology = "complete", .ways = WAYS},
	{.hosts = 5, .mbit = 1000, .rtt_ms = 100, .size = 1000000, .topology = "complete", .ways = WAYS},
	{.hosts = 5, .mbit = 1000, .rtt_ms = 100, .size = 10000000, .topology = "complete", .ways = WAYS},
	{.hosts = 8, .mbit = 100, .size = 1000000, .topology = "regular:4", .ways = WAYS},
};
static const struct sl_bench_hosts smoke[2] = {
	{.hosts = 2,
	 .mbit = 1000,
	 .size = 1000,
	 .topology = "complete",
	 .ways = {"sharing=seeded mixing=forest privacy_check=warn"}},
	{.hosts = 2,
	 .mbit = 1000,
	 .rtt_ms = 10,
	 .size = 1000,
	 .topology = "complete",
	 .ways = {"sharing=seeded mixing=forest privacy_check=warn"}},
};

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
	{"complete10", "daemons, N 10 complete, n 100,000", sl_bench_daemons, &complete10},
	{"complete10shamir", "the same, shamir + exact", sl_bench_daemons, &complete10shamir},
	{"ring10", "daemons, N 10 ring, n 1,000,000", sl_bench_daemons, &ring10},
	{"crowd100", "daemons, N 100, 10 neighbours, n 100,000", sl_bench_daemons, &crowd100},
	{"crowd100additive", "daemons, N 100, 10 neighbours, n 100,000, additive + exact", sl_bench_daemons,
	 &crowd100additive},
	{"hosts-100mbit", "5 hosts complete, 100 Mbit/s, n 1,000,000", sl_bench_hosts, &hosts[0]},
	{"hosts-20mbit", "5 hosts complete, 20 Mbit/s, n 1,000,000", sl_bench_hosts, &hosts[1]},
	{"hosts-far", "5 hosts complete, 1 Gbit/s, 100 ms away, n 1,000,000", sl_bench_hosts, &hosts[2]},
	{"hosts-large", "the same, n 10,000,000", sl_bench_hosts, &hosts[3]},
	{"hosts-sparse", "8 hosts with 4 neighbours, 100 Mbit/s, n 1,000,000", sl_bench_hosts, &hosts[4]},
	{"smoke-hosts", "2 hosts, n 1,000: whether this machine allows hosts", sl_bench_hosts, &smoke[0]},
	{"smoke-far", "the same, 10 ms away", sl_bench_hosts, &smoke[1]},
};
const size_t sl_bench_case_count = sizeof sl_bench_cases / sizeof *sl_bench_cases;

bool sl_bench_case_is(const struct sl_bench_case *c, const char *name)
{
	size_t length = strlen(name);
	return strncmp(c->name, name, length) == 0 && (c->name[length] == '\0' || c->name[length] == '-');
}

const struct sl_bench_case *sl_bench_case_find(const char *name)
{
	for (size_t i = 0; i < sl_bench_case_count; i++)
		if (sl_bench_case_is(&sl_bench_cases[i], name))
			return &sl_bench_cases[i];
	return NULL;
}
