/* The parts in order, and the report of them. */
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/blas.h"
#include "tools/lib/command.h"
#include "tools/paper/csv.h"
#include "tools/paper/values.h"

/* Parts that one function measures: their letters and titles. */
static const struct part {
	const char *letters, *titles[2];
	int (*run)(struct sl_paper *r, struct sl_error *error);
	const char *others; /* value for the load of the machine, where it matters */
} parts[] = {
	{"ab",
	 {"trajectories of a coordinate over six rounds of changing graphs",
	  "consensus against ground truth at three coordinates"},
	 sl_paper_rounds,
	 NULL},
	{"cd",
	 {"six topologies: trajectories, and how fast the powers of A converge",
	  "eigenvalues and iterations of the six topologies"},
	 sl_paper_topologies,
	 NULL},
	{"e", {"time against the number of shares, and against K"}, sl_paper_time, "e_others"},
	{"f", {"loss against rounds: floats, encodings weighted and paper"}, sl_paper_loss, NULL},
	{"g", {"what the paper prints: c_τ ≠ 0, the update rule, real numbers"}, sl_paper_printed, NULL},
	{"h", {"growth of time and memory"}, sl_paper_growth, NULL},
	{"i", {"what starling estimate says, against rounds of daemons"}, sl_paper_estimates, "i_others"},
};
#define PARTS (sizeof parts / sizeof *parts)
#define FIGURED "abcefh" /* parts that have figures */

const char *sl_paper_part_title(char letter)
{
	size_t i = 0;
	while (strchr(parts[i].letters, letter) == NULL)
		i++;
	return parts[i].titles[letter - parts[i].letters[0]];
}

/* Return the first of the letters whose part is wanted, or '\0'. */
static char first_wanted(const struct sl_paper *r, const char *letters)
{
	while (*letters != '\0' && !sl_paper_wanted(r, *letters))
		letters++;
	return *letters;
}

/* ---- claims ---- */

static const char *const verdicts[] = {[SL_HOLDS] = "holds",
				       [SL_HOLDS_NOT] = "does not hold",
				       [SL_MEASURED] = "measured",
				       [SL_MISPRINT] = "misprint"};

void sl_paper_claim(struct sl_paper *r, char part, enum sl_verdict verdict, const char *claim,
		    const char *paper, const char *here, ...)
{
	va_list arguments;
	assert(r->claim_count < SL_CLAIMS_MOST);
	struct sl_claim *c = &r->claims[r->claim_count++];
	*c = (struct sl_claim){.part = part, .verdict = verdict};
	assert(strlen(claim) < sizeof c->claim && strlen(paper) < sizeof c->paper);
	strcpy(c->claim, claim);
	strcpy(c->paper, paper);
	va_start(arguments, here);
	vsnprintf(c->here, sizeof c->here, here, arguments);
	va_end(arguments);
}

enum sl_verdict sl_paper_full_verdict(const struct sl_paper *r, bool holds)
{
	return r->options.quick ? SL_MEASURED : sl_paper_verdict(holds);
}

void sl_paper_broken(struct sl_paper *r, const char *format, ...)
{
	va_list arguments;
	if (r->broken_count++ >= SL_BROKEN_MOST)
		return;
	va_start(arguments, format);
	vsnprintf(r->broken[r->broken_count - 1], sizeof r->broken[0], format, arguments);
	va_end(arguments);
}

static void show_broken(const struct sl_paper *r, FILE *out, const char *format)
{
	for (uint32_t i = 0; i < r->broken_count && i < SL_BROKEN_MOST; i++)
		fprintf(out, "%s%s\n", format, r->broken[i]);
}

static void show_json(const struct sl_paper *r, FILE *out)
{
	json_t *broken = json_array(), *claims = json_array();
	for (uint32_t i = 0; i < r->broken_count && i < SL_BROKEN_MOST; i++)
		json_array_append_new(broken, json_string(r->broken[i]));
	for (uint32_t i = 0; i < r->claim_count; i++) {
		const struct sl_claim *c = &r->claims[i];
		json_array_append_new(claims, json_pack("{ss% ss ss ss ss}", "part", &c->part, (size_t)1,
							"claim", c->claim, "paper", c->paper, "here", c->here,
							"verdict", verdicts[c->verdict]));
	}
	json_t *all =
		json_pack("{so so ss}", "claims", claims, "broken", broken, "folder", r->options.folder);
	json_dumpf(all, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(all);
}

void sl_paper_show(const struct sl_paper *r, FILE *out)
{
	if (r->options.json) {
		show_json(r, out);
		return;
	}
	for (uint32_t i = 0; i < r->claim_count; i++) {
		const struct sl_claim *c = &r->claims[i];
		fprintf(out, "%c  claim: %s\n   paper: %s\n   here: %s\n   verdict: %s\n\n", c->part,
			c->claim, c->paper, c->here, verdicts[c->verdict]);
	}
	show_broken(r, out, "BROKEN: ");
	fprintf(out, "%s/report.md\n", r->options.folder);
}

/* ---- progress ---- */

#define SHOW_MS 200

static uint64_t now_ms(void)
{
	return uv_hrtime() / 1000000;
}

int sl_paper_progress(struct sl_paper *r, const char *what, double done)
{
	uint64_t now = now_ms();
	if (r->live && now - r->shown_ms >= SHOW_MS) {
		unsigned s = (unsigned)((now - r->begun_ms) / 1000);
		r->shown_ms = now;
		fprintf(stderr, "\r\033[K%c: %s, %.0f %%; %u:%02u so far", r->part, what, 100 * done, s / 60,
			s % 60);
		fflush(stderr);
	}
	return r->stopped != NULL && r->stopped() ? SL_PENDING : SL_OK;
}

/* ---- the files ---- */

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
	if (r->broken_count > 0) {
		fprintf(out,
			"## This run is broken\n\n%u checks of this code failed; do not rely on anything "
			"below.\n\n",
			r->broken_count);
		show_broken(r, out, "- ");
		fputc('\n', out);
	}
}

