/* `starling doctor`: find what keeps the learner of this machine from taking part. */
#include "tools/starling/doctor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/runtime/log.h"
#include "tools/lib/option.h"
#include "tools/starling/group_folder.h"
#include "tools/lib/help_texts.h"

#define SYSTEM_CONFIG "/etc/starling/starlingd.yaml"

struct options {
	const char *folder, *config;
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

static const char *const words[] = {
	[SL_DOCTOR_OK] = "ok", [SL_DOCTOR_WARN] = "warn", [SL_DOCTOR_FAIL] = "FAIL"};

/* Print the findings from number `first` on. */
static void print_text(const struct sl_doctor *doctor, size_t first)
{
	for (size_t i = first; i < doctor->count; i++) {
		const struct sl_doctor_finding *f = &doctor->findings[i];
		printf("%-4s  %s: %s%s%s\n", words[f->level], f->about, f->text,
		       f->remedy[0] != '\0' ? "; " : "", f->remedy);
	}
}

static void print_json(const struct sl_doctor *doctor)
{
	json_t *array = json_array();
	for (size_t i = 0; i < doctor->count; i++) {
		const struct sl_doctor_finding *f = &doctor->findings[i];
		json_array_append_new(array,
				      json_pack("{s:s, s:s, s:s, s:s}", "result", words[f->level], "about",
						f->about, "text", f->text, "remedy", f->remedy));
	}
	sl_command_print_json(array, 0);
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

/* Look at this machine, then at the peers. What is found here is printed before the peers have answered.
 * Return false if a name server does not answer. */
static bool look(struct sl_doctor *doctor, bool json)
{
	bool ask = sl_doctor_machine(doctor);
	size_t shown = json ? 0 : doctor->count;
	if (!json)
		print_text(doctor, 0);
	fflush(stdout);
	bool done = !ask || sl_doctor_peers(doctor);
	if (json)
		print_json(doctor);
	else
		print_text(doctor, shown);
	return done;
}

static void close_doctor(struct sl_doctor *doctor)
{
	if (doctor->has_key)
		sl_identity_close(&doctor->identity);
	sl_group_close(&doctor->group);
	json_decref(doctor->status);
	free(doctor->findings);
}

int sl_cmd_doctor(int argc, char **argv)
{
	static struct sl_doctor doctor; /* large */
	struct options o = {0};
	struct sl_error error = {0};
	int status = 0;
	sl_option_parse(&usage, argc, argv, &o);
	if (find_config(&o, doctor.config, &error) != SL_OK) {
		fprintf(stderr, "starling doctor: %s\n", error.text);
		return SL_EXIT_USAGE;
	}
	bool done = look(&doctor, o.json);
	for (size_t i = 0; i < doctor.count; i++)
		if (doctor.findings[i].level == SL_DOCTOR_FAIL)
			status = SL_EXIT_FAILED;
	if (!done) {
		fflush(stdout);
		_exit(status);
	}
	close_doctor(&doctor);
	return status;
}
