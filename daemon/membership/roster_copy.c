#include "daemon/membership/roster_copy.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/protocol/canonical.h"
#include "common/protocol/view_codec.h"
#include "daemon/membership/membership.h"
#include "daemon/membership/roster_change.h"
#include "daemon/observe/report_log.h"

#define COPY_FILE "roster.yaml"

bool sl_roster_copy_fits(const struct sl_scope *scope, const struct sl_open *open)
{
	struct sl_round_head round;
	uint8_t h[SL_HASH_BYTES];
	uint32_t *members = calloc(2 * SL_LEARNERS_MAX, sizeof *members);
	bool fits = members != NULL && sl_view_round(scope, open->view, open->view_bytes, SL_LEARNERS_MAX,
						     members, &round) == SL_OK;
	if (fits)
		sl_canonical_round(scope, &round, h);
	free(members);
	return fits && memcmp(h, open->readys[0].view, sizeof h) == 0;
}

/* ---- the copy ---- */

static int load_copy(const struct sl_membership *m, struct sl_group *copy, struct sl_error *error)
{
	char path[SL_FOLDER_PATH_BYTES];
	sl_folder_path(m->host.settings->state, COPY_FILE, path);
	return sl_group_load(path, copy, error);
}

static bool was_plain(const struct sl_membership *m)
{
	struct sl_group copy;
	bool plain = load_copy(m, &copy, NULL) == SL_OK && !sl_group_is_signed(&copy);
	sl_group_close(&copy);
	return plain;
}

/* The admins sign no second change before a round of the first one, which says nothing of a plain roster
 * before. */
int sl_roster_copy_check(const struct sl_membership *m, struct sl_error *error)
{
	if (sl_group_is_signed(&m->group) && !was_plain(m))
		return SL_OK;
	return sl_roster_change_check(m->host.store, &m->roster, m->host.settings, error);
}

static int renew_copy(const struct sl_membership *m, struct sl_error *error)
{
	char path[SL_FOLDER_PATH_BYTES];
	struct sl_group copy;
	bool same = load_copy(m, &copy, NULL) == SL_OK;
	same = same && memcmp(copy.roster.hash, m->roster.hash, SL_HASH_BYTES) == 0 &&
	       sl_group_is_signed(&copy) == sl_group_is_signed(&m->group);
	sl_group_close(&copy);
	sl_folder_path(m->host.settings->state, COPY_FILE, path);
	return same ? SL_OK : sl_group_save(path, &m->group, error);
}

int sl_roster_copy_keep(const struct sl_membership *m, const uint8_t hash[static SL_HASH_BYTES],
			struct sl_error *error)
{
	char folder[SL_FOLDER_PATH_BYTES], name[2 * SL_HASH_BYTES + 1], path[sizeof folder + sizeof name + 8];
	struct sl_group copy;
	sl_folder_path(m->host.settings->state, SL_ROSTERS_FOLDER, folder);
	sodium_bin2hex(name, sizeof name, hash, SL_HASH_BYTES);
	snprintf(path, sizeof path, "%s/%s.yaml", folder, name);
	if (access(path, F_OK) == 0)
		return SL_OK;
	int rc = load_copy(m, &copy, error);
	bool used = rc == SL_OK && memcmp(copy.roster.hash, hash, SL_HASH_BYTES) == 0;
	if (used)
		rc = sl_folder_make(folder, error);
	if (used && rc == SL_OK)
		rc = sl_group_save(path, &copy, error);
	sl_group_close(&copy);
	return rc;
}

/* ---- the attempt ---- */

/* Give the members of `past` their present names and addresses, and this learner its present key: with a new
 * one, it is linked to those that have the present roster, and they end the attempt for it. */
static void bring_up_to_date(const struct sl_membership *m, struct sl_roster *past, uint32_t self)
{
	for (uint32_t i = 0; i < past->size; i++) {
		struct sl_member *member = &past->members[i];
		int at = sl_roster_find(&m->roster, member->id);
		if (at < 0)
			continue;
		memcpy(member->name, m->roster.members[at].name, sizeof member->name);
		memcpy(member->address, m->roster.members[at].address, sizeof member->address);
	}
	memcpy(past->members[self].pin, m->identity.pin, SL_HASH_BYTES);
}

/* Take the copy, if the attempt is of that roster. Otherwise nothing changes, and the start is refused when
 * the attempt is restored. */
static void go_back(struct sl_membership *m, struct sl_scope scope, const struct sl_open *open, sl_round t)
{
	struct sl_group past;
	struct sl_error ignored;
	if (load_copy(m, &past, NULL) != SL_OK)
		return;
	int self = sl_roster_find(&past.roster, m->host.settings->id);
	memcpy(scope.roster, past.roster.hash, sizeof scope.roster);
	const struct sl_setting_list settings = sl_group_list_settings(&past, COPY_FILE);
	if (self >= 0 && sl_roster_copy_fits(&scope, open) &&
	    sl_settings_share(m->host.settings, &settings, &ignored) == SL_OK) {
		bring_up_to_date(m, &past.roster, (uint32_t)self);
		sl_roster_close(&m->roster);
		m->roster = past.roster;
		past.roster = (struct sl_roster){.members = NULL};
		m->self = (uint32_t)self;
		m->past = (struct sl_durable){.t = t, .a = open->a};
		sl_report_log_attempt(m->host.observe, SL_RECORD_PAST_ROSTER, m->past.t, m->past.a, NULL);
	}
	sl_group_close(&past);
}

int sl_roster_copy_take(struct sl_membership *m, struct sl_error *error)
{
	struct sl_promises promises;
	struct sl_scope scope;
	struct sl_store_round last = {0};
	int rc = sl_store_last_round(m->host.store, &last, error);
	if (rc == SL_OK || rc == SL_ERR_NOTFOUND)
		rc = sl_store_promises(m->host.store, last.t + 1, &promises, error);
	if (rc != SL_OK)
		return rc;
	sl_canonical_run(m->host.settings->run, scope.run);
	memcpy(scope.roster, m->roster.hash, sizeof scope.roster);
	if (promises.a != 0 && !sl_roster_copy_fits(&scope, &promises.open))
		go_back(m, scope, &promises.open, last.t + 1);
	else
		rc = renew_copy(m, error);
	sl_store_promises_close(&promises);
	return rc;
}

void sl_roster_copy_durable(struct sl_membership *m, const struct sl_durable *durable)
{
	bool ended = durable->kind == SL_PERSIST_COMMIT || durable->kind == SL_PERSIST_OVER;
	if (m->past.t == 0 || !ended)
		return;
	sl_report_log_attempt(m->host.observe, SL_RECORD_PAST_ROSTER_ENDED, m->past.t, m->past.a, NULL);
	m->host.restart(m->host.context);
}
