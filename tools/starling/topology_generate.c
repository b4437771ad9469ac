/* `starling topology generate`. */
#include "tools/starling/topology.h"

static const struct argp argp = {NULL,
				 NULL, /* its input goes to the first child */
				 "NAME[:PARAMETER]",
				 "Write a topology schedule to standard output.\v"
				 "Examples:\n"
				 "  starling topology generate regular:4 -n 10 --steps 20 >moving.txt\n"
				 "  starling topology generate geometric:0.5 -n 12 --seed 7 >walk.txt\n"
				 "  starling launch --topology walk.txt\n",
				 sl_topology_source,
				 sl_topology_families,
				 NULL};

static int check_name(const char *text, struct sl_error *error)
{
	char name[SL_TOPOLOGY_NAME_BYTES];
	if (sl_topology_is_name(text))
		return SL_OK;
	sl_topology_nearest(text, name);
	if (name[0] != '\0')
		return sl_err_set(error, SL_ERR_INVALID, "%s: no such topology; did you mean '%s'?", text,
				  name);
	return sl_err_set(error, SL_ERR_INVALID,
			  "%s: no such topology; see starling topology generate --help", text);
}

int sl_topology_generate(int argc, char **argv)
{
	struct sl_topology_request request = {.seed = 1};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	sl_topology_parse_args(&argp, argc, argv, &request);
	int rc = check_name(request.text, &error);
	if (rc == SL_OK)
		rc = sl_topology_schedule(&request, &schedule, &error);
	if (rc != SL_OK)
		return sl_topology_status(rc, &error);
	printf("# %s, seed %llu\n", request.text, (unsigned long long)request.seed);
	sl_schedule_write(&schedule, stdout);
	sl_schedule_close(&schedule);
	return 0; /* whether standard output took it all, main finds out */
}
