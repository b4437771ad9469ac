/* `starling export`: a committed model for other programs. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/model/checkpoint.h"
#include "tools/lib/option.h"
#include "tools/starling/model_file.h"
#include "tools/starling/npz.h"

struct options {
	const char *path, *npz, *safetensors;
	uint32_t round; /* 0: the last one */
	bool force;
};

static const struct sl_option rows[] = {
	{"npz", 0, "FILE", "write the tensors for numpy.load", SL_SETS(struct options, npz)},
	{"safetensors", 0, "FILE", "write a copy of the checkpoint", SL_SETS(struct options, safetensors)},
	{"round", 0, "T", "the model of this round (the last one that is kept)",
	 SL_SETS(struct options, round), 1, SL_ROUNDS_MAX},
	{"force", 'f', NULL, "replace a file that is there", SL_SETS(struct options, force)},
	{0}};

static void check(struct argp_state *state, const void *options)
{
	const struct options *o = options;
	if (o->npz == NULL && o->safetensors == NULL)
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "name the file to write: --npz FILE or --safetensors FILE");
}

static const struct sl_usage usage = {
	.options = rows,
	.arguments = "RUNFOLDER|STATEFOLDER|CHECKPOINT",
	.missing = "name a run folder, a state folder or a checkpoint",
	.argument = offsetof(struct options, path),
	.check = check,
	.doc = "Write a committed model for other programs, by the names of its tensors.\v"
	       "Examples:\n"
	       "  starling export --npz model.npz --round 7 run-20261122-015350\n"
	       "  starling export --safetensors m.safetensors /var/lib/starling/state\n"
	       "  python3 -c 'import numpy; print(numpy.load(\"model.npz\")[\"weight\"])'\n"
	       "\n"
	       "Of a run folder, the checkpoint of the first learner that has the round is taken: all "
	       "learners have the same.\n"
	       "\n"
	       "Exit status: 0 done; 1 the file cannot be written; 2 wrong usage, or no such model.\n"};

/* ---- the checkpoint ---- */

/* Raise *round to the last one of a folder, or set it if that is `wanted`; return true if it has. */
static bool look_here(const char *folder, uint32_t wanted, uint32_t *round)
{
	DIR *directory = opendir(folder);
	bool found = false;
	if (directory == NULL)
		return false;
	for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
		char name[SL_FILE_NAME_BYTES];
		unsigned t;
		if (sscanf(entry->d_name, "round-%u.", &t) != 1)
			continue;
		sl_checkpoint_name(t, name);
		if (strcmp(name, entry->d_name) != 0 || (wanted != 0 ? t != wanted : t <= *round))
			continue;
		*round = t;
		found = true;
	}
	closedir(directory);
	return found;
}

/* Look in the checkpoints of a state folder, or in the folder itself; make *folder the one that has it. */
static bool look(char folder[static PATH_MAX], uint32_t wanted, uint32_t *round)
{
	char inside[PATH_MAX];
	if (snprintf(inside, sizeof inside, "%s/" SL_CHECKPOINT_FOLDER, folder) < PATH_MAX &&
	    look_here(inside, wanted, round)) {
		strcpy(folder, inside);
		return true;
	}
	return look_here(folder, wanted, round);
}

static int is_learner(const struct dirent *entry)
{
	return strncmp(entry->d_name, "learner-", strlen("learner-")) == 0;
}

