/* graphs.h - the paper's six topologies, as parts c and d look at them. */
#pragma once

#include "tools/paper/reproduce.h"
#include "tools/paper/run.h"
#include "tools/paper/spectrum.h"
#include "tools/paper/step.h"

#define SL_SIX 6u

struct sl_six {
	const char *name, *topology;
	double paper; /* the paper's second largest eigenvalue, to four digits */
	struct sl_schedule schedule;
	struct sl_step_graph graph;
	struct sl_eigen eigen;
	uint64_t k, k_lambda; /* iterations by the bound: from mu, and from lambda_2 as the paper reads it */
	uint32_t coordinates[SL_RUNNER_COORDINATES_MAX];
	struct sl_run_plan plan;
	struct sl_run run; /* of one round; its trace says the rest */
	bool measured;	   /* --quick leaves out what takes long */
};

/* Of c: the norms of the powers, and K against the number of neighbours. */
int sl_norms_graphs(struct sl_paper *r, struct sl_six *six, struct sl_error *error);
int sl_norms_degrees(struct sl_paper *r, struct sl_error *error);

/* Part d. */
int sl_table_graphs(struct sl_paper *r, struct sl_six *six, struct sl_error *error);
