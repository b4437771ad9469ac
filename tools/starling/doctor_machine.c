/* `starling doctor`: configuration, roster and key of this machine. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clean.h"
#include "tools/starling/doctor.h"
#include "tools/starling/group_folder.h"

json_t *sl_doctor_json(enum sl_doctor_level level, const char *about, const char *code, const char *text)
{
	static const char *const words[] = {
		[SL_DOCTOR_OK] = "ok", [SL_DOCTOR_WARN] = "warn", [SL_DOCTOR_FAIL] = "FAIL"};
	return json_pack("{s:s, s:s, s:s, s:s}", "result", words[level], "about", about, "code", code, "text",
			 text);
}

/* Add a finding, of which `code` names the remedy in starling_control/doctor.py. */
static void __attribute__((format(printf, 5, 6)))
add(struct sl_doctor *doctor, enum sl_doctor_level level, const char *about, const char *code,
    const char *format, ...)
{
	char text[512];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	sl_clean_text(text);
	json_array_append_new(doctor->findings, sl_doctor_json(level, about, code, text));
}

static bool check_files(struct sl_doctor *d)
{
	struct sl_error error = {0};
	if (sl_group_load_settings(d->config, NULL, 0, &d->settings, &d->group, &error) != SL_OK) {
		size_t n = strlen(d->settings.roster);
		bool roster = n > 0 && strncmp(error.text, d->settings.roster, n) == 0;
		const char *about = roster ? "roster" : "configuration";
		add(d, SL_DOCTOR_FAIL, about, about, "%s", error.text);
		return false;
	}
	add(d, SL_DOCTOR_OK, "configuration", "", "%s", d->config);
	uint32_t n = d->group.roster.size;
	if (sl_group_is_signed(&d->group))
		add(d, SL_DOCTOR_OK, "roster", "", "group %s, version %" PRIu64 ", %u learner%s",
		    d->group.name, d->group.version, n, n == 1 ? "" : "s");
	else
		add(d, SL_DOCTOR_OK, "roster", "", "%u learner%s", n, n == 1 ? "" : "s");
	return true;
}

/* Say whether the others can dial this machine. Those that find it by mDNS do not use its address. */
static void check_address(struct sl_doctor *d, const struct sl_member *m)
{
	char one[SL_ADDRESS_BYTES];
	bool moves = d->settings.discover != SL_DISCOVER_NONE,
	     here = sl_group_folder_is_here(&d->group.roster, d->self);
	const char *flaw = moves ? NULL : sl_group_folder_flaw(m->address, here, one);
	if (flaw == NULL)
		add(d, SL_DOCTOR_OK, "own line", "", "%s (%" PRIu32 "), %s", m->name, m->id, m->address);
	else
		add(d, SL_DOCTOR_WARN, "own line", "nowhere",
		    "%s (%" PRIu32 "): other machines may be unable to reach %s, which %s", m->name, m->id,
		    one, flaw);
}

static bool check_key(struct sl_doctor *d)
{
	bool is_group = sl_group_is_signed(&d->group);
	struct sl_error error = {0};
	char has[SL_PIN_TEXT_BYTES], wanted[SL_PIN_TEXT_BYTES];
	d->self = sl_roster_find(&d->group.roster, d->settings.id);
	if (d->self < 0) {
		add(d, SL_DOCTOR_FAIL, "own line", is_group ? "removed" : "no line",
		    "%s has no learner %" PRIu32, d->settings.roster, d->settings.id);
		return false;
	}
	const struct sl_member *m = &d->group.roster.members[d->self];
	check_address(d, m);
	if (sl_identity_load_pinned(d->settings.identity, m->pin, &d->identity, &error) != SL_OK) {
		bool said = error.code == SL_ERR_REFUSED; /* the remedy */
		add(d, SL_DOCTOR_FAIL, "key",
		    said       ? ""
		    : is_group ? "key of group"
			       : "key",
		    "%s", error.text);
		return false;
	}
	d->has_key = true;
	sl_roster_pin_text(d->identity.pin, has);
	sl_roster_pin_text(m->pin, wanted);
	bool same = memcmp(d->identity.pin, m->pin, SL_HASH_BYTES) == 0;
	if (same)
		add(d, SL_DOCTOR_OK, "key", "", "%s, mode 0600", has);
	else
		add(d, SL_DOCTOR_FAIL, "key", is_group ? "other key of group" : "own other key",
		    "%s has %s, the roster %s", d->settings.identity, has, wanted);
	return same;
}

bool sl_doctor_machine(struct sl_doctor *d)
{
	d->self = -1;
	return check_files(d) && check_key(d);
}
