#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/net/identity.h"
#include "common/config/roster.h"
#include "tools/lib/command.h"

#define MEMBER_FILE "member.yaml"
#define FOLDER_BYTES 1024

struct init {
	struct sl_member member;
	const char *folder;
	bool show;
};

enum { KEY_ID = 256, KEY_NAME, KEY_ADDRESS, KEY_DIR, KEY_SHOW };

static const struct argp_option options[] = {
	{"id", KEY_ID, "ID", 0, "This learner's id, 1 or more, its own in the roster", 0},
	{"name", KEY_NAME, "NAME", 0, "Its name: letters, digits, '.', '_' and '-'", 0},
	{"address", KEY_ADDRESS, "HOST:PORT", 0, "Where the other learners reach it", 0},
	{"dir", KEY_DIR, "DIR", 0, "Folder of the identity (default: identity)", 0},
	{"show", KEY_SHOW, NULL, 0, "Make nothing; print the line of the identity in DIR", 0},
	{0},
};

static const char doc[] = "Makes a learner's identity (a secret key and its certificate) and prints its line "
			  "of the roster, which holds no "
			  "secret.\v"
			  "Examples:\n"
			  "  starling init --id 3 --name clinic-c --address 10.0.0.3:7400 >> roster.yaml\n"
			  "  starling init --show --dir identity\n"
			  "\n"
			  "key.pem in DIR is the secret: it stays on this machine, mode 0600. The printed "
			  "line goes to everybody; all "
			  "learners use one and the same roster.\n";

/* argp ends the program here with status 2. */
static void take_text(struct argp_state *state, const char *option, int code, const struct sl_error *error)
{
	if (code != SL_OK)
		argp_failure(state, SL_EXIT_USAGE, 0, "%s: %s", option, error->text);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct init *init = state->input;
	struct sl_member *m = &init->member;
	struct sl_error error = {0};
	uint64_t id;
	switch (key) {
	case KEY_ID:
		if (!sl_command_number(value, 1, UINT32_MAX, &id))
			argp_failure(state, SL_EXIT_USAGE, 0, "--id: '%s' is not a whole number from 1 to %u",
				     value, UINT32_MAX);
		m->id = (sl_id)id;
		return 0;
	case KEY_NAME:
		take_text(state, "--name", sl_roster_name_check(value, &error), &error);
		snprintf(m->name, sizeof m->name, "%s", value);
		return 0;
	case KEY_ADDRESS:
		take_text(state, "--address", sl_roster_address_check(value, &error), &error);
		snprintf(m->address, sizeof m->address, "%s", value);
		return 0;
	case KEY_DIR:
		if (value[0] == '\0' || strlen(value) + sizeof MEMBER_FILE + 1 > FOLDER_BYTES)
			argp_failure(state, SL_EXIT_USAGE, 0, "--dir: not a usable path");
		init->folder = value;
		return 0;
	case KEY_SHOW:
		init->show = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_failure(state, SL_EXIT_USAGE, 0, "'%s' is not an option", value);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int fail(const struct sl_error *error)
{
	fprintf(stderr, "starling init: %s\n", error->text);
	return error->code == SL_ERR_IO ? SL_EXIT_FAILED : SL_EXIT_USAGE;
}

static bool complete(const struct sl_member *m)
{
	return m->id != 0 && m->name[0] != '\0' && m->address[0] != '\0';
}

static void member_path(const struct init *init, char path[static FOLDER_BYTES])
{
	snprintf(path, FOLDER_BYTES, "%s/" MEMBER_FILE, init->folder);
}

/* The line is kept beside the key, so that --show needs nothing else. */
static int keep_line(const struct init *init, const char *line, struct sl_error *error)
{
	char path[FOLDER_BYTES];
	member_path(init, path);
	FILE *file = fopen(path, "we");
	bool bad = file == NULL || fprintf(file, "%s\n", line) < 0;
	if (file && fclose(file) != 0)
		bad = true;
	return bad ? sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno)) : SL_OK;
}

/* What was given wins over what was kept. */
static int recall(struct init *init, struct sl_error *error)
{
	char path[FOLDER_BYTES];
	struct sl_member kept, *m = &init->member;
	if (complete(m))
		return SL_OK;
	member_path(init, path);
	int code = sl_roster_member_load(path, &kept, error);
	if (code == SL_ERR_NOTFOUND)
		return sl_err_set(error, code, "%s does not say it; give --id, --name and --address", path);
	if (code != SL_OK)
		return code;
	if (memcmp(kept.pin, m->pin, sizeof kept.pin) != 0)
		return sl_err_set(error, SL_ERR_CRYPTO, "%s: is of another key than key.pem beside it", path);
	m->id = m->id ? m->id : kept.id;
	if (m->name[0] == '\0')
		memcpy(m->name, kept.name, sizeof m->name);
	if (m->address[0] == '\0')
		memcpy(m->address, kept.address, sizeof m->address);
	return SL_OK;
}

static int load_pin(struct init *init, struct sl_error *error)
{
	struct sl_identity identity;
	int code = sl_identity_load(init->folder, &identity, error);
	if (code != SL_OK)
		return code;
	memcpy(init->member.pin, identity.pin, sizeof identity.pin);
	sl_identity_close(&identity);
	return SL_OK;
}

static int show(struct init *init)
{
	char line[SL_MEMBER_TEXT_BYTES];
	struct sl_error error = {0};
	if (load_pin(init, &error) != SL_OK || recall(init, &error) != SL_OK)
		return fail(&error);
	sl_roster_member_text(&init->member, line);
	puts(line);
	return 0;
}

static int make(struct init *init)
{
	char line[SL_MEMBER_TEXT_BYTES];
	struct sl_error error = {0};
	if (!complete(&init->member)) {
		fputs("starling init: --id, --name and --address are needed; see 'starling init --help'\n",
		      stderr);
		return SL_EXIT_USAGE;
	}
	if (sl_identity_create(init->folder, init->member.name, &error) != SL_OK ||
	    load_pin(init, &error) != SL_OK)
		return fail(&error);
	sl_roster_member_text(&init->member, line);
	puts(line);
	if (keep_line(init, line, &error) != SL_OK)
		return fail(&error);
	fprintf(stderr,
		"The secret key is %s/key.pem; it stays on this machine. The line above goes into the roster "
		"of every "
		"learner;\nthen: starlingd --config FILE, with 'identity: %s' and 'id: %u' in FILE.\n",
		init->folder, init->folder, init->member.id);
	return 0;
}

int sl_cmd_keygen(int argc, char **argv)
{
	static const struct argp argp = {.options = options, .parser = parse, .doc = doc};
	struct init init = {.folder = "identity"};
	argp_parse(&argp, argc, argv, 0, NULL, &init);
	return init.show ? show(&init) : make(&init);
}
