/* The plan of a run: options, schedule, run folder. Errors are found before a daemon starts, and leave no
 * file behind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/membership/group.h"
#include "common/model/trainer.h"
#include "common/report/modulus.h"
#include "daemon/runtime/pool.h"
#include "tools/launch/plan.h"
#include "tools/launch/run_fill.h"
#include "tools/topology/topology.h"

#define LEARNERS_USUAL 10u
#define ROUNDS_USUAL 10u
#define REDRAWS_SPARE 10u     /* moving learners are not connected in every step */
#define WEIGHT_MOST "1000000" /* of an application, unless max_weight is set */
#define REDRAWS_MOST 1000u    /* a longer run plays its schedule again from the start */

/* These differ between learners, or the launcher cannot work without its own value. */
static const char *const reserved[] = {"id",	  "listen",	 "roster", "identity",	 "state",
				       "control", "application", "log",	   "log_format", "neighbours"};

static bool is_of(const char *key, const char *assignment)
{
	size_t length = strlen(key);
	return strncmp(assignment, key, length) == 0 && assignment[length] == '=';
}

/* Check --set number i, against those before it too. */
static int check_set(const struct sl_launch_options *o, size_t i, struct sl_error *error)
{
	const struct {
		const char *key;
		bool said;
	} options[] = {{"rounds", o->rounds != 0}, {"seed", o->seed_said}, {"data", o->data != NULL}};
	const char *set = o->set[i];
	char why[SL_ERROR_BYTES] = "";
	if (is_of("unsafe_dump_model", set)) /* only --verify deletes the secrets again */
		return sl_err_set(error, SL_ERR_INVALID, "--set %s: use --verify", set);
	int rc = sl_settings_check(set, error);
	if (rc != SL_OK)
		return rc;
	if (strcmp(set, "trainer=application") == 0 && o->command == NULL)
		snprintf(why, sizeof why, "name the application: starling launch ... -- COMMAND");
	if (is_of("http", set))
		snprintf(why, sizeof why, "use --http PORT: every learner needs a port of its own");
	if (is_of("trainer", set) && o->command != NULL)
		snprintf(why, sizeof why, "%s is the trainer", o->command[0]);
	if (strcmp(set, "log_level=warn") == 0 || strcmp(set, "log_level=error") == 0)
		snprintf(why, sizeof why, "the launcher needs the records of level info");
	for (size_t k = 0; k < sizeof reserved / sizeof *reserved; k++)
		if (is_of(reserved[k], set))
			snprintf(why, sizeof why, "the launcher gives every learner its own %s", reserved[k]);
	for (size_t k = 0; k < i; k++)
		if (strncmp(set, o->set[k], strcspn(set, "=") + 1) == 0)
			snprintf(why, sizeof why, "there is a --set %s too", o->set[k]);
	for (size_t k = 0; k < sizeof options / sizeof *options; k++)
		if (options[k].said && is_of(options[k].key, set))
			snprintf(why, sizeof why, "there is a --%s too", options[k].key);
	return *why == '\0' ? SL_OK : sl_err_set(error, SL_ERR_INVALID, "--set %s: %s", set, why);
}

/* Take a --set that has an option of its own as that option; return true if it has. */
static bool take_set(struct sl_launch_options *o, const char *assignment)
{
	const char *value = strchr(assignment, '=') + 1;
	if (is_of("rounds", assignment))
		o->rounds = (uint32_t)strtoul(value, NULL, 10);
	else if (is_of("seed", assignment))
		o->seed = strtoull(value, NULL, 10);
	else if (is_of("data", assignment))
		o->data = value;
	else
		return false;
	return true;
}

static int plan_options(struct sl_launch_options *o, struct sl_error *error)
{
	size_t kept = 0;
	int rc = SL_OK;
	for (size_t i = 0; rc == SL_OK && i < o->sets; i++)
		rc = check_set(o, i, error);
	for (size_t i = 0; rc == SL_OK && i < o->sets; i++)
		if (!take_set(o, o->set[i]))
			o->set[kept++] = o->set[i];
	if (rc == SL_OK && o->seed > INT64_MAX)
		rc = sl_err_set(error, SL_ERR_RANGE,
				"--set seed=%llu: at most %lld, the largest integer of JSON",
				(unsigned long long)o->seed, (long long)INT64_MAX);
	o->sets = kept;
	o->rounds = o->rounds != 0 ? o->rounds : ROUNDS_USUAL;
	o->data = o->data != NULL ? o->data : "digits";
	return rc;
}

/* ---- the schedule ---- */

static int plan_schedule(struct sl_plan *plan, struct sl_error *error)
{
	const struct sl_launch_options *o = &plan->options;
	struct sl_topology_request request = {.text = o->topology, .learners = o->learners, .seed = o->seed};
	request.redraws = o->rounds + REDRAWS_SPARE < REDRAWS_MOST ? o->rounds + REDRAWS_SPARE : REDRAWS_MOST;
	if (request.learners == 0 && (request.text == NULL || sl_topology_is_name(request.text)))
		request.learners = LEARNERS_USUAL;
	if (request.text == NULL)
		request.text = request.learners <= 4 ? "complete" : "regular:4";
	int rc = sl_topology_schedule(&request, &plan->schedule, error);
	plan->learners = plan->schedule.learners;
	plan->topology = request.text;
	return rc;
}

