/* Signed messages are accepted only from their signers, and shares are wiped: the event queue in front of a
 * core that has not started. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "common/wire/codec.h"
#include "daemon/learner/actions.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/events.h"
#include "test/lib/test.h"
#include "test/wire/sample.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

#define LEARNERS 3 /* 0 is the daemon's; 1 relays what 2 has signed */

static struct sl_daemon *daemon_;
static struct sl_member members[LEARNERS];
static uint8_t keys[LEARNERS][SL_KEY_BYTES];
static struct sl_daemon signers[LEARNERS]; /* as much of one as it takes to sign */
static const enum sl_message_kind signed_kinds[] = {SL_MSG_LINK_STATE, SL_MSG_READY, SL_MSG_DIGEST};
#define KINDS (sizeof signed_kinds / sizeof signed_kinds[0])

/* ---- what is wiped ---- */

static size_t wiped; /* bytes, since the test began */

void __real_sodium_memzero(void *bytes, size_t size);

void __wrap_sodium_memzero(void *bytes, size_t size)
{
	wiped += size;
	__real_sodium_memzero(bytes, size);
}

/* ---- what is verified ---- */

static uint32_t verified;

int __real_crypto_sign_verify_detached(const unsigned char *signature, const unsigned char *m,
				       unsigned long long size, const unsigned char *key);

int __wrap_crypto_sign_verify_detached(const unsigned char *signature, const unsigned char *m,
				       unsigned long long size, const unsigned char *key)
{
	verified++;
	return __real_crypto_sign_verify_detached(signature, m, size, key);
}

/* ---- a daemon, as much of one as it takes ---- */

static void make_learners(const struct sl_core_config *config)
{
	for (uint32_t i = 0; i < LEARNERS; i++) {
		signers[i].core_config = *config;
		signers[i].members.identity.sign_key = malloc(crypto_sign_SECRETKEYBYTES);
		crypto_sign_keypair(keys[i], signers[i].members.identity.sign_key);
		members[i].id = i + 1;
		snprintf(members[i].name, sizeof members[i].name, "site-%u", i);
		sl_identity_pin(keys[i], members[i].pin);
	}
}

static void make_core(struct sl_daemon *daemon)
{
	static const sl_id ids[LEARNERS] = {1, 2, 3};
	struct sl_arena arena;
	struct sl_core_config *config = &daemon->core_config;
	*config = (struct sl_core_config){
		.roster_size = LEARNERS, .ids = ids, .scope.run = {7}, .parameters.n = 4};
	daemon->memory.core = malloc(sl_core_bytes(config));
	sl_arena_init(&arena, daemon->memory.core, sl_core_bytes(config));
	daemon->core = sl_core_init(config, &arena);
}

static void make_links(struct sl_daemon *daemon)
{
	struct sl_error error;
	struct sl_links_config config = {
		.loop = &daemon->loop, .roster = &daemon->members.roster, .listen = "127.0.0.1:0"};
	uv_loop_init(&daemon->loop);
	uv_timer_init(&daemon->loop, &daemon->handles.alarm);
	uv_idle_init(&daemon->loop, &daemon->handles.busy);
	assert_int_equal(sl_links_open(&daemon->links, &config, &error), SL_OK);
}

static int setup(void **state)
{
	(void)state;
	static struct sl_settings settings = {.log = "/dev/null"};
	struct sl_error error;
	struct sl_daemon *daemon = daemon_ = malloc(sizeof *daemon);
	sl_daemon_init(daemon, &settings);
	daemon->members.roster = (struct sl_roster){.members = members, .size = LEARNERS};
	sl_event_queue_init(&daemon->event_queue);
	sl_verify_open(&daemon->verifier, &daemon->members.roster, "/dev/null", &error); /* and no folder */
	assert_int_equal(sl_observe_peers(&daemon->observe, &error), SL_OK);
	make_core(daemon);
	make_links(daemon);
	make_learners(&daemon->core_config);
	return sl_log_open(&daemon->observe.log, &settings, &error);
}

