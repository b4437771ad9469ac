/* paper.h - starling-paper: the paper's evaluation, measured with this code, as a report.
 *
 *	report.c   the parts in order, the claims, the files of the report     report.md   its text
 *	values.c   the numbers in that text                                     figures.gp  its figures
 *	run.c      rounds of the in-process runner, checked against plain sums; a file for each pair of parts
 *
 * Numbers under "paper" are the paper's. All others are computed in the run that prints them. A claim of the
 * paper that does not hold is a finding; a promise of this code that does not hold is an error
 * (sl_paper_broken).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/dev/bench/bench.h"
#include "tools/lib/command.h"
#include "tools/paper/folder.h"

/* The simulation of the paper's section Performance Evaluation. */
#define SL_PAPER_LEARNERS 100u
#define SL_PAPER_P UINT64_C(1020431)
#define SL_PAPER_MODULUS "modulus=1020431"
#define SL_PAPER_K 10u
#define SL_PAPER_ROUNDS 6u
#define SL_PAPER_NEIGHBOURS 87u /* where time is measured */

/* SL_MISPRINT: holds as it is meant, not as it is printed. SL_MEASURED: a number of this machine, no claim.
 */
enum sl_verdict { SL_HOLDS, SL_HOLDS_NOT, SL_MEASURED, SL_MISPRINT };

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

/* A number or text in the templates report.md and figures.gp. */
#define SL_VALUES_MOST 64u
struct sl_paper_value {
	char name[24], text[480];
};

struct sl_paper {
	struct sl_paper_options options;
	struct sl_paper_folder folder;
	struct sl_bench *bench; /* runs other programs; has a folder for their files */
	struct sl_paper_value values[SL_VALUES_MOST];
	uint32_t value_count;
	struct sl_claim claims[SL_CLAIMS_MOST];
	uint32_t claim_count;
	char broken[SL_BROKEN_MOST][256];
	uint32_t broken_count; /* may exceed SL_BROKEN_MOST */
	bool (*stopped)(void); /* return true if the user wants an end */
	bool live;	       /* standard error is a terminal: show progress there */
	char part;
	uint64_t begun_ms, shown_ms;
};

/* ---- for the parts ---- */

static inline bool sl_paper_wanted(const struct sl_paper *r, char part)
{
	return (r->options.parts >> (part - 'a') & 1) != 0;
}

/* Set @name@ of the templates; a further text of the same name follows after ", ". */
void sl_paper_value(struct sl_paper *r, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Add a row to the table of claims; the paper's number, then the number measured here. */
void sl_paper_claim(struct sl_paper *r, char part, enum sl_verdict verdict, const char *claim,
		    const char *paper, const char *here, ...) __attribute__((format(printf, 6, 7)));

static inline enum sl_verdict sl_paper_verdict(bool holds)
{
	return holds ? SL_HOLDS : SL_HOLDS_NOT;
}

/* The same; SL_MEASURED with --quick, which measures too little for a verdict. */
enum sl_verdict sl_paper_full_verdict(const struct sl_paper *r, bool holds);

/* Note a check of this code that failed: the report names it, and the exit status is 1. */
void sl_paper_broken(struct sl_paper *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Show how far the part is; SL_PENDING when the user wants an end. Call it often. */
int sl_paper_progress(struct sl_paper *r, const char *what, double done);

/* Measure the parts; SL_PENDING when the user wants an end. */
int sl_paper_rounds(struct sl_paper *r, struct sl_error *error);     /* a, b */
int sl_paper_topologies(struct sl_paper *r, struct sl_error *error); /* c, d */
int sl_paper_time(struct sl_paper *r, struct sl_error *error);	     /* e */
int sl_paper_loss(struct sl_paper *r, struct sl_error *error);	     /* f */
int sl_paper_printed(struct sl_paper *r, struct sl_error *error);    /* g */
int sl_paper_growth(struct sl_paper *r, struct sl_error *error);     /* h */
int sl_paper_estimates(struct sl_paper *r, struct sl_error *error);  /* i */

/* ---- the report ---- */

#define SL_PART_LAST 'i'
/* Return "trajectories ..." for 'a'. */
const char *sl_paper_part_title(char part);

/* Measure the parts and write the report. SL_PENDING: ended by the user. Without SL_OK nothing is written. */
int sl_paper_report(struct sl_paper *r, struct sl_error *error);

/* Print the claims and the failed checks as text, or as JSON. */
void sl_paper_show(const struct sl_paper *r, FILE *out);
