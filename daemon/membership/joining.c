#include "daemon/membership/joining.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/membership/admin_key.h"
#include "common/membership/admit.h"
#include "common/membership/private_file.h"
#include "daemon/membership/group_update.h"
#include "daemon/membership/membership.h"
#include "daemon/membership/roster_change.h"
#include "daemon/observe/report_log.h"

/* ---- what the log says ---- */

static void say(void *context, const char *address, const struct sl_waiting *waiting, const char *refused)
{
	struct sl_membership *m = context;
	struct sl_record record;
	char pin[SL_PIN_TEXT_BYTES];
	if (refused != NULL) {
		sl_record_init(&record, SL_RECORD_JOIN_REFUSED);
		record.address = address;
		record.reason = refused;
	} else {
		sl_record_init(&record, SL_RECORD_JOINING);
		sl_roster_pin_text(waiting->pin, pin);
		record.reason = sl_record_words(
			&record, "%s, %s, %s the key %s; to admit it: starling admit %s", waiting->name,
			waiting->address, waiting->renews != 0 ? "asks for" : "wants to join with", pin,
			waiting->name);
	}
	sl_report_log_record(m->host.observe, &record);
}

/* ---- admission without a question ---- */

/* Sign the group as its next version, and take it as if a peer had sent it. */
static int sign(struct sl_membership *m, struct sl_group *group, struct sl_error *error)
{
	uint8_t *key = sl_admin_key_load(m->admission->folder, error);
	size_t size;
	if (key == NULL)
		return error->code;
	group->version++;
	sl_group_sign(group, key);
	sl_admin_key_close(key);
	char *text = sl_group_text(group, &size);
	int rc = text == NULL ? sl_err_set(error, SL_ERR_NOMEM, "out of memory")
			      : sl_group_update_text(m, text, size, error);
	free(text);
	return rc;
}

/* Return true if the invitation of a waiting learner admits it without a question. */
static bool is_automatic(struct sl_admission *admission, const struct sl_group *group,
			 const struct sl_waiting *waiting)
{
	struct sl_invitation_file *file = &admission->invitation; /* large */
	bool automatic =
		waiting->renews == 0 &&
		sl_invitation_file_load(admission->folder, waiting->invitation, file, NULL) == SL_OK &&
		sl_invitation_file_is_automatic(file, &group->roster);
	sl_invitation_file_close(file);
	return automatic;
}

/* Add one learner that waits, or all while the group is forming: no round goes on that could fork. Return how
 * many. */
static uint32_t add(struct sl_admission *admission, struct sl_group *group, struct sl_error *error)
{
	struct sl_waiting *all = calloc(SL_WAITING_MAX, sizeof *all);
	bool forming = sl_group_is_forming(group);
	uint32_t count = all == NULL ? 0 : sl_waiting_list(admission->folder, all, NULL), added = 0;
	for (uint32_t i = 0; i < count && (forming || added == 0); i++)
		if (is_automatic(admission, group, &all[i]))
			added += sl_admit(group, &all[i], error) == SL_OK;
	free(all);
	return added;
}

/* Sign the next version with learners that wait, unless the file has a later one than this learner runs
 * under. The lock is that of the commands. */
static int admit_waiting(struct sl_membership *m, struct sl_error *error)
{
	struct sl_admission *admission = m->admission;
	struct sl_group group = {.version = 0};
	int lock = sl_private_file_lock(admission->folder, false, error);
	if (lock < 0)
		return lock;
	int rc = sl_group_load(admission->path, &group, error);
	if (rc == SL_OK && group.version == m->group.version && group.required == 1 &&
	    add(admission, &group, error) > 0) {
		rc = sign(m, &group, error);
		if (rc == SL_OK)
			rc = sl_admit_forget(admission->folder, &group.roster, error);
	}
	sl_group_close(&group);
	close(lock);
	return rc;
}

/* Return true if the group may change: it is forming, or a round has committed under its roster. */
static bool is_settled(const struct sl_membership *m)
{
	return m->settled || sl_group_is_forming(&m->admission->group);
}

bool sl_joining_has_newer(struct sl_membership *m)
{
	return sl_admission_version(m->admission) > m->update.version;
}

void sl_joining_look(struct sl_membership *m)
{
	struct sl_admission *admission = m->admission;
	struct sl_error error;
	bool fresh = admission->fresh && sl_group_is_forming(&admission->group);
	admission->fresh = false;
	if (!admission->due || fresh || *m->host.stopping || !is_settled(m))
		return;
	int rc = admit_waiting(m, &error);
	admission->due = rc == SL_ERR_BUSY; /* a command changes the group: look again */
	if (rc != SL_OK && rc != SL_ERR_BUSY)
		sl_report_log_reason(m->host.observe, SL_RECORD_JOIN_FAILED, error.text);
}

/* ---- life ---- */

int sl_joining_open(struct sl_membership *m, struct sl_links_config *config, struct sl_error *error)
{
	const struct sl_admission_handler handler = {m, say};
	struct sl_roster_change change;
	struct sl_store_round last;
	m->admission = calloc(1, sizeof *m->admission);
	if (m->admission == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	int rc = sl_roster_change_find(m->host.store, &m->roster, &change, error);
	m->settled = rc == SL_OK && m->host.store != NULL && change.count == 0 && m->past.t == 0 &&
		     sl_store_last_round(m->host.store, &last, NULL) == SL_OK;
	if (rc == SL_OK)
		rc = sl_admission_open(m->admission, m->host.settings->roster, &handler, error);
	m->join = (struct sl_join_handler){m->admission, sl_admission_serve};
	config->join = &m->join;
	return rc;
}

void sl_joining_close(struct sl_membership *m)
{
	if (m->admission != NULL)
		sl_admission_close(m->admission);
	free(m->admission);
	m->admission = NULL;
}

json_t *sl_joining_status(const struct sl_membership *m)
{
	const struct sl_group *group = &m->admission->group;
	if (!sl_group_is_signed(group))
		return json_pack("{s:b, s:s}", "ok", 0, "error", "the roster of this learner is not signed");
	return json_pack("{s:b, s:s, s:I, s:I, s:I, s:b}", "ok", 1, "group", group->name, "version",
			 (json_int_t)m->group.version, "members", (json_int_t)group->roster.size, "start",
			 (json_int_t)group->start, "settled", (int)is_settled(m));
}

void sl_joining_durable(struct sl_membership *m, const struct sl_durable *durable)
{
	struct sl_error error;
	const char *folder = m->host.settings->identity;
	if (!m->identity.next || durable->kind != SL_PERSIST_COMMIT || !m->settled)
		return;
	int rc = sl_identity_promote(folder, &error);
	m->identity.next = rc != SL_OK;
	if (rc == SL_OK)
		rc = sl_identity_hold(folder, &m->identity, &error);
	if (rc != SL_OK)
		sl_report_log_reason(m->host.observe, SL_RECORD_JOIN_FAILED, error.text);
	else
		sl_report_log_reason(m->host.observe, SL_RECORD_JOINING,
				     "a round has committed under the new key: the old one is deleted");
}
