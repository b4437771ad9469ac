/* `starling doctor`: the peers of the roster, asked at once by some threads, until one deadline. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/protocol/canonical.h"
#include "common/wire/codec.h"
#include "daemon/membership/join_client.h"
#include "daemon/net/link_segment.h"
#include "daemon/runtime/address.h"
#include "tools/lib/command.h"
#include "tools/lib/control_query.h"
#include "tools/starling/doctor.h"

#define THREADS_MAX 256u
#define CONNECTION_MS 2500u /* for the addresses of a peer together, each of at most two times */
#define ALL_S 8		    /* for all peers: the resolver of names sets no limit of its own */
#define ANSWER_S 2

struct peer {
	bool done;			/* the finding is complete */
	char path[SL_NAME_BYTES + 8];	/* of the connection, if it is not direct */
	bool has_link;			/* the learner of this machine holds one */
	bool narrow;			/* large packets are lost on the way to it */
	bool other_run;			/* .. and the peer has said over it that it is in another run */
	bool has_clock;			/* it has told the time */
	int64_t ahead_s;		/* of the clock of this machine */
	char address[SL_ADDRESS_BYTES]; /* that the finding is about */
	uint32_t ms;			/* for a connection to it */
	struct sl_doctor_finding finding;
};

/* Shared by the threads. It is never freed: a thread may still wait for the resolver when the program ends.
 */
struct asked {
	const struct sl_doctor *doctor;
	struct peer *peers;
	pthread_mutex_t lock;
	pthread_cond_t change;
	uint32_t next, left, running;
	pthread_t threads[THREADS_MAX];
};

/* Set the finding: `code` names its text and its remedy in starling_control/doctor.py; the format is of what
 * they name. */
static void __attribute__((format(printf, 4, 5)))
find(struct sl_doctor_finding *f, enum sl_doctor_level level, const char *code, const char *format, ...)
{
	va_list list;
	f->level = level;
	f->code = code;
	va_start(list, format);
	vsnprintf(f->detail, sizeof f->detail, format, list);
	va_end(list);
}

/* Say which other key has answered. */
static void find_other_key(struct sl_doctor_finding *f, const struct sl_roster *roster, const uint8_t *pin)
{
	char text[SL_PIN_TEXT_BYTES];
	int other = sl_roster_find_pin(roster, pin);
	sl_roster_pin_text(pin, text);
	if (other >= 0)
		find(f, SL_DOCTOR_FAIL, "other learner", "%s (%" PRIu32 ")", roster->members[other].name,
		     roster->members[other].id);
	else
		find(f, SL_DOCTOR_FAIL, "other key", "%s", text);
}

/* Say why no connection could be made. */
static void find_unreachable(const struct peer *p, struct sl_doctor_finding *f,
			     const struct sl_join_client *client, const struct sl_error *error)
{
	const char *address = strstr(error->text, ": "), *why = address != NULL ? address + 2 : error->text;
	if (p->has_link && strncmp(p->path, "relay", 5) == 0)
		find(f, SL_DOCTOR_OK, "relayed", "%s", why);
	else if (p->has_link)
		find(f, SL_DOCTOR_WARN, "one way", "%s", why);
	else if (client->failure == SL_JOIN_FAILURE_RESOLVE)
		find(f, SL_DOCTOR_FAIL, "no name", "%s", why);
	else if (client->failure == SL_JOIN_FAILURE_PROXY)
		find(f, SL_DOCTOR_FAIL, "proxy", "%s", why);
	else if (client->why == ENETUNREACH || client->why == EHOSTUNREACH)
		find(f, SL_DOCTOR_FAIL, "no route", "%s", why);
	else if (client->why == EACCES || client->why == EPERM)
		find(f, SL_DOCTOR_FAIL, "forbidden", "%s", why);
	else if (client->why == ECONNREFUSED)
		find(f, SL_DOCTOR_FAIL, "refused", "%s", "");
	else if (client->why == ETIMEDOUT)
		find(f, SL_DOCTOR_FAIL, "no answer", "%.1f", p->ms / 1e3);
	else
		find(f, SL_DOCTOR_FAIL, "network", "%s", why);
}

static void find_handshake(struct sl_doctor_finding *f, const struct sl_join_client *client,
			   const struct sl_roster *roster)
{
	if (client->session.pinned)
		find_other_key(f, roster, client->session.pin);
	else
		find(f, SL_DOCTOR_FAIL, client->why == ETIMEDOUT ? "silent" : "tls", "%s",
		     client->why != 0 ? strerror(client->why) : "no learner answers there");
}

