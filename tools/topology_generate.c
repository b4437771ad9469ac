/* `starling topology generate`. */
#include <string.h>

#include "tools/topology_command.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

static const struct argp_child children[] = {{&sl_topology_source, 0, NULL, 0}, {0}};
static const struct argp argp = {NULL,
				 parse,
				 "NAME[:PARAMETER]",
				 "Write a topology schedule to standard output.\v"
				 "Examples:\n"
				 "  starling topology generate regular:4 -n 10 --steps 20 >moving.txt\n"
				 "  starling topology generate geometric:0.5 -n 12 --seed 7 >walk.txt\n"
				 "  starling launch --topology walk.txt\n",
				 children,
				 sl_topology_families,
				 NULL};

static int check_name(const char *text, struct sl_error *error)
{
	char name[SL_TOPOLOGY_NAME_BYTES];
	if (sl_topology_is_name(text))
		return SL_OK;
	sl_topology_nearest(text, name);
	if (name[0] != '\0')
		return sl_fail(error, SL_ERR_INVALID, "%s: no such topology; did you mean '%s'?", text, name);
	return sl_fail(error, SL_ERR_INVALID, "%s: no such topology; see starling topology generate --help",
		       text);
}

int sl_topology_generate(int argc, char **argv)
{
	struct sl_topology_request request = {.seed = 1};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	sl_topology_parse_args(&argp, argc, argv, &request);
	if (check_name(request.text, &error) != SL_OK ||
	    sl_topology_schedule(&request, &schedule, &error) != SL_OK)
		return sl_topology_complain(&error);
	printf("# %s, seed %llu\n", request.text, (unsigned long long)request.seed);
	sl_schedule_write(&schedule, stdout);
	sl_schedule_close(&schedule);
	return 0; /* whether standard output took it all, main finds out */
}
