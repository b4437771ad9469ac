#include "common/membership/admit.h"

#include <stdlib.h>
#include <string.h>

#include "common/membership/invitation_file.h"

static int add(struct sl_group *group, const struct sl_waiting *waiting, struct sl_error *error)
{
	struct sl_member member = {.id = 0};
	memcpy(member.name, waiting->name, sizeof member.name);
	memcpy(member.address, waiting->address, sizeof member.address);
	memcpy(member.pin, waiting->pin, sizeof member.pin);
	return sl_group_add(group, &member, error);
}

static int renew(struct sl_group *group, const struct sl_waiting *waiting, struct sl_error *error)
{
	struct sl_roster *roster = &group->roster;
	int at = sl_roster_find(roster, waiting->renews);
	if (at < 0)
		return sl_err_set(error, SL_ERR_REFUSED, "%s is no member any more", waiting->name);
	int other = sl_roster_find_pin(roster, waiting->pin);
	if (other >= 0)
		return sl_err_set(error, SL_ERR_REFUSED,
				  "the new key of %s is that of learner %s: two learners cannot have one key",
				  roster->members[at].name, roster->members[other].name);
	memcpy(roster->members[at].pin, waiting->pin, SL_HASH_BYTES);
	sl_roster_arrange(roster);
	return SL_OK;
}

int sl_admit(struct sl_group *group, const struct sl_waiting *waiting, struct sl_error *error)
{
	return waiting->renews == 0 ? add(group, waiting, error) : renew(group, waiting, error);
}

static int forget(const char *folder, const struct sl_waiting *waiting, struct sl_error *error)
{
	int rc = SL_OK;
	if (waiting->renews == 0)
		rc = sl_invitation_file_admit(folder, waiting->invitation, waiting->pin, error);
	return rc == SL_OK ? sl_waiting_remove(folder, waiting->name, error) : rc;
}

int sl_admit_forget(const char *folder, const struct sl_roster *roster, struct sl_error *error)
{
	struct sl_waiting *all = calloc(SL_WAITING_MAX, sizeof *all);
	if (all == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	uint32_t count = sl_waiting_list(folder, all, NULL);
	int rc = SL_OK;
	for (uint32_t i = 0; rc == SL_OK && i < count; i++)
		if (sl_roster_find_pin(roster, all[i].pin) >= 0)
			rc = forget(folder, &all[i], error);
	free(all);
	return rc;
}
