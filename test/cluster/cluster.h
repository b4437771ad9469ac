/* cluster.h - a launched cluster, and what its summary says. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "test/cluster/process.h"

struct cluster {
	char folder[128]; /* holds the run folder "run" */
	char run[160];
	struct outcome outcome;
	pid_t launcher;	 /* of cluster_start */
	json_t *summary; /* run/summary.json, NULL when there is none */
};

/* `starling launch ARGUMENTS --run-dir ...`, arguments split at blanks. */
void cluster_launch(struct cluster *cluster, double seconds, const char *arguments);
/* The same in two parts, between which things may happen to it; what it says goes to folder/launch.txt. */
void cluster_start(struct cluster *cluster, const char *arguments);
void cluster_wait(struct cluster *cluster, double seconds);
/* The same on a schedule given as text. */
void cluster_launch_on(struct cluster *cluster, double seconds, const char *schedule, const char *arguments);
/* Run `starling launch --resume RUN`, with --rounds if `rounds` is not NULL, to its end. */
void cluster_resume(struct cluster *cluster, double seconds, const char *rounds);
void cluster_close(struct cluster *cluster);

/* Every round committed, exact, and (verified) proved so; and as many rounds as that. */
void cluster_expect_exact(const struct cluster *cluster, size_t rounds, bool verified);
double cluster_real(const struct cluster *cluster, size_t round, const char *field);
/* How many different files the learners' checkpoints of a round are (1: all equal). */
size_t cluster_checkpoints(const struct cluster *cluster, uint32_t learners, uint32_t round);
/* A signal to learner i of n, by what the launcher says is its process. */
void cluster_kill(const struct cluster *cluster, uint32_t n, uint32_t i, int signal);
/* Path of a file of learner number i (from 1) of n. */
void cluster_path(const struct cluster *cluster, uint32_t n, uint32_t i, const char *file, char *path,
		  size_t size);
