#include "common/membership/proposal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/membership/admin_key.h"
#include "common/membership/private_file.h"
#include "common/config/yaml_text.h"

/* ---- reading ---- */

/* Check that each signature is valid, and of another admin of one of the two rosters; and that a present
 * admin has signed: anyone may add an admin to a roster and sign it as that admin. */
static int check_signatures(const char *path, const struct sl_group *now, const struct sl_group *proposal,
			    struct sl_error *error)
{
	char text[SL_ADMIN_TEXT_BYTES];
	bool known = false;
	for (uint32_t i = 0; i < proposal->signature_count; i++) {
		const uint8_t *admin = proposal->signatures[i].admin;
		bool twice = false;
		for (uint32_t k = 0; k < i; k++)
			twice |= memcmp(proposal->signatures[k].admin, admin, SL_KEY_BYTES) == 0;
		sl_admin_key_text(admin, text);
		if (sl_group_find_admin(now, admin) < 0 && sl_group_find_admin(proposal, admin) < 0)
			return sl_err_set(error, SL_ERR_CRYPTO,
					  "%s: signed by %s, which is not an admin of group %s", path, text,
					  now->name);
		if (!sl_group_has_signed(proposal, admin))
			return sl_err_set(error, SL_ERR_CRYPTO,
					  "%s: was changed after %s had signed it; ask that admin for the "
					  "file again",
					  path, text);
		if (twice)
			return sl_err_set(error, SL_ERR_CRYPTO, "%s: has the signature of %s twice", path,
					  text);
		known = known || sl_group_find_admin(now, admin) >= 0;
	}
	return known ? SL_OK
		     : sl_err_set(error, SL_ERR_CRYPTO,
				  "%s: no admin of group %s has signed it; ask an admin for its proposal",
				  path, now->name);
}

/* Check what the commands of an honest admin never do. */
static int check_numbers(const char *path, const struct sl_group *now, const struct sl_group *proposal,
			 struct sl_error *error)
{
	bool again = proposal->next_id < now->next_id;
	for (uint32_t i = 0; i < proposal->roster.size; i++)
		again |= proposal->roster.members[i].id < now->next_id &&
			 sl_roster_find(&now->roster, proposal->roster.members[i].id) < 0;
	if (again)
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s: lets a learner have the id of one that was removed: an honest admin "
				  "does not",
				  path);
	if (sl_group_is_forming(proposal) && !sl_group_is_forming(now))
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s: lets the group wait for %u learners again, and rounds go on: an "
				  "honest admin does not",
				  path, proposal->start);
	return SL_OK;
}

static int check(const char *path, const struct sl_group *now, const struct sl_group *proposal,
		 struct sl_error *error)
{
	if (strcmp(now->name, proposal->name) != 0)
		return sl_err_set(error, SL_ERR_REFUSED, "%s: is of group %s, and this is group %s", path,
				  proposal->name, now->name);
	if (proposal->version == now->version && now->signature_count > 0 &&
	    sl_group_signature_fits(proposal, &now->signatures[0]))
		return sl_err_set(error, SL_ERR_REFUSED, "%s: is in force already; nothing is left to sign",
				  path);
	if (proposal->version <= now->version)
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s: is version %" PRIu64 " of the roster, and version %" PRIu64
				  " is in force: ask its author to run the command again",
				  path, proposal->version, now->version);
	if (proposal->version != now->version + 1)
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s: is version %" PRIu64 " of the roster, and this machine has version "
				  "%" PRIu64 " yet; start its learner, or run starling group update",
				  path, proposal->version, now->version);
	uint32_t changes = sl_roster_changes(&now->roster, &proposal->roster);
	if (changes > 1 && !sl_group_is_forming(now))
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s: changes %" PRIu32
				  " learners at once, but while rounds run, one at a time may "
				  "change: ask its author for one change",
				  path, changes);
	int rc = check_numbers(path, now, proposal, error);
	return rc == SL_OK ? check_signatures(path, now, proposal, error) : rc;
}

int sl_proposal_load(const char *path, const struct sl_group *now, struct sl_group *proposal,
		     struct sl_error *error)
{
	int rc = sl_group_load_proposal(path, proposal, error);
	if (rc == SL_OK)
		rc = check(path, now, proposal, error);
	if (rc != SL_OK)
		sl_group_close(proposal);
	return rc;
}

/* ---- the file of the admin ---- */

static bool is_signed_in(const struct sl_group *group, const uint8_t *admin)
{
	for (uint32_t i = 0; i < group->signature_count; i++)
		if (memcmp(group->signatures[i].admin, admin, SL_KEY_BYTES) == 0)
			return true;
	return false;
}

/* Add the signatures of `kept`. One that does not fit was made for another roster. */
static bool add_signatures(struct sl_group *proposal, const struct sl_group *kept)
{
	for (uint32_t i = 0; i < kept->signature_count; i++) {
		const struct sl_group_signature *s = &kept->signatures[i];
		if (!sl_group_signature_fits(proposal, s))
			return false;
		if (!is_signed_in(proposal, s->admin) && proposal->signature_count < SL_ADMINS_MAX)
			proposal->signatures[proposal->signature_count++] = *s;
	}
	return true;
}

