/* `starling abort`: tell learners that an attempt will never be completed. */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/protocol/phase.h"
#include "tools/lib/control_query.h"
#include "tools/lib/option.h"

#define LEARNERS_MOST 64u /* names given with --learner */
#define ANSWER_MS 10000

struct abort_command {
	uint64_t round; /* 0: not given */
	const char *run, *control;
	const char *learners[LEARNERS_MOST]; /* ids or names; none: all of the run */
	size_t learner_count;
	bool yes;
	struct sl_control_query *asked;
	size_t count;
};

static void take_learner(struct argp_state *state, const char *value, void *options)
{
	struct abort_command *a = options;
	if (a->learner_count == LEARNERS_MOST)
		argp_failure(state, SL_EXIT_USAGE, 0, "more than %u --learner", LEARNERS_MOST);
	a->learners[a->learner_count++] = value;
}

static const struct sl_option own[] = {
	{"round", 'r', "T", "round whose open attempt to abort (required)",
	 SL_SETS(struct abort_command, round), 1, UINT32_MAX},
	{"run", 'd', "FOLDER", "all learners of this run folder, or of a folder of learners set up by hand",
	 SL_SETS(struct abort_command, run)},
	{"learner", 'l', "NAME", "only this learner of the folder, by name or id; may be repeated",
	 .take = take_learner},
	{"control", 'c', "SOCKET", "the learner with this control socket",
	 SL_SETS(struct abort_command, control)},
	{"yes", 'y', NULL, "do not ask for confirmation", SL_SETS(struct abort_command, yes)},
	{0}};

static void check(struct argp_state *state, const void *options)
{
	const struct abort_command *a = options;
	if (a->round == 0)
		argp_error(state, "--round T is required");
	if ((a->run == NULL) == (a->control == NULL) || (a->learner_count > 0 && a->run == NULL))
		argp_error(state, "which learners? give --run FOLDER, with or without --learner, or "
				  "--control SOCKET");
}

static const struct sl_usage usage = {
	.options = own,
	.check = check,
	.doc = "Abort an attempt that cannot be completed: more of its participants are lost for good than "
	       "its "
	       "links bear.\v"
	       "Tell every learner that still waits; with --run, all of them are told. The cost:\n"
	       "- each learner trains its model of the round again; the new one differs by training noise "
	       "only, and the sum with the first one may be known to the lost learners;\n"
	       "- a fork, if the lost learners had committed the round: when they come back, their model "
	       "differs, and they are refused until their state folders are moved away.\n"
	       "If a learner is only late or switched off, wait for it instead: the round goes on by itself "
	       "when it is back.\n"
	       "\n"
	       "Examples:\n"
	       "  starling abort --round 7 --run RUNFOLDER\n"
	       "  starling abort --round 7 --run RUNFOLDER --learner learner-03 --yes\n"
	       "  starling abort --round 7 --control /run/starling/control.sock\n"
	       "\n"
	       "Exit status: 0 every learner that answered and had such an attempt has aborted it, 1 none "
	       "had, or "
	       "one did not, 2 bad usage."};

/* ---- which learners ---- */

/* Fill in `one` and return true if FOLDER/NAME is the folder of a learner: it has a control socket, or had
 * one. */
