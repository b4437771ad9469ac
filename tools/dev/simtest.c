/* simtest: play seeds of the simulator, show progress and totals. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/lib/option.h"
#include "tools/dev/simtest_show.h"
#include "tools/lib/command.h"
#include "tools/lib/terminal.h"

#define EXIT_VIOLATION 3
#define FAILURES_MOST 20u
#define SEEDS_USUAL 1000u
#define PLAIN_S 10 /* seconds between lines of progress without a terminal */

enum { KEY_SEED = 256, KEY_SEEDS, KEY_LEARNERS, KEY_ROUNDS, KEY_JSON, KEY_TRACE };

struct command {
	struct sl_sim_range range;
	bool seed_given, json, trace, live;
	struct sl_sim_totals totals;
	struct sl_sim_outcome last;
	json_t *failures;
	time_t shown;
};

const char *argp_program_version = "simtest " SL_VERSION;

static const struct argp_option options[] = {
	{"seed", KEY_SEED, "S", 0, "first seed (1)", 0},
	{"seeds", KEY_SEEDS, "COUNT", 0, "number of seeds (1000; with --seed 1)", 0},
	{"learners", KEY_LEARNERS, "N", 0, "number of learners (7)", 0},
	{"rounds", KEY_ROUNDS, "T", 0, "number of rounds (20)", 0},
	{"jobs", 'j', "J", 0, "processes at once (one per processor)", 0},
	{"trace", KEY_TRACE, NULL, 0, "print every step of the seed as a line", 0},
	{"json", KEY_JSON, NULL, 0, "print the result as JSON", 0},
	{0}};

static const char doc[] = "Play the protocol in one process, from seeds: learners with the daemon's own "
			  "core, on a simulated network, disks and "
			  "clocks, with faults. Every step is checked against the rules of the protocol. At "
			  "the end the faults stop, and every "
			  "learner has to finish.\v"
			  "A seed with its numbers of learners and rounds decides a run to the last step. A "
			  "seed that fails is printed with the "
			  "command that replays it.\n"
			  "\n"
			  "Examples:\n"
			  "  simtest\n"
			  "      a thousand seeds\n"
			  "  simtest --seed 5000 --seeds 10000 --jobs 2\n"
			  "  simtest --seed 4711 --trace | tail\n"
			  "      one seed, step by step\n"
			  "\n"
			  "Exit status: 0 no rule was broken; 3 a rule was broken; 1 failed; 2 bad usage.\n";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct command *c = state->input;
	switch (key) {
	case KEY_SEED:
		c->range.seed = sl_option_number(state, "seed", arg, 0, UINT64_MAX / 2);
		c->seed_given = true;
		return 0;
	case KEY_SEEDS:
		c->range.seeds = sl_option_number(state, "seeds", arg, 1, UINT64_MAX / 2);
		return 0;
	case KEY_LEARNERS:
		c->range.learners = (uint32_t)sl_option_number(state, "learners", arg, 3, 64);
		return 0;
	case KEY_ROUNDS:
		c->range.rounds = (sl_round)sl_option_number(state, "rounds", arg, 1, 10000);
		return 0;
	case 'j':
		c->range.jobs = (uint32_t)sl_option_number(state, "jobs", arg, 1, SL_SIM_JOBS_MOST);
		return 0;
	case KEY_TRACE:
		c->trace = true;
		return 0;
	case KEY_JSON:
		c->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_failure(state, SL_EXIT_USAGE, 0, "'%s' is not an option", arg);
		return 0;
	case ARGP_KEY_END:
		if (c->range.seeds == 0)
			c->range.seeds = c->seed_given || c->trace ? 1 : SEEDS_USUAL;
		if (c->trace && (c->range.seeds > 1 || c->json))
			argp_failure(state, SL_EXIT_USAGE, 0,
				     "--trace shows one seed, as text: leave out --seeds and --json");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}
static const struct argp argp = {options, parse, NULL, doc, NULL, NULL, NULL};

/* --- progress --- */

static void clear_line(const struct command *c)
{
	if (c->live)
		fputs("\r\033[K", stderr);
}

static void show_progress(struct command *c)
{
	time_t now = time(NULL);
	if (now - c->shown < (c->live ? 1 : PLAIN_S))
		return;
	c->shown = now;
	fprintf(stderr, "%s%llu of %llu seeds, %llu failed%s", c->live ? "\r\033[K" : "",
		(unsigned long long)c->totals.seeds, (unsigned long long)c->range.seeds,
		(unsigned long long)c->totals.failed, c->live ? "" : "\n");
	fflush(stderr);
}