int sl_proposal_merge(const char *folder, struct sl_group *proposal, uint32_t *had, struct sl_error *error)
{
	char path[SL_PRIVATE_FILE_PATH_BYTES];
	struct sl_group kept;
	*had = 0;
	snprintf(path, sizeof path, "%s/" SL_PROPOSAL_FILE, folder);
	int rc = sl_group_load_proposal(path, &kept, error);
	if (rc == SL_OK && kept.version == proposal->version) {
		*had = kept.signature_count;
		if (!add_signatures(proposal, &kept))
			rc = sl_err_set(
				error, SL_ERR_REFUSED,
				"this admin has signed another proposal of version %" PRIu64
				", %s; to give that one up, remove the file at each admin that signed "
				"it, and all copies",
				kept.version, path);
	}
	sl_group_close(&kept);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

int sl_proposal_save(const char *folder, const struct sl_group *proposal, struct sl_error *error)
{
	char path[SL_PRIVATE_FILE_PATH_BYTES];
	snprintf(path, sizeof path, "%s/" SL_PROPOSAL_FILE, folder);
	return sl_group_save(path, proposal, error);
}

/* ---- what is different ---- */

static void put_member(FILE *out, const char *what, const struct sl_member *m)
{
	char pin[SL_PIN_TEXT_BYTES];
	sl_roster_pin_text(m->pin, pin);
	fprintf(out, "%s: %s (%" PRIu32 "), %s, %s\n", what, m->name, m->id, m->address, pin);
}

static void put_changed(FILE *out, const struct sl_member *now, const struct sl_member *next)
{
	char before[SL_PIN_TEXT_BYTES], after[SL_PIN_TEXT_BYTES];
	if (strcmp(now->name, next->name) != 0)
		fprintf(out, "new name: %s (%" PRIu32 ") is %s\n", now->name, now->id, next->name);
	if (strcmp(now->address, next->address) != 0)
		fprintf(out, "new address: %s (%" PRIu32 ") is at %s, not %s\n", next->name, next->id,
			next->address, now->address);
	if (memcmp(now->pin, next->pin, SL_HASH_BYTES) == 0)
		return;
	sl_roster_pin_text(now->pin, before);
	sl_roster_pin_text(next->pin, after);
	fprintf(out, "new key: %s (%" PRIu32 ") has %s, not %s\n", next->name, next->id, after, before);
}

static void put_members(FILE *out, const struct sl_group *now, const struct sl_group *next)
{
	sl_id next_id = now->next_id;
	for (uint32_t i = 0; i < next->roster.size; i++) {
		const struct sl_member *m = &next->roster.members[i];
		int at = sl_roster_find(&now->roster, m->id);
		if (at >= 0) {
			put_changed(out, &now->roster.members[at], m);
			continue;
		}
		put_member(out, "added", m);
		next_id = m->id + 1;
	}
	for (uint32_t i = 0; i < now->roster.size; i++)
		if (sl_roster_find(&next->roster, now->roster.members[i].id) < 0)
			put_member(out, "removed", &now->roster.members[i]);
	if (next->next_id != next_id)
		fprintf(out, "next id: %" PRIu32 ", not %" PRIu32 "\n", next->next_id, next_id);
	if (next->start != now->start)
		fprintf(out, "the first round begins with %" PRIu32 " learners, not %" PRIu32 "\n",
			next->start, now->start);
}

/* Write the admins of `group` that `other` does not have. */
static void put_admins(FILE *out, const char *what, const struct sl_group *group,
		       const struct sl_group *other)
{
	char text[SL_ADMIN_TEXT_BYTES];
	for (uint32_t i = 0; i < group->admin_count; i++) {
		if (sl_group_find_admin(other, group->admins[i]) >= 0)
			continue;
		sl_admin_key_text(group->admins[i], text);
		fprintf(out, "%s: %s\n", what, text);
	}
}

static const char *value_of(const struct sl_group *group, const char *key)
{
	for (uint32_t i = 0; i < group->setting_count; i++)
		if (strcmp(group->settings[i].key, key) == 0)
			return group->settings[i].value;
	return NULL;
}

/* Write the settings of `group` that `other` does not have or, with `values`, has with another value. */
static void put_settings(FILE *out, const char *what, const struct sl_group *group,
			 const struct sl_group *other, bool values)
{
	for (uint32_t i = 0; i < group->setting_count; i++) {
		const struct sl_setting_text *s = &group->settings[i];
		const char *value = value_of(other, s->key);
		if (value != NULL && (!values || strcmp(value, s->value) == 0))
			continue;
		fprintf(out, "%s: %s: ", what, s->key);
		sl_yaml_text_quote(out, s->value);
		fputc('\n', out);
	}
}

char *sl_proposal_changes(const struct sl_group *now, const struct sl_group *next)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (out == NULL)
		return NULL;
	put_members(out, now, next);
	put_admins(out, "new admin", next, now);
	put_admins(out, "admin removed", now, next);
	if (now->required != next->required || now->admin_count != next->admin_count)
		fprintf(out, "%" PRIu32 " of %" PRIu32 " admins must sign, not %" PRIu32 " of %" PRIu32 "\n",
			next->required, next->admin_count, now->required, now->admin_count);
	put_settings(out, "setting", next, now, true);
	put_settings(out, "setting removed", now, next, false);
	bool failed = ferror(out) != 0;
	if (fclose(out) == 0 && !failed)
		return text;
	free(text);
	return NULL;
}
