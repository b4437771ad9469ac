/* Learners that join, on the port of the links: they are answered, bounded, and do not disturb links. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/membership/join_client.h"
#include "daemon/net/join_server.h"
#include "test/lib/test.h"
#include "test/net/pair.h"

#define ROSTER_BYTES 300000u /* more than the kernel takes at once */

/* A pair whose second end serves learners that join, and a learner that is in no roster. */
struct stage {
	struct pair *pair;
	struct sl_identity stranger;
	char address[SL_ADDRESS_BYTES];
	const struct sl_proxy *proxy;
	uint32_t ms; /* for a learner that joins */
	struct sl_join_handler handler;
	struct sl_join_peer asked; /* of the last request */
	uint8_t pin[SL_HASH_BYTES];
	struct sl_join_request request;
	uint32_t requests;
	uint8_t roster[ROSTER_BYTES];
};

static void on_ask(void *context, const struct sl_join_peer *peer, const struct sl_join_request *request,
		   struct sl_join_answer *answer)
{
	struct stage *stage = context;
	stage->asked = *peer;
	memcpy(stage->pin, peer->pin, sizeof stage->pin);
	stage->request = *request;
	stage->requests++;
	*answer = (struct sl_join_answer){.verdict = SL_JOIN_WAITING,
					  .time = 1234,
					  .roster = stage->roster,
					  .roster_bytes = sizeof stage->roster};
}

static struct stage *stage_open(bool joins)
{
	static struct stage stage;
	struct sl_error error = {0};
	char folder[96];
	struct sockaddr_in name;
	int size = sizeof name;
	memset(&stage, 0, sizeof stage);
	stage.ms = 5000;
	for (size_t i = 0; i < sizeof stage.roster; i++)
		stage.roster[i] = (uint8_t)(i * 7);
	stage.handler = (struct sl_join_handler){&stage, on_ask};
	stage.pair = pair_alone();
	snprintf(folder, sizeof folder, "%s/stranger", stage.pair->net->folder);
	assert_int_equal(sl_identity_create(folder, "stranger", &error), SL_OK);
	assert_int_equal(sl_identity_load(folder, &stage.stranger, &error), SL_OK);
	struct sl_links *links = stage.pair->ends[1].links;
	links->config.join = &stage.handler;
	stage.pair->net->tls[1].joins = joins;
	assert_int_equal(uv_tcp_getsockname(&links->listener, (struct sockaddr *)&name, &size), 0);
	snprintf(stage.address, sizeof stage.address, "127.0.0.1:%u", ntohs(name.sin_port));
	return &stage;
}

static void stage_close(struct stage *stage)
{
	sl_identity_close(&stage->stranger);
	pair_end(stage->pair);
}

/* The learner that joins runs on a thread of its own: its calls block. */
struct learner {
	struct stage *stage;
	const struct sl_identity *identity;
	struct sl_join_request request;
	struct sl_join_client client;
	struct sl_join_answer answer;
	struct sl_error error;
	int opened, rc;
	_Atomic bool ended;
};

static void *run(void *argument)
{
	struct learner *l = argument;
	l->opened = sl_join_client_open(&l->client, SL_JOIN_FOR_ANSWER, false, l->identity, NULL,
					l->stage->proxy, l->stage->address, l->stage->ms, &l->error);
	l->rc = l->opened;
	if (l->opened == SL_OK)
		l->rc = sl_join_client_ask(&l->client, &l->request, &l->answer, &l->error);
	l->ended = true;
	return NULL;
}

static bool has_ended(void *argument)
{
	return ((struct learner *)argument)->ended;
}

