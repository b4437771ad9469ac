/* MPI_Allreduce on the hosts: what adding up costs without privacy, in the clear. mpirun reaches the other
 * hosts by the program FOLDER/reach (hosts.c) in place of ssh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/dev/bench/hosts.h"
#include "tools/lib/command.h"

static uint64_t most_sent(const struct sl_hosts_net *net, const uint64_t *before)
{
	uint64_t most = 0, sent, received;
	for (uint32_t i = 0; i < net->what->hosts; i++) {
		sl_hosts_net_bytes(net, i, &sent, &received);
		if (sent - before[i] > most)
			most = sent - before[i];
	}
	return most;
}

static void read_seconds(char *output, struct sl_figure *seconds)
{
	char *save = NULL;
	for (char *line = strtok_r(output, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save))
		if (strncmp(line, "seconds ", 8) == 0)
			sl_figure_add(seconds, strtod(line + 8, NULL));
}

static int run(struct sl_bench *bench, const struct sl_hosts_net *net, const char *program, char **output,
	       struct sl_error *error)
{
	char hosts[SL_HOSTS_MOST * 24] = "", number[16], size[16], repeat[16];
	for (uint32_t i = 0, used = 0; i < net->what->hosts; i++)
		used += (uint32_t)snprintf(hosts + used, sizeof hosts - used, "%s" SL_HOSTS_ADDRESS "%u:1",
					   i > 0 ? "," : "", i + 1);
	snprintf(number, sizeof number, "%u", net->what->hosts);
	snprintf(size, sizeof size, "%u", net->what->size);
	snprintf(repeat, sizeof repeat, "%u", bench->options.repeat);
	const char *const argv[] = {
		"mpirun", "--allow-run-as-root", "--mca", "plm_rsh_agent", "./reach",
		/* sockets, and no shared memory: the hosts are no machines */
		"--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
		/* the device of each host */
		"--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0",
		/* its own choice sends twice the bytes of a ring */
		"--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_allreduce_algorithm", "4",
		"--host", hosts, "-np", number, program, size, repeat, NULL};
	return sl_hosts_net_run(net, bench, 0, argv, output, error);
}

int sl_hosts_mpi(struct sl_bench *bench, const struct sl_hosts_net *net, struct sl_figure *seconds,
		 struct sl_figure *megabytes, struct sl_error *error)
{
	char program[PATH_MAX], *output = NULL;
	uint64_t before[SL_HOSTS_MOST], received;
	if (!sl_command_sibling("allreduce", program)) {
		sl_bench_note(bench, "MPI_Allreduce is not measured: tools/setup --mpi FOLDER builds it");
		return SL_OK;
	}
	for (uint32_t i = 0; i < net->what->hosts; i++)
		sl_hosts_net_bytes(net, i, &before[i], &received);
	int rc = run(bench, net, program, &output, error);
	if (rc == SL_OK) {
		read_seconds(output, seconds);
		/* the first one, which makes the connections, is not timed */
		sl_figure_add(megabytes, 1e-6 * (double)most_sent(net, before) / (bench->options.repeat + 1));
	}
	free(output);
	if (rc == SL_OK || rc == SL_PENDING)
		return rc;
	sl_bench_note(bench, "MPI_Allreduce is not measured: %s", error->text);
	*error = (struct sl_error){0};
	return SL_OK;
}
