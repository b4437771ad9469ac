/* doctor.h - the checks of `starling doctor`, and their findings. */
#pragma once

#include <jansson.h>

#include "common/membership/group.h"
#include "common/config/settings.h"
#include "daemon/net/identity.h"

enum sl_doctor_level { SL_DOCTOR_OK, SL_DOCTOR_WARN, SL_DOCTOR_FAIL };

/* Of a peer. */
struct sl_doctor_finding {
	enum sl_doctor_level level;
	const char *code; /* NULL: none yet */
	char detail[512];
};

struct sl_doctor {
	char config[PATH_MAX + 32];
	struct sl_settings settings;
	struct sl_group group;
	struct sl_identity identity;
	int self;	  /* index in the roster; -1: not there */
	bool has_key;	  /* the identity is loaded */
	json_t *findings; /* objects: result, about, code, text */
};

/* Check this machine. Return true if configuration, roster and key are good, so that peers can be checked. */
bool sl_doctor_machine(struct sl_doctor *doctor);
/* Return the finding as an object. */
json_t *sl_doctor_json(enum sl_doctor_level level, const char *about, const char *code, const char *text);
/* Check all peers at once, and print what each is found to be: a finding with "code" ("late": in
 * vain until now), of which "text" is a detail, "address" and "ahead_s", by which its clock is ahead of that
 * of this machine (null: unknown). Return false if threads still run: the program must end with _exit and
 * free nothing. */
bool sl_doctor_peers(struct sl_doctor *doctor);
