/* `starling doctor`: configuration, roster, key and clock of this machine. */
#include <inttypes.h>
#include <openssl/x509.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clean.h"
#include "common/membership/admin_key.h"
#include "tools/starling/doctor.h"

#define YEAR_FIRST 2025
#define YEAR_LAST 2100
#define FILE_AHEAD_S 60 /* that the date of a file may lie ahead, as on a network file system */

json_t *sl_doctor_json(enum sl_doctor_level level, const char *about, const char *text, const char *remedy)
{
	static const char *const words[] = {
		[SL_DOCTOR_OK] = "ok", [SL_DOCTOR_WARN] = "warn", [SL_DOCTOR_FAIL] = "FAIL"};
	return json_pack("{s:s, s:s, s:s, s:s}", "result", words[level], "about", about, "text", text,
			 "remedy", remedy != NULL ? remedy : "");
}

void sl_doctor_add(struct sl_doctor *doctor, enum sl_doctor_level level, const char *about,
		   const char *remedy, const char *format, ...)
{
	char text[512];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	sl_clean_text(text);
	json_array_append_new(doctor->findings, sl_doctor_json(level, about, text, remedy));
}

static bool check_files(struct sl_doctor *d)
{
	struct sl_error error = {0};
	if (sl_group_load_settings(d->config, NULL, 0, &d->settings, &d->group, &error) != SL_OK) {
		size_t n = strlen(d->settings.roster);
		bool roster = n > 0 && strncmp(error.text, d->settings.roster, n) == 0;
		sl_doctor_add(d, SL_DOCTOR_FAIL, roster ? "roster" : "configuration",
			      roster ? "copy it again from a learner that runs; see roster(5)"
				     : "correct it; starlingd.yaml(5) describes each setting",
			      "%s", error.text);
		return false;
	}
	sl_doctor_add(d, SL_DOCTOR_OK, "configuration", NULL, "%s", d->config);
	uint32_t n = d->group.roster.size;
	if (sl_group_is_signed(&d->group))
		sl_doctor_add(d, SL_DOCTOR_OK, "roster", NULL, "group %s, version %" PRIu64 ", %u learner%s",
			      d->group.name, d->group.version, n, n == 1 ? "" : "s");
	else
		sl_doctor_add(d, SL_DOCTOR_OK, "roster", NULL, "%u learner%s", n, n == 1 ? "" : "s");
	return true;
}

static bool check_key(struct sl_doctor *d)
{
	struct sl_error error = {0};
	char has[SL_PIN_TEXT_BYTES], wanted[SL_PIN_TEXT_BYTES];
	d->self = sl_roster_find(&d->group.roster, d->settings.id);
	if (d->self < 0) {
		sl_doctor_add(d, SL_DOCTOR_FAIL, "own line",
			      sl_group_is_signed(&d->group)
				      ? "it was removed; to take part again, move the folder of the group "
					"elsewhere, "
					"and join with a new invitation"
				      : "correct 'id', or have this learner added to the roster",
			      "%s has no learner %" PRIu32, d->settings.roster, d->settings.id);
		return false;
	}
	const struct sl_member *m = &d->group.roster.members[d->self];
	sl_doctor_add(d, SL_DOCTOR_OK, "own line", NULL, "%s (%" PRIu32 "), %s", m->name, m->id, m->address);
	if (sl_identity_load_pinned(d->settings.identity, m->pin, &d->identity, &error) != SL_OK) {
		const char *remedy =
			"restore the folder from its backup, or make a new key with 'starling keygen'";
		sl_doctor_add(d, SL_DOCTOR_FAIL, "key",
			      error.code == SL_ERR_REFUSED ? NULL /* the error has it */ : remedy, "%s",
			      error.text);
		return false;
	}
	d->has_key = true;
	sl_roster_pin_text(d->identity.pin, has);
	sl_roster_pin_text(m->pin, wanted);
	bool same = memcmp(d->identity.pin, m->pin, SL_HASH_BYTES) == 0;
	if (same)
		sl_doctor_add(d, SL_DOCTOR_OK, "key", NULL, "%s, mode 0600", has);
	else
		sl_doctor_add(
			d, SL_DOCTOR_FAIL, "key",
			"correct 'identity' or 'id', or have the roster line of 'starling keygen --show' "
			"put into the roster of all learners",
			"%s has %s, the roster %s", d->settings.identity, has, wanted);
	return same;
}

/* Check the mode of a file that only its owner may read. */
static void check_secret(struct sl_doctor *d, const char *about, const char *path)
{
	struct stat st;
	char remedy[PATH_MAX + 128];
	snprintf(remedy, sizeof remedy, "run chmod 600 %s", path);
	if (stat(path, &st) == 0 && (st.st_mode & 077) != 0)
		sl_doctor_add(d, SL_DOCTOR_FAIL, about, remedy, "others can read %s (mode %04o)", path,
			      (unsigned)st.st_mode & 07777);
}

static void check_secrets(struct sl_doctor *d)
{
	char path[PATH_MAX + 64];
	const char *slash = strrchr(d->config, '/');
	snprintf(path, sizeof path, "%.*s" SL_ADMIN_KEY_FILE,
		 slash != NULL ? (int)(slash - d->config) + 1 : 0, d->config);
	check_secret(d, "admin key", path);
	if (d->settings.http_token_file[0] != '\0')
		check_secret(d, "token", d->settings.http_token_file);
}

static void check_clock(struct sl_doctor *d)
{
	time_t now = time(NULL);
	struct stat st;
	struct tm parts;
	char shown[32], before[PATH_MAX + 64] = "";
	gmtime_r(&now, &parts);
	strftime(shown, sizeof shown, "%F %H:%M:%S UTC", &parts);
	bool bad = parts.tm_year + 1900 < YEAR_FIRST || parts.tm_year + 1900 > YEAR_LAST;
	if (stat(d->settings.roster, &st) == 0 && st.st_mtime > now + FILE_AHEAD_S)
		snprintf(before, sizeof before, ", before the date of %s", d->settings.roster);
	else if (d->has_key && X509_cmp_time(X509_get0_notBefore(d->identity.certificate), &now) > 0)
		snprintf(before, sizeof before, ", before the date of the certificate in %s",
			 d->settings.identity);
	bad = bad || before[0] != '\0';
	sl_doctor_add(d, bad ? SL_DOCTOR_FAIL : SL_DOCTOR_OK, "clock",
		      bad ? "set the clock, with timedatectl set-ntp true" : NULL,
		      bad ? "it shows %s%s" : "%s%s", shown, before);
}

bool sl_doctor_machine(struct sl_doctor *d)
{
	d->self = -1;
	if (!check_files(d))
		return false;
	bool good = check_key(d);
	check_secrets(d);
	check_clock(d);
	return good;
}
