/* `starling topology generate`. */
#include "tools/starling/topology.h"
#include "tools/lib/help_texts.h"

static const struct sl_option own[] = {{0}};

static const struct sl_usage usage = {SL_TOPOLOGY_USAGE("NAME[:PARAMETER]"), .options = own,
				      .doc = SL_HELP_TOPOLOGY_GENERATE};

int sl_topology_generate(int argc, char **argv)
{
	struct sl_topology_request request = {.seed = 1};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &request);
	int rc = sl_topology_is_name(request.text)
			 ? sl_topology_schedule(&request, &schedule, &error)
			 : sl_topology_unknown(request.text, "no such topology",
					       "; see starling topology generate --help", &error);
	if (rc != SL_OK)
		return sl_topology_failed("starling topology", &error);
	printf("# %s, seed %llu\n", request.text, (unsigned long long)request.seed);
	sl_schedule_write(&schedule, stdout);
	sl_schedule_close(&schedule);
	return 0; /* main reports an error of standard output */
}
