#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean.h"
#include "common/base/number.h"
#include "common/membership/group.h"
#include "common/config/yaml.h"

#define PARTS 5 /* of the file: group, admins, settings, members, signatures */

/* What a visitor fills in. */
struct reading {
	const struct sl_yaml *yaml;
	struct sl_group *group;
	uint32_t seen; /* bits over the keys of a mapping */
	bool proposal; /* too few admins may have signed it */
};

static int fail(const struct reading *r, const struct sl_yaml_pair *pair, const char *text,
		struct sl_error *error)
{
	return sl_yaml_fail(r->yaml, pair->value_node, error, SL_ERR_INVALID, "%s", text);
}

/* Read a whole number of a key. */
static int take_number(const struct reading *r, const struct sl_yaml_pair *pair, uint64_t most,
		       uint64_t *number, struct sl_error *error)
{
	if (sl_number_parse(pair->value, 1, most, number))
		return SL_OK;
	return sl_yaml_fail(r->yaml, pair->value_node, error, SL_ERR_RANGE,
			    "%s must be a whole number from 1 to %" PRIu64, pair->key, most);
}

static int visit_head(void *context, const struct sl_yaml_pair *pair, struct sl_error *error)
{
	struct reading *r = context;
	struct sl_group *group = r->group;
	static const char *const keys[] = {"name", "version", "start", "next_id", "required"};
	const uint64_t most[] = {0, INT64_MAX, SL_LEARNERS_MAX, UINT32_MAX, SL_ADMINS_MAX};
	uint64_t number = 0;
	uint32_t k = 0;
	while (k < PARTS && strcmp(keys[k], pair->key) != 0)
		k++;
	if (k == PARTS)
		return sl_yaml_fail(r->yaml, pair->key_node, error, SL_ERR_INVALID, "unknown key '%.64s'",
				    pair->key);
	struct sl_error inner = {0};
	if (k == 0 && sl_roster_name_check(pair->value, &inner) != SL_OK)
		return fail(r, pair, inner.text, error);
	int code = k == 0 ? SL_OK : take_number(r, pair, most[k], &number, error);
	if (code != SL_OK)
		return code;
	if (k == 0)
		strcpy(group->name, pair->value);
	else if (k == 1)
		group->version = number;
	else
		*(k == 2 ? &group->start : k == 3 ? &group->next_id : &group->required) = (uint32_t)number;
	r->seen |= 1u << k;
	return SL_OK;
}

static int visit_admin(void *context, const struct sl_yaml_pair *pair, struct sl_error *error)
{
	struct reading *r = context;
	if (strcmp(pair->key, "key") != 0 ||
	    !sl_roster_digits(pair->value, r->group->admins[r->group->admin_count], SL_KEY_BYTES))
		return fail(r, pair, "an admin is {key: 64 hexadecimal digits in lower case}", error);
	r->seen |= 1;
	return SL_OK;
}

static int visit_signature(void *context, const struct sl_yaml_pair *pair, struct sl_error *error)
{
	struct reading *r = context;
	struct sl_group_signature *s = &r->group->signatures[r->group->signature_count];
	bool admin = strcmp(pair->key, "admin") == 0, bytes = strcmp(pair->key, "signature") == 0;
	if ((!admin && !bytes) || !sl_roster_digits(pair->value, admin ? s->admin : s->bytes,
						    admin ? sizeof s->admin : sizeof s->bytes))
		return fail(r, pair,
			    "a signature is {admin: 64, signature: 128 hexadecimal digits in lower case}",
			    error);
	r->seen |= admin ? 1 : 2;
	return SL_OK;
}

static int visit_setting(void *context, const struct sl_yaml_pair *pair, struct sl_error *error)
{
	struct reading *r = context;
	struct sl_setting_text *s = &r->group->settings[r->group->setting_count];
	bool fits = pair->key[strspn(pair->key, "abcdefghijklmnopqrstuvwxyz_")] == '\0' &&
		    strlen(pair->key) < sizeof s->key && strlen(pair->value) < sizeof s->value;
	if (fits) {
		strcpy(s->key, pair->key);
		strcpy(s->value, pair->value);
		sl_clean_text(s->value);
	}
	if (!fits || strcmp(s->value, pair->value) != 0) /* it is shown to an admin, who signs it */
		return fail(r, pair, "not a setting and its value", error);
	r->group->setting_count++;
	return SL_OK;
}

