/* hosts.h - rounds of learners on hosts of their own: one network namespace each, with shaped links.
 *
 *   hosts.c        the cases: settings in turn, and their figures
 *   hosts_room.c   namespaces of processes, mounts and networks, which end with the bench, however it ends
 *   hosts_net.c    hosts, links, a command on a host
 *   hosts_relay.c  the network in between, where a packet takes time
 *   hosts_watch.c  samples of the learners' threads and of the links' counters
 *   hosts_waits.c  from samples to seconds: bandwidth, CPU, disk, round trips
 *   hosts_mpi.c    MPI_Allreduce on the same hosts
 *   allreduce.c    its program
 *
 *   host 1: eth0 --tbf-->  bridge  --tbf--> eth0 :host 2      without a delay: veth pairs
 *   host 1: eth0 --tbf-->  relay  --rate--> eth0 :host 2      with a delay: tun devices
 *
 * A host has one link, of the same rate in both directions; its queue holds SL_HOSTS_QUEUE_MS of data, at
 * least SL_HOSTS_QUEUE_LEAST bytes. All of it is inside namespaces without names: nothing is left behind.
 */
#pragma once

#include <sys/types.h>

#include "tools/dev/bench/daemons.h"

#define SL_HOSTS_MOST 16u
#define SL_HOSTS_QUEUE_MS 50u
#define SL_HOSTS_QUEUE_LEAST 131072u
#define SL_HOSTS_ADDRESS "10.77.0." /* and the number of the host, from 1 */
#define SL_HOSTS_WAYS 4u
#define SL_HOSTS_PROGRAM "learner" /* the name of the learners' processes */

/* A case. */
struct sl_bench_hosts {
	uint32_t hosts, mbit, rtt_ms; /* rtt_ms: between any two hosts, of an empty network */
	uint32_t size;		      /* parameters of a model */
	const char *topology;
	const char *ways[SL_HOSTS_WAYS]; /* settings "KEY=VALUE KEY=VALUE" that are measured in turn */
};

/* ---- hosts_room.c ---- */

/* Call `work` in a child process with namespaces of its own, and return its result; its figures and notes are
 * added to the bench. SL_ERR_REFUSED: this machine, or the lack of rights, does not allow them. */
int sl_hosts_room(struct sl_bench *bench, const struct sl_bench_hosts *what,
		  int (*work)(struct sl_bench *bench, const struct sl_bench_hosts *what,
			      struct sl_error *error),
		  struct sl_error *error);

/* ---- hosts_net.c ---- */

struct sl_hosts_net {
	const struct sl_bench_hosts *what;
	pid_t holders[SL_HOSTS_MOST]; /* a process in the namespace of each host; 0: none */
	pid_t relay;		      /* 0: none */
};

/* Make the hosts and their links. SL_ERR_REFUSED: something is missing or not allowed. */
int sl_hosts_net_open(struct sl_hosts_net *net, struct sl_bench *bench, const struct sl_bench_hosts *what,
		      struct sl_error *error);
void sl_hosts_net_close(struct sl_hosts_net *net);
/* Run a program on a host (from 0) to its end, as sl_bench_child. */
int sl_hosts_net_run(const struct sl_hosts_net *net, struct sl_bench *bench, uint32_t host,
		     const char *const *argv, char **output, struct sl_error *error);
/* Read the bytes that a host has sent and received since it was made. */
void sl_hosts_net_bytes(const struct sl_hosts_net *net, uint32_t host, uint64_t *sent, uint64_t *received);
/* Move the calling process to the network of the process `holder`. Return false if that is not allowed. */
bool sl_hosts_net_enter(pid_t holder);
/* Have the calling process run before all others that are not so urgent, if that is allowed. */
void sl_hosts_net_at_once(void);
/* Return the bytes that the queue of a link holds. */
uint32_t sl_hosts_net_queue_bytes(const struct sl_bench_hosts *what);

/* ---- hosts_relay.c ---- */

/* Start a process that joins the hosts: it makes eth0 in each of them, and passes packets on half a round
 * trip later, no faster than the link of the receiver. It ends when it is killed. */
int sl_hosts_relay_start(const struct sl_hosts_net *net, pid_t *relay, struct sl_error *error);

/* ---- hosts_watch.c ---- */

/* What has been since the sample before. */
struct sl_hosts_sample {
	double at_s;	/* CLOCK_MONOTONIC */
	double busy;	/* part of its rate that the busiest link carried, 0 to 1 and a little */
	double ran;	/* part of the time in which the busiest learner ran, 0 to 1 */
	double delayed; /* .. in which it was ready, and had no processor; ran + delayed <= 1 */
	bool disk;	/* a thread of a learner waits for the disk now */
	uint64_t sent[SL_HOSTS_MOST]; /* bytes of each host so far */
};

struct sl_hosts_watch {
	pid_t pid; /* of the process that takes samples; 0: none */
	struct sl_hosts_samples *shared;
};

int sl_hosts_watch_start(struct sl_hosts_watch *watch, const struct sl_hosts_net *net,
			 struct sl_error *error);
/* Stop taking samples. Return the samples, in the order of time, valid until sl_hosts_watch_close. */
const struct sl_hosts_sample *sl_hosts_watch_stop(struct sl_hosts_watch *watch, size_t *count);
void sl_hosts_watch_close(struct sl_hosts_watch *watch);

/* ---- hosts_waits.c: pure ---- */

#define SL_HOSTS_BUSY                                                                                        \
	0.8 /* from here on a link is full: packet headers of large segments are not counted                 \
	     */

/* What the learners waited for in some time, seconds. Each moment counts once. */
struct sl_hosts_waits {
	double bandwidth; /* a link is full */
	double cpu;	  /* otherwise: the busiest learner computes .. */
	double processor; /* .. or could, but other programs, or learners of other hosts, have the processors
			   */
	double disk;	  /* otherwise: a learner waits for the disk */
	double trips;	  /* none of these: messages are on the way, or a timer runs */
};

struct sl_hosts_waits sl_hosts_waits(const struct sl_hosts_sample *samples, size_t count, double from_s,
				     double to_s);
/* Return the bytes that the busiest of `hosts` hosts has sent between two moments. */
uint64_t sl_hosts_waits_sent(const struct sl_hosts_sample *samples, size_t count, uint32_t hosts,
			     double from_s, double to_s);

/* ---- hosts_mpi.c ---- */

/* Add seconds of MPI_Allreduce of float32, and the megabytes that the busiest host sent in one. Without
 * MPI, or if it fails, a note says so. */
int sl_hosts_mpi(struct sl_bench *bench, const struct sl_hosts_net *net, struct sl_figure *seconds,
		 struct sl_figure *megabytes, struct sl_error *error);