static void warn_parts(void *context, uint32_t step, const struct sl_step_parts *parts)
{
	sl_progress_line(
		context,
		"warning: step %u of the schedule is disconnected: %u parts, the largest of %u learner%s",
		step + 1, parts->parts, parts->largest, parts->largest == 1 ? "" : "s");
}

static int check_schedule(struct sl_plan *plan, struct sl_progress *progress, struct sl_error *error)
{
	int rc = sl_settings_quorum(&plan->settings, plan->learners, &plan->quorum, error);
	if (rc == SL_OK &&
	    sl_schedule_check(&plan->schedule, plan->quorum, warn_parts, progress, error) != SL_OK)
		rc = sl_err_wrap(error, "%s", plan->topology);
	if (rc == SL_OK && plan->options.lose > 0 && plan->learners < plan->quorum + plan->options.lose)
		rc = sl_err_set(
			error, SL_ERR_INVALID,
			"--lose %u: fewer than the quorum of %u learners would be left; lose fewer, or "
			"use --set quorum=majority",
			plan->options.lose, plan->quorum);
	return rc;
}

/* ---- the field ---- */

struct sl_encoding sl_plan_encoding(const struct sl_plan *plan, const struct sl_round_row *row)
{
	return (struct sl_encoding){.kind = plan->settings.encoding,
				    .values = row->values,
				    .update_bits = row->bits,
				    .decimals = row->decimals_known ? row->decimals : plan->settings.decimals,
				    .clipping_range = plan->settings.clipping_range,
				    .clamp = plan->settings.clipping == SL_CLIPPING_CLAMP,
				    .weight = 1,
				    .weight_total = plan->learners};
}

/* ---- the folder ---- */

static int name_folder(struct sl_plan *plan, struct sl_error *error)
{
	char usual[64];
	time_t now = time(NULL);
	struct tm tm;
	strftime(usual, sizeof usual, "run-%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	if (plan->options.run_dir == NULL)
		return sl_run_folder_new(&plan->folder, usual, plan->learners, error);
	if (plan->options.run_dir[0] == '\0')
		return sl_err_set(error, SL_ERR_INVALID, "--run-dir: an empty name");
	return sl_run_folder_open(&plan->folder, plan->options.run_dir, plan->learners, error);
}

/* Return "digits" or the absolute path of the folder, malloced: daemons run in folders of their own. */
static char *absolute_data(const char *data, struct sl_error *error)
{
	char *path = strcmp(data, "digits") == 0 ? strdup(data) : realpath(data, NULL);
	if (path == NULL)
		sl_err_set(error, SL_ERR_IO, "data: %s: %m", data);
	return path;
}

/* Append `bytes` of settings to the `count` of `all`; return the new count. */
static size_t add(struct sl_run_setting *all, size_t count, const struct sl_run_setting *more, size_t bytes)
{
	memcpy(all + count, more, bytes);
	return count + bytes / sizeof *more;
}

/* Return true if `setting`, as "trainer=exec", is one of --set. */
static bool is_given(const struct sl_launch_options *o, const char *setting)
{
	for (size_t i = 0; i < o->sets; i++)
		if (strcmp(o->set[i], setting) == 0)
			return true;
	return false;
}

static int fill(struct sl_plan *plan, const char *data, struct sl_error *error)
{
	const struct sl_launch_options *o = &plan->options;
	char rounds[16], seed[24], degree[16], threads[16], here[PATH_MAX];
	uint32_t share = sl_pool_processors() / plan->learners;
	bool exec = is_given(o, "trainer=exec"); /* the learners start the command themselves */
	bool private = is_given(o, "dp=record") || is_given(o, "dp=learner");
	if (getcwd(here, sizeof here) == NULL)
		return sl_err_set(error, SL_ERR_IO, "the current folder: %m");
	snprintf(rounds, sizeof rounds, "%u", o->rounds);
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)o->seed);
	snprintf(degree, sizeof degree, "%u", sl_schedule_degree_max(&plan->schedule));
	snprintf(threads, sizeof threads, "%u", share > 0 ? share : 1);
	const struct sl_run_setting settings[] = {
		{"run", plan->folder.name}, {"rounds", rounds}, {"data", data},
		{"partition", "iid"},	    {"seed", seed},	{"max_degree", degree},
		{"threads", threads},
	};
	static const struct sl_run_setting of_verify[] = {
		{"keep_checkpoints", "all"},
		{"unsafe_dump_model", "true"},
	};
	static const struct sl_run_setting of_commands[] = {{"trainer", "application"}};
	const struct sl_run_setting of_exec[] = {{"command_folder", here}};
	static const struct sl_run_setting of_applications[] = {{"application", "application.sock"}};
	static const struct sl_run_setting of_weights[] = {
		{"weighting", "samples"},
		{"max_weight", WEIGHT_MOST},
	};
	struct sl_run_setting all[16];
	size_t count = add(all, 0, settings, sizeof settings);
	if (o->verify)
		count = add(all, count, of_verify, sizeof of_verify);
	if (o->command != NULL)
		count = add(all, count, of_commands, sizeof of_commands);
	if (exec)
		count = add(all, count, of_exec, sizeof of_exec);
	if (exec || o->command != NULL)
		count = add(all, count, of_applications, sizeof of_applications);
	if ((exec || o->command != NULL) && !private)
		count = add(all, count, of_weights, sizeof of_weights);
	return sl_run_fill(&plan->folder, all, count, o->set, o->sets, error);
}

