/* `starling launch` as a child, and its summary. */
#include <stdlib.h>
#include <string.h>

#include "tools/dev/bench/daemons.h"

#define ARGUMENTS_MOST 64u

struct command {
	const char *argv[ARGUMENTS_MOST];
	size_t count;
	char folder[PATH_MAX + 8], learners[16], rounds[16], size[32];
};

static void add(struct command *c, const char *argument)
{
	assert(c->count + 1 < ARGUMENTS_MOST);
	c->argv[c->count++] = argument;
}

static void add_set(struct command *c, const char *assignment)
{
	add(c, "--set");
	add(c, assignment);
}

static void compose(struct command *c, const char *program, const struct sl_bench_daemons *what,
		    uint32_t rounds, const char *folder)
{
	*c = (struct command){.count = 0};
	snprintf(c->folder, sizeof c->folder, "%s/run", folder);
	snprintf(c->learners, sizeof c->learners, "%u", what->learners);
	snprintf(c->rounds, sizeof c->rounds, "%u", rounds);
	snprintf(c->size, sizeof c->size, "noise_parameters=%u", what->size);
	const char *const fixed[] = {program,	  "launch",  "-n",	   c->learners,
				     "--rounds",  c->rounds, "--topology", what->topology,
				     "--run-dir", c->folder, "--json"};
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		add(c, fixed[i]);
	if (what->size > 0) {
		add_set(c, "trainer=noise");
		add_set(c, c->size);
	}
	for (size_t i = 0; i < SL_RUN_SETS && what->set[i] != NULL; i++)
		add_set(c, what->set[i]);
}

static int read_rows(const char *output, json_t **rows, struct sl_error *error)
{
	json_t *summary = json_loads(output, 0, NULL);
	*rows = json_incref(json_object_get(summary, "rounds"));
	bool good = json_is_true(json_object_get(summary, "all_same")) && json_is_array(*rows);
	json_decref(summary);
	if (good)
		return SL_OK;
	json_decref(*rows);
	*rows = NULL;
	return sl_err_set(error, SL_ERR_FORMAT,
			  "the launcher's summary does not say that all rounds were the same");
}

int sl_bench_launch(struct sl_bench *bench, const struct sl_bench_daemons *what, uint32_t rounds,
		    const char *folder, json_t **rows, struct sl_error *error)
{
	char run[PATH_MAX + 8];
	int rc = sl_bench_launch_kept(bench, what, rounds, folder, rows, error);
	snprintf(run, sizeof run, "%s/run", folder);
	sl_bench_take_away(run);
	return rc;
}

int sl_bench_launch_kept(struct sl_bench *bench, const struct sl_bench_daemons *what, uint32_t rounds,
			 const char *folder, json_t **rows, struct sl_error *error)
{
	struct command c;
	char *output = NULL;
	compose(&c, bench->options.program, what, rounds, folder);
	int rc = sl_bench_child(bench, c.argv, NULL, &output, error);
	if (rc == SL_OK)
		rc = read_rows(output, rows, error);
	free(output);
	return rc;
}
