/* The parts in order, and the report of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tools/lib/command.h"
#include "tools/lib/csv.h"
#include "tools/paper/document.h"
#include "tools/paper/reproduce.h"

struct part {
	const char *letters; /* that it writes */
	int (*run)(struct sl_paper *r, struct sl_error *error);
	bool timed; /* what others want of the machine matters */
};
static const struct part parts[] = {{"ab", sl_paper_rounds, false}, {"cd", sl_paper_graphs, false},
				    {"e", sl_paper_time, true},	    {"f", sl_paper_loss, false},
				    {"g", sl_paper_printed, false}, {"h", sl_paper_growth, false},
				    {"i", sl_paper_plan, true}};
#define PARTS (sizeof parts / sizeof *parts)

static const char *const titles[] = {"trajectories of a coordinate over six rounds of changing graphs",
				     "consensus against ground truth at three coordinates",
				     "six topologies: trajectories, and how fast the powers of A converge",
				     "eigenvalues and iterations of the six topologies",
				     "time against the number of shares, and against K",
				     "loss against rounds: floats, weighted and literal encodings",
				     "what the paper prints: c_τ ≠ 0, the update rule, real numbers",
				     "growth of time and memory",
				     "what starling estimate says, against rounds of daemons",
				     NULL};

const char *sl_write_part_title(char part)
{
	return titles[part - 'a'];
}

/* ---- progress ---- */

#define SHOW_MS 200

static long ms_since(const struct timespec *then, const struct timespec *now)
{
	return (now->tv_sec - then->tv_sec) * 1000 + (now->tv_nsec - then->tv_nsec) / 1000000;
}

static void show_progress(const struct sl_paper *r, const char *what, double done, long ms)
{
	fprintf(stderr, "\r\033[K%c: %s, %.0f %%; ", r->part, what, 100 * done);
	bool last = true;
	for (char part = (char)(r->part + 1); part <= SL_PART_LAST; part++)
		if (sl_paper_wanted(r, part)) {
			fprintf(stderr, last ? "to come: %c" : " %c", part);
			last = false;
		}
	fprintf(stderr, "%s%ld:%02ld so far", last ? "" : "; ", ms / 60000, ms / 1000 % 60);
	fflush(stderr);
}

int sl_write_at(struct sl_paper *r, const char *what, double done)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (r->live && ms_since(&r->shown, &now) >= SHOW_MS) {
		r->shown = now;
		show_progress(r, what, done, ms_since(&r->begun, &now));
	}
	return r->stopped != NULL && r->stopped() ? SL_PENDING : SL_OK;
}

/* ---- report.md ---- */

static void write_broken(const struct sl_paper *r, FILE *out)
{
	if (r->broken_count == 0)
		return;
	fprintf(out,
		"## This run is broken\n\n%u checks of this code failed; do not rely on anything below.\n\n",
		r->broken_count);
	for (uint32_t i = 0; i < r->broken_count && i < SL_BROKEN_MOST; i++)
		fprintf(out, "- %s\n", r->broken[i]);
	fputc('\n', out);
}

static void write_top(const struct sl_paper *r, FILE *out)
{
	char day[32];
	time_t now = time(NULL);
	struct utsname machine = {.machine = ""};
	uname(&machine);
	strftime(day, sizeof day, "%Y-%m-%d", localtime(&now));
	fprintf(out,
		"# The paper's evaluation, measured again\n\n"
		"Lu, Yu and Suri, *Privacy-preserving Decentralized Federated Learning over Time-varying "
		"Communication Graph*, "
		"section Performance Evaluation. Numbers under \"paper\" are the paper's. All others were "
		"computed by Starling " SL_VERSION " on %s, on a machine of %ld processors (%s)%s.\n\n",
		day, sysconf(_SC_NPROCESSORS_ONLN), machine.machine,
		r->options.quick ? ", with --quick: smaller, and not all of it" : "");
	write_broken(r, out);
	fputs("## Claims\n\n| | claim | paper | here | verdict |\n|---|---|---|---|---|\n", out);
	for (uint32_t i = 0; i < r->claim_count; i++) {
		const struct sl_claim *c = &r->claims[i];
		fprintf(out, "| %c | %s | %s | %s | %s |\n", c->part, c->claim, c->paper, c->here,
			sl_paper_verdict_text(c->verdict));
	}
	fputc('\n', out);
}

