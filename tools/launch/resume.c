/* Resume a run from its run folder: read schedule, settings and progress, and continue after the last round.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "common/membership/group.h"
#include "common/base/bytes.h"
#include "daemon/store/store.h"
#include "tools/launch/launch.h"
#include "tools/launch/run_fill.h"
#include "tools/launch/state.h"

#define END_TRIES 100u /* of 0.1 s: learners end soon after their launcher */

/* ---- the folder ---- */

static int not_a_run(const char *path, const char *why, struct sl_error *error)
{
	return sl_err_set(
		error, SL_ERR_INVALID,
		"--resume %s: not a run folder (%s); name the folder that 'starling launch' printed "
		"as \"run folder\"",
		path, why);
}

static int open_folder(struct sl_plan *plan, struct sl_error *error)
{
	struct sl_run_folder *folder = &plan->folder;
	const char *shown = plan->options.resume;
	char path[PATH_MAX];
	if (realpath(shown, folder->path) == NULL)
		return not_a_run(shown, strerror(errno), error);
	if (strlen(folder->path) + 64 >= sizeof folder->path || strlen(shown) >= sizeof folder->shown)
		return sl_err_set(error, SL_ERR_RANGE, "%s: the path is too long", shown);
	strcpy(folder->shown, shown);
	sl_run_folder_file(folder, "schedule.txt", path);
	if (access(path, R_OK) != 0)
		return not_a_run(shown, "no schedule.txt in it", error);
	return SL_OK;
}

/* Read the topology's name from the comment "# regular:4, seed 1" that opens the schedule. */
static void read_topology(struct sl_plan *plan, const char *path)
{
	FILE *in = fopen(path, "re");
	snprintf(plan->topology_text, sizeof plan->topology_text, "schedule.txt");
	if (in != NULL && fscanf(in, "# %127[^,\n],", plan->topology_text) < 1)
		snprintf(plan->topology_text, sizeof plan->topology_text, "schedule.txt");
	if (in != NULL)
		fclose(in);
	plan->topology = plan->topology_text;
}

static int read_schedule(struct sl_plan *plan, struct sl_error *error)
{
	char path[PATH_MAX];
	sl_run_folder_file(&plan->folder, "schedule.txt", path);
	int rc = sl_schedule_read(path, &plan->schedule, error);
	plan->learners = plan->folder.learners = plan->schedule.learners;
	read_topology(plan, path);
	return rc;
}

/* ---- settings ---- */

static int read_settings(struct sl_plan *plan, struct sl_error *error)
{
	/* short, as the learner sees them in its folder */
	const char *const sockets[] = {"control=/control.sock", "application=/application.sock"};
	struct sl_launch_options *o = &plan->options;
	char path[PATH_MAX];
	sl_run_folder_path(&plan->folder, 0, "config.yaml", path);
	if (access(path, R_OK) != 0)
		return not_a_run(o->resume, "no configuration of its learners in it", error);
	struct sl_group group;
	int rc = sl_group_load_settings(path, sockets, 2, &plan->settings, &group, error);
	sl_group_close(&group);
	if (rc != SL_OK)
		return rc;
	if (o->verify && !plan->settings.unsafe_dump_model)
		return sl_err_set(error, SL_ERR_INVALID,
				  "--resume and --verify: this run was started without --verify; leave it "
				  "out, or start a new run");
	if ((plan->settings.trainer == SL_TRAINER_APPLICATION) != (o->command != NULL))
		return sl_err_set(error, SL_ERR_INVALID,
				  o->command == NULL
					  ? "--resume %s: its learners run a command; give it again: "
					    "starling launch --resume RUNFOLDER -- COMMAND"
					  : "--resume %s: its learners do not run a command; leave it out",
				  o->resume);
	if (o->rounds != 0 && o->rounds < plan->settings.rounds)
		return sl_err_set(error, SL_ERR_INVALID,
				  "--rounds %u: this run has %u rounds, and they can only be raised",
				  o->rounds, plan->settings.rounds);
	o->verify = plan->settings.unsafe_dump_model;
	o->seed = plan->settings.seed;
	return SL_OK;
}

static int raise_rounds(struct sl_plan *plan, struct sl_error *error)
{
	if (plan->options.rounds <= plan->settings.rounds)
		return SL_OK;
	char value[16];
	snprintf(value, sizeof value, "%u", plan->options.rounds);
	int rc = sl_run_fill_share(&plan->folder, "roster.yaml", "rounds", value, error);
	if (rc == SL_OK)
		plan->settings.rounds = plan->options.rounds;
	return rc;
}

/* ---- learners of an earlier launch ---- */