/* Visit each mapping of a list, whose keys must all be there; `count` counts them. */
static int read_list(struct reading *r, struct fy_node *list, sl_yaml_visit visit, uint32_t keys,
		     uint32_t *count, struct sl_error *error)
{
	void *at = NULL;
	int code = SL_OK;
	if (fy_node_sequence_item_count(list) > (int)SL_ADMINS_MAX)
		return sl_yaml_fail(r->yaml, list, error, SL_ERR_RANGE, "at most %u admins are possible",
				    SL_ADMINS_MAX);
	for (struct fy_node *node; code == SL_OK && (node = fy_node_sequence_iterate(list, &at)) != NULL;
	     ++*count) {
		r->seen = 0;
		code = sl_yaml_each(r->yaml, node, visit, r, error);
		if (code == SL_OK && r->seen != keys)
			code = sl_yaml_fail(r->yaml, node, error, SL_ERR_INVALID, "a key is missing");
	}
	return code;
}

static int read_settings(struct reading *r, struct fy_node *mapping, struct sl_error *error)
{
	int count = fy_node_mapping_item_count(mapping);
	if (count < 0 || count > (int)SL_GROUP_SETTINGS_MAX)
		return sl_yaml_fail(r->yaml, mapping, error, SL_ERR_RANGE, "at most %u settings are possible",
				    SL_GROUP_SETTINGS_MAX);
	r->group->settings = calloc((size_t)count + 1, sizeof *r->group->settings);
	if (r->group->settings == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	return count == 0 ? SL_OK : sl_yaml_each(r->yaml, mapping, visit_setting, r, error);
}

static int check_admins(const struct reading *r, struct sl_error *error)
{
	const struct sl_group *group = r->group;
	for (uint32_t i = 0; i < group->admin_count; i++)
		if (sl_group_find_admin(group, group->admins[i]) != (int)i)
			return sl_yaml_fail(r->yaml, NULL, error, SL_ERR_INVALID, "two admins have one key");
	if (group->required > group->admin_count)
		return sl_yaml_fail(r->yaml, NULL, error, SL_ERR_RANGE,
				    "%u admins are required to sign, and there are %u", group->required,
				    group->admin_count);
	if (!sl_group_is_majority(group))
		return sl_yaml_fail(r->yaml, NULL, error, SL_ERR_RANGE,
				    "%u admins are required to sign; of %u, it must be more than half",
				    group->required, group->admin_count);
	return SL_OK;
}

/* Check what several parts say together. */
static int check(const struct reading *r, struct sl_error *error)
{
	const struct sl_group *group = r->group;
	const struct sl_member *last = &group->roster.members[group->roster.size - 1];
	int code = check_admins(r, error);
	if (code != SL_OK)
		return code;
	if (last->id >= group->next_id)
		return sl_yaml_fail(r->yaml, NULL, error, SL_ERR_RANGE, "learner %u is not below next_id %u",
				    last->id, group->next_id);
	if (!r->proposal && !sl_group_verify(group))
		return sl_err_set(
			error, SL_ERR_CRYPTO,
			"%s: not signed by its admin; a change by hand invalidates the signature: use "
			"starling admit and starling group",
			r->yaml->path);
	return SL_OK;
}

/* Read group and admins. */
static int read_head(struct reading *r, struct fy_node *head, struct fy_node *admins, struct sl_error *error)
{
	int code = sl_yaml_each(r->yaml, head, visit_head, r, error);
	if (code == SL_OK && r->seen != (1u << PARTS) - 1)
		code = sl_yaml_fail(r->yaml, head, error, SL_ERR_INVALID,
				    "a key of name, version, start, next_id and required is missing");
	return code == SL_OK ? read_list(r, admins, visit_admin, 1, &r->group->admin_count, error) : code;
}

/* Read the parts of the file; of a plain roster, settings and members alone. */
static int read_parts(struct reading *r, bool plain, struct sl_error *error)
{
	static const char *const names[PARTS] = {"group", "admins", "settings", "members", "signatures"};
	struct fy_node *of[PARTS], *root = r->yaml->root;
	int from = plain ? 2 : 0, to = plain ? 4 : PARTS, code = SL_OK;
	for (int i = from; code == SL_OK && i < to; i++)
		code = sl_yaml_part(r->yaml, root, names[i], i % 2 == 1 || i == 4, &of[i], error);
	if (code == SL_OK && fy_node_mapping_item_count(root) != to - from)
		code = sl_yaml_fail(r->yaml, root, error, SL_ERR_INVALID, "expected %s, and nothing else",
				    plain ? "settings and members"
					  : "group, admins, settings, members and signatures");
	if (code == SL_OK && !plain)
		code = read_head(r, of[0], of[1], error);
	if (code == SL_OK)
		code = read_settings(r, of[2], error);
	if (code == SL_OK)
		code = sl_roster_read(r->yaml, of[3], &r->group->roster, plain ? 2 : 1, SL_LEARNERS_MAX,
				      error);
	if (code == SL_OK)
		code = sl_group_arrange(r->group, r->yaml->path, error);
	if (code == SL_OK && !plain)
		code = read_list(r, of[4], visit_signature, 3, &r->group->signature_count, error);
	return code == SL_OK && !plain ? check(r, error) : code;
}

static int read_mapping(const struct sl_yaml *yaml, struct sl_group *group, bool plain, bool proposal,
			struct sl_error *error)
{
	struct reading r = {.yaml = yaml, .group = group, .proposal = proposal};
	int code = read_parts(&r, plain, error);
	if (code != SL_OK)
		sl_group_close(group);
	return code;
}

int sl_group_load(const char *path, struct sl_group *group, struct sl_error *error)
{
	struct sl_yaml yaml;
	*group = (struct sl_group){0};
	int code = sl_yaml_open(&yaml, path, error);
	if (code != SL_OK)
		return code;
	if (fy_node_is_mapping(yaml.root))
		code = read_mapping(&yaml, group,
				    !fy_node_mapping_lookup_value_by_string(yaml.root, "group", FY_NT), false,
				    error);
	else
		code = sl_roster_read(&yaml, yaml.root, &group->roster, 2, SL_LEARNERS_MAX, error);
	if (code == SL_OK && group->settings == NULL)
		code = sl_group_arrange(group, path, error);
	sl_yaml_close(&yaml);
	return code;
}

/* A list of learners has no settings: those of the configuration count, and the hash covers them. */
static int take_own(struct sl_group *group, const struct sl_settings *own, struct sl_error *error)
{
	group->settings = calloc(SL_SETTINGS_SHARED_MAX, sizeof *group->settings);
	if (group->settings == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	int count = sl_settings_differing(own, group->settings, error);
	group->setting_count = count < 0 ? 0 : (uint32_t)count;
	return count < 0 ? count : sl_group_arrange(group, "roster", error);
}

/* Read the roster, unless it is given. */
static int read_roster(void *context, const char *path, const struct sl_settings *own,
		       struct sl_setting_list *list, struct sl_error *error)
{
	struct sl_group *group = context;
	int code = group->roster.size > 0 ? SL_OK : sl_group_load(path, group, error);
	if (code == SL_OK && group->settings == NULL)
		code = take_own(group, own, error);
	*list = sl_group_list_settings(group, path);
	return code;
}

int sl_group_load_settings(const char *path, const char *const *overrides, size_t count,
			   struct sl_settings *settings, struct sl_group *group, struct sl_error *error)
{
	*group = (struct sl_group){0};
	return sl_settings_load(path, overrides, count, read_roster, group, settings, error);
}

int sl_group_check_settings(const char *path, struct sl_group *group, struct sl_settings *settings,
			    struct sl_error *error)
{
	return sl_settings_load(path, NULL, 0, read_roster, group, settings, error);
}

/* Read an open file that must be the roster of a group, and close it. `other`: what is wrong if it is not. */
static int read_group(struct sl_yaml *yaml, struct sl_group *group, bool proposal, const char *other,
		      struct sl_error *error)
{
	int code = fy_node_is_mapping(yaml->root)
			   ? read_mapping(yaml, group, false, proposal, error)
			   : sl_err_set(error, SL_ERR_INVALID, "%s: %s", yaml->path, other);
	sl_yaml_close(yaml);
	return code;
}

int sl_group_read(const char *name, const char *text, size_t bytes, struct sl_group *group,
		  struct sl_error *error)
{
	struct sl_yaml yaml;
	*group = (struct sl_group){0};
	int code = sl_yaml_read(&yaml, name, text, bytes, error);
	return code == SL_OK ? read_group(&yaml, group, false, "not a signed roster", error) : code;
}

int sl_group_load_proposal(const char *path, struct sl_group *group, struct sl_error *error)
{
	struct sl_yaml yaml;
	*group = (struct sl_group){0};
	int code = sl_yaml_open(&yaml, path, error);
	return code == SL_OK ? read_group(&yaml, group, true, "not the roster of a group", error) : code;
}
