/* schedules.h - what the topology suites include: cmocka, and schedules from text and to it. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "test/lib/test.h"
#include "tools/topology/topology.h"

static inline int parse_schedule(const char *text, struct sl_schedule *schedule, struct sl_error *error)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	assert_non_null(in);
	int rc = sl_schedule_parse(in, "s.txt", schedule, error);
	fclose(in);
	return rc;
}

static inline struct sl_schedule schedule_of(const char *text)
{
	struct sl_schedule schedule;
	struct sl_error error = {0};
	assert_ok(parse_schedule(text, &schedule, &error), error);
	return schedule;
}

/* A family's; `steps` 0: as many as it has by itself. */
static inline struct sl_schedule draw_schedule(const char *family, uint32_t n, uint32_t steps)
{
	const struct sl_topology_request request = {.text = family, .learners = n, .steps = steps, .seed = 1};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	assert_ok(sl_topology_schedule(&request, &schedule, &error), error);
	return schedule;
}

/* To free(). */
static inline char *print_schedule(const struct sl_schedule *schedule)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	sl_schedule_write(schedule, out);
	fclose(out);
	return text;
}
