/* Read a schedule. One that is accepted is written as a text that is read as the same. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/fuzz/fuzz.h"
#include "tools/lib/schedule.h"

static int read(const void *bytes, size_t count, struct sl_schedule *schedule)
{
	struct sl_error error;
	FILE *in = fmemopen((void *)bytes, count, "r"); /* only read */
	assert(in != NULL);
	int rc = sl_schedule_parse(in, "schedule", schedule, &error);
	fclose(in);
	return rc;
}

static char *write(const struct sl_schedule *schedule, size_t *size)
{
	char *text;
	FILE *out = open_memstream(&text, size);
	assert(out != NULL);
	sl_schedule_write(schedule, out);
	assert(fclose(out) == 0);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct sl_schedule schedule, again;
	size_t size, size_again;
	if (count == 0 || read(bytes, count, &schedule) != SL_OK)
		return 0;
	char *text = write(&schedule, &size);
	if (read(text, size, &again) != SL_OK)
		abort();
	char *text_again = write(&again, &size_again);
	assert(size == size_again && memcmp(text, text_again, size) == 0);
	assert(sl_schedule_degree_max(&schedule) < 2 * SL_LEARNERS_MAX);
	if (schedule.learners <= 64)
		sl_schedule_check(&schedule, 2, NULL, NULL, NULL);
	free(text_again);
	free(text);
	sl_schedule_close(&again);
	sl_schedule_close(&schedule);
	return 0;
}
