/* --local: a cluster on this machine that lasts for one round, in a folder that is removed. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/launch/launch.h"
#include "tools/lib/command.h"
#include "tools/starling/ask.h"

#define LEARNERS_LEAST 3u
#define STEP_SECONDS 30.0
#define PATH_BYTES (PATH_MAX + 16)
#define FORM_BYTES (32 + 21 * SL_TENSOR_DIMENSIONS_MAX)

struct local {
	const struct sl_ask_options *options;
	const char *name;      /* of the command */
	char form[FORM_BYTES]; /* of the first input */
	char folder[PATH_MAX];
};

/* "an array of shape [3,2]" */
static void form_of(const struct sl_question *q, char form[static FORM_BYTES])
{
	const struct sl_npy *array = &q->array;
	size_t used = (size_t)snprintf(form, FORM_BYTES, "%s",
				       array->values != NULL ? "an array of shape [" : "no array");
	for (uint32_t d = 0; d < array->dimensions; d++)
		used += (size_t)snprintf(form + used, FORM_BYTES - used, "%s%" PRIu64, d > 0 ? "," : "",
					 array->shape[d]);
	snprintf(form + used, FORM_BYTES - used, "%s", array->values != NULL ? "]" : "");
}

/* Check that input `i` has the form of the first one. */
static int check_form(struct local *l, size_t i, const struct sl_question *q, struct sl_error *error)
{
	const struct sl_question_input *inputs = l->options->inputs;
	char form[FORM_BYTES];
	form_of(q, form);
	if (i == 0)
		memcpy(l->form, form, sizeof form);
	if (strcmp(form, l->form) != 0)
		return sl_err_set(error, SL_ERR_INVALID,
				  "%s gives %s, and %s %s: all learners must give arrays of the same shape, "
				  "or none",
				  inputs[0].text, l->form, inputs[i].text, form);
	if (q->skipped > 0)
		fprintf(stderr, "%s: %s: %" PRIu64 " empty cell%s skipped\n", l->name, inputs[i].text,
			q->skipped, q->skipped == 1 ? "" : "s");
	return SL_OK;
}

/* Read all inputs, so that an error is found before a learner starts. */
static int survey(struct local *l, struct sl_error *error)
{
	const struct sl_ask_options *o = l->options;
	int rc = SL_OK;
	for (size_t i = 0; rc == SL_OK && i < o->count; i++) {
		struct sl_question q;
		if ((rc = sl_question_open(&q, &o->question, error)) != SL_OK)
			break;
		if ((rc = sl_question_add(&q, &o->inputs[i], error)) == SL_OK)
			rc = check_form(l, i, &q, error);
		sl_question_close(&q);
	}
	return rc;
}

static int copy_to(FILE *out, const char *path)
{
	char bytes[4096];
	size_t count;
	FILE *in = fopen(path, "re");
	if (in == NULL)
		return -1;
	while ((count = fread(bytes, 1, sizeof bytes, in)) > 0)
		fwrite(bytes, 1, count, out);
	return fclose(in);
}

/* Print the result and the notes of the first learner; after a failure, the output of each learner. */
static int show(const struct local *l, const struct sl_run_folder *run, int status)
{
	char path[PATH_MAX];
	if (status == 0 && sl_run_folder_file(run, "result", path) == SL_OK && copy_to(stdout, path) == 0 &&
	    sl_run_folder_file(run, "notes", path) == SL_OK && copy_to(stderr, path) == 0)
		return 0;
	bool interrupted = status > 128; /* by a signal; else by whichever learner was first */
	for (uint32_t i = 0; i < run->learners && !interrupted; i++)
		if (sl_run_folder_path(run, i, "output.txt", path) == SL_OK)
			copy_to(stderr, path);
	fprintf(stderr, "%s: the run on this machine failed\n", l->name);
	return interrupted ? status : SL_EXIT_FAILED;
}

static int launch(const struct local *l, const struct sl_launch_options *options)
{
	struct sl_plan plan;
	struct sl_error error = {0};
	struct sl_progress progress;
	FILE *quiet = fopen("/dev/null", "we");
	if (quiet == NULL) {
		fprintf(stderr, "%s: /dev/null: %s\n", l->name, strerror(errno));
		return SL_EXIT_FAILED;
	}
	sl_progress_open(&progress, quiet, false);
	int status = SL_EXIT_FAILED;
	if (sl_plan_make(&plan, options, &progress, &error) != SL_OK) {
		fprintf(stderr, "%s: %s\n", l->name, error.text);
	} else {
		status = show(l, &plan.folder, sl_launch_run(&plan, &progress));
		sl_run_folder_remove(&plan.folder);
		sl_plan_close(&plan);
	}
	fclose(quiet);
	return status;
}

/* Launch with this command and --pick as the trainer. */
static int launch_with(const struct local *l, char **arguments, int count)
{
	char self[PATH_MAX], run[PATH_BYTES];
	const char *set[] = {"weighting=equal", "max_weight=1", "log_level=info"};
	char **command = calloc((size_t)count + 4, sizeof *command);
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	if (command == NULL || length < 0) {
		fprintf(stderr, "%s: %s\n", l->name, strerror(errno));
		free(command);
		return SL_EXIT_FAILED;
	}
	self[length] = '\0';
	command[0] = self;
	command[1] = (char *)sl_question_names[l->options->question.kind];
	command[2] = "--pick";
	memcpy(command + 3, arguments, (size_t)count * sizeof *arguments);
	snprintf(run, sizeof run, "%s/run", l->folder);
	const struct sl_launch_options options = {.program = "starling",
						  .learners = (uint32_t)l->options->count,
						  .rounds = 1,
						  .run_dir = run,
						  .seed = 1,
						  .step_s = STEP_SECONDS,
						  .set = set,
						  .sets = sizeof set / sizeof *set,
						  .command = command};
	int status = launch(l, &options);
	free(command);
	return status;
}

int sl_ask_local(const struct sl_ask_options *options, int argc, char **argv)
{
	struct sl_error error = {0};
	struct local l = {.options = options, .name = argv[0]};
	const char *base = getenv("TMPDIR");
	if (options->count < LEARNERS_LEAST) {
		fprintf(stderr,
			"%s: --local needs at least %u values, one for each learner: of two learners, each "
			"could subtract its own value from the sum\n",
			l.name, LEARNERS_LEAST);
		return SL_EXIT_USAGE;
	}
	if (survey(&l, &error) != SL_OK) {
		fprintf(stderr, "%s: %s\n", l.name, error.text);
		return SL_EXIT_USAGE;
	}
	snprintf(l.folder, sizeof l.folder, "%s/starling-XXXXXX",
		 base != NULL && *base != '\0' ? base : "/tmp");
	if (mkdtemp(l.folder) == NULL) {
		fprintf(stderr, "%s: %s: %s\n", l.name, l.folder, strerror(errno));
		return SL_EXIT_FAILED;
	}
	int status = launch_with(&l, argv + 1, argc - 1);
	rmdir(l.folder);
	return status;
}