/* Compare the Hello of the peer. */
static void compare_hello(struct sl_doctor_finding *f, const struct sl_doctor *d,
			  const struct sl_deframer *frame)
{
	struct sl_decoded decoded;
	const char *flaw;
	if (sl_codec_decode(frame->kind, frame->payload, frame->size, &decoded, &flaw) != SL_OK)
		return;
	const struct sl_hello *hello = &decoded.message.hello;
	uint8_t run[SL_RUN_BYTES];
	sl_canonical_run(d->settings.run, run);
	if (memcmp(hello->run, run, sizeof run) != 0)
		find(f, SL_DOCTOR_FAIL, "other run", "%s", d->settings.run);
	else if (memcmp(hello->roster, d->group.roster.hash, SL_HASH_BYTES) != 0)
		find(f, SL_DOCTOR_WARN, "other roster", "%s", "");
	sl_codec_close(&decoded);
}

/* Read what a peer sends first on a link: a ping, then its Hello. */
static void hear(struct sl_doctor_finding *f, const struct sl_doctor *d, struct sl_join_client *client)
{
	struct sl_deframer frame = {.have = 0};
	bool any = false, told = false;
	int rc;
	while (!told && (rc = sl_join_client_frame(client, &frame)) == SL_OK) {
		any = true;
		if (frame.kind == SL_MSG_HELLO) {
			find(f, SL_DOCTOR_OK, "answers", "%s", "");
			compare_hello(f, d, &frame);
			told = true;
		}
		sl_deframer_next(&frame);
	}
	int version = told ? 0 : sl_deframer_version(&frame);
	sl_deframer_close(&frame);
	if (told)
		return;
	if (rc == SL_ERR_FORMAT && version != 0)
		find(f, SL_DOCTOR_FAIL, version > 0 ? "newer" : "older", "%s", "");
	else if (any || rc == SL_ERR_NOTFOUND)
		find(f, SL_DOCTOR_OK, any ? "answers" : "busy", "%s", "");
	else
		find(f, SL_DOCTOR_FAIL, rc == SL_ERR_CRYPTO ? "refuses key" : "mute", "%s", "");
}

/* Open a connection with packets as large as those of a link, or with small ones if no others arrive. */
static int open_to(const struct sl_doctor *d, enum sl_join_purpose purpose, struct peer *p,
		   struct sl_join_client *client, struct sl_error *error)
{
	const struct sl_roster *roster = purpose == SL_JOIN_FOR_ANSWER ? NULL : &d->group.roster;
	int rc = sl_join_client_open(client, purpose, true, &d->identity, roster, &d->proxy, p->address,
				     p->ms, error);
	if (!sl_join_client_is_stuck(client))
		return rc;
	sl_join_client_close(client);
	rc = sl_join_client_open(client, purpose, false, &d->identity, roster, &d->proxy, p->address, p->ms,
				 error);
	p->narrow = p->narrow || rc == SL_OK;
	return rc;
}

/* Begin a link as the learner would. */
static void try_link(const struct sl_doctor *d, uint32_t index, struct peer *p, struct sl_doctor_finding *f)
{
	const struct sl_roster *roster = &d->group.roster;
	struct sl_join_client client;
	struct sl_error error = {0};
	int rc = open_to(d, SL_JOIN_FOR_LINK, p, &client, &error);
	if (rc == SL_OK && client.session.member != (int)index)
		find_other_key(f, roster, client.session.pin);
	else if (rc == SL_OK)
		hear(f, d, &client);
	else if (client.failure == SL_JOIN_FAILURE_HANDSHAKE)
		find_handshake(f, &client, roster);
	else
		find_unreachable(p, f, &client, &error);
	sl_join_client_close(&client);
}

/* Compare the roster of the answer. */
static void compare_roster(const struct sl_doctor *d, const struct sl_join_answer *answer,
			   struct sl_doctor_finding *f)
{
	struct sl_group theirs = {.version = 0};
	struct sl_error error = {0};
	int rc = sl_group_read("its roster", (const char *)answer->roster, answer->roster_bytes, &theirs,
			       &error);
	if (rc == SL_OK)
		rc = theirs.version > d->group.version ? sl_group_follows(&d->group, &theirs, &error)
						       : sl_group_follows(&theirs, &d->group, &error);
	if (rc != SL_OK)
		find(f, SL_DOCTOR_FAIL, "unfit roster", "%s", error.text);
	else
		find(f, SL_DOCTOR_WARN, "version of roster",
		     "%" PRIu64 " of the roster, this machine %" PRIu64, theirs.version, d->group.version);
	sl_group_close(&theirs);
}

