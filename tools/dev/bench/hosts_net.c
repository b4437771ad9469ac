/* Hosts and their links, by ip and tc of iproute2. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/dev/bench/hosts.h"

#define BURST_LEAST 16384u /* bytes that pass at once; the rate is kept over longer times */

uint32_t sl_hosts_net_queue_bytes(const struct sl_bench_hosts *what)
{
	uint64_t bytes = (uint64_t)what->mbit * 1000 / 8 * SL_HOSTS_QUEUE_MS;
	return bytes > SL_HOSTS_QUEUE_LEAST ? (uint32_t)bytes : SL_HOSTS_QUEUE_LEAST;
}

bool sl_hosts_net_enter(pid_t holder)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/ns/net", (int)holder);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && setns(fd, CLONE_NEWNET) == 0;
	if (fd >= 0)
		close(fd);
	return good;
}

void sl_hosts_net_at_once(void)
{
	struct sched_param param = {.sched_priority = 1};
	sched_setscheduler(0, SCHED_RR, &param);
}

int sl_hosts_net_run(const struct sl_hosts_net *net, struct sl_bench *bench, uint32_t host,
		     const char *const *argv, char **output, struct sl_error *error)
{
	const char *all[64] = {"nsenter", "--net", "--uts", "--target"};
	char holder[16];
	size_t count = 4;
	snprintf(holder, sizeof holder, "%d", (int)net->holders[host]);
	all[count++] = holder;
	for (; *argv != NULL; argv++) {
		assert(count + 1 < sizeof all / sizeof *all);
		all[count++] = *argv;
	}
	return sl_bench_child(bench, all, NULL, output, error);
}

/* ---- a process for each host ---- */

/* Does not return: stays in a network and with a host name of its own until it is killed. */
static void hold(uint32_t host, int tell)
{
	char name[16];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(name, sizeof name, "host-%u", host + 1);
	int failed =
		unshare(CLONE_NEWNET | CLONE_NEWUTS) == 0 && sethostname(name, strlen(name)) == 0 ? 0 : errno;
	if (write(tell, &failed, sizeof failed) != sizeof failed || failed != 0)
		_exit(1);
	close(tell);
	for (;;)
		pause();
}

