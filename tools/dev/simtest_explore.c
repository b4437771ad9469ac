#include "tools/dev/simtest_explore.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/lib/command.h"
#include "tools/lib/terminal.h"
#include "tools/explore/explore.h"

#define EXIT_BROKEN 1
#define PLAIN_S 10 /* seconds between lines of progress without a terminal */

struct request {
	uint64_t learners, quorum, tolerance, forgetful, late, from, mixing, values, waits, absence,
		tolerates, ring, group, heals, orders, reduce, states, mega;
	uint64_t cut_who, fault_who, crashes, losses, cuts, forgets, timeouts, splits, lies;
};

static const struct {
	const char *key;
	size_t offset;
	uint64_t usual, most;
	const char *text;
} keys[] = {
#define KEY(name, usual, most, text)                                                                         \
	{                                                                                                    \
#name, offsetof(struct request, name), usual, most, text                                     \
	}
	KEY(learners, 3, 5, "R"),
	KEY(quorum, 0, 5, "least participants (0: a majority)"),
	KEY(tolerance, 1, 3, "c"),
	KEY(forgetful, 0, 3, "f"),
	KEY(late, 0, 5, "so many learners, the last ones, start only when all is quiet"),
	KEY(from, SL_PHASE_AGREE, SL_PHASE_READY, "phase to begin in: 2 AGREE, 3 SHARE, 4 READY"),
	KEY(mixing, SL_ENGINE_EXACT, 2, "engine: 0 exact, 1 metropolis, 2 forest"),
	KEY(values, SL_VALUES_MODEL, 2, "0 with decimals, 1 updates by ranges, 2 exact values in limbs"),
	KEY(crashes, 0, 9, "crashes, with a restart at once or when all is quiet"),
	KEY(losses, 0, 9, "learners lost for good"),
	KEY(cuts, 0, 9, "a learner is cut off from all others until all is quiet"),
	KEY(forgets, 0, 9, "restarts from the disk as it was before a record, or from an empty one"),
	KEY(cut_who, 0, 63, "learners that may be cut off, as the sum of 1, 2, 4, .. (0: all)"),
	KEY(fault_who, 0, 63, "learners that may crash, be lost or forget (0: all)"),
	KEY(timeouts, 0, 9, "timeouts while messages are on the way"),
	KEY(splits, 0, 1, "the last learner is a liar and becomes two with one key"),
	KEY(lies, 0, 9, "chunks of the last learner are changed"),
	KEY(orders, SL_EXPLORE_ANY, SL_EXPLORE_ANY,
	    "deliveries out of the usual order, at most (255: any order)"),
	KEY(waits, 40, 200, "timeouts when all is quiet, at most"),
	KEY(absence, 12, 200, ".. while a learner is down or cut off"),
	KEY(tolerates, 0, 9,
	    "losses with which all others have to commit, or (fewer than c+2) leave the attempt"),
	KEY(ring, 0, 1, "1: links are possible on a ring only, by id"),
	KEY(group, 0, 1, "1: a cut separates all of cut_who, with the links among them, from all others"),
	KEY(heals, 1, 1, "0: a learner that is cut off stays so"),
	KEY(reduce, 1, 1, "0: explore also orders that lead to the same worlds"),
	KEY(states, UINT32_MAX - 1, UINT32_MAX - 1, "states, at most"),
	KEY(mega, 2000, 100000, "megabytes of memory, at most"),
#undef KEY
};

struct show {
	bool live;
	struct timespec begun;
	time_t shown;
};

static double seconds_since(const struct timespec *begun)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begun->tv_sec) + (double)(now.tv_nsec - begun->tv_nsec) * 1e-9;
}

static void print_figures(FILE *out, const struct sl_explore_result *r, double seconds)
{
	char states[SL_THOUSANDS_BYTES], choices[SL_THOUSANDS_BYTES], steps[SL_THOUSANDS_BYTES],
		learners[SL_THOUSANDS_BYTES], rate[SL_THOUSANDS_BYTES];
	sl_terminal_thousands(r->states, states);
	sl_terminal_thousands(r->choices, choices);
	sl_terminal_thousands(r->steps, steps);
	sl_terminal_thousands(r->learners, learners);
	sl_terminal_thousands((uint64_t)((double)r->states / (seconds > 0.001 ? seconds : 0.001)), rate);
	fprintf(out,
		"%s states, depth %u, %s choices; %s states of one learner, %s steps of a core; %s states a "
		"second, %zu MB",
		states, r->depth, choices, learners, steps, rate, r->bytes >> 20);
}