static void write_files(struct sl_paper *r)
{
	FILE *csv = sl_paper_folder_file(&r->folder, "claims.csv");
	FILE *page = sl_paper_folder_file(&r->folder, "report.md");
	write_top(r, page);
	sl_csv_print(csv, "part,claim,paper,here,verdict\n");
	fputs("## Claims\n\n| | claim | paper | here | verdict |\n|---|---|---|---|---|\n", page);
	for (uint32_t i = 0; i < r->claim_count; i++) {
		const struct sl_claim *c = &r->claims[i];
		char part[2] = {c->part, '\0'};
		const char *verdict = verdicts[c->verdict];
		sl_csv_print(csv, "%s,%s,%s,%s,%s\n", part, c->claim, c->paper, c->here, verdict);
		fprintf(page, "| %s | %s | %s | %s | %s |\n", part, c->claim, c->paper, c->here, verdict);
	}
	fputc('\n', page);
	sl_values_write(r, sl_values_report, page);
	if (first_wanted(r, FIGURED) != '\0')
		sl_values_write(r, sl_values_figures, sl_paper_folder_file(&r->folder, "figures.gp"));
}

/* Run gnuplot in the folder of the report. Without it, or if it fails, say how to draw the figures. */
static void draw(struct sl_paper *r)
{
	char folder[PATH_MAX], setting[PATH_MAX + 16], *output = NULL;
	const char *const argv[] = {"gnuplot", "-e", "cd system('printenv FOLDER')", "figures.gp", NULL};
	const char *const environment[] = {setting, NULL};
	struct sl_error error = {0};
	if (first_wanted(r, FIGURED) == '\0' || realpath(r->options.folder, folder) == NULL ||
	    sl_paper_progress(r, "gnuplot", 1) != SL_OK)
		return;
	snprintf(setting, sizeof setting, "FOLDER=%s", folder);
	int rc = sl_bench_child(r->bench, argv, environment, &output, &error);
	free(output);
	if (rc != SL_OK && rc != SL_PENDING)
		fprintf(stderr,
			"starling-paper: the figures are not drawn: %s; to draw them: cd %s && gnuplot "
			"figures.gp\n",
			rc == SL_ERR_NOTFOUND ? "gnuplot is not installed (package gnuplot-nox)" : error.text,
			r->options.folder);
}

/* ---- the whole ---- */

static int run_part(struct sl_paper *r, const struct part *part, struct sl_error *error)
{
	struct sl_cpu_clock from, to;
	r->part = first_wanted(r, part->letters);
	if (r->part == '\0')
		return SL_OK;
	for (const char *letter = part->letters; !r->live && *letter != '\0'; letter++)
		if (sl_paper_wanted(r, *letter))
			fprintf(stderr, "%c: %s\n", *letter, sl_paper_part_title(*letter));
	sl_machine_cpu_clock_read(&from);
	int rc = part->run(r, error);
	sl_machine_cpu_clock_read(&to);
	if (part->others != NULL)
		sl_paper_value(r, part->others, "%.0f", 100 * sl_machine_cpu_others(&from, &to));
	return rc;
}

static int measure(struct sl_paper *r, struct sl_error *error)
{
	int rc = SL_OK;
	for (size_t i = 0; rc == SL_OK && i < PARTS; i++)
		rc = run_part(r, &parts[i], error);
	if (rc == SL_OK) {
		write_files(r);
		rc = sl_paper_folder_commit(&r->folder, error);
	}
	if (rc == SL_OK)
		draw(r);
	return rc;
}

int sl_paper_report(struct sl_paper *r, struct sl_error *error)
{
	char program[PATH_MAX];
	static struct sl_bench bench;
	const char *temporary = getenv("TMPDIR");
	r->begun_ms = now_ms();
	if (first_wanted(r, "cdg") != '\0' && sl_blas_open() != SL_OK)
		return sl_err_set(error, SL_ERR_IO, "eigenvalues need a BLAS library (package libopenblas0)");
	int rc = sl_paper_folder_open(&r->folder, r->options.folder, error);
	if (rc != SL_OK) {
		sl_paper_folder_drop(&r->folder);
		return rc;
	}
	sl_command_sibling("starling", program);
	bench.options.program = program;
	r->bench = &bench;
	snprintf(bench.folder, sizeof bench.folder, "%s/starling-paper-XXXXXX",
		 temporary != NULL && *temporary != '\0' ? temporary : "/tmp");
	if (mkdtemp(bench.folder) == NULL) {
		rc = sl_err_set(error, SL_ERR_IO, "cannot make a folder like %s: %s", bench.folder,
				strerror(errno));
	} else {
		rc = measure(r, error);
		sl_bench_take_away(bench.folder);
	}
	if (rc != SL_OK)
		sl_paper_folder_drop(&r->folder);
	if (r->live)
		fputs("\r\033[K", stderr);
	return rc;
}
