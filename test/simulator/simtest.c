/* simtest: play seeds of the simulator, show progress and totals. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clean.h"
#include "test/simulator/simtest_explore.h"
#include "tools/lib/option.h"
#include "tools/lib/command.h"
#include "tools/lib/terminal.h"
#include "test/simulator/play.h"

#define EXIT_VIOLATION 3
#define FAILURES_MOST 20u
#define SEEDS_USUAL 1000u
#define PLAIN_S 10	     /* seconds between lines of progress without a terminal */
#define CELL_ENOUGH 100u     /* times that a fault met a phase */
#define SEEDS_TELLING 10000u /* in a shorter run few cells are hit that often */

#define NO_SEED UINT64_MAX

struct command {
	struct sl_sim_play range;
	bool trace, live;
	const char *explore;
	const char *faults, *lies; /* as given; NULL: not */
	struct sl_sim_totals totals;
	struct sl_sim_outcome last;
	time_t shown;
};

const char *argp_program_version = "simtest " SL_VERSION;

static const char doc[] =
	"Play the protocol in one process, from seeds: learners with the daemon's own "
	"core, on a simulated network, disks and "
	"clocks, with faults. Every step is checked against the rules of the protocol. At "
	"the end the faults stop, and every "
	"learner has to finish.\v"
	"A seed with its learners, rounds, faults and lies decides a run to the last step. A "
	"seed that fails is printed with the "
	"command that replays it.\n"
	"\n"
	"Faults:"
#define X(name, text, word) " " word
	SL_SIM_FAULTS(X) ".\n"
#undef X
#define X(name, word, usual, text) " " word
			 "Lies:" SL_SIM_LIES(
				 X) ".\n"
#undef X
				    "\n"
				    "Examples:\n"
				    "  simtest\n"
				    "      a thousand seeds\n"
				    "  simtest --seed 5000 --seeds 10000 --jobs 2\n"
				    "  simtest --seed 4711 --trace | tail\n"
				    "      one seed, step by step\n"
				    "  simtest --faults crash,rollback\n"
				    "      learners crash, and disks are set back\n"
				    "\n"
				    "Exit status: 0 no rule was broken; 3 a rule was broken; 1 failed, or a "
				    "rule broken with --explore; 2 bad usage.\n";

/* Return the set of kinds that `list` names, or end with a usage error. */
static uint32_t parse_set(struct argp_state *state, bool lies, const char *list)
{
	const char *wrong = list;
	uint32_t set = sl_sim_fault_parse(list, lies, &wrong);
	if (set == 0)
		argp_failure(state, SL_EXIT_USAGE, 0, "there is no %s '%.*s'; see --help",
			     lies ? "lie" : "fault", (int)strcspn(wrong, ","), wrong);
	return set;
}

static void take_faults(struct argp_state *state, const char *value, void *options)
{
	struct command *c = options;
	c->range.faults = parse_set(state, false, value);
	c->faults = value;
}

static void take_lies(struct argp_state *state, const char *value, void *options)
{
	struct command *c = options;
	c->range.lies = parse_set(state, true, value);
	c->lies = value;
}

/* End with a usage error if `set`, which `option` lists, has what so many learners cannot get over. */
static void check_set(struct argp_state *state, const char *option, const char *list, uint32_t set,
		      uint32_t possible, uint32_t learners)
{
	if (list != NULL && strcmp(list, "all") != 0 && (set & ~possible) != 0)
		argp_failure(state, SL_EXIT_USAGE, 0, "%u learners are too few for --%s %s: use --learners 6",
			     learners, option, list);
}

static void check(struct argp_state *state, const void *options)
{
	const struct command *c = options;
	uint32_t learners = c->range.learners;
	check_set(state, "faults", c->faults, c->range.faults, sl_sim_play_kinds(learners), learners);
	check_set(state, "lies", c->lies, c->range.lies, sl_sim_play_lies(learners), learners);
	if (c->trace && c->range.seeds > 1)
		argp_failure(state, SL_EXIT_USAGE, 0, "--trace shows one seed: leave out --seeds");
}

static const struct sl_option options[] = {
	{"seed", 0, "S", "first seed (1)", SL_SETS(struct command, range.seed), 0, UINT64_MAX / 2},
	{"seeds", 0, "COUNT", "number of seeds (1000; with --seed 1)", SL_SETS(struct command, range.seeds),
	 1, UINT64_MAX / 2},
	{"learners", 0, "N", "number of learners (7)", SL_SETS(struct command, range.learners), 3, 64},
	{"rounds", 0, "T", "number of rounds (20)", SL_SETS(struct command, range.rounds), 1, 10000},
	{"faults", 0, "LIST", "kinds of faults that may occur (all)", .take = take_faults},
	{"lies", 0, "LIST", "lies that a liar may tell (those that do not stop the others)",
	 .take = take_lies},
	{"jobs", 'j', "J", "processes at once (one per processor)", SL_SETS(struct command, range.jobs), 1,
	 SL_SIM_JOBS_MOST},
	{"trace", 0, NULL, "print every step of the seed as a line", SL_SETS(struct command, trace)},
	{"explore", 0, "KEY=VALUE,...",
	 "instead of seeds, every history of a few learners and one round; --explore=help lists the keys",
	 SL_SETS(struct command, explore)},
	{0}};