static int load_settings(struct sl_plan *plan, struct sl_error *error)
{
	char path[PATH_MAX],
		/* short, wherever the folder is: see spawn */
		control[] = "control=/control.sock", application[] = "application=/application.sock";
	const struct sl_launch_options *o = &plan->options;
	const char **set = calloc(o->sets + 2, sizeof *set);
	if (set == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	/* given once more, so that an error names the --set and not a file that is about to vanish */
	for (size_t i = 0; i < o->sets; i++)
		set[i] = o->set[i];
	set[o->sets] = control;
	set[o->sets + 1] = application;
	sl_run_folder_path(&plan->folder, 0, "config.yaml", path);
	struct sl_group group;
	int rc = sl_group_load_settings(path, set, o->sets + 2, &plan->settings, &group, error);
	sl_group_close(&group);
	free(set);
	return rc;
}

/* Open the data as a learner does: images may be unusable, or too few. */
static int check_data(struct sl_plan *plan, struct sl_error *error)
{
	struct sl_trainer *trainer;
	if (sl_settings_has_application(&plan->settings))
		return SL_OK;
	int rc = sl_trainer_open(&plan->settings, 0, plan->learners, &trainer, error);
	if (rc != SL_OK)
		return rc;
	plan->n = trainer->ops->parameters(trainer);
	trainer->ops->close(trainer);
	return SL_OK;
}

static int write_schedule(struct sl_plan *plan, struct sl_error *error)
{
	struct sl_run_file file;
	int rc = sl_run_file_open(&file, &plan->folder, "schedule.txt", error);
	if (rc != SL_OK)
		return rc;
	fprintf(file.out, "# %s, seed %llu\n", plan->topology, (unsigned long long)plan->options.seed);
	sl_schedule_write(&plan->schedule, file.out);
	return sl_run_file_close(&file, error);
}

/* Return p of a round of all learners; 0 if it depends on the models of an application. */
static uint64_t usual_p(const struct sl_plan *plan)
{
	const struct sl_addends addends = {.learners = plan->learners,
					   .max_weight = plan->settings.max_weight,
					   .n = plan->n,
					   .largest_id = plan->learners};
	return plan->n != 0 ? sl_modulus_of(&plan->settings, &addends) : plan->settings.modulus;
}

int sl_plan_check(struct sl_plan *plan, struct sl_progress *progress, struct sl_error *error)
{
	int rc = sl_modulus_check(&plan->settings, plan->learners, plan->learners, error);
	if (rc == SL_OK)
		rc = check_data(plan, error);
	if (rc == SL_OK)
		plan->p = usual_p(plan);
	if (rc == SL_OK)
		rc = check_schedule(plan, progress, error);
	return rc == SL_OK ? sl_launch_privacy_check(plan, progress, error) : rc;
}

int sl_plan_begin(struct sl_plan *plan, const struct sl_launch_options *options, struct sl_error *error)
{
	*plan = (struct sl_plan){.options = *options};
	int rc = plan_options(&plan->options, error);
	return rc == SL_OK ? plan_schedule(plan, error) : rc;
}

static int fill_and_check(struct sl_plan *plan, const char *data, struct sl_progress *progress,
			  struct sl_error *error)
{
	int rc = fill(plan, data, error);
	if (rc == SL_OK)
		rc = load_settings(plan, error);
	if (rc == SL_OK && plan->options.http_port != 0)
		rc = sl_run_fill_http(&plan->folder, plan->options.http_port, plan->settings.http_token_file,
				      error);
	if (rc == SL_OK)
		rc = sl_plan_check(plan, progress, error);
	return rc == SL_OK ? write_schedule(plan, error) : rc;
}

int sl_plan_make(struct sl_plan *plan, const struct sl_launch_options *options, struct sl_progress *progress,
		 struct sl_error *error)
{
	char *data = NULL;
	int rc = sl_plan_begin(plan, options, error);
	if (rc == SL_OK && (data = absolute_data(plan->options.data, error)) == NULL)
		rc = error->code;
	if (rc == SL_OK)
		rc = name_folder(plan, error);
	if (rc == SL_OK && (rc = fill_and_check(plan, data, progress, error)) != SL_OK)
		sl_run_folder_remove(&plan->folder);
	free(data);
	if (rc != SL_OK)
		sl_plan_close(plan);
	return rc;
}

void sl_plan_close(struct sl_plan *plan)
{
	free(plan->resume.of);
	sl_schedule_close(&plan->schedule);
}