/* Return true if a daemon holds the state folder; `process` is its process id, 0 if unknown. */
static bool is_held(const char *state, long *process)
{
	char path[PATH_MAX + 8], text[32] = "";
	snprintf(path, sizeof path, "%s/lock", state);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	*process = 0;
	if (fd < 0)
		return false;
	bool held = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	*process = pread(fd, text, sizeof text - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;
	close(fd);
	return held;
}

static int await_end(struct sl_plan *plan, struct sl_error *error)
{
	uint32_t tries = 0;
	long process = 0;
	char state[PATH_MAX];
	for (uint32_t i = 0; i < plan->learners;) {
		sl_run_folder_path(&plan->folder, i, "state", state);
		if (!is_held(state, &process)) {
			i++;
			continue;
		}
		if (++tries > END_TRIES)
			return sl_err_set(error, SL_ERR_BUSY,
					  "--resume %s: learner %u is running, as process %ld; end the run "
					  "first",
					  plan->options.resume, i + 1, process);
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	}
	return SL_OK;
}

/* ---- progress ---- */

/* Read the last committed round of every learner. A learner whose records cannot be read reports that itself
 * when it starts. */
static void read_commits(struct sl_plan *plan, const struct sl_roster *roster)
{
	struct sl_resume *r = &plan->resume;
	for (uint32_t i = 0; i < plan->learners && i < roster->size; i++) {
		char state[PATH_MAX];
		struct sl_store *store;
		struct sl_store_round last;
		struct sl_error ignored = {0};
		struct sl_store_owner owner = {.run = plan->settings.run, .roster = roster};
		memcpy(owner.pin, roster->members[i].pin, SL_HASH_BYTES);
		sl_run_folder_path(&plan->folder, i, "state", state);
		if (sl_store_peek(&store, state, &owner, &ignored) != SL_OK || store == NULL)
			continue;
		if (sl_store_last_round(store, &last, &ignored) == SL_OK)
			r->of[i] = last.t;
		sl_store_close(store);
		r->committed = r->of[i] > r->committed ? r->of[i] : r->committed;
	}
}

/* The result of the last committed round is still in the folders, and shown if it was not. Results of rounds
 * before it are not. */
static int find_progress(struct sl_plan *plan, struct sl_error *error)
{
	struct sl_resume *r = &plan->resume;
	struct sl_group group;
	char path[PATH_MAX];
	sl_run_folder_file(&plan->folder, "roster.yaml", path);
	int rc = sl_group_load(path, &group, error);
	if (rc != SL_OK)
		return rc;
	r->of = calloc(plan->learners, sizeof *r->of);
	if (r->of == NULL) {
		sl_group_close(&group);
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	}
	bool known = sl_progress_file_read(plan);
	read_commits(plan, &group.roster);
	sl_group_close(&group);
	if (!known)
		*r = (struct sl_resume){.shown = r->committed, .committed = r->committed, .of = r->of};
	r->committed = r->committed > r->shown ? r->committed : r->shown;
	r->first = r->committed > r->shown ? r->committed - 1 : r->shown;
	r->step = r->step > r->committed ? r->step : r->committed + 1; /* each commit ends a step */
	return SL_OK;
}

bool sl_resume_finished(const struct sl_plan *plan)
{
	return plan->resume.of != NULL && plan->resume.first >= plan->settings.rounds;
}

/* ---- the plan ---- */

int sl_resume_plan(struct sl_plan *plan, const struct sl_launch_options *options,
		   struct sl_progress *progress, struct sl_error *error)
{
	static int (*const steps[])(struct sl_plan *, struct sl_error *) = {
		open_folder, read_schedule, read_settings, await_end, find_progress, raise_rounds};
	int rc = SL_OK;
	*plan = (struct sl_plan){.options = *options};
	for (size_t i = 0; rc == SL_OK && i < sizeof steps / sizeof *steps; i++)
		rc = steps[i](plan, error);
	if (rc == SL_OK && !sl_resume_finished(plan))
		rc = sl_plan_check(plan, progress, error);
	if (rc == SL_OK && !sl_resume_finished(plan))
		rc = sl_run_fill_ports(&plan->folder, error);
	if (rc == SL_OK && options->http_port != 0)
		rc = sl_run_fill_http(&plan->folder, options->http_port, plan->settings.http_token_file,
				      error);
	if (rc != SL_OK)
		sl_plan_close(plan);
	return rc;
}

/* ---- the launch ---- */

/* The last committed round, if it is shown again: its error on held-out images may never be reported again.
 */
static void prepare_last(struct sl_launch *launch)
{
	const struct sl_resume *r = &launch->plan->resume;
	if (r->committed == r->first)
		return;
	struct sl_round_row *row = sl_round_table_at(&launch->rounds, r->committed);
	if (row == NULL)
		return;
	row->mse = NAN;
	row->mse_known = true;
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		if (r->of[i] == r->committed)
			sl_adopt(&launch->learners[i], r->committed);
}

void sl_resume_begin(struct sl_launch *launch)
{
	const struct sl_resume *r = &launch->plan->resume;
	launch->rounds.first = launch->handed = r->first;
	if (r->of == NULL)
		return;
	for (uint32_t i = 0; i < launch->plan->learners; i++) {
		launch->learners[i].committed = r->of[i] < r->first ? r->of[i] : r->first;
		launch->learners[i].took_part = r->of[i] > 0 && !sl_bit(r->idle, i);
	}
	if (r->first > 0)
		sl_round_table_at(&launch->rounds, r->first);
	prepare_last(launch);
}
