#include "daemon/learner/requests.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "daemon/learner/backup.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/reload.h"
#include "daemon/membership/joining.h"
#include "daemon/observe/report_log.h"
#include "daemon/observe/status.h"

static json_t *refuse(const char *why)
{
	return json_pack("{s:b, s:s}", "ok", 0, "error", why);
}

/* ---- before there is a core ---- */

/* Answer a request about rounds, of which there are none. */
static json_t *refuse_early(const struct sl_daemon *daemon)
{
	const struct sl_membership *m = &daemon->members;
	const struct sl_member *self = &m->roster.members[m->self];
	bool forming = sl_group_is_forming(&m->group);
	const char *socket = daemon->settings->application;
	char path[PATH_MAX], text[PATH_MAX + SL_NAME_BYTES + 160];
	if (forming)
		snprintf(text, sizeof text,
			 "group %s is forming: it has %u of the %u learners with which rounds begin; "
			 "'starling group list' shows them",
			 m->group.name, m->roster.size, m->group.start);
	else
		snprintf(text, sizeof text, "waits for its first program on %s",
			 realpath(socket, path) != NULL ? path : socket);
	return json_pack("{s:b, s:b, s:I, s:s, s:I, s:s}", "ok", 0, forming ? "forming" : "waiting", 1, "id",
			 (json_int_t)self->id, "name", self->name, "pid", (json_int_t)getpid(), "error",
			 text);
}

static bool needs_core(const char *op)
{
	static const char *const early[] = {"stop", "reload", "group", "watch"};
	for (size_t i = 0; i < sizeof early / sizeof *early; i++)
		if (op != NULL && strcmp(op, early[i]) == 0)
			return false;
	return true;
}

/* ---- requests ---- */

static json_t *op_range(struct sl_daemon *daemon, json_t *request)
{
	json_t *peers = json_object_get(request, "peers"), *step = json_object_get(request, "step"), *peer;
	size_t index;
	uint64_t set[(SL_LEARNERS_MAX + 63) / 64] = {0};
	if (daemon->settings->neighbours != SL_NEIGHBOURS_CONTROL)
		return refuse("this learner takes its neighbours from the roster; set `neighbours: control` "
			      "to set them here");
	if (!json_is_array(peers) || !json_is_integer(step) || json_integer_value(step) < 0 ||
	    json_integer_value(step) > UINT32_MAX)
		return refuse("range wants \"step\": a number, \"peers\": [ids]");
	json_array_foreach(peers, index, peer)
	{
		json_int_t id = json_integer_value(peer);
		int i = json_is_integer(peer) && id > 0 && id <= UINT32_MAX
				? sl_roster_find(&daemon->members.roster, (sl_id)id)
				: -1;
		if (i < 0)
			return refuse("range names a learner that is not in the roster");
		sl_bit_set(set, (size_t)i);
	}
	daemon->observe.step = (uint32_t)json_integer_value(step);
	sl_event_queue_range(&daemon->event_queue, set, sl_bit_words(daemon->members.roster.size));
	return json_pack("{s:b}", "ok", 1);
}

static const char *cannot_abort(const struct sl_core_status *status, json_int_t round)
{
	if (round <= status->committed)
		return "that round is committed";
	if (round != status->t)
		return "this learner is in another round";
	if (status->phase != SL_PHASE_RECOVER && status->phase != SL_PHASE_READY)
		return "no attempt of that round is open here: there is nothing to abort";
	return NULL;
}

/* The event queue executes it; the log reports the outcome. */
static json_t *op_abort(struct sl_daemon *daemon, json_t *request)
{
	struct sl_core_status status;
	json_t *round = json_object_get(request, "round");
	sl_core_status(daemon->core, &status);
	if (!json_is_integer(round))
		return refuse("abort wants \"round\": a number");
	const char *why = cannot_abort(&status, json_integer_value(round));
	if (why != NULL)
		return refuse(why);
	sl_event_queue_add(&daemon->event_queue, SL_EVENT_OPERATOR_ABORT)->event.round = status.t;
	return json_pack("{s:b, s:i, s:i}", "ok", 1, "round", (int)status.t, "attempt", (int)status.a);
}

static json_t *op_reload(struct sl_daemon *daemon)
{
	struct sl_error error;
	if (sl_reload(daemon, &error) != SL_OK)
		return refuse(error.text);
	return json_pack("{s:b, s:b}", "ok", 1, "restarts",
			 (int)(daemon->restart_requested || daemon->members.update.take_at != 0));
}

/* Begin a backup, or say how far number N is. */
static json_t *op_backup(struct sl_daemon *daemon, json_t *request)
{
	const json_t *number = json_object_get(request, "number");
	const struct sl_backup *backup = &daemon->backup;
	char folder[SL_PATH_BYTES + 32];
	if (number == NULL) {
		sl_backup_begin(daemon);
		return json_pack("{s:b, s:I}", "ok", 1, "number", (json_int_t)backup->number);
	}
	if (!json_is_integer(number) || json_integer_value(number) != (json_int_t)backup->number)
		return refuse("there is no backup of this number, or a later one; ask without a number to "
			      "begin one");
	if (backup->runs)
		return json_pack("{s:b, s:b}", "ok", 1, "done", 0);
	if (backup->error.code != SL_OK)
		return refuse(backup->error.text);
	snprintf(folder, sizeof folder, "%s/backup", daemon->settings->state);
	return json_pack("{s:b, s:b, s:I, s:s}", "ok", 1, "done", 1, "round", (json_int_t)backup->round,
			 "folder", folder);
}

json_t *sl_requests_serve(void *context, const char *line, size_t bytes, bool *watch)
{
	struct sl_daemon *daemon = context;
	json_error_t error;
	json_t *request = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &error);
	const char *op = json_string_value(json_object_get(request, "op"));
	json_t *answer;
	if (daemon->core == NULL && needs_core(op))
		answer = refuse_early(daemon);
	else if (op == NULL)
		answer = refuse("a request is one line: {\"op\": \"range\" | \"status\" | \"watch\" | "
				"\"abort\" | \"backup\" | \"reload\" | \"group\" | \"stop\", "
				"...}");
	else if (strcmp(op, "range") == 0)
		answer = op_range(daemon, request);
	else if (strcmp(op, "status") == 0)
		answer = sl_status(&daemon->observe, !json_is_false(json_object_get(request, "peers")));
	else if (strcmp(op, "abort") == 0)
		answer = op_abort(daemon, request);
	else if (strcmp(op, "backup") == 0)
		answer = op_backup(daemon, request);
	else if (strcmp(op, "reload") == 0)
		answer = op_reload(daemon);
	else if (strcmp(op, "group") == 0)
		answer = sl_joining_status(&daemon->members);
	else if (strcmp(op, "watch") == 0 || strcmp(op, "stop") == 0)
		answer = json_pack("{s:b}", "ok", 1);
	else
		answer = refuse(
			"unknown op; there are range, status, watch, abort, backup, reload, group and stop");
	if (op != NULL && strcmp(op, "watch") == 0)
		*watch = true;
	if (op != NULL && strcmp(op, "stop") == 0) {
		sl_report_log_reason(&daemon->observe, SL_RECORD_STOPPING, "ended by command");
		sl_daemon_stop(daemon, 0);
	}
	json_decref(request);
	return answer;
}
