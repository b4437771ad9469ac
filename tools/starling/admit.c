/* `starling admit`: admit a learner that waits, or a member's new key. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/membership/admit.h"
#include "common/membership/invitation_file.h"
#include "tools/lib/option.h"
#include "tools/starling/group_change.h"
#include "tools/starling/group_folder.h"
#include "tools/lib/help_texts.h"

struct admit {
	struct sl_group_options of;
	const char *name;
	bool refuse;
	char folder[PATH_MAX];
};

static const struct sl_option own[] = {
	{"refuse", 0, NULL, "do not admit it, and withdraw its invitation", SL_SETS(struct admit, refuse)},
	{0}};

static const struct sl_usage usage = {.options = own,
				      .common = sl_group_change_options,
				      .arguments = "[NAME]",
				      .argument = offsetof(struct admit, name),
				      .doc = SL_HELP_ADMIT};

static json_t *json_of(const struct sl_waiting *w)
{
	char pin[SL_PIN_TEXT_BYTES];
	sl_roster_pin_text(w->pin, pin);
	return json_pack("{s:s, s:s, s:s, s:I, s:b}", "name", w->name, "address", w->address, "key", pin,
			 "since", (json_int_t)w->since, "renews", (int)(w->renews != 0));
}

static void show(FILE *out, const struct sl_waiting *w)
{
	char pin[SL_PIN_TEXT_BYTES];
	sl_roster_pin_text(w->pin, pin);
	fprintf(out, "%s  %s  %s%s\n", w->name, w->address, pin,
		w->renews != 0 ? "  (a member's new key)" : "");
}

/* List those that wait. Return the error of a file that is damaged. */
static int list(const struct admit *admit, struct sl_error *error)
{
	struct sl_waiting *all = sl_command_memory(SL_WAITING_MAX, sizeof *all);
	uint32_t count = sl_waiting_list(admit->folder, all, error);
	json_t *array = json_array();
	for (uint32_t i = 0; i < count; i++) {
		json_array_append_new(array, json_of(&all[i]));
		if (!admit->of.json)
			show(stdout, &all[i]);
	}
	if (admit->of.json) {
		json_dumpf(array, stdout, 0);
		putchar('\n');
	} else if (count == 0 && error->code == SL_OK) {
		fputs("No learner waits.\n", stderr);
	}
	json_decref(array);
	free(all);
	return error->code == SL_ERR_NOTFOUND ? SL_OK : error->code; /* one that was admitted meanwhile */
}

static int refuse(const struct admit *admit, const struct sl_waiting *waiting, struct sl_error *error)
{
	int rc = SL_OK;
	if (waiting->renews == 0)
		rc = sl_invitation_file_remove(admit->folder, waiting->invitation, error);
	if (rc == SL_OK)
		rc = sl_waiting_remove(admit->folder, waiting->name, error);
	if (rc == SL_OK && !admit->of.json)
		printf("Refused: %s; %s.\n", waiting->name,
		       waiting->renews == 0 ? "its invitation is withdrawn" : "it keeps its present key");
	return rc;
}

static void print_change(const struct sl_group_change *change, const struct sl_waiting *waiting)
{
	char what[SL_NAME_BYTES + 40];
	snprintf(what, sizeof what, "%s%s", waiting->name, waiting->renews != 0 ? " with its new key" : "");
	sl_group_change_print(change, NULL, "Admitted:", "to admit", what);
}

/* Sign the change. The learner goes on waiting until enough admins have signed it. */
static int change(const struct admit *admit, const struct sl_waiting *waiting, json_t *object,
		  struct sl_error *error)
{
	struct sl_group_change change;
	int rc = sl_group_change_begin(&change, admit->folder, admit->of.no_wait, error);
	if (rc == SL_OK)
		rc = sl_admit(&change.own.group, waiting, error);
	if (rc == SL_OK)
		rc = sl_group_change_end(&change, error);
	if (rc == SL_OK && change.missing == 0)
		rc = sl_admit_forget(admit->folder, &change.own.group.roster, error);
	if (rc == SL_OK && admit->of.json)
		sl_group_change_json(&change, object);
	else if (rc == SL_OK)
		print_change(&change, waiting);
	sl_group_change_close(&change);
	return rc;
}

/* Say why no learner of this name waits. */
static int nothing_waits(const struct admit *admit, struct sl_error *error)
{
	struct sl_group_own own_learner;
	const struct sl_roster *roster = &own_learner.group.roster;
	char pin[SL_PIN_TEXT_BYTES];
	int rc = sl_group_folder_open(admit->folder, &own_learner, error);
	int at = rc == SL_OK ? sl_roster_find_name(roster, admit->name) : -1;
	if (at >= 0) {
		sl_roster_pin_text(roster->members[at].pin, pin);
		rc = sl_err_set(error, SL_ERR_NOTFOUND,
				"%s is a member already, with the key %s; nothing waits", admit->name, pin);
	} else if (rc == SL_OK) {
		rc = sl_err_set(error, SL_ERR_NOTFOUND,
				"no learner %s waits here; 'starling admit' lists those that do. A learner "
				"waits on the machine that printed its invitation",
				admit->name);
	}
	sl_group_folder_close(&own_learner);
	return rc;
}

static int admit_one(const struct admit *admit, struct sl_error *error)
{
	struct sl_waiting waiting;
	int rc = sl_roster_name_check(admit->name, error);
	if (rc == SL_OK)
		rc = sl_waiting_load(admit->folder, admit->name, &waiting, error);
	if (rc == SL_ERR_NOTFOUND)
		return nothing_waits(admit, error);
	if (rc != SL_OK)
		return rc;
	if (!admit->of.json)
		show(stdout, &waiting);
	json_t *object = json_of(&waiting);
	rc = admit->refuse ? refuse(admit, &waiting, error) : change(admit, &waiting, object, error);
	if (rc == SL_OK && admit->of.json) {
		bool admitted = !admit->refuse && json_object_get(object, "needs") == NULL;
		json_object_set_new(object, "admitted", json_boolean(admitted));
		json_dumpf(object, stdout, 0);
		putchar('\n');
	}
	json_decref(object);
	return rc;
}

int sl_cmd_admit(int argc, char **argv)
{
	struct admit admit = {0};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &admit);
	int rc = sl_group_folder_find(admit.of.given_folder, admit.folder, &error);
	if (rc == SL_OK && admit.name == NULL)
		rc = list(&admit, &error);
	else if (rc == SL_OK)
		rc = admit_one(&admit, &error);
	return sl_command_status(argv[0], rc, &error);
}
