/* `starling abort`: tell learners that an attempt will never be completed. */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/protocol/phase.h"
#include "tools/lib/learners.h"

#define LEARNERS_MOST 64u /* names given with --learner */
#define ANSWER_MS 10000

struct abort_command {
	uint64_t round; /* 0: not given */
	const char *run, *control;
	const char *learners[LEARNERS_MOST]; /* ids or names; none: all of the run */
	size_t learner_count;
	bool yes;
	struct sl_learners of;
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
	       "its links tolerate.\v"
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
	       "had, or one did not, 2 bad usage."};

/* ---- which learners ---- */

/* Return true if `name` is the learner's folder, its name, or its id (the number in learner-03). */
static bool is_called(const struct sl_control_query *one, const char *name)
{
	uint64_t id;
	if (strcmp(one->shown, name) == 0 || strcmp(sl_learners_text(one->reply, "name"), name) == 0)
		return true;
	if (!sl_number_parse(name, 1, UINT32_MAX, &id))
		return false;
	return id == (uint64_t)sl_learners_number(one->reply, "id") ||
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
static void show(const struct abort_command *a, const struct sl_control_query *one)
{
	char awaits[1024];
	const char *phase = sl_learners_text(one->reply, "phase");
	sl_learners_names(&a->of, json_object_get(one->reply, "awaits"), SIZE_MAX, awaits, sizeof awaits);
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
			sl_learners_number(one->reply, "round"), sl_learners_number(one->reply, "attempt"),
			phase, *awaits != '\0' ? of : "", awaits);
}

/* Show the wanted learners; return 0 if one of them answered, else the exit status. */
static int show_all(struct abort_command *a)
{
	size_t named = 0, answering = 0;
	for (size_t i = 0; i < a->of.count; i++) {
		struct sl_control_query *one = &a->of.asked[i];
		one->skip = !wanted(a, one);
		if (one->skip)
			continue;
		named++;
		show(a, one);
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
	if (!sl_learners_did(one))
		return false;
	printf("%s: attempt %lld of round %llu is aborted\n", one->shown,
	       sl_learners_number(one->reply, "attempt"), (unsigned long long)a->round);
	return true;
}

/* Return the exit status. A learner with nothing to abort is no failure if another one had such an attempt.
 */
static int tell_all(const struct abort_command *a)
{
	size_t done = 0, silent = 0;
	for (size_t i = 0; i < a->of.count; i++) {
		if (a->of.asked[i].skip)
			continue;
		done += tell(a, &a->of.asked[i]);
		silent += a->of.asked[i].reply == NULL;
	}
	return done > 0 && silent == 0 ? 0 : SL_EXIT_FAILED;
}

static void request_all(struct abort_command *a, json_t *request)
{
	sl_control_query_all(a->of.asked, a->of.count, request, ANSWER_MS);
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
	struct sl_error error;
	if (a.run != NULL && sl_learners_find(&a.of, a.run, &error) != SL_OK) {
		fprintf(stderr, "starling abort: %s\n", error.text);
		return SL_EXIT_USAGE;
	}
	if (a.control != NULL)
		sl_learners_add(&a.of, a.control);
	int status = run(&a);
	sl_learners_close(&a.of);
	return status;
}
