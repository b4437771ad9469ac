/* starling abandon - an operator's word that a released attempt will never be finished (protocol 6). */
#include <argp.h>
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
#include "tools/lib/control_query.h"
#include "tools/lib/command.h"

#define LEARNERS_MOST 64u /* named with --learner */
#define ANSWER_MS 10000

struct operator_abort {
	uint64_t round; /* 0: not given */
	const char *run, *control;
	const char *learners[LEARNERS_MOST]; /* ids or names; none: all of the run */
	size_t learner_count;
	bool yes;
	struct sl_control_query *asked;
	size_t count;
};

static const struct argp_option options[] = {
	{"round", 'r', "T", 0, "The round whose open attempt is to be abandoned (required)", 0},
	{"run", 'd', "FOLDER", 0,
	 "Every learner of this run folder, or of a folder of learners set up by hand", 0},
	{"learner", 'l', "NAME", 0, "Only this learner of it, by its name or id; may be given several times",
	 0},
	{"control", 'c', "SOCKET", 0, "The learner whose control socket this is", 0},
	{"yes", 'y', NULL, 0, "Do not ask", 0},
	{0},
};

static const char doc[] = "Gives up an attempt that cannot be finished: a participant whose masked state "
			  "nobody alive holds is lost for good."
			  "\vTo be said to every learner that still waits; with --run, it is. It costs:\n"
			  "- the models trained for the round are burned: each learner trains another one, "
			  "which differs only by training noise;\n"
			  "- a fork, if the lost learner had committed the round alone: when it comes back, "
			  "its model is another one, and it is "
			  "refused until its state folder is moved away.\n"
			  "A learner that is only late or switched off is better waited for: the round goes "
			  "on by itself when it is back.\n"
			  "\n"
			  "Examples:\n"
			  "  starling abandon --round 7 --run RUNFOLDER\n"
			  "  starling abandon --round 7 --run RUNFOLDER --learner learner-03 --yes\n"
			  "  starling abandon --round 7 --control /run/starling/control.sock\n"
			  "\n"
			  "Exit status: 0 all that answer and had something to abandon have done so, 1 none "
			  "had or one did not, 2 bad usage.";

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct operator_abort *a = state->input;
	switch (key) {
	case 'r':
		if (!sl_command_number(value, 1, UINT32_MAX, &a->round))
			argp_failure(state, SL_EXIT_USAGE, 0, "--round: '%s' is not a round, 1 or more",
				     value);
		return 0;
	case 'd':
		a->run = value;
		return 0;
	case 'l':
		if (a->learner_count == LEARNERS_MOST)
			argp_failure(state, SL_EXIT_USAGE, 0, "more than %u --learner", LEARNERS_MOST);
		a->learners[a->learner_count++] = value;
		return 0;
	case 'c':
		a->control = value;
		return 0;
	case 'y':
		a->yes = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", value);
		return 0;
	case ARGP_KEY_END:
		if (a->round == 0)
			argp_error(state, "--round T is required");
		if ((a->run == NULL) == (a->control == NULL) || (a->learner_count > 0 && a->run == NULL))
			argp_error(state,
				   "say whose: --run FOLDER, with or without --learner, or --control SOCKET");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- which learners ---- */

/* FOLDER/NAME is a learner's if it has a control socket, or had one: of `starling launch`, or set up by hand.
 */
static bool find_socket(const struct operator_abort *a, const char *name, struct sl_control_query *one)
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

static int find_run(struct operator_abort *a)
{
	struct dirent **entries;
	int count = scandir(a->run, &entries, visible, alphasort);
	if (count < 0) {
		fprintf(stderr, "starling abandon: %s: %s\n", a->run, strerror(errno));
		return SL_EXIT_USAGE;
	}
	a->asked = calloc((size_t)count + 1, sizeof *a->asked);
	for (int i = 0; i < count; i++) {
		if (a->asked != NULL && find_socket(a, entries[i]->d_name, &a->asked[a->count]))
			a->count++;
		free(entries[i]);
	}
	free(entries);
	if (a->count > 0)
		return 0;
	fprintf(stderr,
		"starling abandon: %s: no learner in it: no NAME/control.sock, and no "
		"NAME/state/control.sock; say --control SOCKET "
		"for a learner whose socket is elsewhere\n",
		a->run);
	return SL_EXIT_USAGE;
}

static int find_one(struct operator_abort *a)
{
	const char *slash = strrchr(a->control, '/');
	a->asked = calloc(1, sizeof *a->asked);
	if (a->asked == NULL)
		return SL_EXIT_FAILED;
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

/* As its folder is called, as it calls itself, or by its id, which the number in learner-03 is. */
static bool is_called(const struct sl_control_query *one, const char *name)
{
	uint64_t id;
	if (strcmp(one->shown, name) == 0 || strcmp(text_of(one->reply, "name"), name) == 0)
		return true;
	if (!sl_command_number(name, 1, UINT32_MAX, &id))
		return false;
	return id == (uint64_t)number_of(one->reply, "id") ||
	       (strncmp(one->shown, "learner-", 8) == 0 && id == strtoull(one->shown + 8, NULL, 10));
}

static bool wanted(const struct operator_abort *a, const struct sl_control_query *one)
{
	for (size_t i = 0; i < a->learner_count; i++)
		if (is_called(one, a->learners[i]))
			return true;
	return a->learner_count == 0;
}

/* ---- what they say ---- */

/* What the operator should know before he answers; who does not answer is not asked again. */
static void show(const struct sl_control_query *one)
{
	const char *awaits = text_of(one->reply, "awaits");
	if (one->error != 0)
		fprintf(stderr, "%s: not running (%s)\n", one->shown, strerror(one->error));
	else if (one->reply == NULL)
		fprintf(stderr, "%s: does not answer, and is left out\n", one->shown);
	else
		fprintf(stderr, "%s: round %lld attempt %lld, %s%s%s\n", one->shown,
			number_of(one->reply, "round"), number_of(one->reply, "attempt"),
			text_of(one->reply, "phase"),
			*awaits != '\0' ? "; nobody in reach holds the masked state of " : "", awaits);
}

/* 0: somebody can be told. */
static int show_all(struct operator_abort *a)
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
	fprintf(stderr, "starling abandon: %s: no such learner in it\n", a->run);
	return SL_EXIT_USAGE;
}

static bool tell(const struct operator_abort *a, const struct sl_control_query *one)
{
	if (json_is_true(json_object_get(one->reply, "ok"))) {
		printf("%s: attempt %lld of round %llu is abandoned\n", one->shown,
		       number_of(one->reply, "attempt"), (unsigned long long)a->round);
		return true;
	}
	fprintf(stderr, "starling abandon: %s: %s\n", one->shown,
		one->reply != NULL ? text_of(one->reply, "error") : "does not answer any more");
	return false;
}

/* Who has nothing to abandon is no failure, if anybody had. */
static int tell_all(const struct operator_abort *a)
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

static int ask(struct operator_abort *a, json_t *request)
{
	int rc =
		request == NULL ? SL_ERR_NOMEM : sl_control_query_all(a->asked, a->count, request, ANSWER_MS);
	json_decref(request);
	if (rc != SL_OK)
		fprintf(stderr, "starling abandon: out of memory\n");
	return rc;
}

/* ---- asking the operator ---- */

static bool confirmed(const struct operator_abort *a)
{
	char line[32] = "";
	uint64_t typed;
	fprintf(stderr,
		"Abandoning burns the models trained for round %llu. If a lost learner had committed it "
		"alone, its model and yours\n"
		"differ for ever (a fork). If it may come back, wait for it instead. Type the round's number "
		"to go on: ",
		(unsigned long long)a->round);
	if (fgets(line, sizeof line, stdin) == NULL)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return sl_command_number(line, a->round, a->round, &typed);
}

static int execute_out(struct operator_abort *a)
{
	if (ask(a, json_pack("{s:s}", "op", "status")) != SL_OK)
		return SL_EXIT_FAILED;
	int status = show_all(a);
	if (status != 0)
		return status;
	if (!a->yes && !confirmed(a)) {
		fprintf(stderr, "starling abandon: nothing was abandoned\n");
		return SL_EXIT_FAILED;
	}
	if (ask(a, json_pack("{s:s, s:I}", "op", "abandon", "round", (json_int_t)a->round)) != SL_OK)
		return SL_EXIT_FAILED;
	return tell_all(a);
}

int sl_cmd_abort(int argc, char **argv)
{
	struct operator_abort a = {0};
	argp_parse(&(struct argp){options, parse, NULL, doc, NULL, NULL, NULL}, argc, argv, 0, NULL, &a);
	if (!a.yes && !isatty(STDIN_FILENO)) {
		fprintf(stderr,
			"starling abandon: standard input is no terminal: say --yes if it is meant\n");
		return SL_EXIT_USAGE;
	}
	int status = a.run != NULL ? find_run(&a) : find_one(&a);
	if (status == 0)
		status = execute_out(&a);
	for (size_t i = 0; i < a.count; i++)
		json_decref(a.asked[i].reply);
	free(a.asked);
	return status;
}