static struct learner *ask(struct stage *stage, const struct sl_identity *identity)
{
	static struct learner learner;
	pthread_t thread;
	memset(&learner, 0, sizeof learner);
	learner.stage = stage;
	learner.identity = identity;
	learner.request = (struct sl_join_request){
		.kind = SL_JOIN_ASK, .group = "ward", .name = "bo", .address = "h:1", .version = 3};
	assert_int_equal(pthread_create(&thread, NULL, run, &learner), 0);
	assert_true(net_until(stage->pair->net, 6000, has_ended, &learner));
	pthread_join(thread, NULL);
	return &learner;
}

TEST(stranger_is_answered)
{
	struct stage *stage = stage_open(true);
	struct learner *l = ask(stage, &stage->stranger);
	assert_int_equal(l->rc, SL_OK);
	assert_int_equal(l->answer.verdict, SL_JOIN_WAITING);
	assert_int_equal(l->answer.time, 1234);
	assert_int_equal(l->answer.roster_bytes, sizeof stage->roster);
	assert_memory_equal(l->answer.roster, stage->roster, sizeof stage->roster);
	assert_memory_equal(stage->pin, stage->stranger.pin, SL_HASH_BYTES);
	assert_memory_equal(stage->asked.exported, l->client.exported, SL_HASH_BYTES);
	assert_memory_equal(sl_join_client_pin(&l->client), stage->pair->net->identities[1].pin,
			    SL_HASH_BYTES);
	assert_memory_equal(&stage->request, &l->request, sizeof l->request);
	assert_string_equal(l->client.local, "127.0.0.1");
	uint8_t first[SL_HASH_BYTES];
	memcpy(first, l->client.exported, sizeof first);
	sl_join_client_close(&l->client);
	l = ask(stage, &stage->pair->net->identities[0]); /* a member */
	assert_int_equal(l->rc, SL_OK);
	assert_memory_equal(stage->pin, stage->pair->net->identities[0].pin, SL_HASH_BYTES);
	assert_memory_not_equal(first, l->client.exported, sizeof first);
	sl_join_client_close(&l->client);
	assert_int_equal(stage->requests, 2);
	assert_int_equal(stage->pair->ends[1].ups, 0); /* no link */
	stage_close(stage);
}

/* The emulator of the second end is a proxy, which alone knows the name. */
static struct stage *stage_behind(const char *answer)
{
	static struct sl_proxy proxy;
	char url[64];
	struct sl_error error;
	struct stage *stage = stage_open(true);
	struct emulator *emulator = &stage->pair->emulators[1];
	snprintf(url, sizeof url, "http://127.0.0.1:%u", emulator->port);
	assert_int_equal(sl_proxy_set(&proxy, url, "", &error), SL_OK);
	stage->proxy = &proxy;
	strcpy(stage->address, "far.invalid:7400");
	emulator->answers[0] = (struct emulator_text){answer, strlen(answer)};
	emulator->answer_count = 1;
	return stage;
}

TEST(through_a_proxy)
{
	struct stage *stage = stage_behind("HTTP/1.1 200 OK\r\n\r\n");
	struct learner *l = ask(stage, &stage->stranger);
	assert_int_equal(l->rc, SL_OK);
	assert_int_equal(l->answer.verdict, SL_JOIN_WAITING);
	assert_memory_equal(l->answer.roster, stage->roster, sizeof stage->roster);
	sl_join_client_close(&l->client);
	stage_close(stage);
}

TEST(a_proxy_that_fails)
{
	static const struct {
		const char *answer, *text;
		uint32_t ms;
	} rows[] = {{"HTTP/1.1 403 x\r\n\r\n", "far.invalid:7400: the proxy forbids this connection", 5000},
		    {"HTTP/1.1 200 ", "far.invalid:7400: the proxy gives no whole answer", 1000}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct stage *stage = stage_behind(rows[i].answer);
		stage->ms = rows[i].ms;
		struct learner *l = ask(stage, &stage->stranger);
		assert_int_equal(l->opened, SL_ERR_IO);
		assert_int_equal(l->client.failure, SL_JOIN_FAILURE_PROXY);
		assert_ptr_equal(strstr(l->error.text, rows[i].text), l->error.text);
		sl_join_client_close(&l->client);
		stage_close(stage);
	}
}

