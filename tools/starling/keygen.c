/* `starling keygen`: make a learner's identity, or show its roster line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/config/roster.h"
#include "daemon/net/identity.h"
#include "tools/lib/option.h"
#include "tools/lib/help_texts.h"
#include "tools/starling/group_folder.h"

#define MEMBER_FILE "member.yaml"
#define FOLDER_BYTES 1024

struct keygen {
	struct sl_member member;
	const char *folder;
	bool show;
};

static const struct sl_option own[] = {
	{"id", 0, "ID", "id of this learner, 1 or more, unique in the roster",
	 SL_SETS(struct keygen, member.id), 1, UINT32_MAX},
	{"name", 0, "NAME", "name of this learner: letters, digits, '.', '_' and '-'",
	 SL_SETS(struct keygen, member.name), .check = sl_roster_name_check},
	{"address", 0, "HOST:PORT", "address at which the other learners reach it",
	 SL_SETS(struct keygen, member.address), .check = sl_roster_addresses_check},
	{"dir", 0, "DIR", "folder of the identity (identity)", SL_SETS(struct keygen, folder)},
	{"show", 0, NULL, "print the roster line of the existing identity in DIR",
	 SL_SETS(struct keygen, show)},
	{0}};

static void check(struct argp_state *state, const void *options)
{
	const char *folder = ((const struct keygen *)options)->folder;
	if (folder[0] == '\0' || strlen(folder) + sizeof MEMBER_FILE + 1 > FOLDER_BYTES)
		argp_failure(state, SL_EXIT_USAGE, 0, "--dir: not a usable path");
}

static const struct sl_usage usage = {.options = own, .check = check, .doc = SL_HELP_KEYGEN};

static int fail(const struct sl_error *error)
{
	fprintf(stderr, "starling keygen: %s\n", error->text);
	return error->code == SL_ERR_IO ? SL_EXIT_FAILED : SL_EXIT_USAGE;
}

static bool complete(const struct sl_member *m)
{
	return m->id != 0 && m->name[0] != '\0' && m->address[0] != '\0';
}

static void member_path(const struct keygen *keygen, char path[static FOLDER_BYTES])
{
	snprintf(path, FOLDER_BYTES, "%s/" MEMBER_FILE, keygen->folder);
}

/* Write the line beside the key, for --show. */
static int keep_line(const struct keygen *keygen, const char *line, struct sl_error *error)
{
	char path[FOLDER_BYTES];
	member_path(keygen, path);
	FILE *file = fopen(path, "we");
	bool bad = file == NULL || fprintf(file, "%s\n", line) < 0;
	if (file && fclose(file) != 0)
		bad = true;
	return bad ? sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno)) : SL_OK;
}

/* Fill in fields that were not given from the line written beside the key. */
static int recall(struct keygen *keygen, struct sl_error *error)
{
	char path[FOLDER_BYTES];
	struct sl_member kept, *m = &keygen->member;
	if (complete(m))
		return SL_OK;
	member_path(keygen, path);
	int code = sl_roster_member_load(path, &kept, error);
	if (code == SL_ERR_NOTFOUND)
		return sl_err_set(error, code, "%s does not exist; give --id, --name and --address", path);
	if (code != SL_OK)
		return code;
	if (memcmp(kept.pin, m->pin, sizeof kept.pin) != 0)
		return sl_err_set(error, SL_ERR_CRYPTO,
				  "%s: is the line of another key than the key.pem beside it", path);
	m->id = m->id ? m->id : kept.id;
	if (m->name[0] == '\0')
		memcpy(m->name, kept.name, sizeof m->name);
	if (m->address[0] == '\0')
		memcpy(m->address, kept.address, sizeof m->address);
	return SL_OK;
}

static int load_pin(struct keygen *keygen, struct sl_error *error)
{
	struct sl_identity identity;
	int code = sl_identity_load(keygen->folder, &identity, error);
	if (code != SL_OK)
		return code;
	memcpy(keygen->member.pin, identity.pin, sizeof identity.pin);
	sl_identity_close(&identity);
	return SL_OK;
}

static int show(struct keygen *keygen)
{
	char line[SL_MEMBER_TEXT_BYTES];
	struct sl_error error = {0};
	if (load_pin(keygen, &error) != SL_OK || recall(keygen, &error) != SL_OK)
		return fail(&error);
	sl_roster_member_text(&keygen->member, line);
	puts(line);
	sl_group_folder_warn(keygen->member.address, false, "change it in the roster");
	return 0;
}

static int make(struct keygen *keygen)
{
	char line[SL_MEMBER_TEXT_BYTES];
	struct sl_error error = {0};
	char path[FOLDER_BYTES];
	bool given = complete(&keygen->member);
	snprintf(path, sizeof path, "%s/key.pem", keygen->folder);
	if (!given && access(path, F_OK) != 0) {
		fputs("starling keygen: --id, --name and --address are needed; see 'starling keygen "
		      "--help'\n",
		      stderr);
		return SL_EXIT_USAGE;
	}
	const char *name = keygen->member.name[0] != '\0' ? keygen->member.name : "learner";
	if (sl_identity_create(keygen->folder, name, &error) != SL_OK || load_pin(keygen, &error) != SL_OK)
		return fail(&error);
	if (!given) {
		fprintf(stderr, "The certificate is made again, from %s; the key is the same.\n", path);
		return 0;
	}
	sl_roster_member_text(&keygen->member, line);
	puts(line);
	if (keep_line(keygen, line, &error) != SL_OK)
		return fail(&error);
	fprintf(stderr,
		"The secret key is %s/key.pem; keep it on this machine. Add the line above to the roster of "
		"every learner.\n"
		"Then start: starlingd --config FILE, with 'identity: %s' and 'id: %u' in FILE.\n",
		keygen->folder, keygen->folder, keygen->member.id);
	sl_group_folder_warn(keygen->member.address, false, "change it in the roster");
	return 0;
}

int sl_cmd_keygen(int argc, char **argv)
{
	struct keygen keygen = {.folder = "identity"};
	sl_option_parse(&usage, argc, argv, &keygen);
	return keygen.show ? show(&keygen) : make(&keygen);
}