static void judge(const struct sl_doctor *d, const struct sl_join_answer *answer, struct peer *p,
		  struct sl_doctor_finding *f)
{
	p->has_clock = true;
	p->ahead_s =
		(int64_t)(answer->time < INT64_MAX / 2 ? answer->time : INT64_MAX / 2) - (int64_t)time(NULL);
	switch (answer->verdict) {
	case SL_JOIN_ADMITTED:
		if (answer->roster != NULL)
			compare_roster(d, answer, f);
		return;
	case SL_JOIN_OTHER_GROUP:
		find(f, SL_DOCTOR_FAIL, "other group", "%s", d->group.name);
		return;
	case SL_JOIN_NO_MEMBER:
		find(f, SL_DOCTOR_FAIL, "no member", "%s", "");
		return;
	default:
		find(f, SL_DOCTOR_WARN, "later", "%s", "");
	}
}

/* Ask as a learner that joins does: this disturbs no link. Return true if the peer has a signed roster. */
static bool try_join(const struct sl_doctor *d, uint32_t index, struct peer *p, struct sl_doctor_finding *f)
{
	const struct sl_member *m = &d->group.roster.members[index];
	struct sl_join_request request = {.kind = SL_JOIN_ROSTER, .version = d->group.version};
	struct sl_join_client client;
	struct sl_join_answer answer;
	struct sl_error error = {0};
	snprintf(request.group, sizeof request.group, "%s", d->group.name);
	int rc = open_to(d, SL_JOIN_FOR_ANSWER, p, &client, &error);
	bool serves = rc == SL_OK;
	if (rc != SL_OK && client.failure != SL_JOIN_FAILURE_HANDSHAKE)
		find_unreachable(p, f, &client, &error);
	else if (serves && memcmp(sl_join_client_pin(&client), m->pin, SL_HASH_BYTES) != 0)
		find_other_key(f, &d->group.roster, sl_join_client_pin(&client));
	else if (serves && sl_join_client_ask(&client, &request, &answer, &error) != SL_OK)
		find(f, SL_DOCTOR_FAIL, "no sense", "%s", error.text);
	else if (serves)
		judge(d, &answer, p, f);
	else
		find_handshake(f, &client,
			       &d->group.roster); /* a link tells more, unless the group is forming */
	serves = serves || client.failure != SL_JOIN_FAILURE_HANDSHAKE;
	sl_join_client_close(&client);
	return serves;
}

/* Look whether a link that the learner holds could be dialled from here, too. The link stays. */
static void try_dial(const struct sl_doctor *d, uint32_t index, struct peer *p, struct sl_doctor_finding *f)
{
	const struct sl_roster *roster = &d->group.roster;
	struct sl_join_client client;
	struct sl_error error = {0};
	int rc = open_to(d, SL_JOIN_FOR_LOOK, p, &client, &error);
	if (rc != SL_OK && client.failure != SL_JOIN_FAILURE_HANDSHAKE)
		find_unreachable(p, f, &client, &error);
	else if (rc != SL_OK || client.session.member != (int)index)
		find_handshake(f, &client, roster);
	else if (p->other_run)
		find(f, SL_DOCTOR_FAIL, "other run", "%s", d->settings.run);
	else
		find(f, SL_DOCTOR_OK, "link", "%s", "");
	sl_join_client_close(&client);
}

/* Examine a peer at the address p->address. */
static void examine_at(const struct sl_doctor *d, uint32_t index, struct peer *p, struct sl_doctor_finding *f)
{
	bool is_group = sl_group_is_signed(&d->group);
	bool served = is_group && try_join(d, index, p, f);
	if (is_group && f->code != NULL && (served || sl_group_is_forming(&d->group)))
		return;
	if (p->has_link && !is_group)
		try_dial(d, index, p, f);
	else if (p->has_link)
		find(f, SL_DOCTOR_OK, "link", "%s", "");
	else if (sl_group_is_forming(&d->group))
		find(f, SL_DOCTOR_OK, "forming", "%s", "");
	else
		try_link(d, index, p, f);
}

/* If the address leads nowhere, name that as the reason. One that leads each machine to itself may be right
 * if the own one does, too. */
static void blame_address(const struct sl_doctor *d, struct peer *p)
{
	char own[SL_ADDRESS_BYTES];
	const char *flaw = sl_address_flaw(p->address, false);
	sl_roster_address_at(d->group.roster.members[d->self].address, 0, own);
	if (flaw == NULL || p->finding.level == SL_DOCTOR_OK ||
	    (sl_address_is_here(p->address) && sl_address_is_here(own)))
		return;
	find(&p->finding, p->has_link ? SL_DOCTOR_WARN : SL_DOCTOR_FAIL, "nowhere", "%s", flaw);
}