static void progress(const struct sl_explore_result *r, void *context)
{
	struct show *show = context;
	time_t now = time(NULL);
	if (now - show->shown < (show->live ? 1 : PLAIN_S))
		return;
	show->shown = now;
	fputs(show->live ? "\r\033[K" : "", stderr);
	print_figures(stderr, r, seconds_since(&show->begun));
	fputs(show->live ? "" : "\n", stderr);
	fflush(stderr);
}

static bool assign(struct request *request, char *word)
{
	char *value = strchr(word, '='), *end;
	if (value == NULL)
		return false;
	*value++ = '\0';
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
		if (strcmp(keys[k].key, word) != 0)
			continue;
		uint64_t number = strtoull(value, &end, 10);
		if (*value == '\0' || *end != '\0' || number > keys[k].most)
			return false;
		memcpy((char *)request + keys[k].offset, &number, sizeof number);
		return true;
	}
	return false;
}

static bool parse(const char *text, struct request *request)
{
	bool good = true;
	char *copy = strdup(text), *rest = copy;
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
		memcpy((char *)request + keys[k].offset, &keys[k].usual, sizeof keys[k].usual);
	for (char *word; copy != NULL && good && (word = strsep(&rest, ",")) != NULL;)
		good = *word == '\0' || assign(request, word);
	free(copy);
	return good && request->learners >= 2;
}

static struct sl_explore_options options_of(const struct request *q)
{
	uint32_t learners = (uint32_t)q->learners;
	struct sl_explore_options o = {
		.learners = learners,
		.quorum = q->quorum != 0 ? (uint32_t)q->quorum : sl_view_quorum_least(learners, q->forgetful),
		.tolerance = (uint32_t)q->tolerance,
		.forgetful = (uint32_t)q->forgetful,
		.from = (enum sl_phase)q->from,
		.mixing = (enum sl_engine)q->mixing,
		.values = (enum sl_values)q->values,
		.cut_who = (uint8_t)(q->cut_who != 0 ? q->cut_who : UINT8_MAX),
		.fault_who = (uint8_t)(q->fault_who != 0 ? q->fault_who : UINT8_MAX),
		.waits = (uint8_t)q->waits,
		.absence = (uint8_t)q->absence,
		.tolerates = (uint8_t)q->tolerates,
		.ring = q->ring != 0,
		.group = q->group != 0,
		.heals = q->heals != 0,
		.reduce = q->reduce != 0,
		.states_most = q->states,
		.bytes_most = q->mega << 20};
	for (uint32_t i = 0; i < q->late; i++)
		o.late |= (uint8_t)(1u << (learners - 1 - i));
	o.budget = (struct sl_explore_budget){.crashes = (uint8_t)q->crashes,
					      .losses = (uint8_t)q->losses,
					      .cuts = (uint8_t)q->cuts,
					      .forgets = (uint8_t)q->forgets,
					      .timeouts = (uint8_t)q->timeouts,
					      .splits = (uint8_t)q->splits,
					      .lies = (uint8_t)q->lies,
					      .delays = (uint8_t)q->orders};
	return o;
}

static void print_keys(void)
{
	fputs("simtest: --explore takes KEY=VALUE,KEY=VALUE with these keys:\n", stderr);
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
		fprintf(stderr, "  %-10s %s (%llu)\n", keys[k].key, keys[k].text,
			(unsigned long long)keys[k].usual);
}

int sl_simtest_explore(const char *text)
{
	struct request request;
	struct sl_explore_result result;
	struct show show = {.live = isatty(STDERR_FILENO), .shown = time(NULL)};
	if (!parse(text, &request)) {
		print_keys();
		return SL_EXIT_USAGE;
	}
	struct sl_explore_options options = options_of(&request);
	clock_gettime(CLOCK_MONOTONIC, &show.begun);
	sl_explore_run(&options, stdout, progress, &show, &result);
	if (show.live)
		fputs("\r\033[K", stderr);
	if (result.broken[0] != '\0')
		printf("BROKEN: %s\n", result.broken);
	print_figures(stdout, &result, seconds_since(&show.begun));
	puts(result.broken[0] != '\0' ? ""
	     : result.complete	      ? "; complete"
				      : "; NOT complete: a limit was reached");
	return result.broken[0] != '\0' ? EXIT_BROKEN : 0;
}