static void replay_command(const struct command *c, uint64_t seed, char *text, size_t size)
{
	char word[256];
	sl_terminal_shell_word(sl_command_program(), word, sizeof word);
	snprintf(text, size, "%s --seed %llu --learners %u --rounds %u --trace", word,
		 (unsigned long long)seed, c->range.learners, c->range.rounds);
}

static void tell_failure(struct command *c, const struct sl_sim_outcome *outcome)
{
	char replay[512];
	replay_command(c, outcome->seed, replay, sizeof replay);
	clear_line(c);
	if (c->json)
		json_array_append_new(c->failures, json_pack("{sI ss ss}", "seed", (json_int_t)outcome->seed,
							     "why", outcome->why, "replay", replay));
	else if (c->trace)
		printf("FAILED: %s\n", outcome->why);
	else
		printf("FAILED: %s\n  %s\n", outcome->why, replay);
	fflush(stdout);
}

static bool each(void *context, const struct sl_sim_outcome *outcome)
{
	struct command *c = context;
	sl_sim_totals_add(&c->totals, outcome);
	c->last = *outcome;
	if (outcome->failed)
		tell_failure(c, outcome);
	show_progress(c);
	return c->totals.failed < FAILURES_MOST;
}

/* --- totals --- */

static void show_json(struct command *c)
{
	json_t *report = sl_simtest_json(&c->totals);
	json_object_set(report, "failures", c->failures);
	json_dumpf(report, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(report);
}

static void show_one(const struct command *c)
{
	const struct sl_sim_outcome *o = &c->last;
	printf("seed %llu: %s after %llu steps, %llu ms, %u faults; digest %016llx\n",
	       (unsigned long long)o->seed, o->failed ? "FAILED" : "ok", (unsigned long long)o->steps,
	       (unsigned long long)o->virtual_ms, o->faults, (unsigned long long)o->digest);
}

static void show_all(const struct command *c)
{
	const struct sl_sim_totals *t = &c->totals;
	char seeds[SL_THOUSANDS_BYTES], faults[SL_THOUSANDS_BYTES], commits[SL_THOUSANDS_BYTES];
	sl_terminal_thousands(t->seeds, seeds);
	sl_terminal_thousands(t->faults, faults);
	sl_terminal_thousands(t->commits, commits);
	sl_simtest_show(t, stdout, sl_terminal_width(stdout));
	printf("%s seeds of %u learners and %u rounds: %llu failed.\n", seeds, c->range.learners,
	       c->range.rounds, (unsigned long long)t->failed);
	printf("%s faults, %llu restarts, %s commits, %llu recoveries, %llu catch-ups, %llu invalidated "
	       "models.\n",
	       faults, (unsigned long long)t->restarts, commits, (unsigned long long)t->recovered,
	       (unsigned long long)t->caught_up, (unsigned long long)t->model_invalidated);
	printf("%.0f million steps, %.0f hours of their time; %.0f seeds a second and processor.\n",
	       (double)t->steps / 1e6, (double)t->virtual_ms / 3.6e6,
	       t->seconds > 0 ? (double)t->seeds / t->seconds : 0);
}

static int report(struct command *c, int rc, const struct sl_error *error)
{
	clear_line(c);
	if (rc != SL_OK) {
		fprintf(stderr, "simtest: %s\n", error->text);
		return SL_EXIT_FAILED;
	}
	if (c->json)
		show_json(c);
	else if (c->range.seeds == 1)
		show_one(c);
	else
		show_all(c);
	return c->totals.failed > 0 ? EXIT_VIOLATION : 0;
}

int main(int argc, char **argv)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct command c = {.shown = time(NULL), .range = {.seed = 1, .learners = 7, .rounds = 20}};
	struct sl_error error = {0};
	c.range.jobs = processors < 1			     ? 1
		       : processors > (long)SL_SIM_JOBS_MOST ? SL_SIM_JOBS_MOST
							     : (uint32_t)processors;
	sl_command_open(argc, argv);
	sl_command_set_name(argv, "simtest");
	sl_command_parse(&argp, argc, argv, &c);
	c.failures = json_array();
	c.live = isatty(STDERR_FILENO) && !c.json && !c.trace;
	if (c.trace)
		c.range.lines = stdout;
	int status = report(&c, sl_sim_range_run(&c.range, each, &c, &error), &error);
	json_decref(c.failures);
	return status;
}
