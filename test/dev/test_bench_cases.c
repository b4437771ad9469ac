/* The parts of cases: children, rounds of three real daemons, kernels. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/lib/test.h"
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
	assert_string_equal(error.text, "sh ended with status 137: no message");
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
		    6 * 2001 * 2); /* the shares at least */
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

TEST_WITH(kernels_give_as_many_samples_as_asked, open_bench, close_bench)
{
	struct sl_figure f = {.count = 0};
	assert_int_equal(sl_bench_kernel_shares(SL_SHARING_SHAMIR, SL_P_MERSENNE31, 5, 2, &f), SL_OK);
	assert_int_equal(sl_bench_kernel_metropolis(3, 100, 2, &f), SL_OK);
	assert_int_equal(f.count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(f.samples[i] > 0);
}
