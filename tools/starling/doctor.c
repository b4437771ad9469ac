/* What starling_control/doctor.py asks this program for: the parts that need the roster, the key and TLS. */
#include "tools/starling/doctor.h"

#include <libgen.h>
#include <limits.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clean.h"
#include "daemon/net/listen.h"
#include "daemon/runtime/streams.h"
#include "daemon/runtime/vector_memory.h"
#include "daemon/store/folder.h"
#include "tools/lib/command.h"
#include "tools/starling/group_folder.h"

#define SYSTEM_CONFIG "/etc/starling/starlingd.yaml"

/* Read configuration, roster and key. Return true if all are good, so that peers can be asked. */
static bool read_machine(struct sl_doctor *d)
{
	d->self = -1;
	if (sl_group_load_settings(d->config, NULL, 0, &d->settings, &d->group, &d->error) != SL_OK)
		return false;
	sl_proxy_set(&d->proxy, d->settings.proxy, d->settings.proxy_credentials_file, &d->proxy_error);
	d->self = sl_roster_find(&d->group.roster, d->settings.id);
	if (d->self < 0)
		return false;
	const uint8_t *pin = d->group.roster.members[d->self].pin;
	d->has_key = sl_identity_load_pinned(d->settings.identity, pin, &d->identity, &d->error) == SL_OK;
	return d->has_key && memcmp(d->identity.pin, pin, SL_HASH_BYTES) == 0;
}

/* Return when the certificate was made, in unix seconds; 0: not known. */
static json_int_t made_at(const struct sl_doctor *d)
{
	struct tm tm;
	return d->has_key && ASN1_TIME_to_tm(X509_get0_notBefore(d->identity.certificate), &tm) == 1
		       ? (json_int_t)timegm(&tm)
		       : 0;
}

/* Return why the admin key beside the configuration cannot be used; NULL: it can, or there is none. */
static const char *admin_flaw(const struct sl_doctor *d, struct sl_error *error)
{
	char folder[sizeof d->config];
	strcpy(folder, d->config);
	uint8_t *key = sl_admin_key_load(dirname(folder), error);
	sl_admin_key_close(key);
	return key != NULL || error->code == SL_ERR_NOTFOUND ? NULL : error->text;
}

/* Return the own line of the roster, and the key here. Those that find this machine by mDNS do not use its
 * address. */
static json_t *self_json(const struct sl_doctor *d)
{
	char one[SL_ADDRESS_BYTES] = "", has[SL_PIN_TEXT_BYTES], wanted[SL_PIN_TEXT_BYTES];
	const struct sl_member *m = &d->group.roster.members[d->self];
	bool here = sl_group_folder_is_here(&d->group.roster, d->self);
	const char *flaw =
		d->settings.discover == SL_DISCOVER_NONE ? sl_group_folder_flaw(m->address, here, one) : NULL;
	sl_roster_pin_text(d->identity.pin, has);
	sl_roster_pin_text(m->pin, wanted);
	return json_pack("{s:s, s:I, s:s, s:s, s:s?, s:s?, s:s}", "name", m->name, "id", (json_int_t)m->id,
			 "address", m->address, "dialled", one, "flaw", flaw, "key", d->has_key ? has : NULL,
			 "pinned", wanted);
}