static int start_holder(struct sl_hosts_net *net, uint32_t host, struct sl_error *error)
{
	int ends[2], failed = EIO;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return sl_err_set(error, SL_ERR_IO, "cannot make a pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0)
		hold(host, ends[1]);
	close(ends[1]);
	ssize_t got = pid > 0 ? read(ends[0], &failed, sizeof failed) : -1;
	close(ends[0]);
	net->holders[host] = pid > 0 ? pid : 0;
	if (got == sizeof failed && failed == 0)
		return SL_OK;
	return sl_err_set(error, SL_ERR_REFUSED, "host %u: a network namespace is refused: %s", host + 1,
			  strerror(failed));
}

/* ---- links ---- */

/* Run "PROGRAM -batch" with these lines: on a host, or (SL_HOSTS_MOST) in between. */
static int batch(const struct sl_hosts_net *net, struct sl_bench *bench, const char *program, uint32_t host,
		 const char *lines, struct sl_error *error)
{
	char path[PATH_MAX + 16], *output = NULL;
	snprintf(path, sizeof path, "%s/batch", bench->folder);
	FILE *file = fopen(path, "we");
	bool written = file != NULL && fputs(lines, file) >= 0;
	if (file != NULL)
		written &= fclose(file) == 0;
	if (!written)
		return sl_err_set(error, SL_ERR_IO, "cannot write %s", path);
	const char *const argv[] = {program, "-batch", path, NULL};
	int rc = host < SL_HOSTS_MOST ? sl_hosts_net_run(net, bench, host, argv, &output, error)
				      : sl_bench_child(bench, argv, NULL, &output, error);
	free(output);
	if (rc == SL_ERR_IO || rc == SL_ERR_NOTFOUND)
		error->code = rc = SL_ERR_REFUSED;
	return rc;
}

static int shape(const struct sl_hosts_net *net, struct sl_bench *bench, uint32_t host, const char *device,
		 struct sl_error *error)
{
	char line[128];
	uint32_t burst = net->what->mbit * 1000 / 8; /* of a millisecond */
	snprintf(line, sizeof line, "qdisc add dev %s root tbf rate %umbit burst %u limit %u\n", device,
		 net->what->mbit, burst > BURST_LEAST ? burst : BURST_LEAST,
		 sl_hosts_net_queue_bytes(net->what));
	return batch(net, bench, "tc", host, line, error);
}

/* A bridge, and a veth pair to each host. */
static int make_bridge(const struct sl_hosts_net *net, struct sl_bench *bench, struct sl_error *error)
{
	char lines[160], device[16];
	int rc = batch(net, bench, "ip", SL_HOSTS_MOST,
		       "link add name bridge type bridge forward_delay 0\nlink set dev bridge up\n", error);
	for (uint32_t i = 0; rc == SL_OK && i < net->what->hosts; i++) {
		snprintf(device, sizeof device, "port%u", i + 1);
		snprintf(lines, sizeof lines,
			 "link add name %s type veth peer name eth0 netns %d\n"
			 "link set dev %s master bridge\n"
			 "link set dev %s up\n",
			 device, (int)net->holders[i], device, device);
		rc = batch(net, bench, "ip", SL_HOSTS_MOST, lines, error);
		if (rc == SL_OK)
			rc = shape(net, bench, SL_HOSTS_MOST, device, error);
	}
	return rc;
}

static int set_up(const struct sl_hosts_net *net, struct sl_bench *bench, uint32_t host,
		  struct sl_error *error)
{
	char lines[160];
	snprintf(lines, sizeof lines,
		 "link set dev lo up\naddress add " SL_HOSTS_ADDRESS "%u/24 dev eth0\n"
		 "link set dev eth0 txqueuelen 10000 up\n", /* packets for the relay */
		 host + 1);
	int rc = batch(net, bench, "ip", host, lines, error);
	return rc == SL_OK ? shape(net, bench, host, "eth0", error) : rc;
}

int sl_hosts_net_open(struct sl_hosts_net *net, struct sl_bench *bench, const struct sl_bench_hosts *what,
		      struct sl_error *error)
{
	*net = (struct sl_hosts_net){.what = what};
	int rc = SL_OK;
	assert(what->hosts <= SL_HOSTS_MOST);
	for (uint32_t i = 0; rc == SL_OK && i < what->hosts; i++)
		rc = start_holder(net, i, error);
	if (rc == SL_OK) /* the launcher looks for free ports there */
		rc = batch(net, bench, "ip", SL_HOSTS_MOST, "link set dev lo up\n", error);
	if (rc == SL_OK)
		rc = what->rtt_ms > 0 ? sl_hosts_relay_start(net, &net->relay, error)
				      : make_bridge(net, bench, error);
	for (uint32_t i = 0; rc == SL_OK && i < what->hosts; i++)
		rc = set_up(net, bench, i, error);
	return rc;
}

static void end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void sl_hosts_net_close(struct sl_hosts_net *net)
{
	end(net->relay);
	for (uint32_t i = 0; i < SL_HOSTS_MOST; i++)
		end(net->holders[i]);
	*net = (struct sl_hosts_net){.relay = 0};
}

void sl_hosts_net_bytes(const struct sl_hosts_net *net, uint32_t host, uint64_t *sent, uint64_t *received)
{
	char text[2048], path[64];
	unsigned long long in = 0, out = 0;
	snprintf(path, sizeof path, "/proc/%d/net/dev", (int)net->holders[host]);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	const char *line = strstr(text, "eth0:");
	if (line == NULL ||
	    sscanf(line + strlen("eth0:"), "%llu %*u %*u %*u %*u %*u %*u %*u %llu", &in, &out) != 2)
		in = out = 0;
	*received = in;
	*sent = out;
}
