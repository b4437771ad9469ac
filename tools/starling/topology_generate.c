/* `starling topology generate`. */
#include "tools/starling/topology.h"
#include "tools/lib/help_texts.h"

static const struct sl_option own[] = {{0}};

static const struct sl_usage usage = {SL_TOPOLOGY_USAGE("NAME[:PARAMETER]"), .options = own,
				      .doc = SL_HELP_TOPOLOGY_GENERATE};

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
	sl_option_parse(&usage, argc, argv, &request);
	int rc = check_name(request.text, &error);
	if (rc == SL_OK)
		rc = sl_topology_schedule(&request, &schedule, &error);
	if (rc != SL_OK)
		return sl_topology_failed("starling topology", &error);
	printf("# %s, seed %llu\n", request.text, (unsigned long long)request.seed);
	sl_schedule_write(&schedule, stdout);
	sl_schedule_close(&schedule);
	return 0; /* main reports an error of standard output */
}
