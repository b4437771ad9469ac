/* `starling topology show`: its command line. */
#include <string.h>

#include "common/math/field.h"
#include "tools/number.h"
#include "tools/topology_command.h"

enum { KEY_P = 256, KEY_JSON };

struct options {
	struct sl_topology_request request;
	uint64_t p;
	bool json;
};

static void take_prime(struct options *o, const char *text, struct argp_state *state)
{
	o->p = sl_number_or_usage(state, "--p", text, 3, (UINT64_C(1) << 61) - 1);
	if (!sl_is_prime(o->p))
		argp_failure(state, SL_EXIT_USAGE, 0, "--p %s: not a prime", text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->request;
		return 0;
	case KEY_P:
		take_prime(o, arg, state);
		return 0;
	case KEY_JSON:
		o->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"p", KEY_P, "PRIME", 0, "the field, on which K depends (2147483647)", 0},
	{"json", KEY_JSON, NULL, 0, "print a JSON array", 0},
	{0}};
static const struct argp_child children[] = {{&sl_topology_source, 0, NULL, 0}, {0}};
static const struct argp argp = {
	options,
	parse,
	"NAME[:PARAMETER]|FILE",
	"Show edges, degrees, mu and the number of mixing iterations K of each step.\v"
	"Examples:\n"
	"  starling topology show ring -n 10\n"
	"  starling topology show neighbours:20 -n 100 --p 1020431\n"
	"  starling topology show walk.txt --json\n",
	children,
	sl_topology_families,
	NULL};

int sl_topology_show(int argc, char **argv)
{
	struct options o = {.request.seed = 1, .p = SL_P_MERSENNE31};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	sl_topology_parse_args(&argp, argc, argv, &o);
	int rc = sl_topology_schedule(&o.request, &schedule, &error);
	if (rc == SL_OK) {
		rc = (o.json ? sl_topology_print_json : sl_topology_print_table)(&schedule, o.p, stdout,
										 &error);
		sl_schedule_close(&schedule);
	}
	return rc == SL_OK ? 0 : sl_topology_complain(&error);
}
