/* What cases are made of: children, baselines (shell scripts here), rounds of three real daemons, rounds in
 * this process. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/lib/test.h"
#include "tools/dev/bench/baseline.h"
#include "tools/dev/bench/crowd.h"
#include "tools/dev/bench/daemons.h"
#include "tools/dev/bench/kernels.h"

static const char starling[] = STARLING_PATH;

static int open_bench(void **state)
{
	static struct sl_bench bench;
	bench = (struct sl_bench){.options = {.program = starling, .repeat = 2}, .name = "test"};
	strcpy(bench.folder, "/tmp/test-bench-XXXXXX");
	*state = &bench;
	return mkdtemp(bench.folder) == NULL;
}

static int close_bench(void **state)
{
	struct sl_bench *bench = *state;
	sl_bench_take_away(bench->folder);
	return access(bench->folder, F_OK) == 0;
}

static const struct sl_figure *figure(const struct sl_bench *bench, const char *name)
{
	for (uint32_t i = 0; i < bench->result.figure_count; i++)
		if (strcmp(bench->result.figures[i].name, name) == 0)
			return &bench->result.figures[i];
	fail_msg("no figure '%s'", name);
	return NULL;
}

/* ---- children ---- */

static int shell(struct sl_bench *bench, const char *script, const char *const *environment, char **output,
		 struct sl_error *error)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	return sl_bench_child(bench, argv, environment, output, error);
}

TEST_WITH(a_child_is_heard_to_its_end, open_bench, close_bench)
{
	static const char *const environment[] = {"COLOUR=blue", NULL};
	struct sl_error error = {0};
	char *output;
	assert_int_equal(shell(*state, "echo $COLOUR; pwd; echo noise >&2", environment, &output, &error),
			 SL_OK);
	assert_non_null(strstr(output, "blue\n"));
	assert_non_null(strstr(output, ((struct sl_bench *)*state)->folder));
	assert_null(strstr(output, "noise"));
	assert_null(getenv("COLOUR"));
	free(output);
}

TEST_WITH(a_childs_last_words_are_its_error, open_bench, close_bench)
{
	struct sl_error error = {0};
	char *output;
	assert_int_equal(shell(*state, "echo first >&2; echo why >&2; exit 3", NULL, &output, &error),
			 SL_ERR_IO);
	assert_string_equal(error.text, "sh ended with status 3: why");
	assert_int_equal(shell(*state, "kill -9 $$", NULL, &output, &error), SL_ERR_IO);
	assert_string_equal(error.text, "sh ended with status 137: no word of why");
}

TEST_WITH(what_is_not_installed_is_not_found, open_bench, close_bench)
{
	static const char *const argv[] = {"no-such-program-anywhere", NULL};
	struct sl_error error = {0};
	char *output;
	assert_int_equal(sl_bench_child(*state, argv, NULL, &output, &error), SL_ERR_NOTFOUND);
	assert_string_equal(error.text, "no-such-program-anywhere is not installed");
	assert_null(output);
}

/* ---- baselines ---- */

static void write_file(const struct sl_bench *bench, const char *name, const char *text)
{
	char path[PATH_MAX + 64];
	snprintf(path, sizeof path, "%s/%s", bench->folder, name);
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, 0700), 0);
}

/* Programs of these names are found in the bench's folder alone. */
static char *path_of(const struct sl_bench *bench)
{
	char *kept = strdup(getenv("PATH")), path[2 * PATH_MAX];
	snprintf(path, sizeof path, "%s:/bin:/usr/bin", bench->folder);
	setenv("PATH", path, 1);
	return kept;
}

static void path_back(char *kept)
{
	setenv("PATH", kept, 1);
	free(kept);
}

TEST_WITH(allreduce_is_built_once_and_read, open_bench, close_bench)
{
	struct sl_bench *bench = *state;
	struct sl_figure mpi = {.count = 0};
	char *kept = path_of(bench);
	bench->options.baselines = bench->folder;
	write_file(bench, "allreduce.c", "");
	write_file(bench, "mpicc", "#!/bin/sh\necho x >>compiled\necho >$3\nchmod +x $3\n");
	write_file(bench, "mpirun",
		   "#!/bin/sh\ntest $4 = 7 || exit 1\n"
		   "echo allreduce,bench,np=7,type=u32,n=50,median_s=0.5,min_s=0.4,bad=0\n"
		   "echo allreduce,bench,np=7,type=f64,n=500,median_s=0.75,min_s=0.4,bad=0\n"
		   "echo allreduce,bench,np=7,type=u32,n=500,median_s=0.25,min_s=0.2,bad=0\n");
	assert_int_equal(sl_baseline_allreduce(bench, 7, 500, &mpi), SL_OK);
	assert_int_equal(sl_baseline_allreduce(bench, 7, 500, &mpi), SL_OK);
	path_back(kept);
	assert_int_equal(mpi.count, 2);
	assert_true(mpi.samples[0] == 0.25 && mpi.samples[1] == 0.25);
	char compiled[PATH_MAX + 16];
	struct stat st;
	snprintf(compiled, sizeof compiled, "%s/compiled", bench->folder);
	assert_int_equal(stat(compiled, &st), 0);
	assert_int_equal(st.st_size, 2);
}

