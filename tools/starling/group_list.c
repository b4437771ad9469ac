/* `starling group list` and `starling group export`: show the group of a folder. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/membership/waiting.h"
#include "tools/lib/option.h"
#include "tools/starling/group.h"
#include "tools/starling/group_folder.h"
#include "tools/lib/help_texts.h"

struct list {
	struct sl_group_options of;
	char folder[PATH_MAX];
};

static const struct sl_usage list_usage = {.options = sl_group_options, .doc = SL_HELP_GROUP_LIST};

static const struct sl_usage export_usage = {.options = sl_group_options, .doc = SL_HELP_GROUP_EXPORT};

static json_t *json_member(const char *name, const char *address, const uint8_t *pin)
{
	char text[SL_PIN_TEXT_BYTES];
	sl_roster_pin_text(pin, text);
	return json_pack("{s:s, s:s, s:s}", "name", name, "address", address, "key", text);
}

static void print_json(const struct sl_group_own *o, const struct sl_waiting *waiting, uint32_t count)
{
	const struct sl_group *group = &o->group;
	json_t *members = json_array(), *waits = json_array();
	for (uint32_t i = 0; i < group->roster.size; i++) {
		const struct sl_member *m = &group->roster.members[i];
		json_t *one = json_member(m->name, m->address, m->pin);
		json_object_set_new(one, "id", json_integer(m->id));
		json_array_append_new(members, one);
	}
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(waits,
				      json_member(waiting[i].name, waiting[i].address, waiting[i].pin));
	json_t *settings = json_object();
	for (uint32_t i = 0; i < group->setting_count; i++)
		json_object_set_new(settings, group->settings[i].key, json_string(group->settings[i].value));
	json_t *object = json_pack("{s:s, s:I, s:I, s:b, s:s, s:o, s:o, s:o}", "group", group->name,
				   "version", (json_int_t)group->version, "start", (json_int_t)group->start,
				   "admin", (int)sl_group_folder_is_admin(o), "self", o->member->name,
				   "settings", settings, "members", members, "waiting", waits);
	sl_command_print_json(object, 0);
}

static void print_member(const char *id, const char *name, const char *address, const uint8_t *pin,
			 const char *note)
{
	char text[SL_PIN_TEXT_BYTES];
	sl_roster_pin_text(pin, text);
	printf("%5s  %-16s %-28s %s%s\n", id, name, address, text, note);
}

static void print_text(const struct sl_group_own *o, const struct sl_waiting *waiting, uint32_t count)
{
	const struct sl_group *group = &o->group;
	printf("group %s, version %" PRIu64 " of its roster, %u learner%s", group->name, group->version,
	       group->roster.size, group->roster.size == 1 ? "" : "s");
	if (sl_group_is_forming(group))
		printf("; rounds begin with %u", group->start);
	putchar('\n');
	for (uint32_t i = 0; i < group->setting_count; i++)
		printf("%s%s: %s", i == 0 ? "settings " : ", ", group->settings[i].key,
		       group->settings[i].value);
	if (group->setting_count > 0)
		putchar('\n');
	for (uint32_t i = 0; i < group->roster.size; i++) {
		const struct sl_member *m = &group->roster.members[i];
		char id[16];
		snprintf(id, sizeof id, "%" PRIu32, m->id);
		print_member(id, m->name, m->address, m->pin, m == o->member ? "  this machine" : "");
	}
	for (uint32_t i = 0; i < count; i++)
		print_member("waits", waiting[i].name, waiting[i].address, waiting[i].pin,
			     waiting[i].renews != 0 ? "  a new key" : "");
}

static void print_list(const struct list *list, const struct sl_group_own *own)
{
	struct sl_waiting *waiting = sl_command_memory(SL_WAITING_MAX, sizeof *waiting);
	struct sl_error error = {0};
	uint32_t count = sl_group_folder_is_admin(own) ? sl_waiting_list(list->folder, waiting, &error) : 0;
	(list->of.json ? print_json : print_text)(own, waiting, count);
	if (error.code == SL_ERR_FORMAT || error.code == SL_ERR_IO)
		fprintf(stderr, "starling group list: %s\n", error.text);
	free(waiting);
}

static void print_roster(const struct list *list, const struct sl_group_own *own)
{
	size_t bytes;
	char *text = sl_group_text(&own->group, &bytes);
	(void)list;
	if (text != NULL)
		fwrite(text, 1, bytes, stdout);
	free(text);
}

static int show(const struct sl_usage *usage, void (*print)(const struct list *, const struct sl_group_own *),
		int argc, char **argv)
{
	struct list list = {0};
	struct sl_group_own own = {.member = NULL};
	struct sl_error error = {0};
	sl_option_parse(usage, argc, argv, &list);
	int rc = sl_group_folder_find(list.of.given_folder, list.folder, &error);
	if (rc == SL_OK)
		rc = sl_group_folder_open(list.folder, &own, &error);
	if (rc == SL_OK)
		print(&list, &own);
	sl_group_folder_close(&own);
	return sl_command_status(argv[0], rc == SL_OK ? SL_OK : SL_ERR_REFUSED, &error);
}

int sl_cmd_group_list(int argc, char **argv)
{
	return show(&list_usage, print_list, argc, argv);
}

int sl_cmd_group_export(int argc, char **argv)
{
	return show(&export_usage, print_roster, argc, argv);
}