/* Where the roster is unsigned, no key without a roster line is accepted. */
TEST(refused_where_none_are_served)
{
	struct stage *stage = stage_open(false);
	struct learner *l = ask(stage, &stage->stranger);
	assert_int_equal(l->opened, SL_ERR_CRYPTO);
	assert_non_null(strstr(l->error.text, ": no learner that serves invitations answers there"));
	sl_join_client_close(&l->client);
	l = ask(stage, &stage->pair->net->identities[0]);
	assert_int_equal(l->opened, SL_ERR_CRYPTO);
	sl_join_client_close(&l->client);
	assert_int_equal(stage->requests, 0);
	assert_int_equal(stage->pair->ends[1].ups, 0);
	stage_close(stage);
}

/* ---- connections that ask for nothing, or wrongly ---- */

static bool all_gone(void *argument)
{
	const struct stage *stage = argument;
	return stage->pair->ends[1].links->handshaking == 0;
}

static bool all_join(void *argument)
{
	return ((const struct stage *)argument)->pair->ends[1].links->joining == SL_JOINS_MAX;
}

static bool both_up(void *argument)
{
	const struct stage *stage = argument;
	return stage->pair->ends[0].up && stage->pair->ends[1].up;
}

struct open_many {
	struct stage *stage;
	struct sl_join_client clients[SL_JOINS_MAX + 4];
	int rcs[SL_JOINS_MAX + 4];
	_Atomic bool ended;
};

static void *open_all(void *argument)
{
	struct open_many *m = argument;
	for (size_t i = 0; i < SL_JOINS_MAX + 4; i++)
		m->rcs[i] =
			sl_join_client_open(&m->clients[i], SL_JOIN_FOR_ANSWER, false, &m->stage->stranger,
					    NULL, NULL, m->stage->address, 5000, NULL);
	m->ended = true;
	return NULL;
}

static bool opened_all(void *argument)
{
	return ((struct open_many *)argument)->ended;
}

/* So many may be open, and none for longer than a handshake may take; links come up beside them. */
TEST(idle_connections_are_bounded)
{
	static struct open_many many;
	struct stage *stage = stage_open(true);
	struct net *net = stage->pair->net;
	pthread_t thread;
	memset(&many, 0, sizeof many);
	many.stage = stage;
	assert_int_equal(pthread_create(&thread, NULL, open_all, &many), 0);
	assert_true(net_until(net, 6000, opened_all, &many));
	pthread_join(thread, NULL);
	assert_true(net_until(net, 1000, all_join, stage));
	pair_want(stage->pair, 0, true);
	assert_true(net_until(net, 3000, both_up, stage));
	assert_int_equal(stage->pair->ends[1].links->joining, SL_JOINS_MAX);
	net->timing.handshake = 50;
	assert_true(net_until(net, 2000, all_gone, stage));
	assert_int_equal(stage->pair->ends[1].links->joining, 0);
	assert_true(stage->pair->ends[1].up);
	for (size_t i = 0; i < SL_JOINS_MAX + 4; i++)
		sl_join_client_close(&many.clients[i]);
	assert_int_equal(stage->requests, 0);
	stage_close(stage);
}

/* The second of the bound lasts until the test ends it. */
TEST(requests_are_bounded_in_a_second)
{
	struct stage *stage = stage_open(true);
	struct sl_links *links = stage->pair->ends[1].links;
	links->asked_since = uv_now(links->config.loop) + 3600000;
	links->asked = SL_JOINS_PER_SECOND_MAX - 1;
	for (uint32_t i = 0; i < 3; i++) {
		struct learner *l = ask(stage, &stage->stranger);
		assert_int_equal(l->opened, SL_OK);
		assert_int_equal(l->rc == SL_OK, i != 1);
		sl_join_client_close(&l->client);
		if (i == 1)
			links->asked_since = 0;
	}
	assert_int_equal(stage->requests, 2);
	stage_close(stage);
}