static int teardown(void **state)
{
	(void)state;
	struct sl_daemon *daemon = daemon_;
	sl_event_queue_close(&daemon->event_queue);
	sl_links_close(daemon->links);
	uv_close((uv_handle_t *)&daemon->handles.alarm, NULL);
	uv_close((uv_handle_t *)&daemon->handles.busy, NULL);
	uv_run(&daemon->loop, UV_RUN_DEFAULT);
	uv_loop_close(&daemon->loop);
	sl_links_free(daemon->links);
	sl_observe_close(&daemon->observe);
	for (uint32_t i = 0; i < LEARNERS; i++)
		free(signers[i].members.identity.sign_key);
	sl_verify_close(&daemon->verifier);
	void *owned[] = {daemon->memory.core, daemon};
	for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
		free(owned[k]);
	return 0;
}

/* Return true if `message`, relayed by learner 1, is accepted without a warning. */
static bool heard(const struct sl_message *message)
{
	size_t size = sl_codec_bytes(message), header = SL_FRAME_HEADER_BYTES;
	uint8_t *frame = malloc(size), *payload = malloc(size - header);
	sl_codec_encode(message, frame, size, NULL);
	memcpy(payload, frame + header, size - header);
	free(frame);
	daemon_->observe.peers[1].warning = (struct sl_peer_warning){0};
	sl_event_queue_frame(&daemon_->event_queue, 1, message->kind, payload, size - header);
	sl_events_drain(daemon_);
	return daemon_->observe.peers[1].warning.quiet_until == 0;
}

static void set_signer(struct sl_message *m, sl_id id, const uint8_t *key)
{
	if (m->kind == SL_MSG_LINK_STATE) {
		m->link_state.id = id;
		memcpy(m->link_state.key, key, SL_KEY_BYTES);
	} else if (m->kind == SL_MSG_READY) {
		m->ready.id = id;
	} else {
		m->digest.id = id;
		memcpy(m->digest.key, key, SL_KEY_BYTES);
	}
}

/* Any record in the name of learner 2, with its key, signed by `signer`; good until the next but one. */
static struct sl_message record(enum sl_message_kind kind, uint32_t signer)
{
	static struct sample samples[2];
	static uint32_t next;
	struct sample *sample = &samples[next++ % 2];
	sample_make(sample, kind);
	set_signer(&sample->message, members[2].id, keys[2]);
	sl_daemon_sign(&signers[signer], &sample->message);
	return sample->message;
}

/* A Ready does not carry the key. */
static void show_key(void)
{
	struct sl_message m = record(SL_MSG_LINK_STATE, 2);
	assert_true(heard(&m));
}

static uint8_t *signature_of(struct sl_message *m)
{
	return m->kind == SL_MSG_LINK_STATE ? m->link_state.signature
	       : m->kind == SL_MSG_READY    ? m->ready.signature
					    : m->digest.signature;
}

static int prepare(void **state)
{
	(void)state;
	if (sodium_init() < 0)
		return 1;
	sample_seed();
	return 0;
}
TEST_SETUP(prepare, NULL)

TEST_WITH(its_signer_signed_it, setup, teardown)
{
	show_key();
	for (size_t k = 0; k < KINDS; k++) {
		struct sl_message m = record(signed_kinds[k], 2), forged = record(signed_kinds[k], 1);
		assert_true(heard(&m));
		assert_true(heard(&m)); /* again, over another link */
		assert_false(heard(&forged));
		signature_of(&m)[0] ^= 1;
		assert_false(heard(&m));
	}
}

/* A signature that was good a moment ago is not good for something else. */
TEST_WITH(and_nothing_else, setup, teardown)
{
	show_key();
	for (size_t k = 0; k < KINDS; k++) {
		struct sl_message m = record(signed_kinds[k], 2), other = record(signed_kinds[k], 2);
		assert_true(heard(&m));
		memcpy(signature_of(&other), signature_of(&m), SL_SIG_BYTES);
		assert_false(heard(&other));
		assert_true(heard(&m));
	}
}

