#include "tools/dev/bench/baseline.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/dev/bench/bare.h"

static int absent(struct sl_bench *bench, const char *what, const char *why)
{
	sl_bench_note(bench, "not compared with %s: %s", what, why);
	return SL_ERR_NOTFOUND;
}

static int find(struct sl_bench *bench, const char *what, const char *file, char path[static PATH_MAX])
{
	char given[PATH_MAX], why[PATH_MAX + 64];
	snprintf(given, sizeof given, "%s/%s",
		 bench->options.baselines != NULL ? bench->options.baselines : "", file);
	if (bench->options.baselines != NULL && realpath(given, path) != NULL)
		return SL_OK;
	snprintf(why, sizeof why,
		 bench->options.baselines != NULL ? "there is no %s"
						  : "give --baselines DIR, the folder of %s",
		 bench->options.baselines != NULL ? given : file);
	return absent(bench, what, why);
}

/* Runs it; a program that is not there is a note, any other failure too: the case goes on without. */
static int output_of(struct sl_bench *bench, const char *what, const char *const *argv,
		     const char *const *environment, char **output)
{
	struct sl_error error = {0};
	int rc = sl_bench_child(bench, argv, environment, output, &error);
	return rc == SL_OK || rc == SL_PENDING ? rc : absent(bench, what, error.text);
}

/* The number behind `key` in the line that has all of `has`; negative: none. */
static double number_in(const char *output, const char *has, const char *key)
{
	for (const char *line = output; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
		line += *line == '\n';
		const char *end = strchrnul(line, '\n'), *found = strstr(line, has), *at = strstr(line, key);
		if (found != NULL && found < end && at != NULL && at < end)
			return strtod(at + strlen(key), NULL);
	}
	return -1;
}

/* ---- MPI ---- */

static const char mpi[] = "MPI_Allreduce";

/* Once a bench. */
static int compile(struct sl_bench *bench, const char *program)
{
	char source[PATH_MAX], *output = NULL;
	const char *const argv[] = {"mpicc", "-O3", "-o", program, source, NULL};
	if (access(program, X_OK) == 0)
		return SL_OK;
	int rc = find(bench, mpi, "allreduce.c", source);
	if (rc == SL_OK)
		rc = output_of(bench, mpi, argv, NULL, &output);
	free(output);
	return rc;
}

int sl_baseline_allreduce(struct sl_bench *bench, uint32_t learners, uint32_t floats,
			  struct sl_figure *figure)
{
	char count[16], most[16], line[64], program[PATH_MAX + 16], *output = NULL;
	snprintf(program, sizeof program, "%s/allreduce", bench->folder);
	snprintf(count, sizeof count, "%u", learners);
	snprintf(most, sizeof most, "%u", floats);
	snprintf(line, sizeof line, "type=u32,n=%u,", floats);
	const char *const argv[] = {"mpirun",
				    "--allow-run-as-root",
				    "--oversubscribe",
				    "-np",
				    count,
				    "--mca",
				    "btl",
				    "tcp,self",
				    "--mca",
				    "pml",
				    "ob1",
				    program,
				    "bench",
				    most,
				    NULL};
	int rc = compile(bench, program);
	if (rc == SL_OK)
		rc = output_of(bench, mpi, argv, NULL, &output);
	double seconds = rc == SL_OK ? number_in(output, line, "median_s=") : -1;
	free(output);
	if (rc == SL_OK && seconds <= 0)
		return absent(bench, mpi, "its output says nothing of this size");
	if (rc == SL_OK)
		sl_figure_add(figure, seconds);
	return rc;
}

/* ---- TLS ---- */

#define TLS_BYTES ((size_t)256 << 20)

/* In a process of its own, which may fail. Does not return. */
static void measure_tls(const char *folder, uint32_t samples, int out)
{
	static struct sl_bare_pair pair;
	signal(SIGINT, SIG_DFL);
	sl_bare_open(&pair, folder);
	for (uint32_t i = 0; i < samples; i++) {
		double ns = sl_bare_tls(&pair, TLS_BYTES) / (double)TLS_BYTES;
		sl_bare_insist(write(out, &ns, sizeof ns) == sizeof ns, "pipe");
	}
	sl_bare_close(&pair);
	_exit(0);
}

int sl_baseline_tls(struct sl_bench *bench, uint32_t samples, struct sl_figure *figure)
{
	int ends[2], status = 1;
	double ns;
	fflush(NULL);
	pid_t child = pipe(ends) == 0 ? fork() : -1;
	if (child == 0)
		measure_tls(bench->folder, samples, ends[1]);
	if (child < 0)
		return absent(bench, "bare TLS", "no process can be started");
	close(ends[1]);
	while (read(ends[0], &ns, sizeof ns) == sizeof ns)
		sl_figure_add(figure, ns);
	close(ends[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 ? SL_OK : absent(bench, "bare TLS", "it failed");
}

/* ---- Octave ---- */

static const char octave[] = "the paper's simulation (Octave)";

static int take_octave(struct sl_bench *bench, const char *output, struct sl_figure *share,
		       struct sl_figure *iteration)
{
	double seconds = number_in(output, "shares,", "share_part="),
	       shares = number_in(output, "shares,", "shares_per_learner=");
	double step_s = number_in(output, "consensus,", "s_per_iter_per_learner=");
	if (seconds <= 0 || shares <= 0 || step_s <= 0)
		return absent(bench, octave, "its output is not what it was");
	if (share != NULL)
		sl_figure_add(share, 1e9 * seconds / shares);
	if (iteration != NULL)
		sl_figure_add(iteration, 1e6 * step_s);
	return SL_OK;
}

int sl_baseline_octave(struct sl_bench *bench, uint32_t degree, struct sl_figure *share,
		       struct sl_figure *iteration)
{
	char script[PATH_MAX], of[16], *output = NULL;
	snprintf(of, sizeof of, "PP_DEG=%u", degree);
	const char *const environment[] = {
		of, "PP_N=100", "PP_T=1", "PP_SHARE=gemm", "PP_CONS=loop", "OMP_NUM_THREADS=1", NULL};
	const char *const argv[] = {"octave-cli", "--norc", "--quiet", script, NULL};
	int rc = find(bench, octave, "paper_octave.m", script);
	if (rc == SL_OK)
		rc = output_of(bench, octave, argv, environment, &output);
	if (rc == SL_OK)
		rc = take_octave(bench, output, share, iteration);
	free(output);
	return rc;
}
