/* doctor.h - the checks of `starling doctor`, and their findings. */
#pragma once

#include <jansson.h>

#include "common/membership/group.h"
#include "common/config/settings.h"
#include "daemon/net/identity.h"
#include "daemon/net/proxy.h"

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
	struct sl_proxy proxy;
	bool good;	       /* all of it can be read */
	int self;	       /* index in the roster; -1: not there */
	bool has_key;	       /* the identity is loaded */
	struct sl_error error; /* why something of this cannot be read */
	struct sl_error proxy_error;
};

/* The parts: print the facts of this machine, then those of its peers. The subject is the folder, "" for that
 * of the group of this machine, or with "config" a configuration. */
int sl_doctor_machine(const char *subject, const json_t *request, struct sl_error *error);
int sl_doctor_others(const char *subject, const json_t *request, struct sl_error *error);

/* Check all peers at once, and print what each is found to be: "result", "about", "code" ("late": in vain
 * until now), "text", a detail of that, "path" ("": direct), "address" and "ahead_s", by which its clock is
 * ahead of that of this machine (null: unknown). Return false if threads still run: the program must end with
 * _exit and free nothing. */
bool sl_doctor_peers(struct sl_doctor *doctor);
