/* `starling topology show`: its command line. */
#include "common/field/field.h"
#include "common/base/number.h"
#include "tools/starling/topology.h"

enum { KEY_P = 256, KEY_FLOATS, KEY_SEEDED, KEY_NO_EXACT };

/* Of the autoencoder that is trained unless `hidden` says otherwise: 28 x 28 to 32 and back. */
#define FLOATS_USUAL 50992u

struct options {
	struct sl_topology_options common;
	struct sl_show_request show;
};

static void take_prime(struct options *o, const char *text, struct argp_state *state)
{
	uint64_t p = sl_number_or_usage(state, "--p", text, 3, (UINT64_C(1) << 61) - 1);
	if (!sl_field_is_prime(p))
		argp_failure(state, SL_EXIT_USAGE, 0, "--p %s: not a prime", text);
	o->show.figures.p = p;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case KEY_P:
		take_prime(o, arg, state);
		return 0;
	case KEY_FLOATS:
		o->show.figures.floats =
			(uint32_t)sl_number_or_usage(state, "--floats", arg, 1, SL_ELEMENTS_MAX - 1);
		return 0;
	case KEY_SEEDED:
		o->show.figures.seeded = true;
		return 0;
	case KEY_NO_EXACT:
		o->show.figures.exact = false;
		return 0;
	default:
		return sl_topology_option(key, arg, state);
	}
}

static const struct argp_option options[] = {
	{"p", KEY_P, "PRIME", 0, "the field, on which K depends (2147483647)", 0},
	{"floats", KEY_FLOATS, "N", 0, "numbers in a model (50992)", 0},
	{"tolerance", SL_KEY_TOLERANCE, "C", 0, "how many learners may collude (1)", 0},
	{"seeded", KEY_SEEDED, NULL, 0, "a share is a seed, as the setting sharing: seeded has it", 0},
	{"no-exact", KEY_NO_EXACT, NULL, 0,
	 "skip the exact engine: with a thousand learners it takes longest", 0},
	{"json", SL_KEY_JSON, NULL, 0, "print a JSON array, with all lists in full", 0},
	{0}};
static const struct argp argp = {
	options,
	parse,
	"NAME[:PARAMETER]|FILE",
	"Show what each step of a schedule bears and costs. \"-\" reads one from standard input.\v"
	"Examples:\n"
	"  starling topology show ring -n 10\n"
	"  starling topology show neighbours:20 -n 100 --p 1020431\n"
	"  starling topology show walk.txt --tolerance 2 --json\n"
	"\n"
	"kappa is the least number of learners without which the others fall apart; c = kappa - 1 of them "
	"may collude and learn no more than the mean. mu is the second largest eigenvalue's modulus of the "
	"mixing matrix. K, exact and tree are the iterations of the engines metropolis, exact and tree; MB "
	"what a learner sends in a round with metropolis, in the mean and at most. A - stands where an "
	"engine cannot run.\n",
	sl_topology_source,
	sl_topology_families,
	NULL};

int sl_topology_show(int argc, char **argv)
{
	struct options o = {.common = {.request.seed = 1, .tolerance = 1},
			    .show.figures = {.p = SL_P_MERSENNE31, .floats = FLOATS_USUAL, .exact = true}};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	sl_topology_parse_args(&argp, argc, argv, &o);
	o.show.tolerance = o.common.tolerance;
	int rc = sl_topology_schedule(&o.common.request, &schedule, &error);
	if (rc == SL_OK)
		rc = (o.common.json ? sl_topology_print_json : sl_topology_print_table)(&schedule, &o.show,
											stdout, &error);
	sl_schedule_close(&schedule);
	return sl_topology_status(rc, &error);
}