static int write_claims_csv(struct sl_paper *r, struct sl_error *error)
{
	struct sl_csv csv;
	FILE *out = sl_paper_folder_file(&r->folder, "claims.csv", error);
	if (out == NULL)
		return error->code;
	sl_csv_open(&csv, out, "part,claim,paper,here,verdict");
	for (uint32_t i = 0; i < r->claim_count; i++) {
		const struct sl_claim *c = &r->claims[i];
		char part[2] = {c->part, '\0'};
		sl_csv_text(&csv, part);
		sl_csv_text(&csv, c->claim);
		sl_csv_text(&csv, c->paper);
		sl_csv_text(&csv, c->here);
		sl_csv_text(&csv, sl_paper_verdict_text(c->verdict));
		sl_csv_end(&csv);
	}
	return SL_OK;
}

static int write_report(struct sl_paper *r, struct sl_error *error)
{
	char *top = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&top, &bytes);
	int rc = out != NULL ? write_claims_csv(r, error)
			     : sl_err_set(error, SL_ERR_NOMEM, "%s", sl_err_text(SL_ERR_NOMEM));
	if (out != NULL) {
		write_top(r, out);
		fclose(out);
	}
	if (rc == SL_OK)
		rc = sl_document_write(r, top, error);
	free(top);
	return rc;
}

/* ---- the parts ---- */

/* Without a terminal, print a line when a part begins. */
static void say_begun(const struct sl_paper *r, const char *letters)
{
	for (; !r->live && *letters != '\0'; letters++)
		if (sl_paper_wanted(r, *letters))
			fprintf(stderr, "%c: %s\n", *letters, sl_write_part_title(*letters));
}

static int run_part(struct sl_paper *r, const struct part *part, struct sl_error *error)
{
	struct sl_cpu_clock from, to;
	say_begun(r, part->letters);
	sl_machine_cpu_clock_read(&from);
	int rc = part->run(r, error);
	sl_machine_cpu_clock_read(&to);
	if (rc == SL_OK && part->timed)
		sl_document_text(r,
				 "Other programs took %.0f %% of the processors while this was measured: the "
				 "more, the longer the times.",
				 100 * sl_machine_cpu_others(&from, &to));
	return rc;
}

static int run_parts(struct sl_paper *r, struct sl_error *error)
{
	int rc = SL_OK;
	for (size_t i = 0; rc == SL_OK && i < PARTS; i++) {
		const char *first = parts[i].letters;
		while (*first != '\0' && !sl_paper_wanted(r, *first))
			first++;
		if (*first == '\0')
			continue;
		r->part = *first;
		rc = run_part(r, &parts[i], error);
	}
	return rc;
}

static int write_all(struct sl_paper *r, struct sl_error *error)
{
	int rc = run_parts(r, error);
	if (rc == SL_OK)
		rc = write_report(r, error);
	if (rc == SL_OK)
		rc = sl_paper_folder_commit(&r->folder, error);
	if (rc == SL_OK)
		sl_document_draw(r);
	return rc;
}

static int open_bench(struct sl_paper *r, char program[static PATH_MAX], struct sl_error *error)
{
	const char *temporary = getenv("TMPDIR");
	sl_command_sibling("starling", program);
	r->bench = calloc(1, sizeof *r->bench);
	if (r->bench == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "%s", sl_err_text(SL_ERR_NOMEM));
	r->bench->options.program = program;
	snprintf(r->bench->folder, sizeof r->bench->folder, "%s/starling-paper-XXXXXX",
		 temporary != NULL && *temporary != '\0' ? temporary : "/tmp");
	if (mkdtemp(r->bench->folder) != NULL)
		return SL_OK;
	sl_err_set(error, SL_ERR_IO, "cannot make a folder like %s: %s", r->bench->folder, strerror(errno));
	free(r->bench);
	r->bench = NULL;
	return SL_ERR_IO;
}

static void close_bench(struct sl_paper *r)
{
	if (r->bench == NULL)
		return;
	sl_bench_take_away(r->bench->folder);
	free(r->bench);
	r->bench = NULL;
}

int sl_write_report(struct sl_paper *r, struct sl_error *error)
{
	char program[PATH_MAX];
	clock_gettime(CLOCK_MONOTONIC, &r->begun);
	int rc = sl_paper_folder_open(&r->folder, r->options.folder, error);
	if (rc == SL_OK)
		rc = open_bench(r, program, error);
	if (rc == SL_OK)
		rc = sl_document_open(r, error);
	if (rc == SL_OK)
		rc = write_all(r, error);
	sl_document_close(r);
	close_bench(r);
	if (rc != SL_OK)
		sl_paper_folder_drop(&r->folder);
	if (r->live)
		fputs("\r\033[K", stderr);
	return rc;
}