struct raw {
	struct stage *stage;
	const uint8_t *bytes;
	size_t size;
	uint8_t answer[64];
	size_t got;
	int rc;
	_Atomic bool ended;
};

/* Send the bytes and read until the other end closes. */
static void *send_raw(void *argument)
{
	static struct sl_join_client client;
	struct raw *raw = argument;
	int rc = sl_join_client_open(&client, SL_JOIN_FOR_ANSWER, false, &raw->stage->stranger, NULL, NULL,
				     raw->stage->address, 5000, NULL);
	if (rc == SL_OK)
		rc = sl_tls_session_write(&client.session, raw->bytes, raw->size);
	if (rc == SL_OK && send(client.fd, client.session.out, client.session.out_bytes, MSG_NOSIGNAL) < 0)
		rc = SL_ERR_IO;
	for (bool open = rc == SL_OK; open;) {
		struct pollfd p = {.fd = client.fd, .events = POLLIN};
		size_t got = 0;
		ssize_t n =
			poll(&p, 1, 1000) == 1 ? recv(client.fd, client.input, sizeof client.input, 0) : 0;
		open = n > 0;
		client.session.in = client.input;
		client.session.in_bytes = n > 0 ? (size_t)n : 0;
		while (open && sl_tls_session_read(&client.session, raw->answer + raw->got,
						   sizeof raw->answer - raw->got, &got) == SL_OK)
			raw->got += got;
		open = open && raw->got == 0;
	}
	raw->rc = rc;
	sl_join_client_close(&client);
	raw->ended = true;
	return NULL;
}

static bool raw_ended(void *argument)
{
	return ((struct raw *)argument)->ended;
}

static void expect_raw(struct stage *stage, const void *bytes, size_t size, enum sl_join_verdict verdict)
{
	static struct raw raw;
	struct sl_join_answer answer;
	pthread_t thread;
	memset(&raw, 0, sizeof raw);
	raw.stage = stage;
	raw.bytes = bytes;
	raw.size = size;
	assert_int_equal(pthread_create(&thread, NULL, send_raw, &raw), 0);
	assert_true(net_until(stage->pair->net, 6000, raw_ended, &raw));
	pthread_join(thread, NULL);
	assert_int_equal(raw.rc, SL_OK);
	if (verdict == 0) {
		assert_int_equal(raw.got, 0);
		return;
	}
	assert_true(raw.got > SL_JOIN_HEAD_BYTES);
	assert_null(sl_join_codec_take_answer(raw.answer + SL_JOIN_HEAD_BYTES, raw.got - SL_JOIN_HEAD_BYTES,
					      &answer));
	assert_int_equal(answer.verdict, verdict);
}

TEST(malformed_requests)
{
	static const uint8_t too_long[] = {1, 4, 0, 0, 8, 1}, much_too_long[] = {0xff, 0xff, 0xff, 0xff},
			     beyond[] = {1, 0, 0, 0, 8, 1}, empty[] = {0, 0, 0, 0},
			     noise[] = {2, 0, 0, 0, 0xff, 0xff};
	struct stage *stage = stage_open(true);
	expect_raw(stage, too_long, sizeof too_long, 0);
	expect_raw(stage, much_too_long, sizeof much_too_long, 0);
	expect_raw(stage, beyond, sizeof beyond, 0);
	expect_raw(stage, empty, sizeof empty, SL_JOIN_INVALID);
	expect_raw(stage, noise, sizeof noise, SL_JOIN_INVALID);
	assert_int_equal(stage->requests, 0);
	assert_true(net_until(stage->pair->net, 2000, all_gone, stage));
	assert_int_equal(stage->pair->ends[1].links->joining, 0);
	stage_close(stage);
}
