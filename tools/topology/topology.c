#include "tools/topology/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/graph/generate.h"
#include "common/base/suggest.h"
#include "tools/lib/command.h"

#define NAME_BYTES 32u

bool sl_topology_is_name(const char *text)
{
	size_t length = strcspn(text, ":");
	for (const char *const *line = sl_family_help(); *line != NULL; line++)
		if (strcspn(*line, ": ") == length && strncmp(*line, text, length) == 0)
			return true;
	return false;
}

/* Write the name of the family nearest to a misspelt one, or "". */
static void find_nearest(const char *text, char name[static NAME_BYTES])
{
	char word[NAME_BYTES], family[NAME_BYTES];
	size_t distance = SIZE_MAX;
	name[0] = '\0';
	if (strcspn(text, ":") >= sizeof word)
		return;
	snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ":"), text);
	for (const char *const *line = sl_family_help(); *line != NULL; line++) {
		const char *best = NULL;
		snprintf(family, sizeof family, "%.*s", (int)strcspn(*line, ": "), *line);
		sl_suggest(word, family, &best, &distance);
		if (best != NULL)
			memcpy(name, family, sizeof family);
	}
}

int sl_topology_unknown(const char *text, const char *what, const char *hint, struct sl_error *error)
{
	char name[NAME_BYTES];
	find_nearest(text, name);
	return name[0] != '\0'
		       ? sl_err_set(error, SL_ERR_NOTFOUND, "%s: %s; did you mean '%s'?", text, what, name)
		       : sl_err_set(error, SL_ERR_NOTFOUND, "%s: %s%s", text, what, hint);
}

int sl_topology_failed(const char *command, const struct sl_error *error)
{
	fprintf(stderr, "%s: %s\n", command, error->text);
	return error->code == SL_ERR_NOMEM || error->code == SL_ERR_FULL ? SL_EXIT_FAILED : SL_EXIT_USAGE;
}

static bool redrawn(enum sl_family_kind kind)
{
	return kind == SL_FAMILY_REGULAR || kind == SL_FAMILY_GEOMETRIC;
}

/* Return the memory that sl_generate may take for `n` vertices: a bit matrix, walkers, edge lists and graphs.
 */
static size_t generate_scratch(uint32_t n)
{
	size_t pairs = (size_t)n * (n - 1) / 2;
	return 65536 + pairs * 40 + (size_t)n * 256;
}

static int generate_steps(const struct sl_family *topology, const struct sl_topology_request *request,
			  uint32_t steps, struct sl_schedule *schedule)
{
	uint32_t n = request->learners;
	size_t capacity = (size_t)n * (n - 1) / 2, count = 0, bytes = generate_scratch(n);
	struct sl_edge *edges = reallocarray(NULL, capacity, sizeof *edges);
	void *memory = malloc(bytes);
	struct sl_arena arena;
	int rc = edges == NULL || memory == NULL ? SL_ERR_NOMEM : SL_OK;
	sl_arena_init(&arena, memory, bytes);
	for (uint32_t s = 0; rc == SL_OK && s < steps; s++) {
		sl_arena_reset(&arena, 0);
		rc = sl_generate(topology, n, request->seed, s, edges, capacity, &count, &arena);
		if (rc == SL_OK)
			rc = sl_schedule_add(schedule, edges, count);
	}
	free(memory);
	free(edges);
	return rc;
}

static int from_name(const struct sl_topology_request *request, struct sl_schedule *schedule,
		     struct sl_error *error)
{
	struct sl_family topology;
	const char *why = NULL;
	uint32_t n = request->learners, steps = request->steps;
	if (n == 0)
		return sl_err_set(error, SL_ERR_INVALID, "%s: give the number of learners with -n",
				  request->text);
	if (n < 2 || n > SL_LEARNERS_MAX)
		return sl_err_set(error, SL_ERR_RANGE, "%u learners; must be 2 to %u", n, SL_LEARNERS_MAX);
	if (sl_family_parse(request->text, n, &topology, &why) != SL_OK)
		return sl_err_set(error, SL_ERR_INVALID, "%s: %s (n is %u)", request->text, why, n);
	if (steps == 0 && redrawn(topology.kind))
		steps = request->redraws != 0 ? request->redraws : SL_TOPOLOGY_STEPS;
	else if (steps == 0)
		steps = 1;
	sl_schedule_init(schedule, n);
	int rc = generate_steps(&topology, request, steps, schedule);
	if (rc != SL_OK) {
		sl_schedule_close(schedule);
		return sl_err_set(error, rc, "%s with %u learners: %s", request->text, n, sl_err_text(rc));
	}
	return SL_OK;
}

static int from_file(const struct sl_topology_request *request, struct sl_schedule *schedule,
		     struct sl_error *error)
{
	bool piped = strcmp(request->text, "-") == 0;
	int rc = piped ? sl_schedule_parse(stdin, "standard input", schedule, error)
		       : sl_schedule_read(request->text, schedule, error);
	if (rc != SL_OK)
		return rc;
	if (request->learners != 0 && request->learners != schedule->learners) {
		rc = sl_err_set(error, SL_ERR_INVALID, "%s: the schedule has %u learners; -n %u does not fit",
				request->text, schedule->learners, request->learners);
		sl_schedule_close(schedule);
		return rc;
	}
	if (request->steps != 0 && request->steps < schedule->steps)
		schedule->steps = request->steps;
	return SL_OK;
}

int sl_topology_schedule(const struct sl_topology_request *request, struct sl_schedule *schedule,
			 struct sl_error *error)
{
	sl_schedule_init(schedule, 0);
	if (sl_topology_is_name(request->text))
		return from_name(request, schedule, error);
	if (strcmp(request->text, "-") == 0)
		return from_file(request, schedule, error);
	if (access(request->text, F_OK) != 0 && strchr(request->text, '/') == NULL)
		return sl_topology_unknown(request->text, "neither a file nor a topology",
					   " (complete, ring, line, star, grid, nearest:K, neighbours:K, "
					   "regular:D, geometric:R)",
					   error);
	return from_file(request, schedule, error);
}
