/* `starling reload`: let learners read their files again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "tools/lib/learners.h"

#define ANSWER_MS 10000
#define PAUSE_US 200000
#define RESTART_MS 30000

static const struct sl_option own[] = {SL_LEARNERS_CONTROL, {0}};

static const struct sl_usage usage = {
	.options = own,
	.arguments = "[RUNFOLDER]",
	.take = sl_learners_take_folder,
	.doc = "Make running learners open their log again, and read log settings and roster again, as "
	       "SIGHUP "
	       "does.\v" SL_LEARNERS_WITHOUT
	       " A learner that finds an error goes on with what it has; one whose "
	       "roster has changed restarts by itself.\n"
	       "\n"
	       "Examples:\n"
	       "  starling reload\n"
	       "  starling reload --control /run/starling/control.sock\n"
	       "\n"
	       "Exit status: 0 all have reloaded, 1 a learner has not, 2 wrong usage."};

static bool restarts(const struct sl_control_query *one)
{
	return json_is_true(json_object_get(one->reply, "restarts"));
}

/* Report what became of it; return true if the learner has reloaded. */
static bool report(const struct sl_control_query *one)
{
	if (!sl_learners_did(one))
		return false;
	printf("%s: reloaded%s\n", one->shown, restarts(one) ? "; it restarts with the new roster" : "");
	return true;
}

/* ---- learners that restart ---- */

/* Ask all that are not skipped. */
static void ask(struct sl_learners *l, const char *op, int wait_ms)
{
	json_t *request = json_pack("{s:s, s:b}", "op", op, "peers", 0);
	sl_control_query_all(l->asked, l->count, request, wait_ms);
	json_decref(request);
}

/* Wait until the learners that are not skipped answer after a new start. `before` has the answers of all
 * before it. Return true if all do. */
static bool await_starts(struct sl_learners *l, json_t *const *before)
{
	size_t left = 0;
	uint64_t end_ms = uv_hrtime() / 1000000 + RESTART_MS, now = 0;
	for (size_t k = 0; k < l->count; k++)
		left += !l->asked[k].skip;
	while (left > 0 && (now = uv_hrtime() / 1000000) < end_ms) {
		usleep(PAUSE_US);
		ask(l, "status", end_ms - now < ANSWER_MS ? (int)(end_ms - now) : ANSWER_MS);
		left = 0;
		for (size_t k = 0; k < l->count; k++) {
			struct sl_control_query *one = &l->asked[k];
			one->skip |=
				one->reply != NULL && strcmp(sl_learners_text(one->reply, "started_at"),
							     sl_learners_text(before[k], "started_at")) != 0;
			left += !one->skip;
		}
	}
	for (size_t k = 0; k < l->count; k++)
		if (!l->asked[k].skip)
			fprintf(stderr, "starling reload: %s: has not come back\n", l->asked[k].shown);
	return left == 0;
}

static int reload(struct sl_learners *l)
{
	json_t **before = sl_command_memory(l->count, sizeof *before);
	int status = 0;
	ask(l, "status", ANSWER_MS);
	for (size_t i = 0; i < l->count; i++)
		before[i] = json_incref(l->asked[i].reply);
	ask(l, "reload", ANSWER_MS);
	for (size_t i = 0; i < l->count; i++) {
		status = report(&l->asked[i]) && status == 0 ? 0 : SL_EXIT_FAILED;
		l->asked[i].skip = !restarts(&l->asked[i]);
	}
	if (!await_starts(l, before))
		status = SL_EXIT_FAILED;
	for (size_t i = 0; i < l->count; i++)
		json_decref(before[i]);
	free(before);
	return status;
}

int sl_cmd_reload(int argc, char **argv)
{
	struct sl_learners_options options = {0};
	struct sl_learners learners;
	sl_option_parse(&usage, argc, argv, &options);
	sl_learners_open(&learners, &options);
	int status = reload(&learners);
	sl_learners_close(&learners);
	return status;
}
