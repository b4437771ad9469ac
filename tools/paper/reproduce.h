/* reproduce.h - starling-paper: the paper's evaluation, measured anew by this code, as a report.
 *
 *   write.c  the parts in order, the page around them     claims.c  what holds, what does not
 *   show.c   the table at the end                         run.c     rounds of the in-process runner, against
 * plain sums rounds.c (a, b)  graphs.c norms.c table.c (c, d)  ...  a file or some for each part
 *
 * The paper's numbers are quoted as the paper's; all others are computed in the run that prints them. What
 * the paper says and does not hold is a finding; what this code has to hold and does not is an error of ours
 * (sl_paper_broken).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "tools/dev/bench/bench.h"
#include "tools/paper/folder.h"

/* The simulation of the paper's section Performance Evaluation. */
#define SL_PAPER_LEARNERS 100u
#define SL_PAPER_P UINT64_C(1020431)
#define SL_PAPER_SIGMA 2u
#define SL_PAPER_K 10u
#define SL_PAPER_ROUNDS 6u
#define SL_PAPER_NEIGHBOURS 87u /* where time is measured */

/* A misprint holds as it is meant, and not as it is printed; what is only measured is a number of the
 * machine's, no claim. */
enum sl_verdict { SL_HOLDS, SL_HOLDS_NOT, SL_MEASURED, SL_MISPRINT };
const char *sl_paper_verdict_text(enum sl_verdict verdict);

#define SL_CLAIMS_MOST 40u
struct sl_claim {
	char part;
	enum sl_verdict verdict;
	char claim[128], paper[96], here[192];
};

#define SL_BROKEN_MOST 16u

struct sl_paper_options {
	const char *folder;
	const char *data;   /* "digits", or a folder of IDX files */
	const char *octave; /* file of the paper's simulation; NULL: not compared */
	uint32_t parts;	    /* bit 0: a */
	bool quick, json;
};

/* Text in memory. */
struct sl_document {
	FILE *out;
	char *text;
	size_t bytes;
};

struct sl_paper {
	struct sl_paper_options options;
	struct sl_paper_folder folder;
	struct sl_bench *bench; /* what other programs are run with, and a folder for what they leave */
	struct sl_document page, plots; /* the sections of report.md, and the commands of figures.gp */
	const char *figure;		/* the one being written */
	struct sl_claim claims[SL_CLAIMS_MOST];
	uint32_t claim_count;
	char broken[SL_BROKEN_MOST][256];
	uint32_t broken_count; /* may exceed what is kept */
	bool (*stopped)(void); /* whether the user wants an end */
	bool live;	       /* a terminal that progress is shown on */
	char part;
	struct timespec begun, shown;
};

/* ---- for the parts ---- */

static inline bool sl_paper_wanted(const struct sl_paper *r, char part)
{
	return (r->options.parts >> (part - 'a') & 1) != 0;
}

/* A row of the table. The rest is printf's. */
void sl_paper_claim(struct sl_paper *r, char part, enum sl_verdict verdict, const char *claim,
		    const char *paper, const char *here, ...) __attribute__((format(printf, 6, 7)));

/* With --quick there is too little to say whether something holds. */
enum sl_verdict sl_paper_full_verdict(const struct sl_paper *r, bool holds);
/* The same of a fitted power that has to be 1 within `by`. */
enum sl_verdict sl_paper_power_verdict(const struct sl_paper *r, double power, double by);

/* Something that this code has to hold and does not: the report says so, and the exit status is 1. */
void sl_paper_broken(struct sl_paper *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Shows how far the part is; SL_PENDING when the user wants an end. To be called often. */
int sl_write_at(struct sl_paper *r, const char *what, double done);

/* Each writes its section of the page, and its tables; SL_PENDING when it was told to end. */
int sl_paper_rounds(struct sl_paper *r, struct sl_error *error);  /* a, b */
int sl_paper_graphs(struct sl_paper *r, struct sl_error *error);  /* c, d */
int sl_paper_time(struct sl_paper *r, struct sl_error *error);	  /* e */
int sl_paper_loss(struct sl_paper *r, struct sl_error *error);	  /* f */
int sl_paper_printed(struct sl_paper *r, struct sl_error *error); /* g */
int sl_paper_growth(struct sl_paper *r, struct sl_error *error);  /* h */
int sl_paper_plan(struct sl_paper *r, struct sl_error *error);	  /* i */

/* ---- the whole ---- */

#define SL_PART_LAST 'i'
/* "a  trajectories ...", for --help; NULL after the last. */
const char *sl_write_part_title(char part);

/* Writes the report. SL_PENDING: ended by the user. After anything but SL_OK there is no report. */
int sl_write_report(struct sl_paper *r, struct sl_error *error);

/* Of a report that was written: 0, or 1 when something is broken. */
int sl_paper_status(const struct sl_paper *r);

/* The table of claims, and what is broken: text, or JSON. */
void sl_paper_show(const struct sl_paper *r, FILE *out);
