/* `starling doctor`: its command line, and what starling_control/doctor.py asks this program for: the parts
 * that need the roster, the key and TLS. */
#include "tools/starling/doctor.h"

#include <limits.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clean.h"
#include "daemon/net/listen.h"
#include "daemon/runtime/vector_memory.h"
#include "daemon/store/folder.h"
#include "tools/lib/option.h"
#include "tools/starling/group_folder.h"
#include "tools/lib/python.h"
#include "tools/lib/help_texts.h"

#define SYSTEM_CONFIG "/etc/starling/starlingd.yaml"

struct options {
	const char *folder, *config, *part; /* part: for the Python program */
	bool json;
};

/* A learner that does not run has no such socket. */
static void refuse_control(struct argp_state *state, const char *value, void *options)
{
	(void)options;
	argp_error(state,
		   "doctor looks at one learner by its folder: starling doctor FOLDER, not --control %s",
		   value);
}

static const struct sl_option own[] = {
	{"folder", 0, "DIR", "folder of the group, if this machine has several",
	 SL_SETS(struct options, folder)},
	{"config", 'c', "FILE", "configuration of a learner that is set up by hand",
	 SL_SETS(struct options, config)},
	{"control", 0, "SOCKET", NULL, .take = refuse_control},
	{"json", 0, NULL, "print the result as JSON", SL_SETS(struct options, json)},
	{"part", 0, "NAME", NULL, SL_SETS(struct options, part)},
	{0}};

static void check(struct argp_state *state, const void *options)
{
	const struct options *o = options;
	if (o->folder != NULL && o->config != NULL)
		argp_error(state, "--folder and --config exclude each other");
}

static const struct sl_usage usage = {.options = own,
				      .arguments = "[FOLDER]",
				      .argument = offsetof(struct options, folder),
				      .check = check,
				      .doc = SL_HELP_DOCTOR};

/* Read configuration, roster and key. Return true if all are good, so that peers can be asked. */
static bool read_machine(struct sl_doctor *d)
{
	d->self = -1;
	if (sl_group_load_settings(d->config, NULL, 0, &d->settings, &d->group, &d->error) != SL_OK)
		return false;
	sl_proxy_set(&d->proxy, d->settings.proxy, d->settings.proxy_credentials_file, &d->proxy_error);
	sl_clean_text(d->proxy_error.text);
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
	char address[SL_ADDRESS_BYTES] = "";
	bool mdns = s->discover != SL_DISCOVER_NONE, remote;
	if (group->roster.size == 0)
		return NULL;
	bool all = d->self >= 0 &&
		   sl_listen_choose(s->listen, group->roster.members[d->self].address, mdns, address);
	return json_pack("{s:I, s:s, s:s, s:b, s:s?, s:b, s:I, s:I, s:s?, s:s, s:s, s:s, s:I, s:s?, s:I, "
			 "s:o, s:s, s:s, s:b}",
			 "id", (json_int_t)s->id, "state", s->state, "control", s->control, "mdns", (int)mdns,
			 "listen", d->self >= 0 ? address : NULL, "all_addresses", (int)all, "learners",
			 (json_int_t)group->roster.size, "paged_bytes", (json_int_t)SL_VECTOR_MEMORY_PAGED,
			 "disk", sl_folder_kind(s->state, &remote), "roster", s->roster, "identity",
			 s->identity, "token", s->http_token_file, "made_at", made_at(d), "group",
			 sl_group_is_signed(group) ? group->name : NULL, "version",
			 (json_int_t)group->version, "self", d->self >= 0 ? self_json(d) : json_null(),
			 "proxy", s->proxy, "proxy_error", d->proxy_error.text, "forgetful",
			 (int)(s->forgetful == SL_FORGETFUL_YES));
}

/* Return true if `folder`, which may be NULL, has this entry; write its path. */
static bool is_there(const char *folder, const char *name, char path[static PATH_MAX])
{
	return folder != NULL && snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX &&
	       access(path, F_OK) == 0;
}

/* Find the configuration: that of the options, of the group of this machine, or of the system. */
static int find_config(const struct options *o, char config[static PATH_MAX + 32], struct sl_error *error)
{
	char folder[PATH_MAX];
	if (o->config != NULL) {
		snprintf(config, PATH_MAX, "%s", o->config);
		return SL_OK;
	}
	if (is_there(o->folder, "config.yaml", config))
		return SL_OK;
	if (is_there(o->folder, "learner-01", config))
		return sl_err_set(error, SL_ERR_NOTFOUND,
				  "%s has the folders of several learners; choose one: starling doctor %s",
				  o->folder, config);
	int rc = sl_group_folder_find(o->folder, folder, error);
	if (rc == SL_OK) {
		snprintf(config, PATH_MAX + 32, "%s/" SL_GROUP_FOLDER_CONFIG, folder);
	} else if (o->folder == NULL && access(SYSTEM_CONFIG, F_OK) == 0) {
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

/* Print the result of a part, and return true; false: threads still run. */
static bool print_part(struct sl_doctor *d, const char *part)
{
	bool good = read_machine(d);
	size_t n = strlen(d->settings.roster);
	if (strcmp(part, "peers") == 0)
		return sl_doctor_peers(d);
	bool in_roster = n > 0 && strncmp(d->error.text, d->settings.roster, n) == 0;
	sl_clean_text(d->error.text);
	sl_command_print_json(json_pack("{s:s, s:b, s:s, s:b, s:b, s:o?}", "config", d->config, "good",
					(int)good, "error", d->error.text, "in_roster", (int)in_roster,
					"said", (int)(d->error.code == SL_ERR_REFUSED), "facts", facts_of(d)),
			      0);
	return true;
}

/* Give the options to the Python program. */
static int run_python(const struct options *o)
{
	const char *words[] = {"starling doctor", o->json ? "1" : "0",
			       o->folder != NULL ? "--folder" : "--config",
			       o->folder != NULL ? o->folder : o->config};
	return sl_python_run("starling_control.__main__", words[3] != NULL ? 4 : 2, (char **)words);
}

int sl_cmd_doctor(int argc, char **argv)
{
	static struct sl_doctor doctor; /* large */
	struct options o = {0};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &o);
	if (o.part == NULL)
		return run_python(&o);
	if (find_config(&o, doctor.config, &error) != SL_OK) {
		fprintf(stderr, "starling doctor: %s\n", error.text);
		return SL_EXIT_USAGE;
	}
	if (!print_part(&doctor, o.part)) {
		fflush(stdout);
		_exit(0);
	}
	close_doctor(&doctor);
	return 0;
}
