#include "daemon/learner/reload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/settings_table.h"
#include "common/report/modulus.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/validate.h"
#include "daemon/membership/group_update.h"
#include "daemon/membership/joining.h"
#include "daemon/membership/roster_change.h"
#include "daemon/observe/report_log.h"
#include "daemon/runtime/service.h"

/* Return true if a reload takes the setting. */
static bool is_taken(size_t row)
{
	return row == SL_ROW_log || row == SL_ROW_log_format || row == SL_ROW_log_level ||
	       row == SL_ROW_accept_roster;
}

/* Write the keys of the settings that the file has changed and that need a restart: "rounds, tolerance". */
static void find_changed(const struct sl_settings *now, const struct sl_settings *fresh, char *text,
			 size_t size)
{
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < SL_SETTINGS_ROWS && used < size; i++) {
		const struct sl_setting *row = &sl_settings_table[i];
		const char *a = (const char *)now + row->offset, *b = (const char *)fresh + row->offset;
		bool is_text = row->kind <= SL_SETTING_COMMAND;
		bool differs = is_text ? strcmp(a, b) != 0 : memcmp(a, b, row->size) != 0;
		if (differs && !row->shared && !is_taken(i))
			used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
						 row->key);
	}
}

/* ---- the roster ---- */

/* What follows from the roster that was read. */
enum sl_reload_roster { SL_RELOAD_SAME, SL_RELOAD_RESTART, SL_RELOAD_NOW, SL_RELOAD_NEXT_ROUND };

/* Refuse a roster with which this learner could not start. */
static int check_roster(const struct sl_daemon *daemon, const struct sl_settings *fresh,
			const struct sl_group *group, struct sl_error *error)
{
	const struct sl_roster *roster = &group->roster;
	int self = sl_roster_find(roster, daemon->settings->id);
	uint32_t changes = sl_roster_changes(&daemon->members.roster, roster);
	if (self < 0 || !sl_identity_has(daemon->settings->identity, roster->members[self].pin))
		return sl_err_set(error, SL_ERR_INVALID,
				  "%s: no line for id %" PRIu32 " with the key of this learner",
				  fresh->roster, daemon->settings->id);
	if (changes > 1 && !sl_group_is_signed(group) && !sl_roster_change_accepted(fresh, roster))
		return sl_err_set(
			error, SL_ERR_REFUSED,
			"%s: %" PRIu32
			" members came, went or have another key; if that is meant, start once with "
			"--set accept_roster=HASH, the first %u digits of what starlingd --check prints",
			fresh->roster, changes, SL_ACCEPT_DIGITS);
	int rc = sl_validate(fresh, roster, (uint32_t)self, error);
	return rc == SL_OK
		       ? sl_modulus_check(fresh, roster->size, roster->members[roster->size - 1].id, error)
		       : rc;
}

/* Take a plain roster: with another one the learner starts again, at once. */
static int take_plain(struct sl_daemon *daemon, const struct sl_settings *fresh, const struct sl_group *group,
		      enum sl_reload_roster *outcome, struct sl_error *error)
{
	/* under the previous roster, the learner restarts by itself when its attempt has ended */
	if (daemon->members.past.t != 0 ||
	    memcmp(group->roster.hash, daemon->members.roster.hash, SL_HASH_BYTES) == 0)
		return SL_OK;
	*outcome = SL_RELOAD_RESTART;
	return check_roster(daemon, fresh, group, error);
}

/* Take a signed roster: a newer one when it is time. */
static int take_signed(struct sl_daemon *daemon, const struct sl_settings *fresh,
		       const struct sl_group *group, enum sl_reload_roster *outcome, struct sl_error *error)
{
	if (group->version == daemon->members.update.version)
		return SL_OK;
	if (!sl_group_is_forming(group)) {
		int rc = check_roster(daemon, fresh, group, error);
		if (rc != SL_OK)
			return rc;
	}
	*outcome = sl_group_is_forming(&daemon->members.group) ? SL_RELOAD_NOW : SL_RELOAD_NEXT_ROUND;
	int rc = sl_group_update_file(&daemon->members, group, error);
	return rc == SL_OK ? SL_OK : sl_err_wrap(error, "%s", fresh->roster);
}

static int take_roster(struct sl_daemon *daemon, const struct sl_settings *fresh,
		       const struct sl_group *group, enum sl_reload_roster *outcome, struct sl_error *error)
{
	if (sl_group_is_signed(group) != sl_group_is_signed(&daemon->members.group))
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s: it was %s and is %s; restart this learner to change that",
				  fresh->roster, sl_group_is_signed(group) ? "plain" : "signed",
				  sl_group_is_signed(group) ? "signed" : "plain");
	if (sl_group_is_signed(group))
		return take_signed(daemon, fresh, group, outcome, error);
	return take_plain(daemon, fresh, group, outcome, error);
}

/* ---- the request ---- */

static void log_reload(struct sl_daemon *daemon, const struct sl_settings *fresh,
		       enum sl_reload_roster outcome)
{
	static const char *const sentences[] = {
		[SL_RELOAD_SAME] = "the roster is the same",
		[SL_RELOAD_RESTART] = "the roster has changed: this learner restarts by itself",
		[SL_RELOAD_NOW] = "the roster has changed: this learner takes it and restarts by itself",
		[SL_RELOAD_NEXT_ROUND] =
			"the roster has changed: it is taken when nothing is shared, or after this round"};
	struct sl_record record;
	char keys[512];
	find_changed(daemon->settings, fresh, keys, sizeof keys);
	sl_record_init(&record, SL_RECORD_RELOADED);
	record.reason = sl_record_words(
		&record, "the log is reopened at level %s; %s%s%s",
		sl_level_name((enum sl_level)fresh->log_level), sentences[outcome],
		keys[0] != '\0' ? "; restart this learner for what else has changed: " : "", keys);
	sl_report_log_record(&daemon->observe, &record);
}

int sl_reload(struct sl_daemon *daemon, struct sl_error *error)
{
	struct sl_settings *fresh = calloc(1, sizeof *fresh);
	struct sl_group group = {.version = 0};
	enum sl_reload_roster outcome = SL_RELOAD_SAME;
	if (fresh == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	sl_service_reloading();
	int rc = sl_group_load_settings(daemon->source.path, daemon->source.overrides, daemon->source.count,
					fresh, &group, error);
	if (rc == SL_OK)
		rc = take_roster(daemon, fresh, &group, &outcome, error);
	if (rc == SL_OK)
		rc = sl_log_reopen(daemon->observe.log, fresh, error);
	if (rc == SL_OK)
		log_reload(daemon, fresh, outcome);
	else
		sl_report_log_reason(&daemon->observe, SL_RECORD_RELOADED_NOTHING, error->text);
	if (rc == SL_OK && outcome == SL_RELOAD_RESTART) {
		sl_report_log_reason(&daemon->observe, SL_RECORD_TAKING_ROSTER,
				     "this learner restarts by itself, with the changed roster");
		sl_daemon_restart(daemon);
	} else {
		sl_service_ready();
	}
	sl_group_close(&group);
	free(fresh);
	return rc;
}

void sl_reload_missed(struct sl_daemon *daemon)
{
	struct sl_error error;
	if (sl_joining_has_newer(&daemon->members))
		sl_reload(daemon, &error); /* logged */
}
