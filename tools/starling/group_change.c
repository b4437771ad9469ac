#include "tools/starling/group_change.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clean.h"
#include "common/base/suggest.h"
#include "common/membership/private_file.h"
#include "common/membership/proposal.h"
#include "tools/lib/control_query.h"

#define QUIET_S 3 /* in which an answer is nothing to speak of */
#define ANSWER_S 10
#define PAUSE_S 1u

/* Send a request to the learner of the folder. Return its reply, or NULL: it is not running, or with errno
 * EAGAIN it does not answer. `silent` is of all requests of the command. */
static json_t *query(const struct sl_group_own *own, struct sl_wait_report *silent, const char *op)
{
	json_t *reply = sl_control_query(own->settings.control, json_pack("{s:s}", "op", op), QUIET_S);
	if (reply != NULL || errno != EAGAIN)
		return reply;
	if (sl_wait_report_due(silent, NULL))
		fputs("Waiting: the learner of this machine does not answer.\n", stderr);
	return sl_control_query(own->settings.control, json_pack("{s:s}", "op", op), ANSWER_S - QUIET_S);
}

/* Return NULL if the group may change now, else what it waits for, which may be in `text`. `version` is that
 * of the running learner. */
static const char *obstacle(struct sl_group_change *change, uint64_t *version,
			    char text[static SL_ERROR_BYTES])
{
	char command[PATH_MAX + 64] = "";
	*version = 0;
	if (sl_group_is_forming(&change->now))
		return NULL;
	json_t *reply = query(&change->own, &change->silent, "group");
	const char *why = NULL;
	*version = (uint64_t)json_integer_value(json_object_get(reply, "version"));
	if (reply == NULL) {
		sl_group_folder_start(change->folder, command, sizeof command);
		snprintf(text, SL_ERROR_BYTES,
			 "the learner of this machine does not answer; unless it is restarting, start it: %s",
			 command);
		why = text;
	} else if (*version != change->now.version) {
		why = "the learner of this machine has not taken up the last change yet";
	} else if (!json_is_true(json_object_get(reply, "settled"))) {
		why = "no round has committed since the last change of the roster";
	}
	json_decref(reply);
	return why;
}

int sl_group_change_await(struct sl_group_change *change, struct sl_error *error)
{
	struct sl_wait_report report = {.said = false};
	uint64_t version, own = change->now.version;
	char text[SL_ERROR_BYTES];
	for (const char *why; (why = obstacle(change, &version, text)) != NULL; sleep(PAUSE_S)) {
		if (version > own)
			return sl_err_set(error, SL_ERR_BUSY,
					  "another admin has changed the roster, which has version %" PRIu64
					  " now: run this command again",
					  version);
		if (change->no_wait)
			return sl_err_set(error, SL_ERR_BUSY,
					  "version %" PRIu64 " of the roster cannot be signed yet: %s",
					  own + 1, why);
		if (sl_wait_report_due(&report, why))
			fprintf(stderr, "Waiting: %s.\n", why);
	}
	return SL_OK;
}

/* Wait for another command that changes the group, and say so. Return the lock, or an error. */
static int take_lock(const char *folder, bool no_wait, struct sl_error *error)
{
	int lock = sl_private_file_lock(folder, false, error);
	if (lock != SL_ERR_BUSY)
		return lock;
	if (no_wait)
		return sl_err_set(error, SL_ERR_BUSY, "another command changes the group of %s", folder);
	fprintf(stderr, "Waiting: another command changes the group of %s.\n", folder);
	return sl_private_file_lock(folder, true, error);
}

int sl_group_change_read(struct sl_group_change *change, const char *given, bool no_wait,
			 struct sl_error *error)
{
	*change = (struct sl_group_change){.lock = -1, .no_wait = no_wait};
	int rc = sl_group_folder_find(given, change->folder, error);
	if (rc != SL_OK)
		return rc;
	change->lock = take_lock(change->folder, no_wait, error);
	rc = change->lock >= 0 ? sl_group_folder_read(change->folder, &change->own, error) : change->lock;
	return rc == SL_OK ? sl_group_load(change->own.settings.roster, &change->now, error) : rc;
}

int sl_group_change_begin(struct sl_group_change *change, const char *given, bool no_wait,
			  struct sl_error *error)
{
	int rc = sl_group_change_read(change, given, no_wait, error);
	change->waits = true;
	return rc == SL_OK ? sl_group_folder_need_admin(change->folder, &change->own, error) : rc;
}

int sl_group_change_find(const struct sl_group_change *change, const char *name, struct sl_error *error)
{
	const struct sl_group *group = &change->own.group;
	int at = sl_roster_find_name(&group->roster, name);
	const char *best = NULL;
	size_t distance = SIZE_MAX;
	if (at >= 0)
		return at;
	for (uint32_t i = 0; i < group->roster.size; i++)
		sl_suggest(name, group->roster.members[i].name, &best, &distance);
	return sl_err_set(error, SL_ERR_NOTFOUND, "group %s has no learner %.63s; %s%s%s", group->name, name,
			  best != NULL ? "did you mean '" : "'starling group list' shows them",
			  best != NULL ? best : "", best != NULL ? "'?" : "");
}

/* Say what a larger quorum risks where learners are left out by the sums that were seen (GROUP.md §12.7
 * Privacy over several sums). */