static bool find_socket(const struct abort_command *a, const char *name, struct sl_control_query *one)
{
	static const char *const places[] = {"/control.sock", "/state/control.sock", "/state/lock"};
	char path[PATH_MAX];
	size_t place = 0, count = sizeof places / sizeof *places;
	while (place < count &&
	       (snprintf(path, sizeof path, "%s/%s%s", a->run, name, places[place]) >= PATH_MAX ||
		access(path, F_OK) != 0))
		place++;
	if (place == count)
		return false;
	int n = snprintf(one->folder, sizeof one->folder, "%s/%s%s", a->run, name,
			 place == 0 ? "" : "/state");
	snprintf(one->shown, sizeof one->shown, "%s", name);
	snprintf(one->socket, sizeof one->socket, "control.sock");
	return n < PATH_MAX;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int find_run(struct abort_command *a)
{
	struct dirent **entries;
	int count = scandir(a->run, &entries, visible, alphasort);
	if (count < 0) {
		fprintf(stderr, "starling abort: %s: %s\n", a->run, strerror(errno));
		return SL_EXIT_USAGE;
	}
	a->asked = sl_command_memory((size_t)count + 1, sizeof *a->asked);
	for (int i = 0; i < count; i++) {
		if (find_socket(a, entries[i]->d_name, &a->asked[a->count]))
			a->count++;
		free(entries[i]);
	}
	free(entries);
	if (a->count > 0)
		return 0;
	fprintf(stderr,
		"starling abort: %s: no learner in it: no NAME/control.sock, and no NAME/state/control.sock; "
		"for a "
		"learner whose socket is elsewhere, give --control SOCKET\n",
		a->run);
	return SL_EXIT_USAGE;
}

static int find_one(struct abort_command *a)
{
	const char *slash = strrchr(a->control, '/');
	a->asked = sl_command_memory(1, sizeof *a->asked);
	a->count = 1;
	snprintf(a->asked->shown, sizeof a->asked->shown, "%s", a->control);
	snprintf(a->asked->socket, sizeof a->asked->socket, "%s", slash == NULL ? a->control : slash + 1);
	snprintf(a->asked->folder, sizeof a->asked->folder, "%.*s",
		 slash == NULL	       ? 1
		 : slash == a->control ? 1
				       : (int)(slash - a->control),
		 slash == NULL ? "." : a->control);
	return 0;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text == NULL ? "" : text;
}

static long long number_of(const json_t *object, const char *key)
{
	return (long long)json_integer_value(json_object_get(object, key));
}

/* Return true if `name` is the learner's folder, its name, or its id (the number in learner-03). */
static bool is_called(const struct sl_control_query *one, const char *name)
{
	uint64_t id;
	if (strcmp(one->shown, name) == 0 || strcmp(text_of(one->reply, "name"), name) == 0)
		return true;
	if (!sl_number_parse(name, 1, UINT32_MAX, &id))
		return false;
	return id == (uint64_t)number_of(one->reply, "id") ||
	       (strncmp(one->shown, "learner-", 8) == 0 && id == strtoull(one->shown + 8, NULL, 10));
}

static bool wanted(const struct abort_command *a, const struct sl_control_query *one)
{
	for (size_t i = 0; i < a->learner_count; i++)
		if (is_called(one, a->learners[i]))
			return true;
	return a->learner_count == 0;
}

/* ---- replies ---- */

/* Show the state of a learner to the operator, before the confirmation. */
static void show(const struct sl_control_query *one)
{
	const char *awaits = text_of(one->reply, "awaits"), *phase = text_of(one->reply, "phase");
	const char *of = strcmp(phase, sl_phase_name(SL_PHASE_RECOVER)) == 0
				 ? "; no linked learner has the deposit or the deposit key of "
				 : "; waits for ";
	if (one->error != 0)
		fprintf(stderr, "%s: not running, or waiting for its application (%s)\n", one->shown,
			strerror(one->error));
	else if (one->reply == NULL)
		fprintf(stderr, "%s: does not answer; left out\n", one->shown);
	else
		fprintf(stderr, "%s: round %lld attempt %lld, %s%s%s\n", one->shown,
			number_of(one->reply, "round"), number_of(one->reply, "attempt"), phase,
			*awaits != '\0' ? of : "", awaits);
}

/* Show the wanted learners; return 0 if one of them answered, else the exit status. */
static int show_all(struct abort_command *a)
{
	size_t named = 0, answering = 0;
	for (size_t i = 0; i < a->count; i++) {
		struct sl_control_query *one = &a->asked[i];
		one->skip = !wanted(a, one);
		if (one->skip)
			continue;
		named++;
		show(one);
		one->skip = one->reply == NULL;
		answering += !one->skip;
	}
	if (named > 0)
		return answering > 0 ? 0 : SL_EXIT_FAILED;
	fprintf(stderr, "starling abort: %s: no such learner in it\n", a->run);
	return SL_EXIT_USAGE;
}

static bool tell(const struct abort_command *a, const struct sl_control_query *one)
{
	if (json_is_true(json_object_get(one->reply, "ok"))) {
		printf("%s: attempt %lld of round %llu is aborted\n", one->shown,
		       number_of(one->reply, "attempt"), (unsigned long long)a->round);
		return true;
	}
	fprintf(stderr, "starling abort: %s: %s\n", one->shown,
		one->reply != NULL ? text_of(one->reply, "error") : "no longer answers");
	return false;
}

/* Return the exit status. A learner with nothing to abort is no failure if another one had such an attempt.
 */
static int tell_all(const struct abort_command *a)
{
	size_t done = 0, silent = 0;
	for (size_t i = 0; i < a->count; i++) {
		if (a->asked[i].skip)
			continue;
		done += tell(a, &a->asked[i]);
		silent += a->asked[i].reply == NULL;
	}
	return done > 0 && silent == 0 ? 0 : SL_EXIT_FAILED;
}

static void request_all(struct abort_command *a, json_t *request)
{
	sl_control_query_all(a->asked, a->count, request, ANSWER_MS);
	json_decref(request);
}

/* ---- confirmation ---- */

static bool confirmed(const struct abort_command *a)
{
	char line[32] = "";
	uint64_t typed;
	fprintf(stderr,
		"Aborting invalidates the models trained for round %llu. If a lost learner had committed it "
		"alone, its model and yours\n"
		"differ for ever (a fork). If it may come back, wait for it instead. Type the number of the "
		"round to go on: ",
		(unsigned long long)a->round);
	if (fgets(line, sizeof line, stdin) == NULL)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return sl_number_parse(line, a->round, a->round, &typed);
}

static int run(struct abort_command *a)
{
	request_all(a, json_pack("{s:s}", "op", "status"));
	int status = show_all(a);
	if (status != 0)
		return status;
	if (!a->yes && !confirmed(a)) {
		fprintf(stderr, "starling abort: nothing was aborted\n");
		return SL_EXIT_FAILED;
	}
	request_all(a, json_pack("{s:s, s:I}", "op", "abort", "round", (json_int_t)a->round));
	return tell_all(a);
}

int sl_cmd_abort(int argc, char **argv)
{
	struct abort_command a = {0};
	sl_option_parse(&usage, argc, argv, &a);
	if (!a.yes && !isatty(STDIN_FILENO)) {
		fprintf(stderr, "starling abort: standard input is no terminal: confirm with --yes\n");
		return SL_EXIT_USAGE;
	}
	int status = a.run != NULL ? find_run(&a) : find_one(&a);
	if (status == 0)
		status = run(&a);
	for (size_t i = 0; i < a.count; i++)
		json_decref(a.asked[i].reply);
	free(a.asked);
	return status;
}