TEST_WITH(what_is_missing_is_a_note, open_bench, close_bench)
{
	struct sl_bench *bench = *state;
	struct sl_figure mpi = {.count = 0};
	bench->options.baselines = "/nowhere";
	assert_int_equal(sl_baseline_allreduce(bench, 7, 500, &mpi), SL_ERR_NOTFOUND);
	assert_int_equal(sl_baseline_octave(bench, 10, &mpi, NULL), SL_ERR_NOTFOUND);
	assert_int_equal(mpi.count, 0);
	assert_int_equal(bench->result.note_count, 2);
	assert_string_equal(bench->result.notes[0],
			    "not compared with MPI_Allreduce: there is no /nowhere/allreduce.c");
}

TEST_WITH(octaves_own_parts_are_taken, open_bench, close_bench)
{
	struct sl_bench *bench = *state;
	struct sl_figure share = {.count = 0}, iteration = {.count = 0};
	char *kept = path_of(bench);
	bench->options.baselines = bench->folder;
	write_file(bench, "paper_octave.m", "");
	write_file(bench, "octave-cli",
		   "#!/bin/sh\ntest \"$PP_DEG\" = 10 || exit 1\n"
		   "echo "
		   "shares,mode=gemm,N=100,shares_per_learner=2000,agg_s_per_learner=9,s_per_share=7,share_"
		   "part=0.0001,wrong=0\n"
		   "echo consensus,mode=loop,N=100,K=10,s_per_iter_per_learner=7e-05\n");
	assert_int_equal(sl_baseline_octave(bench, 10, &share, &iteration), SL_OK);
	assert_true(share.samples[0] > 49.999 && share.samples[0] < 50.001);
	assert_true(iteration.samples[0] > 69.999 && iteration.samples[0] < 70.001);
	write_file(bench, "octave-cli", "#!/bin/sh\necho hello\n");
	assert_int_equal(sl_baseline_octave(bench, 10, &share, NULL), SL_ERR_NOTFOUND);
	assert_string_equal(
		bench->result.notes[0],
		"not compared with the paper's simulation (Octave): its output is not what it was");
	path_back(kept);
	assert_int_equal(share.count, 1);
}

/* ---- rounds ---- */

/* The first round is not counted, and the parts make up the whole. */
TEST_WITH(rounds_of_daemons_become_figures, open_bench, close_bench)
{
	struct sl_bench *bench = *state;
	static const struct sl_bench_daemons what = {
		.learners = 3, .size = 2000, .topology = "complete", .set = {"sharing=additive"}};
	const struct sl_bench_case c = {"test", "", sl_bench_daemons, &what};
	struct sl_error error = {0};
	if (sl_bench_daemons(bench, &c, &error) != SL_OK)
		fail_msg("%s", error.text);
	const struct sl_figure *round = figure(bench, "last trained to last commit");
	assert_int_equal(round->count, 2);
	assert_true(figure(bench, "sent by all learners")->samples[0] * 1e6 >
		    6 * 2001 * 4); /* the shares at least */
	assert_int_equal(figure(bench, "CPU of all learners")->count, 2);
	const struct sl_figure *mix = figure(bench, "  mix"), *share = figure(bench, "  share");
	assert_int_equal(mix->count, share->count); /* 2, but where a round had to be recovered */
	for (uint32_t i = 0; i < mix->count && mix->count == round->count; i++)
		assert_true(mix->samples[i] + share->samples[i] < round->samples[i]);
}

TEST_WITH(a_launch_that_fails_says_why, open_bench, close_bench)
{
	static const struct sl_bench_daemons what = {
		.learners = 3, .size = 10, .topology = "complete", .set = {"colour=blue"}};
	struct sl_error error = {0};
	json_t *rows;
	assert_int_equal(
		sl_bench_launch(*state, &what, 2, ((struct sl_bench *)*state)->folder, &rows, &error),
		SL_ERR_IO);
	assert_non_null(strstr(
		error.text, "ended with status 2: starling launch: --set colour=blue: unknown key 'colour'"));
}

TEST_WITH(a_round_in_this_process_is_timed_by_its_parts, open_bench, close_bench)
{
	static const struct sl_crowd crowd = {.learners = 6,
					      .parameters = 500,
					      .topology = "complete",
					      .set = {"sharing=additive", "mixing=metropolis"}};
	struct sl_crowd_costs costs;
	struct sl_error error = {0};
	if (sl_crowd_round(&crowd, &costs, &error) != SL_OK)
		fail_msg("%s", error.text);
	assert_true(costs.share_s > 0 && costs.mix_s > 0 && costs.exchanges > 0);
}

TEST_WITH(kernels_give_as_many_samples_as_asked, open_bench, close_bench)
{
	struct sl_figure f = {.count = 0};
	assert_int_equal(sl_bench_kernel_shares(SL_SHARING_SHAMIR, SL_P_MERSENNE31, 5, 2, &f), SL_OK);
	assert_int_equal(sl_bench_kernel_iteration(6, 3, 100, 2, 2, &f), SL_OK);
	assert_int_equal(f.count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(f.samples[i] > 0);
}
