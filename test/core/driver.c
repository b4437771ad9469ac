#include "test/core/driver.h"

#include <ctype.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/bytes.h"
#include "common/field/key_share.h"
#include "common/protocol/key_tree.h"

#define SCRIPT_BYTES 8192u
#define LIST_MAX 128u
#define VALUES_MAX 1024u
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
					    .privacy_check_warns = true,
					    .straggler_timeout_ms = 60000,
					    .hello_timeout_ms = 2000,
					    .agreement_timeout_ms = 10000,
					    .prepare_timeout_ms = 60000,
					    .stall_timeout_ms = 10000,
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

enum list { PLAIN, OF, FROM, NAMES, BY, KEYS, SIZE, LISTS };
static const char *const list_names[LISTS] = {NULL, "of", "from", "names", "by", "keys", "size"};

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
			list = list == OF || list == BY || list == SIZE ? PLAIN : list;
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
	[SL_MSG_STATE] = "state",   [SL_MSG_RESULT] = "result",		[SL_MSG_DEPOSIT] = "deposit",
	[SL_MSG_KEY] = "key",	    [SL_MSG_OPENING] = "opening",	[SL_MSG_CHALLENGE] = "challenge",
	[SL_MSG_ROUND] = "round",   [SL_MSG_CHECKSUM] = "checksum",	[SL_MSG_KEY_SHARE] = "key share"};
static const char *const statuses[] = {NULL,	     "hello training", "hello ready",
				       "hello done", "hello open",     "hello abstains"};
static const char *const records[] = {
	NULL,		"durable aborted", "durable prepared", "durable released", "durable given up",
	"durable over", "durable commit"};

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
}

static void fill_set(uint8_t *set, size_t size, const struct words *w, enum list list)
{
	memset(set, 0, size);
	for (uint32_t k = 0; k < w->count[list]; k++)
		set[w->list[list][k] / 8] |= (uint8_t)(1u << w->list[list][k] % 8);
}

/* --- what the learners that the test plays have signed for: key and challenge begin with the id --- */

/* Make the key shares of learner `id` for its neighbours in the view. */
static uint32_t deal(const struct driver *p, sl_id id, struct sl_held_share *shares, uint8_t *root)
{
	const struct sl_view *view = p->view;
	uint32_t position = view->position[id - 1], count = sl_graph_degree(&view->graph, position);
	uint8_t key[SL_KEY_BYTES] = {(uint8_t)id}, made[LIST_MAX][SL_KEY_SHARE_BYTES],
		nodes[4 * LIST_MAX][SL_HASH_BYTES];
	sl_id holders[LIST_MAX];
	struct sl_prg randomness;
	sl_prg_open(&randomness, key);
	for (uint32_t r = 0; r < count; r++)
		holders[r] = view->ids[sl_graph_neighbours(&view->graph, position)[r]];
	sl_key_share_split(key, sl_view_threshold(view, position), holders, count, &randomness, made);
	for (uint32_t r = 0; r < count; r++)
		memcpy(shares[r].bytes, made[r], SL_KEY_SHARE_BYTES);
	sl_key_tree_build(&p->config.scope, view->t, view->a, id, holders, count, shares, root, nodes);
	return count;
}

/* Write the key share of `owner` at `holder`. */
static void opening(const struct driver *p, sl_id owner, sl_id holder, struct sl_held_share *share)
{
	const struct sl_view *view = p->view;
	struct sl_held_share shares[LIST_MAX];
	uint8_t root[SL_HASH_BYTES];
	uint32_t position = view->position[owner - 1];
	uint32_t count = deal(p, owner, shares, root);
	memset(share, 0, sizeof *share);
	share->size = shares[0].size;
	for (uint32_t r = 0; r < count; r++)
		if (view->ids[sl_graph_neighbours(&view->graph, position)[r]] == holder)
			*share = shares[r];
}

/* Fill in what a Ready commits to. */
static void commit(const struct driver *p, struct sl_ready *ready)
{
	struct sl_held_share shares[LIST_MAX];
	uint8_t secret[SL_KEY_BYTES] = {(uint8_t)ready->id};
	ready->deposit[0] = (uint8_t)ready->id;
	sl_canonical_key(&p->config.scope, ready->id, secret, ready->key_hash);
	sl_canonical_challenge(&p->config.scope, ready->id, secret, ready->challenge_hash);
	if (p->view != NULL && p->view->graph.n > 0 && p->view->t == ready->t && p->view->a == ready->a &&
	    p->view->position[ready->id - 1] != UINT32_MAX)
		deal(p, ready->id, shares, ready->share_root);
}

/* Write the checksums that learner `id` signs: of the masked state of position i, i + 1 at each point. Return
 * their number. */
static size_t checksums(const struct driver *p, sl_id id, uint64_t *values)
{
	const struct sl_view *view = p->view;
	uint32_t signer = view->position[id - 1], points = sl_view_points(view);
	size_t count = 0;
	for (uint32_t k = 0; k < points; k++)
		values[count++] = signer + 1;
	for (uint32_t i = 0; i < view->n; i++)
		for (uint32_t k = 0; k < points && sl_view_keeper(view, i, signer); k++)
			values[count++] = i + 1;
	return count;
}

