#include "test/simulator/simtest_explore.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/lib/command.h"
#include "tools/lib/terminal.h"
#include "test/explorer/explore.h"

#define EXIT_BROKEN 1
#define PLAIN_S 10 /* seconds between lines of progress without a terminal */

static const struct {
	const char *key;
	size_t offset, size;
	uint64_t usual, most;
	const char *text;
} keys[] = {
#define MEMBER(name, member, usual, most, text)                                                              \
	{                                                                                                    \
#name, offsetof(struct sl_explore_options, member),                                          \
			sizeof((struct sl_explore_options *)0)->member, usual, most, text                    \
	}
#define KEY(name, usual, most, text) MEMBER(name, name, usual, most, text)
#define TIMES(name, usual, most, text) MEMBER(name, budget.name, usual, most, text)
	KEY(learners, 3, 5, "R"),
	KEY(quorum, 0, 5, "least participants (0: a majority)"),
	KEY(tolerance, 1, 3, "c"),
	KEY(forgetful, 0, 3, "f"),
	KEY(late, 0, 5, "so many learners, the last ones, start only when all is quiet"),
	KEY(from, SL_PHASE_AGREE, SL_PHASE_READY, "phase to begin in: 2 AGREE, 3 SHARE, 4 READY"),
	KEY(mixing, SL_ENGINE_EXACT, 2, "engine: 0 exact, 1 metropolis, 2 forest"),
	KEY(values, SL_VALUES_MODEL, 4,
	    "0 with decimals, 1 updates by ranges, 2 exact values in limbs, 3 and 4 models and updates with "
	    "noise"),
	TIMES(crashes, 0, 9, "crashes, with a restart at once or when all is quiet"),
	TIMES(losses, 0, 9, "learners lost for good"),
	TIMES(cuts, 0, 9, "a learner is cut off from all others until all is quiet"),
	TIMES(forgets, 0, 9, "restarts from the disk as it was before a record, or from an empty one"),
	KEY(cut_who, 0, 63, "learners that may be cut off, as the sum of 1, 2, 4, .. (0: all)"),
	KEY(fault_who, 0, 63, "learners that may crash, be lost or forget (0: all)"),
	TIMES(timeouts, 0, 9, "timeouts while messages are on the way"),
	TIMES(splits, 0, 1, "the last learner is a liar and becomes two with one key"),
	TIMES(lies, 0, 9, "chunks of the last learner are changed"),
	MEMBER(orders, budget.delays, SL_EXPLORE_ANY, SL_EXPLORE_ANY,
	       "deliveries out of the usual order, at most (255: any order)"),
	KEY(waits, 40, 200, "timeouts when all is quiet, at most"),
	KEY(absence, 12, 200, ".. while a learner is down or cut off"),
	KEY(tolerates, 0, 9,
	    "losses with which all others have to commit, or (fewer than c+2) leave the attempt"),
	KEY(ring, 0, 1, "1: links are possible on a ring only, by id"),
	KEY(group, 0, 1, "1: a cut separates all of cut_who, with the links among them, from all others"),
	KEY(heals, 1, 1, "0: a learner that is cut off stays so"),
	KEY(reduce, 1, 1, "0: explore also orders that lead to the same worlds"),
	MEMBER(states, states_most, UINT32_MAX - 1, UINT32_MAX - 1, "states, at most"),
	MEMBER(mega, megabytes_most, 2000, 100000, "megabytes of memory, at most"),
#undef TIMES
#undef KEY
#undef MEMBER
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

static void set(struct sl_explore_options *o, size_t key, uint64_t number)
{
	void *member = (char *)o + keys[key].offset;
	if (keys[key].size == sizeof(uint8_t))
		*(uint8_t *)member = (uint8_t)number;
	else
		*(uint32_t *)member = (uint32_t)number;
}

static bool assign(struct sl_explore_options *o, char *word)
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
		set(o, k, number);
		return true;
	}
	return false;
}

static bool parse(const char *text, struct sl_explore_options *o)
{
	bool good = true;
	char *copy = strdup(text), *rest = copy;
	*o = (struct sl_explore_options){.learners = 0};
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
		set(o, k, keys[k].usual);
	for (char *word; copy != NULL && good && (word = strsep(&rest, ",")) != NULL;)
		good = *word == '\0' || assign(o, word);
	free(copy);
	if (o->quorum == 0)
		o->quorum = sl_view_quorum_least(o->learners, o->forgetful);
	o->cut_who = o->cut_who != 0 ? o->cut_who : UINT8_MAX;
	o->fault_who = o->fault_who != 0 ? o->fault_who : UINT8_MAX;
	uint32_t punctual = o->learners > o->late ? o->learners - o->late : 0;
	o->late = (uint8_t)((1u << o->learners) - (1u << punctual));
	return good && o->learners >= 2;
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
	struct sl_explore_options options;
	struct sl_explore_result result;
	struct show show = {.live = isatty(STDERR_FILENO), .shown = time(NULL)};
	if (!parse(text, &options)) {
		print_keys();
		return SL_EXIT_USAGE;
	}
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