static void tell_risk(const struct sl_settings *now, const struct sl_settings *next, uint32_t learners)
{
	struct sl_error error;
	uint32_t before, quorum;
	bool left_out = next->membership_change != SL_MEMBERSHIP_WARN;
	if (!left_out || sl_settings_quorum(now, learners, &before, &error) != SL_OK ||
	    sl_settings_quorum(next, learners, &quorum, &error) != SL_OK || quorum <= before)
		return;
	fprintf(stderr,
		"If fewer than %" PRIu32
		" learners took part in the last rounds, the others may have to wait with "
		"this membership_change, and no round follows. Then set quorum to %" PRIu32 " again.\n",
		quorum, before);
}

int sl_group_change_check(struct sl_group_change *change, struct sl_group *next, struct sl_error *error)
{
	const struct sl_group_own *own = &change->own;
	struct sl_settings *s = sl_command_memory(1, sizeof *s);
	int rc = sl_group_folder_check(change->folder, next, &own->settings, s, error);
	json_t *status = rc == SL_OK && s->rounds != own->settings.rounds
				 ? query(own, &change->silent, "status")
				 : NULL;
	json_int_t committed = json_integer_value(json_object_get(status, "committed"));
	if (rc == SL_OK && s->rounds <= committed)
		rc = sl_err_set(error, SL_ERR_REFUSED,
				"rounds: %" PRIu32 ": %" JSON_INTEGER_FORMAT
				" rounds have committed; set a larger number",
				s->rounds, committed);
	if (rc == SL_OK && !sl_group_is_forming(next))
		tell_risk(&own->settings, s, next->roster.size);
	json_decref(status);
	free(s);
	return rc;
}

static int write_roster(const struct sl_group_own *own, struct sl_wait_report *silent,
			const struct sl_group *group, struct sl_error *error)
{
	int rc = sl_group_save(own->settings.roster, group, error);
	if (rc != SL_OK)
		return rc;
	char word[PATH_MAX];
	sl_clean_shell_word(own->settings.control, word, sizeof word);
	json_t *reply = query(own, silent, "reload");
	if (reply == NULL && errno == EAGAIN)
		fprintf(stderr,
			"The learner of this machine has not answered: it takes the change at its next "
			"start, or by: starling reload --control %s\n",
			word);
	if (reply != NULL && !json_is_true(json_object_get(reply, "ok"))) {
		struct sl_error why;
		const char *text = json_string_value(json_object_get(reply, "error"));
		sl_err_set(&why, SL_ERR_REFUSED, "%s", text != NULL ? text : "");
		fprintf(stderr, "The learner of this machine has not taken it: %s\n", why.text);
	}
	json_decref(reply);
	return SL_OK;
}

int sl_group_change_give(struct sl_group_change *change, struct sl_group *next, struct sl_error *error)
{
	change->missing = sl_group_missing(&change->now, next);
	if (change->missing > 0)
		return sl_proposal_save(change->folder, next, error);
	int rc = write_roster(&change->own, &change->silent, next, error);
	return rc == SL_OK ? sl_private_file_remove(change->folder, SL_PROPOSAL_FILE, error) : rc;
}

int sl_group_change_end(struct sl_group_change *change, struct sl_error *error)
{
	struct sl_group *next = &change->own.group;
	bool is_signed = sl_group_is_signed(next);
	uint32_t had;
	if (is_signed) {
		next->version++;
		sl_group_sign(next, change->own.admin);
	}
	int rc = sl_group_change_check(change, next, error);
	if (rc == SL_OK && change->waits)
		rc = sl_group_change_await(change, error);
	if (rc == SL_OK && is_signed)
		rc = sl_proposal_merge(change->folder, next, &had, error);
	return rc == SL_OK ? sl_group_change_give(change, next, error) : rc;
}

void sl_group_change_close(struct sl_group_change *change)
{
	if (change->lock >= 0)
		close(change->lock);
	sl_group_folder_close(&change->own);
	sl_group_close(&change->now);
	change->lock = -1;
}

/* ---- what the command says ---- */

void sl_group_change_json(const struct sl_group_change *change, json_t *object)
{
	char path[PATH_MAX + sizeof SL_PROPOSAL_FILE];
	json_object_set_new(object, "version", json_integer((json_int_t)change->now.version + 1));
	if (change->missing == 0)
		return;
	snprintf(path, sizeof path, "%s/" SL_PROPOSAL_FILE, change->folder);
	json_object_set_new(object, "needs", json_integer(change->missing));
	json_object_set_new(object, "proposal", json_string(path));
}

void sl_group_change_print(const struct sl_group_change *change, json_t *object, const char *done,
			   const char *proposed, const char *what)
{
	const struct sl_group *now = &change->now;
	if (object != NULL) {
		sl_group_change_json(change, object);
		sl_command_print_json(object, 0);
	} else if (change->missing == 0) {
		printf("%s %s; version %" PRIu64 " of the roster of %s.\n", done, what, now->version + 1,
		       now->name);
	} else {
		printf("Signed, %s %s; needs %" PRIu32 " more signature%s: send %s/" SL_PROPOSAL_FILE
		       " to another admin, who runs: starling group sign FILE\n",
		       proposed, what, change->missing, change->missing > 1 ? "s" : "", change->folder);
	}
}

int sl_group_change_take(const char *folder, const struct sl_group *group, struct sl_error *error)
{
	struct sl_group_own own;
	struct sl_wait_report silent = {.said = false};
	int rc = sl_group_folder_open(folder, &own, error);
	if (rc == SL_OK && group->version > own.group.version)
		rc = write_roster(&own, &silent, group, error);
	sl_group_folder_close(&own);
	return rc;
}