/* By every link that its signer is not on; a Ready beside a link state beside another signer's. */
TEST_WITH(copies_are_not_verified_again, setup, teardown)
{
	static const enum sl_message_kind flooded[] = {SL_MSG_LINK_STATE, SL_MSG_READY};
	struct sl_message m[2];
	for (int k = 0; k < 2; k++)
		m[k] = record(flooded[k], 2);
	verified = 0;
	for (int i = 0; i < 9; i++)
		for (int k = 0; k < 2; k++)
			assert_true(heard(&m[k]));
	assert_int_equal(verified, 2);
}

TEST_WITH(its_key_is_the_pinned_one, setup, teardown)
{
	struct sl_message m = record(SL_MSG_READY, 2);
	assert_false(heard(&m)); /* its key is unknown */
	m = record(SL_MSG_LINK_STATE, 1);
	set_signer(&m, members[2].id, keys[1]);
	sl_daemon_sign(&signers[1], &m);
	assert_false(heard(&m)); /* in the name of 2, and good under the key that it brings along */
	m = record(SL_MSG_READY, 1);
	assert_false(heard(&m));
	show_key();
	m = record(SL_MSG_READY, 2);
	assert_true(heard(&m));
}

TEST_WITH(outsiders_are_not_heard, setup, teardown)
{
	struct sl_message m = record(SL_MSG_DIGEST, 2);
	set_signer(&m, LEARNERS + 1, keys[2]);
	sl_daemon_sign(&signers[2], &m);
	assert_false(heard(&m));
}

TEST_WITH(another_run_is_not_heard, setup, teardown)
{
	struct sl_message m = {
		.kind = SL_MSG_HELLO,
		.hello = {.id = 2, .t = 1, .a = 1, .status = SL_PEER_STATUS_READY, .run = {7}}};
	assert_true(heard(&m));
	m.hello.run[0] = 8;
	assert_false(heard(&m));
	struct sl_message signed_there = record(SL_MSG_LINK_STATE, 2);
	signers[2].core_config.scope.run[0] = 8;
	sl_daemon_sign(&signers[2], &signed_there);
	assert_false(heard(&signed_there));
}

static size_t wiped_of(enum sl_message_kind kind)
{
	static struct sample sample;
	sample_make(&sample, kind);
	wiped = 0;
	assert_true(heard(&sample.message));
	return wiped;
}

/* Shares are wiped with all around them; what every member of the view may see is not worth the time. */
TEST_WITH(a_share_that_came_is_wiped, setup, teardown)
{
	assert_true(wiped_of(SL_MSG_SHARE) > 0);
	assert_int_equal(wiped_of(SL_MSG_STATE), 0);
	assert_int_equal(wiped_of(SL_MSG_RESULT), 0);
	assert_int_equal(wiped_of(SL_MSG_DEPOSIT), 0);
	assert_true(wiped_of(SL_MSG_KEY_SHARE) > 0);
}

TEST_WITH(a_share_that_went_is_wiped, setup, teardown)
{
	static uint8_t row[1000];
	static uint8_t *shares[] = {row};
	static uint32_t neighbour[] = {1}, all[] = {0, 1, 2};
	struct sl_actions *actions = &daemon_->actions;
	const struct sl_view view = {.degree = 1, .chunks = 9, .neighbours = neighbour, .members = all};
	daemon_->workspace_view = &view;
	daemon_->workspace.shares = shares;
	actions->count = 1;
	actions->items[0] = (struct sl_action){
		.kind = SL_ACTION_SEND,
		.send = {.message = {.kind = SL_MSG_SHARE,
				     .chunk = {.t = 1, .a = 1, .view = {7}, .size = sizeof row}},
			 .payload = {.source = SL_SOURCE_SHARES}}};
	wiped = 0;
	sl_actions_execute(daemon_, actions);
	assert_true(wiped >= sizeof row);
}
