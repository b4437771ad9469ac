/* Connections that say nothing make room for each other, and for a learner. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/lib/test.h"
#include "test/net/pair.h"

#define STRANGERS 300
#define WAIT_MS 60000u

struct flood {
	struct pair *pair; /* the strangers connect to the second end */
	int strangers[STRANGERS];
	uint32_t most; /* connections without a verified key at one time */
};

static void turn(struct flood *f)
{
	net_turn(f->pair->net);
	if (f->pair->ends[1].links->handshaking > f->most)
		f->most = f->pair->ends[1].links->handshaking;
}

/* `burst`: number of connections between two turns of the learner. */
static void connect_all(struct flood *f, size_t burst)
{
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	name.sin_port = htons(f->pair->emulators[1].target);
	for (size_t k = 0; k < STRANGERS; k++) {
		f->strangers[k] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		assert_true(f->strangers[k] >= 0);
		connect(f->strangers[k], (struct sockaddr *)&name, sizeof name);
		if (k % burst == burst - 1)
			turn(f);
	}
}

static bool rejected(const struct flood *f, size_t k)
{
	char byte;
	return recv(f->strangers[k], &byte, 1, MSG_DONTWAIT) == 0;
}

static bool enough_rejected(void *argument)
{
	struct flood *f = argument;
	size_t count = 0;
	turn(f);
	for (size_t k = 0; k < STRANGERS; k++)
		count += rejected(f, k);
	return count >= STRANGERS - SL_HANDSHAKING_MAX;
}

static bool both_up(void *argument)
{
	struct flood *f = argument;
	turn(f);
	return f->pair->ends[0].up && f->pair->ends[1].up;
}

static void flood_leaves_room(size_t burst)
{
	struct flood *f = calloc(1, sizeof *f);
	f->pair = pair_alone();
	connect_all(f, burst);
	assert_true(net_until(f->pair->net, WAIT_MS, enough_rejected, f));
	assert_in_range(f->most, 2, SL_HANDSHAKING_MAX);
	assert_true(rejected(f, 0) && !rejected(f, STRANGERS - 1)); /* the oldest are closed */
	pair_want(f->pair, 0, true);
	assert_true(net_until(f->pair->net, WAIT_MS, both_up, f));
	assert_int_equal(f->pair->ends[1].links->figures.up, 1);
	assert_true(f->pair->ends[1].links->handshaking < SL_HANDSHAKING_MAX); /* the link is none of them */
	assert_in_range(f->most, 2, SL_HANDSHAKING_MAX);
	for (size_t k = 0; k < STRANGERS; k++)
		close(f->strangers[k]);
	pair_end(f->pair);
	free(f);
}

TEST(one_after_the_other)
{
	flood_leaves_room(1);
}

TEST(a_hundred_at_once)
{
	flood_leaves_room(100);
}