static const struct sl_usage usage = {.options = options, .doc = doc, .check = check};

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

static void tell_failure(struct command *c, const struct sl_sim_outcome *outcome)
{
	char word[256];
	sl_clean_shell_word(sl_command_program(), word, sizeof word);
	clear_line(c);
	printf("FAILED: %s\n", outcome->why);
	if (!c->trace)
		printf("  %s --seed %llu --learners %u --rounds %u%s%s%s%s --trace\n", word,
		       (unsigned long long)outcome->seed, c->range.learners, c->range.rounds,
		       c->faults != NULL ? " --faults " : "", c->faults != NULL ? c->faults : "",
		       c->lies != NULL ? " --lies " : "", c->lies != NULL ? c->lies : "");
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

/* Print how often each fault met each phase, and how often a crash came at each point. */
static void show_table(const struct sl_sim_totals *t)
{
	uint32_t enough = 0;
	fputs("\nfault in phase", stdout);
	for (uint32_t p = 0; p < SL_PHASE_COUNT; p++)
		printf("%9s", sl_phase_name((enum sl_phase)p));
	for (uint32_t k = 0; k < SL_SIM_FAULT_COUNT; k++) {
		printf("\n%-14s", sl_sim_fault_name((enum sl_sim_fault)k));
		for (uint32_t p = 0; p < SL_PHASE_COUNT; p++) {
			printf("%9llu", (unsigned long long)t->hit[k][p]);
			enough += t->hit[k][p] >= CELL_ENOUGH;
		}
	}
	fputs("\n\ncrashes at a point\n", stdout);
	for (uint32_t k = 0; k < sl_sim_point_count; k++)
		printf("%-29s%9llu\n", sl_sim_point_name(k), (unsigned long long)t->point[k]);
	for (uint32_t k = 0; k < SL_SIM_LIE_COUNT; k++)
		if (t->told[k] > 0)
			printf("lie %-25s%9llu\n", sl_sim_lie_name((enum sl_sim_lie)k),
			       (unsigned long long)t->told[k]);
	putchar('\n');
	if (t->seeds >= SEEDS_TELLING)
		printf("%u of %u cells hit %u times or more.\n", enough, SL_SIM_FAULT_COUNT * SL_PHASE_COUNT,
		       CELL_ENOUGH);
}

static void show_one(const struct command *c)
{
	const struct sl_sim_outcome *o = &c->last;
	printf("seed %llu: %s after %llu steps, %llu ms, %u faults; digest %016llx\n",
	       (unsigned long long)o->seed,
	       o->failed  ? "FAILED"
	       : o->stuck ? "stuck"
			  : "ok",
	       (unsigned long long)o->steps, (unsigned long long)o->virtual_ms, o->faults,
	       (unsigned long long)o->digest);
}

static void show_all(const struct command *c)
{
	const struct sl_sim_totals *t = &c->totals;
	char seeds[SL_THOUSANDS_BYTES], faults[SL_THOUSANDS_BYTES], commits[SL_THOUSANDS_BYTES];
	sl_terminal_thousands(t->seeds, seeds);
	sl_terminal_thousands(t->faults, faults);
	sl_terminal_thousands(t->commits, commits);
	show_table(t);
	printf("%s seeds of %u learners and %u rounds: %llu failed.\n", seeds, c->range.learners,
	       c->range.rounds, (unsigned long long)t->failed);
	if (t->stuck > 0)
		printf("%llu seeds were stopped by a lie, or by different seen sums, of which that is "
		       "known.\n",
		       (unsigned long long)t->stuck);
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
	if (c->range.seeds == 1)
		show_one(c);
	else
		show_all(c);
	return c->totals.failed > 0 ? EXIT_VIOLATION : 0;
}

int main(int argc, char **argv)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct command c = {.shown = time(NULL), .range = {.seed = NO_SEED, .learners = 7, .rounds = 20}};
	struct sl_error error = {0};
	c.range.jobs = processors < 1			     ? 1
		       : processors > (long)SL_SIM_JOBS_MOST ? SL_SIM_JOBS_MOST
							     : (uint32_t)processors;
	sl_command_open(argc, argv);
	sl_command_set_name(argv, "simtest");
	sl_option_parse(&usage, argc, argv, &c);
	if (c.range.seeds == 0)
		c.range.seeds = c.range.seed != NO_SEED || c.trace ? 1 : SEEDS_USUAL;
	c.range.seed = c.range.seed != NO_SEED ? c.range.seed : 1;
	if (c.explore != NULL)
		return sl_simtest_explore(c.explore);
	c.live = isatty(STDERR_FILENO) && !c.trace;
	if (c.trace)
		c.range.lines = stdout;
	return report(&c, sl_sim_range_run(&c.range, each, &c, &error), &error);
}