/* Examine a peer at its addresses, and keep the best finding. */
static void examine(const struct sl_doctor *d, uint32_t index, struct peer *p)
{
	struct peer one = *p;
	uint32_t count = sl_roster_address_at(d->group.roster.members[index].address, 0, one.address);
	one.ms = CONNECTION_MS / count;
	for (uint32_t i = 0; i < count; i++) {
		sl_roster_address_at(d->group.roster.members[index].address, i, one.address);
		one.finding = (struct sl_doctor_finding){.level = SL_DOCTOR_OK};
		examine_at(d, index, &one, &one.finding);
		blame_address(d, &one);
		if (one.narrow && one.finding.level == SL_DOCTOR_OK)
			find(&one.finding, SL_DOCTOR_WARN, "narrow", "%s", "");
		if (i == 0 || one.finding.level < p->finding.level)
			*p = one;
	}
	if (!p->has_link && sl_proxy_serves(&d->proxy, p->address))
		strcpy(p->path, "proxy");
}

static void *work(void *argument)
{
	struct asked *a = argument;
	pthread_mutex_lock(&a->lock);
	while (a->next < a->doctor->group.roster.size) {
		uint32_t index = a->next++;
		struct peer copy = a->peers[index];
		if (copy.done)
			continue;
		pthread_mutex_unlock(&a->lock);
		examine(a->doctor, index, &copy);
		pthread_mutex_lock(&a->lock);
		copy.done = true;
		a->peers[index] = copy;
		a->left--;
		pthread_cond_signal(&a->change);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* Take from the status of the learner to which peers it holds a link. */
static void note_links(struct asked *a, const struct sl_doctor *d)
{
	size_t i;
	json_t *one;
	json_t *status = sl_control_query(d->settings.control,
					  json_pack("{s:s, s:b}", "op", "status", "peers", 1), ANSWER_S);
	json_array_foreach(json_object_get(status, "peers"), i, one)
	{
		int at = sl_roster_find(&d->group.roster,
					(sl_id)json_integer_value(json_object_get(one, "id")));
		if (at < 0)
			continue;
		const char *link = json_string_value(json_object_get(one, "link"));
		const char *path = json_string_value(json_object_get(one, "path"));
		if (path != NULL && strcmp(path, "direct") != 0)
			snprintf(a->peers[at].path, sizeof a->peers[at].path, "%s", path);
		json_int_t segment = json_integer_value(json_object_get(one, "segment"));
		a->peers[at].narrow = segment > 0 && segment <= SL_SEGMENT_SMALL;
		a->peers[at].has_link = link != NULL && strcmp(link, "up") == 0;
		a->peers[at].other_run = json_is_true(json_object_get(one, "other_run"));
	}
	json_decref(status);
}

static void start(struct asked *a)
{
	uint32_t wanted = a->left < THREADS_MAX ? a->left : THREADS_MAX;
	while (a->running < wanted && pthread_create(&a->threads[a->running], NULL, work, a) == 0)
		a->running++;
}

static json_t *peer_json(const struct sl_member *m, const struct peer *p)
{
	static const char *const results[] = {
		[SL_DOCTOR_OK] = "ok", [SL_DOCTOR_WARN] = "warn", [SL_DOCTOR_FAIL] = "FAIL"};
	char about[96];
	snprintf(about, sizeof about, "peer %.60s (%" PRIu32 ")", m->name, m->id);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "result", results[p->finding.level], "about",
			 about, "code", p->done ? p->finding.code : "late", "text", p->finding.detail, "path",
			 p->path, "address", p->done ? p->address : m->address, "ahead_s",
			 p->has_clock ? json_integer(p->ahead_s) : json_null());
}

static void print(const struct sl_doctor *d, const struct asked *a)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < d->group.roster.size; i++)
		if ((int)i != d->self)
			json_array_append_new(array, peer_json(&d->group.roster.members[i], &a->peers[i]));
	sl_command_print_json(array, 0);
}

bool sl_doctor_peers(struct sl_doctor *d)
{
	static struct asked a = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};
	struct sl_tls first;
	struct timespec end;
	a.doctor = d;
	a.peers = sl_command_memory(d->group.roster.size, sizeof *a.peers);
	a.left = d->group.roster.size - 1;
	a.peers[d->self].done = true;
	note_links(&a, d);
	if (sl_tls_open(&first, &d->identity, &d->group.roster, NULL) == SL_OK)
		sl_tls_close(&first); /* it makes what all sessions share, before there are threads */
	start(&a);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += ALL_S;
	pthread_mutex_lock(&a.lock);
	while (a.left > 0 && pthread_cond_timedwait(&a.change, &a.lock, &end) == 0)
		;
	bool done = a.left == 0;
	print(d, &a);
	pthread_mutex_unlock(&a.lock);
	for (uint32_t i = 0; done && i < a.running; i++)
		pthread_join(a.threads[i], NULL);
	if (done)
		free(a.peers);
	return done;
}
