/* group.h - a signed roster: the learners of a group, its version, its admins and the settings that its
 * learners share (GROUP.md §12.1 Roster changes).
 *
 * The file is YAML, as sl_group_text writes it; its signatures cover that text up to the line `signatures:`.
 * A plain roster has only `settings` and `members`, or is a list of learners (roster.h); it is read as a
 * group without a name. A group owns its roster and its settings.
 */
#pragma once

#include "common/membership/admin_key.h"
#include "common/config/roster.h"
#include "common/config/settings.h"

#define SL_ADMINS_MAX 16u
#define SL_GROUP_SETTINGS_MAX 64u

struct sl_group_signature {
	uint8_t admin[SL_KEY_BYTES], bytes[SL_SIG_BYTES];
};
struct sl_group {
	char name[SL_NAME_BYTES]; /* "": the roster is plain, and only `roster` and `settings` are set */
	uint64_t version;	  /* 1 for the first */
	uint32_t start;		  /* learners with which the first round begins */
	sl_id next_id;		  /* id of the next newcomer; no id is used twice */
	uint32_t required;	  /* admins that must sign: more than half of them */
	uint32_t admin_count, signature_count, setting_count;
	uint8_t admins[SL_ADMINS_MAX][SL_KEY_BYTES]; /* Ed25519 public keys */
	struct sl_group_signature signatures[SL_ADMINS_MAX];
	struct sl_setting_text *settings;
	struct sl_roster roster; /* 1 learner or more in a group, 2 or more in a plain list */
};

/* Read and check a configuration (sl_settings_load), and the roster that it names. Close `group` in any case.
 */
int sl_group_load_settings(const char *path, const char *const *overrides, size_t count,
			   struct sl_settings *settings, struct sl_group *group, struct sl_error *error);
/* Read and check the configuration `path` of a learner with the roster `group`, whatever its file says. */
int sl_group_check_settings(const char *path, struct sl_group *group, struct sl_settings *settings,
			    struct sl_error *error);
/* Return the settings of the group, whose roster is `path`. */
struct sl_setting_list sl_group_list_settings(const struct sl_group *group, const char *path);
/* Compute the hash of the roster `path`, after a change of the settings. SL_ERR_INVALID, SL_ERR_RANGE: a
 * setting is not one, or has no such value. */
int sl_group_arrange(struct sl_group *group, const char *path, struct sl_error *error);
/* Read the roster in `path`, signed or not. The signatures of a signed one are verified against its own
 * admins. Errors read file:line:column; SL_ERR_CRYPTO: too few valid signatures. */
int sl_group_load(const char *path, struct sl_group *group, struct sl_error *error);
/* The same for `bytes` bytes of text that a peer sent, which must be signed; `name` is for errors. */
int sl_group_read(const char *name, const char *text, size_t bytes, struct sl_group *group,
		  struct sl_error *error);
/* Read a roster that is a proposal: too few admins may have signed it. */
int sl_group_load_proposal(const char *path, struct sl_group *group, struct sl_error *error);
void sl_group_close(struct sl_group *group);
static inline bool sl_group_is_signed(const struct sl_group *group)
{
	return group->name[0] != '\0';
}
/* Return true while the group has fewer learners than its first round needs. */
static inline bool sl_group_is_forming(const struct sl_group *group)
{
	return sl_group_is_signed(group) && group->roster.size < group->start;
}

/* Return true if the group has the admins that must sign, and they are more than half: then no two rosters of
 * a version are signed unless an admin signs both. */
static inline bool sl_group_is_majority(const struct sl_group *group)
{
	return group->required <= group->admin_count && 2 * group->required > group->admin_count;
}

/* Return true if `required` admins of the group have signed it. */
bool sl_group_verify(const struct sl_group *group);
/* Return true if the admin with this public key has signed it. */
bool sl_group_has_signed(const struct sl_group *group, const uint8_t admin[static SL_KEY_BYTES]);
/* Return true if the signature is one of this roster. */
bool sl_group_signature_fits(const struct sl_group *group, const struct sl_group_signature *signature);
/* Return the index of the admin with this public key, or -1. */
int sl_group_find_admin(const struct sl_group *group, const uint8_t admin[static SL_KEY_BYTES]);
/* Return how many further admins, at least, must sign `next` before it may take the place of `now`. */
uint32_t sl_group_missing(const struct sl_group *now, const struct sl_group *next);
/* Check that `next` may take the place of `now`: the same group, a later version, signed by `required` admins
 * of both. SL_ERR_REFUSED. */
int sl_group_follows(const struct sl_group *now, const struct sl_group *next, struct sl_error *error);

/* Return the text of the file and its length, on the heap; NULL: out of memory. */
char *sl_group_text(const struct sl_group *group, size_t *bytes);

/* Write the roster to the file `path`, and make it durable (private_file.h). */
int sl_group_save(const char *path, const struct sl_group *group, struct sl_error *error);

/* ---- changes, made by an admin ---- */

/* Add a learner under the next id. SL_ERR_INVALID: its name, address or key is that of another learner;
 * SL_ERR_FULL. */
int sl_group_add(struct sl_group *group, const struct sl_member *member, struct sl_error *error);
/* Give the learner at `index` other addresses. SL_ERR_INVALID: another learner has them. */
int sl_group_set_address(struct sl_group *group, uint32_t index, const char *address, struct sl_error *error);
/* Remove the learner at `index`. */
void sl_group_remove(struct sl_group *group, uint32_t index);
/* Set the setting `key`, of `length` bytes, to `value`: sl_group_arrange then checks it. SL_ERR_RANGE: the
 * value is too long; SL_ERR_FULL; SL_ERR_NOMEM. */
int sl_group_put(struct sl_group *group, const char *key, size_t length, const char *value,
		 struct sl_error *error);
/* Set the shared setting `key` to `value`, and compute the hash of the roster. SL_ERR_REFUSED: the setting is
 * one of a machine, or has this value; SL_ERR_INVALID, SL_ERR_RANGE: there is no such setting or value. */
int sl_group_set(struct sl_group *group, const char *key, const char *value, struct sl_error *error);
/* Replace all signatures by that of the admin with the secret key `key`. */
void sl_group_sign(struct sl_group *group, const uint8_t key[static SL_SECRET_KEY_BYTES]);
/* Add the signature of the admin with the secret key `key` to the present ones, fewer than SL_ADMINS_MAX. */
void sl_group_sign_too(struct sl_group *group, const uint8_t key[static SL_SECRET_KEY_BYTES]);
