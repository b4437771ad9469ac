#include "tools/topology/topology.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/graph/generate.h"
#include "common/base/suggest.h"

bool sl_topology_is_name(const char *text)
{
	size_t length = strcspn(text, ":");
	for (const char *const *line = sl_family_help(); *line != NULL; line++)
		if (strcspn(*line, ": ") == length && strncmp(*line, text, length) == 0)
			return true;
	return false;
}

void sl_topology_nearest(const char *text, char name[static SL_TOPOLOGY_NAME_BYTES])
{
	char word[SL_TOPOLOGY_NAME_BYTES], family[SL_TOPOLOGY_NAME_BYTES];
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

static bool redrawn(enum sl_family_kind kind)
{
	return kind == SL_FAMILY_REGULAR || kind == SL_FAMILY_GEOMETRIC;
}

/* What sl_generate may take for n vertices: a bit matrix, walkers, edge lists and the graphs it looks at. */
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
		return sl_err_set(error, SL_ERR_INVALID, "%s: say how many learners there are with -n",
				  request->text);
	if (n < 2 || n > SL_LEARNERS_MAX)
		return sl_err_set(error, SL_ERR_RANGE, "%u learners; from 2 to %u are possible", n,
				  SL_LEARNERS_MAX);
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
		rc = sl_err_set(error, SL_ERR_INVALID, "%s: the schedule is for %u learners, not for %u",
				request->text, schedule->learners, request->learners);
		sl_schedule_close(schedule);
		return rc;
	}
	if (request->steps != 0 && request->steps < schedule->steps)
		schedule->steps = request->steps;
	return SL_OK;
}

static int unknown(const char *text, struct sl_error *error)
{
	char name[SL_TOPOLOGY_NAME_BYTES];
	sl_topology_nearest(text, name);
	if (name[0] != '\0')
		return sl_err_set(error, SL_ERR_NOTFOUND,
				  "%s: neither a file nor a topology; did you mean '%s'?", text, name);
	return sl_err_set(error, SL_ERR_NOTFOUND,
			  "%s: neither a file nor a topology (complete, ring, line, star, grid, nearest:K, "
			  "neighbours:K, regular:D, geometric:R)",
			  text);
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
		return unknown(request->text, error);
	return from_file(request, schedule, error);
}
