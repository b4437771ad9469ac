#include "test/core/driver.h"

#include <ctype.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/bytes.h"

#define SCRIPT_BYTES 8192u
#define LIST_MAX 128u
#define P_31 UINT64_C(2147483647)

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

static void execute(struct driver *p)
{
	for (uint32_t i = 0; i < p->actions.count; i++) {
		struct sl_action *a = &p->actions.items[i];
		if (a->kind == SL_ACTION_DROP)
			take_back(p, a->buffers);
		if (a->kind == SL_ACTION_PERSIST)
			p->asked[a->persist.what.kind] = a->persist.what;
		if (a->kind != SL_ACTION_COMPUTE)
			continue;
		take_back(p, a->job.buffers);
		p->view = a->job.view;
		memcpy(p->h, p->view->h, SL_HASH_BYTES);
		p->epoch = a->job.epoch;
		p->chunk[a->job.kind] = a->job.chunk;
	}
}

const char *driver_step(struct driver *p, struct sl_event event)
{
	event.now = p->now;
	p->given += event.buffer != NULL;
	sl_sim_trace_cause(&p->trace, &event);
	p->code = sl_core_step(p->core, &event, &p->actions);
	sl_sim_trace_effects(&p->trace, &p->actions);
	if (p->code != SL_OK && event.buffer != NULL)
		take_back(p, event.buffer);
	execute(p);
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
	p->config = (struct sl_core_config){.roster_size = learners,
					    .ids = p->ids,
					    .incarnation = 1,
					    .straggler_timeout_ms = 60000,
					    .hello_timeout_ms = 2000,
					    .agreement_timeout_ms = 10000,
					    .prepare_timeout_ms = 60000,
					    .stall_timeout_ms = 10000,
					    .confirm_timeout_ms = 10000,
					    .serve_after_end_ms = 30000};
	p->config.parameters = (struct sl_parameters){.n = n,
						      .rounds = 1,
						      .quorum = learners / 2 + 1,
						      .decimals = 4,
						      .max_weight = 1,
						      .k = 3,
						      .tolerance = 1,
						      .max_degree = 16};
	memcpy(&p->config.parameters.clipping_range, &clipping_range, sizeof clipping_range);
	p->h[0] = 9;
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

enum list { PLAIN, OF, FROM, NAMES, RELEASED, CLOSED, SIZE, LISTS };
static const char *const list_names[LISTS] = {NULL, "of", "from", "names", "released", "closed", "size"};

/* The words of a cause. */
struct words {
	char head[64];	    /* those that are neither fields nor numbers: "link state", "mix done" */
	uint32_t field[26]; /* by letter; UINT32_MAX: not given */
	uint32_t list[LISTS][LIST_MAX], count[LISTS];
};

static void add_all(const struct driver *p, struct words *w, enum list list, sl_id but)
{
	for (sl_id id = 2 - (list == NAMES); id <= p->config.roster_size; id++)
		if (id != but)
			w->list[list][w->count[list]++] = id;
}

/* Return the index of the first of `count` names with which `text` begins, or `count`. */
static uint32_t find(const char *const *names, uint32_t count, const char *text)
{
	uint32_t k = 0;
	while (k < count && (names[k] == NULL || strncmp(text, names[k], strlen(names[k])) != 0))
		k++;
	return k;
}

static void read_words(const struct driver *p, char *cause, struct words *w)
{
	char *rest = NULL;
	enum list list = PLAIN;
	memset(w, 0, sizeof *w);
	memset(w->field, 0xff, sizeof w->field);
	for (char *word = strtok_r(cause, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
		assert_true(w->count[list] < LIST_MAX);
		uint32_t other = strcmp(w->head, "durable") == 0 ? LISTS : find(list_names, LISTS, word);
		if (other != LISTS) {
			list = other;
		} else if (isdigit(word[0]) || word[0] == '+' || word[0] == '-') {
			w->list[list][w->count[list]++] = (uint32_t)strtol(word, NULL, 10);
			list = list == OF || list == CLOSED || list == SIZE ? PLAIN : list;
		} else if (strcmp(word, "all") == 0) {
			add_all(p, w, list, 0);
		} else if (islower(word[0]) && isdigit(word[1])) {
			w->field[word[0] - 'a'] = (uint32_t)strtoul(word + 1, NULL, 10);
		} else {
			strcat(w->head, w->head[0] != 0 ? " " : "");
			strcat(w->head, word);
		}
	}
}

static uint32_t field(const struct words *w, char letter, uint32_t missing)
{
	uint32_t value = w->field[letter - 'a'];
	return value == UINT32_MAX ? missing : value;
}

static uint32_t single(const struct words *w, enum list list, uint32_t missing)
{
	return w->count[list] == 0 ? missing : w->list[list][0];
}

static const char *const messages[SL_MESSAGE_KINDS] = {
	[SL_MSG_HELLO] = "hello",   [SL_MSG_LINK_STATE] = "link state", [SL_MSG_READY] = "ready",
	[SL_MSG_DIGEST] = "digest", [SL_MSG_REQUEST] = "request",	[SL_MSG_ABORT] = "abort",
	[SL_MSG_HAVE] = "have",	    [SL_MSG_MODEL] = "model",		[SL_MSG_SHARE] = "share",
	[SL_MSG_STATE] = "state",   [SL_MSG_RESULT] = "result",		[SL_MSG_MASKED] = "masked"};
static const char *const statuses[] = {NULL, "hello training", "hello ready", "hello done", "hello open"};
static const char *const records[] = {
	NULL, "durable aborted", "durable prepared", "durable released", "durable closed", "durable commit"};

static void set_view(const struct driver *p, const struct words *w, uint8_t view[static SL_HASH_BYTES])
{
	memcpy(view, p->h, SL_HASH_BYTES);
	if (field(w, 'v', UINT32_MAX) == UINT32_MAX)
		return;
	memset(view, 0, SL_HASH_BYTES);
	view[0] = (uint8_t)field(w, 'v', 0);
}

static void fill_digest(const struct driver *p, const struct words *w, struct sl_digest *d)
{
	d->digest[0] = (uint8_t)field(w, 'd', 7);
	set_view(p, w, d->view);
	d->p = P_31;
	d->learners = 3;
	if (p->view == NULL || p->view->field.p == 0) /* no job yet, or a catch-up that ended */
		return;
	d->p = p->view->field.p;
	d->learners = p->view->n;
	d->decimals = (uint32_t)p->view->agreed.decimals;
	d->encoding = (uint32_t)p->view->agreed.encoding;
	d->clipping_range = p->view->agreed.clipping_range;
}

static struct sl_message message_of(const struct driver *p, struct words *w, enum sl_message_kind kind,
				    sl_id from)
{
	static uint8_t held[LIST_MAX];
	struct sl_message m = {.kind = kind};
	sl_id id = single(w, OF, from);
	sl_round t = field(w, 't', 1);
	sl_attempt a = field(w, 'a', p->view == NULL ? 1 : p->view->a);
	uint32_t incarnation = field(w, 'i', 1), index = single(w, PLAIN, 0);
	switch (kind) {
	case SL_MSG_HELLO:
		m.hello = (struct sl_hello){.id = id, .incarnation = incarnation, .t = t, .a = a};
		m.hello.status = find(statuses, 5, w->head);
		break;
	case SL_MSG_LINK_STATE:
		if (w->count[NAMES] == 0)
			add_all(p, w, NAMES, id);
		m.link_state = (struct sl_link_state){.id = id,
						      .incarnation = incarnation,
						      .t = t,
						      .a = a,
						      .parameters = p->config.parameters,
						      .candidates = w->list[NAMES],
						      .count = w->count[NAMES]};
		m.link_state.parameters.k = field(w, 'k', (uint32_t)p->config.parameters.k);
		m.link_state.parameters.model = field(w, 'm', (uint32_t)p->config.parameters.model);
		m.link_state.signature[0] = (uint8_t)w->count[NAMES]; /* differs with what it covers */
		break;
	case SL_MSG_READY:
		m.ready = (struct sl_ready){.id = id, .t = t, .a = a, .k = field(w, 'k', 3)};
		set_view(p, w, m.ready.view);
		break;
	case SL_MSG_DIGEST:
		m.digest = (struct sl_digest){.id = id, .t = t, .a = a};
		fill_digest(p, w, &m.digest);
		break;
	case SL_MSG_REQUEST:
		m.request = (struct sl_request){
			.t = t, .a = field(w, 'a', 0), .index = index, .origin = single(w, OF, 0)};
		break;
	case SL_MSG_ABORT:
		m.abort = (struct sl_abort){.id = id,
					    .incarnation = incarnation,
					    .t = t,
					    .a = a,
					    .closed = single(w, CLOSED, 0),
					    .count = w->count[RELEASED]};
		memcpy(m.abort.released, w->list[RELEASED], w->count[RELEASED] * sizeof(sl_attempt));
		break;
	case SL_MSG_MODEL:
		m.model = (struct sl_model){.count = 1, .size = sizeof held, .tensors = held};
		break;
	case SL_MSG_HAVE:
		m.have = (struct sl_have){.t = t, .a = a, .held = held};
		m.have.size = (p->view->n + 7) / 8 + single(w, SIZE, 0);
		memset(held, 0, sizeof held);
		for (uint32_t k = 0; k < w->count[PLAIN]; k++)
			held[w->list[PLAIN][k] / 8] |= (uint8_t)(1u << w->list[PLAIN][k] % 8);
		set_view(p, w, m.have.view);
		break;
	default:
		m.chunk = (struct sl_chunk){.t = t,
					    .a = a,
					    .index = index,
					    .iteration = field(w, 'k', 0),
					    .origin = single(w, OF, 0)};
		set_view(p, w, m.chunk.view);
	}
	return m;
}

static struct sl_buffer *buffer_of(const struct driver *p, const struct words *w, const struct sl_message *m)
{
	uint64_t elements = p->config.parameters.n + 1, at = m->chunk.index * (uint64_t)SL_CHUNK_ELEMENTS;
	uint64_t left = at < elements ? elements - at : 1;
	uint64_t bytes = left < SL_CHUNK_ELEMENTS ? left : SL_CHUNK_ELEMENTS;
	if (m->kind == SL_MSG_SHARE && p->view->sharing == SL_SHARING_SEEDED)
		bytes = SL_KEY_BYTES;
	else if (m->kind == SL_MSG_RESULT)
		bytes *= 4;
	else
		bytes *= m->kind == SL_MSG_STATE ? sl_view_mixing_width(p->view) : p->view->field.bytes;
	struct sl_buffer *buffer = calloc(1, sizeof *buffer);
	buffer->size = (size_t)((int64_t)bytes + (int32_t)single(w, SIZE, 0));
	buffer->bytes = calloc(1, buffer->size);
	return buffer;
}

/* Process a message from each peer of the list `from`. Return false if there is none. */
static bool step_messages(struct driver *p, struct words *w)
{
	uint32_t kind = find(messages, SL_MESSAGE_KINDS, w->head);
	for (uint32_t k = 0; kind < SL_MESSAGE_KINDS && k < w->count[FROM]; k++) {
		struct words own = *w;
		sl_id from = w->list[FROM][k];
		struct sl_message m = message_of(p, &own, kind, from);
		struct sl_event event = {.kind = SL_EVENT_MESSAGE, .peer = from - 1, .message = &m};
		if (kind >= SL_MSG_SHARE)
			event.buffer = buffer_of(p, w, &m);
		driver_step(p, event);
	}
	return kind < SL_MESSAGE_KINDS && w->count[FROM] > 0;
}

/* Hand in the result of a job: "late"? NAME "done" or "failed". Return false if the words are none. */
static bool step_job(struct driver *p, const char *head)
{
	bool late = strncmp(head, "late ", 5) == 0;
	head += late ? 5 : 0;
	for (enum sl_job_kind kind = 1; kind < SL_JOB_KINDS; kind++) {
		const char *name = sl_sim_trace_job(kind), *outcome = head + strlen(name);
		if (strncmp(head, name, strlen(name)) != 0 ||
		    (strcmp(outcome, " done") != 0 && strcmp(outcome, " failed") != 0))
			continue;
		bool chunked = kind == SL_JOB_SHARE || kind == SL_JOB_EXPAND || kind == SL_JOB_CHECK;
		bool summed = kind == SL_JOB_CLOSE || kind == SL_JOB_SUM;
		struct sl_job_result result = {.kind = kind,
					       .code = strcmp(outcome, " done") == 0 ? SL_OK : SL_ERR_INVALID,
					       .analysis = &p->analysis,
					       .epoch = p->epoch - late,
					       .hash = {7},
					       .chunk = chunked ? p->chunk[kind] : 0,
					       .total = summed ? 3 : 0};
		driver_step(p, (struct sl_event){.kind = SL_EVENT_COMPUTED, .result = &result});
		return true;
	}
	return false;
}

static bool step_durable(struct driver *p, const struct words *w)
{
	uint32_t kind = find(records, SL_PERSIST_COMMIT + 1, w->head);
	if (kind > SL_PERSIST_COMMIT)
		return false;
	struct sl_durable what = p->asked[kind];
	what = (struct sl_durable){kind, field(w, 't', what.t), field(w, 'a', what.a)};
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
	read_words(p, cause, &w);
	bool first = p->core == NULL, starts = strcmp(w.head, "start") == 0;
	if (first)
		start(p);
	if (starts && !first) {
		driver_step(p, (struct sl_event){.kind = SL_EVENT_START});
	} else if (strcmp(w.head, "trained") == 0) {
		driver_step(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	} else if (strcmp(w.head, "operator abort") == 0) {
		driver_step(p,
			    (struct sl_event){.kind = SL_EVENT_OPERATOR_ABORT, .round = field(&w, 't', 1)});
	} else if (strcmp(w.head, "deadline") == 0) {
		p->now += single(&w, PLAIN, 0);
		driver_step(p, (struct sl_event){.kind = SL_EVENT_DEADLINE});
	} else if (strcmp(w.head, "due never") == 0) {
		assert_int_equal(sl_core_deadline(p->core), SL_NEVER);
	} else if (strcmp(w.head, "due") == 0) {
		assert_int_equal(sl_core_deadline(p->core), p->now + single(&w, PLAIN, 0));
	} else if (strcmp(w.head, "holds") == 0) {
		p->holds = single(&w, PLAIN, 0);
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

/* --- parts of a round --- */

struct driver *driver_agree(struct driver *p)
{
	play(p, "link up all\n"
		"hello t1 ready from all\n"
		"trained\n"
		"link state a1 from all");
	return p;
}

struct driver *driver_share(struct driver *p)
{
	driver_agree(p);
	play(p, "analysis done\n"
		"encode done\n"
		"share done");
	return p;
}

struct driver *driver_ready(struct driver *p)
{
	driver_share(p);
	for (uint32_t m = 0; m < p->view->chunks; m++) {
		if (m > 0)
			play(p, "share done");
		for (uint32_t r = 0; r < p->view->degree; r++)
			play(p, "share %u from %u\ngather done", m, r + 2);
	}
	play(p, "commitment done\n"
		"durable prepared");
	return p;
}

struct driver *driver_release(struct driver *p)
{
	driver_ready(p);
	play(p, "ready from all\n"
		"durable released");
	return p;
}

struct driver *driver_confirm(struct driver *p)
{
	driver_release(p);
	for (uint32_t k = 0; k < p->view->steps; k++)
		play(p, "state 0 k%u from all\nmix done", k);
	play(p, "close done -> digest to *");
	return p;
}

struct driver *driver_commit(struct driver *p)
{
	driver_confirm(p);
	play(p, "digest from all\n"
		"decode done\n"
		"durable commit -> COMMITTED, *");
	return p;
}

struct driver *driver_agree_without_4(void)
{
	struct driver *p = driver_new(4, 4);
	play(p, "link up 2 3\n"
		"hello t1 ready from 2 3\n"
		"link down 4\n"
		"trained\n"
		"link state names 1 3 from 2\n"
		"link state names 1 2 from 3 -> *compute analysis*");
	return p;
}

struct driver *driver_ready_without_4(void)
{
	struct driver *p = driver_agree_without_4();
	play(p, "analysis done\n"
		"encode done\n"
		"share done\n"
		"link up 4\n"
		"share 0 from 2 3\n"
		"gather done\n"
		"gather done\n"
		"commitment done\n"
		"durable prepared");
	return p;
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
