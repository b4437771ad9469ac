#include "test/core/driver_message.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/core/execute.h"

#define SCRIPT_BYTES 8192u

/* --- the core --- */

static void take_back(struct driver *p, struct sl_buffer *list)
{
	while (list != NULL) {
		struct sl_buffer *next = list->next;
		p->back++;
		free(list->bytes);
		free(list);
		list = next;
	}
}

static void drop(void *shell, const struct sl_action *a)
{
	take_back(shell, a->buffers);
}

static void persist(void *shell, const struct sl_action *a)
{
	((struct driver *)shell)->asked[a->persist.what.kind] = a->persist.what;
}

static void send(void *shell, const struct sl_action *a)
{
	if (a->send.message.kind == SL_MSG_HELLO)
		memcpy(((struct driver *)shell)->told, a->send.message.hello.records, SL_HASH_BYTES);
}

static void compute(void *shell, const struct sl_action *a)
{
	struct driver *p = shell;
	take_back(p, a->job.buffers);
	p->view = a->job.view;
	memcpy(p->h, p->view->h, SL_HASH_BYTES);
	p->epoch = a->job.epoch;
	p->chunk[a->job.kind] = a->job.chunk;
}

const char *driver_step(struct driver *p, struct sl_event event)
{
	static const struct sl_duties duties = {.of = {[SL_ACTION_COMPUTE] = compute,
						       [SL_ACTION_PERSIST] = persist,
						       [SL_ACTION_SEND] = send,
						       [SL_ACTION_DROP] = drop}};
	event.now = p->now;
	event.more = p->more;
	p->given += event.buffer != NULL;
	sl_sim_trace_cause(&p->trace, &event);
	p->code = sl_core_run(p->core, &event, &p->actions, &duties, p);
	sl_sim_trace_effects(&p->trace, &p->actions);
	return p->trace.text;
}

struct driver *driver_new(uint32_t learners, uint64_t n)
{
	struct driver *p = calloc(1, sizeof *p);
	double clipping_range = 16;
	p->ids = calloc(learners, sizeof *p->ids);
	for (uint32_t i = 0; i < learners; i++)
		p->ids[i] = i + 1;
	p->trace.ids = p->ids;
	p->trace.count = learners;
	p->config =
		(struct sl_core_config){.roster_size = learners,
					.ids = p->ids,
					.model_bytes = 8 * (n + 1), /* as many chunks as the vectors have */
					.incarnation = 1,
					.straggler_timeout_ms = 60000,
					.stall_timeout_ms = 10000,
					.serve_after_end_ms = 30000};
	p->config.parameters = (struct sl_parameters){.n = n,
						      .p = SL_P_MERSENNE31,
						      .rounds = 1,
						      .quorum = learners / 2 + 1,
						      .decimals = 4,
						      .max_weight = 1,
						      .k = 3,
						      .tolerance = 1,
						      .max_degree = 16};
	memcpy(&p->config.parameters.clipping_range, &clipping_range, sizeof clipping_range);
	p->h[0] = 9;
	p->secrets.key[0] = p->secrets.challenge[0] = 1;
	p->analysis.kappa = 2;
	p->analysis.degree = 3;
	return p;
}

static void start(struct driver *p)
{
	struct sl_arena arena;
	size_t bytes = sl_core_bytes(&p->config);
	p->arena = malloc(bytes);
	sl_arena_init(&arena, p->arena, bytes);
	p->core = sl_core_init(&p->config, &arena);
	assert_non_null(p->core);
	driver_step(p, (struct sl_event){.kind = SL_EVENT_START});
}

void driver_free(struct driver *p)
{
	assert_int_equal(p->given, p->back + p->holds);
	take_back(p, sl_core_held(p->core));
	assert_int_equal(p->given, p->back);
	free(p->arena);
	free(p->ids);
	free(p);
}

/* --- one line of a script --- */

static const char *const records[] = {
	NULL,		"durable aborted", "durable prepared", "durable released", "durable signs",
	"durable over", "durable commit"};

