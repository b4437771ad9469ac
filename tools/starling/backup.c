/* `starling backup`: copy the records of running learners. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "tools/lib/learners.h"

#define ANSWER_MS 10000
#define PAUSE_US 100000
#define TIMEOUT_MS 600000u

static const struct sl_option own[] = {SL_LEARNERS_CONTROL, {0}};

static const struct sl_usage usage = {
	.options = own,
	.arguments = "[RUNFOLDER]",
	.take = sl_learners_take_folder,
	.doc = "Have running learners copy their records into the folder 'backup' of their state folder, in "
	       "place of "
	       "the copy before, and print its name. The copy holds no secret. Beside it, keep "
	       "starlingd.yaml, the "
	       "roster and the identity, which do not change while a learner runs.\v" SL_LEARNERS_WITHOUT "\n"
	       "\n"
	       "Examples:\n"
	       "  starling backup /var/lib/starling/ward\n"
	       "  starling backup --control /run/starling/control.sock\n"
	       "\n"
	       "Exit status: 0 all copies are there, 1 one is not, 2 wrong usage."};

/* Send `request`, which is taken over; return true if the answer is a good one. */
static bool ask(struct sl_control_query *one, json_t *request)
{
	sl_control_query_all(one, 1, request, ANSWER_MS);
	json_decref(request);
	return json_is_true(json_object_get(one->reply, "ok"));
}

/* Wait for the copy that this learner has begun; return true if the last answer is a good one. */
static bool await(struct sl_control_query *one)
{
	uint64_t end_ms = uv_hrtime() / 1000000 + TIMEOUT_MS;
	json_int_t number = json_integer_value(json_object_get(one->reply, "number"));
	while (ask(one, json_pack("{s:s, s:I}", "op", "backup", "number", number)) &&
	       !json_is_true(json_object_get(one->reply, "done")) && uv_hrtime() / 1000000 < end_ms)
		usleep(PAUSE_US);
	return json_is_true(json_object_get(one->reply, "done"));
}

static bool back_up(struct sl_control_query *one)
{
	if (ask(one, json_pack("{s:s}", "op", "backup")) && await(one)) {
		printf("%s: round %lld is in %s\n", one->shown,
		       (long long)json_integer_value(json_object_get(one->reply, "round")),
		       sl_learners_text(one->reply, "folder"));
		return true;
	}
	if (sl_learners_did(one))
		fprintf(stderr,
			"starling backup: %s: the copy takes more than ten minutes; its end will be logged\n",
			one->shown);
	return false;
}

int sl_cmd_backup(int argc, char **argv)
{
	struct sl_learners_options options = {0};
	struct sl_learners learners;
	int status = 0;
	sl_option_parse(&usage, argc, argv, &options);
	sl_learners_open(&learners, &options);
	for (size_t i = 0; i < learners.count; i++)
		if (!back_up(&learners.asked[i]))
			status = SL_EXIT_FAILED;
	sl_learners_close(&learners);
	return status;
}
