/* Answers to requests go to peers that read: those that a peer does not read would fill the memory. */
#include "daemon/learner/actions.h"
#include "daemon/learner/daemon.h"
#include "test/lib/test.h"
#include "test/wire/sample.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

static uint32_t sent;
static bool reads;

bool __wrap_sl_links_reads(const struct sl_links *links, uint32_t peer)
{
	(void)links;
	return peer != 1 || reads;
}

void __wrap_sl_links_send(struct sl_links *links, uint32_t peer, struct sl_frame *frame)
{
	(void)links;
	(void)frame;
	sent += peer == 1;
}

/* Return true if a message of this kind goes out to learner 2 of three. */
static bool goes(enum sl_message_kind kind, bool to_reader)
{
	static const uint64_t to = 2;
	static struct sl_member members[3] = {{.id = 1}, {.id = 2}, {.id = 3}};
	static struct sl_actions actions = {.count = 1};
	static struct sample sample;
	struct sl_settings settings = {.id = 1};
	struct sl_daemon daemon = {.settings = &settings, .members.roster = {.members = members, .size = 3}};
	sample_make(&sample, kind);
	actions.items[0] =
		(struct sl_action){.kind = SL_ACTION_SEND, .send = {.to = &to, .message = sample.message}};
	sent = 0;
	reads = to_reader;
	sl_actions_execute(&daemon, &actions);
	return sent == 1;
}

TEST(answers_go_to_peers_that_read)
{
	sample_seed();
	assert_true(goes(SL_MSG_ROUND, true));
	assert_false(goes(SL_MSG_ROUND, false));
	assert_true(goes(SL_MSG_DIGEST, true)); /* of a certificate */
	assert_false(goes(SL_MSG_DIGEST, false));
}

TEST(other_messages_go_to_all)
{
	sample_seed();
	assert_true(goes(SL_MSG_HELLO, false));
	assert_true(goes(SL_MSG_REQUEST, false));
}