/* Look in the state folders of the learners of a run folder; write the best one to `state`. */
static bool look_in_run(const char *path, uint32_t wanted, uint32_t *round, char state[static PATH_MAX])
{
	struct dirent **names;
	bool found = false;
	int count = scandir(path, &names, is_learner, alphasort);
	for (int i = 0; i < count; i++) {
		char folder[PATH_MAX];
		if (snprintf(folder, sizeof folder, "%s/%s/state", path, names[i]->d_name) < PATH_MAX &&
		    !(found && wanted != 0) && look(folder, wanted, round)) {
			strcpy(state, folder);
			found = true;
		}
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return found;
}

/* Write the path of the checkpoint that is meant. */
static int find(const struct options *o, char checkpoint[static PATH_MAX], struct sl_error *error)
{
	char state[PATH_MAX], name[SL_FILE_NAME_BYTES];
	uint32_t round = 0;
	struct stat status;
	if (stat(o->path, &status) < 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", o->path, strerror(errno));
	snprintf(state, sizeof state, "%s", o->path);
	if (!S_ISDIR(status.st_mode)) {
		strcpy(checkpoint, state);
		return SL_OK;
	}
	if (!look(state, o->round, &round) && !look_in_run(o->path, o->round, &round, state)) {
		if (o->round != 0)
			return sl_err_set(
				error, SL_ERR_NOTFOUND,
				"%s: no checkpoint of round %u: keep_checkpoints says how many are kept",
				o->path, o->round);
		return sl_err_set(
			error, SL_ERR_NOTFOUND,
			"%s: no checkpoint here: name a run folder or a state folder with a committed "
			"round",
			o->path);
	}
	sl_checkpoint_name(round, name);
	return snprintf(checkpoint, PATH_MAX, "%s/%s", state, name) < PATH_MAX
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_RANGE, "%s: the path is too long", state);
}

/* ---- writing ---- */

static int write_copy(FILE *out, const struct sl_model_file *file)
{
	return fwrite(file->memory, 1, file->size, out) == file->size ? 0 : -1;
}

/* Write `path` completely or not at all. */
static int write_file(const char *path, bool force, const struct sl_model_file *file,
		      int (*write)(FILE *out, const struct sl_model_file *file), struct sl_error *error)
{
	char temporary[PATH_MAX];
	struct stat status;
	bool exists = lstat(path, &status) == 0;
	if (exists && !S_ISREG(status.st_mode))
		return sl_err_set(error, SL_ERR_BUSY, "%s is not a regular file: name another one", path);
	if (!force && exists)
		return sl_err_set(error, SL_ERR_BUSY, "%s exists; give --force to replace it", path);
	if (snprintf(temporary, sizeof temporary, "%s" SL_TEMPORARY, path) >= PATH_MAX)
		return sl_err_set(error, SL_ERR_RANGE, "%s: the path is too long", path);
	FILE *out = fopen(temporary, "we");
	if (out == NULL)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", temporary, strerror(errno));
	bool good = write(out, file) == 0 && fflush(out) == 0 && fsync(fileno(out)) == 0;
	int why = errno;
	good = fclose(out) == 0 && good;
	if (good && rename(temporary, path) == 0)
		return SL_OK;
	why = good ? errno : why;
	unlink(temporary);
	return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(why));
}

static int write_files(const struct options *o, const struct sl_model_file *file, struct sl_error *error)
{
	int rc = SL_OK;
	if (o->npz != NULL)
		rc = write_file(o->npz, o->force, file, sl_npz_write, error);
	if (rc == SL_OK && o->safetensors != NULL)
		rc = write_file(o->safetensors, o->force, file, write_copy, error);
	return rc;
}

int sl_cmd_export(int argc, char **argv)
{
	struct options o = {0};
	struct sl_model_file file;
	struct sl_error error = {0};
	char checkpoint[PATH_MAX];
	sl_option_parse(&usage, argc, argv, &o);
	int status = SL_EXIT_USAGE, rc = find(&o, checkpoint, &error);
	if (rc == SL_OK)
		rc = sl_model_file_open(&file, checkpoint, &error);
	if (rc == SL_OK && o.round != 0 && file.round != o.round) {
		rc = sl_err_set(&error, SL_ERR_NOTFOUND, "%s: holds round %u, not %u", checkpoint, file.round,
				o.round);
		sl_model_file_close(&file);
	}
	if (rc == SL_OK) {
		status = SL_EXIT_FAILED;
		rc = write_files(&o, &file, &error);
		if (rc == SL_OK)
			fprintf(stderr, "round %u of run %s, the mean of %u learners: %zu tensor%s\n",
				file.round, file.run, file.learners, file.count, file.count == 1 ? "" : "s");
		sl_model_file_close(&file);
	}
	if (rc == SL_OK)
		return 0;
	fprintf(stderr, "%s: %s\n", argv[0], error.text);
	return rc == SL_ERR_BUSY ? SL_EXIT_USAGE : status;
}