/* Return what starling_control/doctor.py needs to know of the configuration; NULL: it cannot be read. */
static json_t *facts_of(const struct sl_doctor *d)
{
	const struct sl_settings *s = &d->settings;
	const struct sl_group *group = &d->group;
	struct sl_error admin;
	char address[SL_ADDRESS_BYTES] = "";
	bool mdns = s->discover != SL_DISCOVER_NONE, remote;
	if (group->roster.size == 0)
		return NULL;
	bool all = d->self >= 0 &&
		   sl_listen_choose(s->listen, group->roster.members[d->self].address, mdns, address);
	return json_pack("{s:I, s:s, s:s, s:b, s:s?, s:b, s:I, s:I, s:s?, s:s, s:s, s:s, s:I, s:s?, s:I, "
			 "s:o, s:s, s:s, s:b, s:I, s:s?}",
			 "id", (json_int_t)s->id, "state", s->state, "control", s->control, "mdns", (int)mdns,
			 "listen", d->self >= 0 ? address : NULL, "all_addresses", (int)all, "learners",
			 (json_int_t)group->roster.size, "paged_bytes", (json_int_t)SL_VECTOR_MEMORY_PAGED,
			 "disk", sl_folder_kind(s->state, &remote), "roster", s->roster, "identity",
			 s->identity, "token", s->http_token_file, "made_at", made_at(d), "group",
			 sl_group_is_signed(group) ? group->name : NULL, "version",
			 (json_int_t)group->version, "self", d->self >= 0 ? self_json(d) : json_null(),
			 "proxy", s->proxy, "proxy_error", d->proxy_error.text, "forgetful",
			 (int)(s->forgetful == SL_FORGETFUL_YES), "rounds", (json_int_t)s->rounds,
			 "admin_flaw", admin_flaw(d, &admin));
}

/* Return true if `folder`, which may be NULL, has this entry; write its path. */
static bool is_there(const char *folder, const char *name, char path[static PATH_MAX])
{
	return folder != NULL && snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX &&
	       access(path, F_OK) == 0;
}

/* Find the configuration: that of the folder that is given, of the group of this machine (NULL), or of the
 * system. */
static int find_config(const char *given, char config[static PATH_MAX + 32], struct sl_error *error)
{
	char folder[PATH_MAX];
	if (is_there(given, "config.yaml", config))
		return SL_OK;
	if (is_there(given, "learner-01", config)) {
		sl_clean_shell_word(config, folder, sizeof folder);
		return sl_err_set(error, SL_ERR_NOTFOUND,
				  "%s has the folders of several learners; choose one: starling doctor %s",
				  given, folder);
	}
	int rc = sl_group_folder_find(given, folder, error);
	if (rc == SL_OK) {
		snprintf(config, PATH_MAX + 32, "%s/" SL_GROUP_FOLDER_CONFIG, folder);
	} else if (given == NULL && access(SYSTEM_CONFIG, F_OK) == 0) {
		snprintf(config, PATH_MAX, SYSTEM_CONFIG);
		rc = SL_OK;
	}
	return rc;
}

static void close_doctor(struct sl_doctor *doctor)
{
	if (doctor->has_key)
		sl_identity_close(&doctor->identity);
	sl_group_close(&doctor->group);
}

/* Find the configuration, which may be the subject, and read what it names. */
static int open_doctor(struct sl_doctor *d, const char *subject, const json_t *request,
		       struct sl_error *error)
{
	int rc = SL_OK;
	if (json_is_true(json_object_get(request, "config")))
		snprintf(d->config, PATH_MAX, "%s", subject);
	else
		rc = find_config(*subject != '\0' ? subject : NULL, d->config, error);
	if (rc == SL_OK)
		d->good = read_machine(d);
	return rc;
}

static void print_machine(struct sl_doctor *d)
{
	size_t n = strlen(d->settings.roster);
	bool in_roster = n > 0 && strncmp(d->error.text, d->settings.roster, n) == 0;
	sl_command_print_json(json_pack("{s:s, s:b, s:s, s:b, s:s, s:o?}", "config", d->config, "good",
					(int)d->good, "error", d->error.text, "in_roster", (int)in_roster,
					"kind", sl_err_text(d->error.code), "facts", facts_of(d)),
			      0);
}

int sl_doctor_machine(const char *subject, const json_t *request, struct sl_error *error)
{
	static struct sl_doctor doctor; /* large */
	int rc = open_doctor(&doctor, subject, request, error);
	if (rc == SL_OK)
		print_machine(&doctor);
	close_doctor(&doctor);
	return rc;
}

int sl_doctor_others(const char *subject, const json_t *request, struct sl_error *error)
{
	static struct sl_doctor doctor;
	int rc = open_doctor(&doctor, subject, request, error);
	if (rc == SL_OK && !sl_doctor_peers(&doctor)) {
		sl_streams_flush(stdout);
		_exit(0); /* threads still run */
	}
	close_doctor(&doctor);
	return rc;
}