/* Process a message from each peer of the list `from`. Return false if there is none. */
static bool step_messages(struct driver *p, const struct words *w)
{
	uint32_t kind = message_kind(w->head);
	for (uint32_t k = 0; kind < SL_MESSAGE_KINDS && k < w->count[FROM]; k++) {
		struct words own = *w;
		struct played played;
		sl_id from = w->list[FROM][k];
		message_play(p, &own, kind, from, &played);
		struct sl_event event = {
			.kind = SL_EVENT_MESSAGE, .peer = from - 1, .message = &played.message};
		if (kind >= SL_MSG_SHARE)
			event.buffer = message_buffer(p, w, &played.message, from);
		driver_step(p, event);
	}
	return kind < SL_MESSAGE_KINDS && w->count[FROM] > 0;
}

/* Write what CHECKSUM finds: those of the own Checksum, and that of Z; or first that of one masked state. */
static void own_checksums(const struct driver *p, uint64_t *values)
{
	uint64_t sum = (uint64_t)p->view->n * (p->view->n + 1) / 2;
	uint32_t only = p->chunk[SL_JOB_CHECKSUM];
	size_t count = message_checksums(p, only > 0 ? only : 1, values);
	for (uint32_t k = 0; k < sl_view_points(p->view); k++)
		values[count++] = sum + p->off;
}

/* Hand in the result of a job: "late"? NAME "done" or "failed". Return false if the words are none. */
static bool step_job(struct driver *p, const char *head)
{
	uint64_t values[MESSAGE_VALUES_MAX];
	bool late = strncmp(head, "late ", 5) == 0;
	head += late ? 5 : 0;
	for (enum sl_job_kind kind = 1; kind < SL_JOB_KINDS; kind++) {
		const char *name = sl_sim_trace_job(kind), *outcome = head + strlen(name);
		if (strncmp(head, name, strlen(name)) != 0 ||
		    (strcmp(outcome, " done") != 0 && strcmp(outcome, " failed") != 0))
			continue;
		bool chunked = kind == SL_JOB_SHARE || kind == SL_JOB_EXPAND || kind == SL_JOB_CHECK ||
			       kind == SL_JOB_MIX || kind == SL_JOB_DEPOSIT;
		if (kind == SL_JOB_CHECKSUM)
			own_checksums(p, values);
		if (kind == SL_JOB_SECRETS)
			message_root(p, p->secrets.root);
		bool summed = kind == SL_JOB_CLOSE || kind == SL_JOB_SUM;
		struct sl_job_result result = {.kind = kind,
					       .code = strcmp(outcome, " done") == 0 ? SL_OK : SL_ERR_INVALID,
					       .analysis = &p->analysis,
					       .epoch = p->epoch - late,
					       .hash = {7},
					       .secrets = &p->secrets,
					       .values = values,
					       .chunk = chunked ? p->chunk[kind] : 0,
					       .total = summed ? 3 : 0};
		driver_step(p, (struct sl_event){.kind = SL_EVENT_COMPUTED, .result = &result});
		return true;
	}
	return false;
}

static bool step_durable(struct driver *p, const struct words *w)
{
	uint32_t kind = words_find(records, SL_PERSIST_COMMIT + 1, w->head);
	if (kind > SL_PERSIST_COMMIT)
		return false;
	struct sl_durable what = p->asked[kind];
	what = (struct sl_durable){kind, words_field(w, 't', what.t), words_field(w, 'a', what.a), what.says};
	assert_true(what.a > 0);
	driver_step(p, (struct sl_event){.kind = SL_EVENT_DURABLE, .durable = what});
	return true;
}

static bool step_links(struct driver *p, const struct words *w)
{
	bool up = strcmp(w->head, "link up") == 0;
	if (!up && strcmp(w->head, "link down") != 0)
		return false;
	for (uint32_t k = 0; k < w->count[PLAIN]; k++)
		driver_step(p, (struct sl_event){.kind = up ? SL_EVENT_LINK_UP : SL_EVENT_LINK_DOWN,
						 .peer = w->list[PLAIN][k] - 1});
	return true;
}