static struct sl_round_head round_of(const struct driver *p, sl_round t, sl_attempt a, uint32_t *members)
{
	struct sl_round_head round = {.t = t,
				      .a = a,
				      .p = P_31,
				      .parameters = p->config.parameters,
				      .members = members,
				      .count = 2 * p->config.roster_size};
	memcpy(round.roster, p->config.scope.roster, SL_HASH_BYTES);
	for (uint32_t i = 0; i < p->config.roster_size; i++) {
		members[2 * i] = p->ids[i];
		members[2 * i + 1] = 1;
	}
	return round;
}

static struct sl_message message_of(struct driver *p, struct words *w, enum sl_message_kind kind, sl_id from)
{
	static uint8_t held[LIST_MAX], keys[LIST_MAX];
	static struct sl_held_share share;
	static uint64_t values[VALUES_MAX];
	static uint32_t members[2 * LIST_MAX];
	struct sl_message m = {.kind = kind};
	sl_id id = single(w, OF, from);
	sl_round t = field(w, 't', 1);
	sl_attempt a = field(w, 'a', p->view == NULL ? 1 : p->view->a);
	uint32_t incarnation = field(w, 'i', 1), index = single(w, PLAIN, 0);
	switch (kind) {
	case SL_MSG_HELLO:
		m.hello = (struct sl_hello){.id = id, .incarnation = incarnation, .t = t, .a = a};
		m.hello.status = find(statuses, 6, w->head);
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
		commit(p, &m.ready);
		break;
	case SL_MSG_KEY:
		m.key = (struct sl_key){.t = t, .a = a, .origin = id};
		set_view(p, w, m.key.view);
		m.key.key[0] = (uint8_t)field(w, 'k', id);
		break;
	case SL_MSG_OPENING:
		opening(p, id, single(w, BY, from), &share);
		m.opening = (struct sl_opening){.t = t,
						.a = a,
						.origin = id,
						.holder = single(w, BY, from),
						.share = share.bytes,
						.size = share.size};
		share.bytes[0] ^= (uint8_t)field(w, 'x', 0);
		set_view(p, w, m.opening.view);
		break;
	case SL_MSG_CHALLENGE:
		m.challenge = (struct sl_challenge){.t = t, .a = a, .origin = id};
		set_view(p, w, m.challenge.view);
		m.challenge.value[0] = (uint8_t)field(w, 'k', id);
		break;
	case SL_MSG_CHECKSUM:
		m.checksums = (struct sl_checksums){.t = t, .a = a, .id = id};
		set_view(p, w, m.checksums.view);
		m.checksums.values = (const uint8_t *)values;
		m.checksums.size = checksums(p, id, values) * sizeof *values + single(w, SIZE, 0);
		values[0] += field(w, 'x', 0);
		break;
	case SL_MSG_ROUND:
		m.round_head = round_of(p, t, a, members);
		m.round_head.previous[0] = (uint8_t)field(w, 'd', 0);
		sl_canonical_round(&p->config.scope, &m.round_head, p->h);
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
					    .kind = field(w, 'g', 0) ? SL_ABORT_KIND_GIVE_UP
								     : SL_ABORT_KIND_ABORT};
		if (field(w, 'r', 0)) {
			struct sl_message ready = {.kind = SL_MSG_READY};
			ready.ready = (struct sl_ready){.id = id, .t = t, .a = a, .k = 3};
			set_view(p, w, ready.ready.view);
			commit(p, &ready.ready);
			sl_canonical_message(&p->config.scope, &ready, m.abort.ready);
		}
		break;
	case SL_MSG_MODEL:
		m.model = (struct sl_model){.count = 1, .size = sizeof held, .tensors = held};
		break;
	case SL_MSG_HAVE:
		m.have = (struct sl_have){.t = t, .a = a, .held = held, .keys = keys};
		m.have.size = m.have.keys_size = (p->view->n + 7) / 8 + single(w, SIZE, 0);
		fill_set(held, sizeof held, w, PLAIN);
		fill_set(keys, sizeof keys, w, KEYS);
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

static struct sl_buffer *buffer_of(const struct driver *p, const struct words *w, const struct sl_message *m,
				   sl_id from)
{
	struct sl_held_share share = {0};
	uint64_t elements = p->config.parameters.n + 1, at = m->chunk.index * (uint64_t)SL_CHUNK_ELEMENTS;
	uint64_t left = at < elements ? elements - at : 1;
	uint64_t bytes = left < SL_CHUNK_ELEMENTS ? left : SL_CHUNK_ELEMENTS;
	if (m->kind == SL_MSG_SHARE && p->view->sharing == SL_SHARING_SEEDED)
		bytes = SL_KEY_BYTES;
	else if (m->kind == SL_MSG_RESULT)
		bytes *= 4;
	else if (m->kind == SL_MSG_KEY_SHARE)
		opening(p, from, 1, &share);
	else
		bytes *= m->kind == SL_MSG_STATE ? sl_view_mixing_width(p->view) : p->view->field.bytes;
	struct sl_buffer *buffer = calloc(1, sizeof *buffer);
	bytes = share.size > 0 ? share.size : bytes;
	buffer->size = (size_t)((int64_t)bytes + (int32_t)single(w, SIZE, 0));
	buffer->bytes = calloc(1, buffer->size);
	memcpy(buffer->bytes, share.bytes, share.size < buffer->size ? share.size : buffer->size);
	if (share.size > 0)
		buffer->bytes[0] ^= (uint8_t)field(w, 'x', 0);
	return buffer;
}

/* Process a message from each peer of the list `from`. Return false if there is none. */
static bool step_messages(struct driver *p, struct words *w)
{
	uint32_t kind = find(messages, SL_MESSAGE_KINDS, w->head);
	if (strcmp(w->head, "key share") == 0)
		kind = SL_MSG_KEY_SHARE;
	for (uint32_t k = 0; kind < SL_MESSAGE_KINDS && k < w->count[FROM]; k++) {
		struct words own = *w;
		sl_id from = w->list[FROM][k];
		struct sl_message m = message_of(p, &own, kind, from);
		struct sl_event event = {.kind = SL_EVENT_MESSAGE, .peer = from - 1, .message = &m};
		if (kind >= SL_MSG_SHARE)
			event.buffer = buffer_of(p, w, &m, from);
		driver_step(p, event);
	}
	return kind < SL_MESSAGE_KINDS && w->count[FROM] > 0;
}

/* Write what CHECKSUM finds: those of the own Checksum, and that of Z. */
static void own_checksums(const struct driver *p, uint64_t *values)
{
	uint64_t sum = (uint64_t)p->view->n * (p->view->n + 1) / 2;
	size_t count = checksums(p, 1, values);
	for (uint32_t k = 0; k < sl_view_points(p->view); k++)
		values[count++] = sum + p->off;
}

/* Hand in the result of a job: "late"? NAME "done" or "failed". Return false if the words are none. */
static bool step_job(struct driver *p, const char *head)
{
	uint64_t values[VALUES_MAX];
	bool late = strncmp(head, "late ", 5) == 0;
	head += late ? 5 : 0;
	for (enum sl_job_kind kind = 1; kind < SL_JOB_KINDS; kind++) {
		const char *name = sl_sim_trace_job(kind), *outcome = head + strlen(name);
		if (strncmp(head, name, strlen(name)) != 0 ||
		    (strcmp(outcome, " done") != 0 && strcmp(outcome, " failed") != 0))
			continue;
		bool chunked = kind == SL_JOB_SHARE || kind == SL_JOB_EXPAND || kind == SL_JOB_CHECK ||
			       kind == SL_JOB_DEPOSIT;
		if (kind == SL_JOB_CHECKSUM)
			own_checksums(p, values);
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
		"secrets done\n"
		"share done");
	return p;
}

/* Deposits of all neighbours: `chunks` each, and the own one. */
static void deposits(struct driver *p)
{
	for (uint32_t m = 0; m < p->view->chunks; m++) {
		play(p, "deposit done");
		for (uint32_t r = 0; r < p->view->degree; r++)
			if (sl_view_keeps(p->view, r))
				play(p, "deposit %u of %u from %u\nfetch done", m,
				     p->view->ids[p->view->neighbours[r]],
				     p->view->ids[p->view->neighbours[r]]);
	}
}

struct driver *driver_ready(struct driver *p)
{
	driver_share(p);
	play(p, "key share from all");
	for (uint32_t m = 0; m < p->view->chunks; m++) {
		if (m > 0)
			play(p, "share done");
		for (uint32_t r = 0; r < p->view->degree; r++)
			play(p, "share %u from %u\ngather done", m, r + 2);
	}
	deposits(p);
	play(p, "commitment done\n"
		"durable prepared");
	return p;
}

static void checks(struct driver *p)
{
	for (uint32_t r = 0; r < p->view->degree; r++)
		if (sl_view_keeps(p->view, r))
			play(p, "check done");
}

struct driver *driver_release(struct driver *p)
{
	driver_ready(p);
	play(p, "ready from all");
	checks(p);
	play(p, "durable released -> key of 1 to *");
	return p;
}

struct driver *driver_mix(struct driver *p)
{
	driver_release(p);
	play(p, "key from all\nmix done");
	for (uint32_t k = 1; k < p->view->steps; k++)
		play(p, "state 0 k%u from all\nmix done", k);
	return p;
}

struct driver *driver_confirm(struct driver *p)
{
	driver_mix(p);
	if (sl_view_partial_sums(p->view))
		play(p, "close done -> challenge of 1 to *\n"
			"challenge from all\n"
			"checksum done -> checksum of 1 to *\n"
			"checksum from all -> *CONFIRM, digest to *");
	else
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
		"secrets done\n"
		"share done\n"
		"link up 4\n"
		"key share from 2 3\n"
		"share 0 from 2 3\n"
		"gather done\n"
		"gather done\n"
		"deposit done\n"
		"deposit 0 of 2 from 2\n"
		"fetch done\n"
		"deposit 0 of 3 from 3\n"
		"fetch done\n"
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