static void play_cause(struct driver *p, char *cause)
{
	struct words w;
	words_read(p, cause, &w);
	bool first = p->core == NULL, starts = strcmp(w.head, "start") == 0;
	if (first)
		start(p);
	if (starts && !first) {
		driver_step(p, (struct sl_event){.kind = SL_EVENT_START});
	} else if (strcmp(w.head, "trained") == 0) {
		driver_step(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	} else if (strcmp(w.head, "training failed") == 0) {
		driver_step(p, (struct sl_event){.kind = SL_EVENT_TRAINING_FAILED});
	} else if (strcmp(w.head, "operator abort") == 0) {
		driver_step(p, (struct sl_event){.kind = SL_EVENT_OPERATOR_ABORT,
						 .round = words_field(&w, 't', 1)});
	} else if (strcmp(w.head, "deadline") == 0) {
		p->now += words_single(&w, PLAIN, 0);
		driver_step(p, (struct sl_event){.kind = SL_EVENT_DEADLINE});
	} else if (strcmp(w.head, "due never") == 0) {
		assert_int_equal(sl_core_deadline(p->core), SL_NEVER);
	} else if (strcmp(w.head, "due") == 0) {
		assert_int_equal(sl_core_deadline(p->core), p->now + words_single(&w, PLAIN, 0));
	} else if (strcmp(w.head, "holds") == 0) {
		p->holds = words_single(&w, PLAIN, 0);
	} else if (!starts && !step_links(p, &w) && !step_durable(p, &w) && !step_job(p, w.head) &&
		   !step_messages(p, &w)) {
		fail_msg("no such cause: %s", w.head);
	}
}

static void play_line(struct driver *p, char *line, const char *file, int number)
{
	char *effects = strstr(line, " ->"), expected[SL_SIM_TRACE_BYTES] = "";
	if (effects != NULL) {
		snprintf(expected, sizeof expected, "%s", effects);
		*effects = 0;
	}
	play_cause(p, line);
	const char *found = p->code == SL_OK ? strstr(p->trace.text, " ->") : " -> invalid";
	if (effects == NULL || fnmatch(expected, found, 0) == 0)
		return;
	print_error("%s\nexpected%s\nfound   %s\n", p->trace.text, expected, found);
	_fail(file, number);
}

void driver_play(struct driver *p, const char *file, int line, const char *script, ...)
{
	char text[SCRIPT_BYTES], *rest = NULL;
	va_list list;
	va_start(list, script);
	int n = vsnprintf(text, sizeof text, script, list);
	va_end(list);
	assert_in_range(n, 1, sizeof text - 1);
	for (char *next = strtok_r(text, "\n", &rest); next != NULL; next = strtok_r(NULL, "\n", &rest))
		play_line(p, next, file, line);
}

/* --- what came out --- */

bool driver_says(const struct driver *p, const char *text)
{
	return strstr(p->trace.text, text) != NULL;
}

const struct sl_report *driver_report(const struct driver *p, enum sl_report_kind kind)
{
	for (uint32_t i = 0; i < p->actions.count; i++)
		if (p->actions.items[i].kind == SL_ACTION_REPORT && p->actions.items[i].report.kind == kind)
			return &p->actions.items[i].report;
	fail_msg("no %s in %s", sl_report_name(kind), p->trace.text);
	return NULL;
}

const struct sl_message *driver_sent(const struct driver *p, enum sl_message_kind kind)
{
	for (uint32_t i = 0; i < p->actions.count; i++) {
		const struct sl_action *a = &p->actions.items[i];
		if (a->kind == SL_ACTION_SEND && a->send.message.kind == kind && a->send.own)
			return &a->send.message;
	}
	fail_msg("no message of kind %d in %s", kind, p->trace.text);
	return NULL;
}

struct sl_core_status driver_status(const struct driver *p)
{
	struct sl_core_status status;
	sl_core_status(p->core, &status);
	return status;
}
