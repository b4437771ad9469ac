/* Names while a name server is silent: a look-up takes until the test lets it end, and links do not wait for
 * it. */
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/membership/join_client.h"
#include "daemon/membership/membership.h"
#include "daemon/membership/roster_fetch.h"
#include "daemon/runtime/address.h"
#include "test/lib/test.h"
#include "test/net/pair.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions of the C library */

#define DEAD 20u
#define FIRST_DEAD 2u /* after the two of a pair */
#define LEARNERS (FIRST_DEAD + DEAD)
#define WAIT_MS 15000
#define HANG_MS 300

static atomic_uint asked[LEARNERS]; /* look-ups of the name of a learner that have begun */
static atomic_bool silent;	    /* the name server: also for the peer's name */
static atomic_uint hang_ms, hanging;
static atomic_uint resolved; /* look-ups of what is no name */
static unsigned most;	     /* look-ups of a dead name before the first of the peer's */

/* Called from threads. "learner-N" is a name; only that of the peer, 1, leads to a machine. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
	int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
		(int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))dlsym(
			RTLD_NEXT, "getaddrinfo");
	unsigned i = 0;
	bool numeric = hints != NULL && (hints->ai_flags & AI_NUMERICHOST);
	if (sscanf(node, "learner-%u", &i) != 1) {
		resolved += !numeric;
		return real(node, service, hints, found);
	}
	if (numeric)
		return EAI_NONAME;
	if (i == 1 && atomic_fetch_add(&asked[1], 1) == 0)
		for (unsigned k = FIRST_DEAD; k < LEARNERS; k++)
			most = asked[k] > most ? asked[k] : most;
	if (i == 1 && !silent)
		return real("127.0.0.1", service, hints, found);
	if (i != 1)
		atomic_fetch_add(&asked[i], 1);
	hanging++;
	for (unsigned ms = 0; ms < hang_ms; ms++)
		usleep(1000);
	hanging--;
	return i == 1 && !silent ? real("127.0.0.1", service, hints, found) : EAI_AGAIN;
}

static void begin(unsigned ms)
{
	for (unsigned i = 0; i < LEARNERS; i++)
		asked[i] = 0;
	silent = false;
	hang_ms = ms;
	most = 0;
	resolved = 0;
}

static void end_all(void)
{
	hang_ms = 0;
	while (hanging > 0)
		usleep(1000);
}

/* Give the peer a name. */
static void name_peer(struct pair *pair)
{
	char address[SL_ADDRESS_BYTES];
	snprintf(address, sizeof address, "learner-1%.64s", strrchr(pair->members[1].address, ':'));
	memcpy(pair->members[1].address, address, sizeof address);
}

static bool peer_is_up;

static void on_up(void *context, uint32_t peer)
{
	(void)context;
	assert_int_equal(peer, 1);
	peer_is_up = true;
}

static void on_down(void *context, uint32_t peer, bool dialled, const char *why)
{
	(void)context;
	(void)peer;
	(void)dialled;
	(void)why;
}

static void on_frame(void *context, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size)
{
	(void)context;
	(void)peer;
	(void)kind;
	(void)size;
	free(payload);
}

static void on_refused(void *context, const char *address, int expected, const uint8_t *pin)
{
	(void)context;
	(void)address;
	(void)expected;
	(void)pin;
}

static bool is_up(void *argument)
{
	(void)argument;
	return peer_is_up;
}

static bool is_freed(void *argument)
{
	return ((const struct sl_links *)argument)->open == 0;
}

/* Twenty names hang, each as long as a dial may take. That of the peer has its turn before one of them has
 * its second. */
TEST(names_are_looked_up_in_turn)
{
	struct pair *pair = pair_alone();
	static struct sl_member members[LEARNERS];
	struct sl_roster roster = {.members = members, .size = LEARNERS};
	struct sl_error error;
	struct sl_links *links;
	uint64_t dead = (UINT64_C(1) << LEARNERS) - 1 - 3, all = dead | 2;
	begin(HANG_MS);
	name_peer(pair);
	memcpy(members, pair->members, sizeof pair->members);
	for (uint32_t i = FIRST_DEAD; i < LEARNERS; i++)
		snprintf(members[i].address, sizeof members[i].address, "learner-%u:7400", i);
	pair->net->timing.handshake = HANG_MS;
	struct sl_links_config config = {.loop = &pair->net->loop,
					 .timing = &pair->net->timing,
					 .roster = &roster,
					 .tls = &pair->net->tls[0],
					 .listen = "127.0.0.1:0",
					 .handler = {NULL, on_up, on_down, on_frame, on_refused, NULL}};
	assert_int_equal(sl_links_open(&links, &config, &error), SL_OK);
	sl_links_want(links, &dead);
	net_turn(pair->net);
	sl_links_want(links, &all);
	pair_await(pair, WAIT_MS, is_up);
	assert_in_range(most, 1, 1);
	hang_ms = 0;
	sl_links_close(links);
	assert_true(net_until(pair->net, WAIT_MS, is_freed, links));
	net_elapse(pair->net, 5);
	sl_links_free(links);
	pair_end(pair);
}

static bool is_lost(void *argument)
{
	return ((const struct pair *)argument)->ends[0].downs > 0;
}

/* The link is lost, and is up again without an answer of the name server. */
static void lose_and_link(struct pair *pair)
{
	silent = true;
	emulator_lose(&pair->emulators[1], true);
	pair_say(pair);
	emulator_let_pass(&pair->emulators[1]);
	pair_await(pair, WAIT_MS, is_lost);
	pair_await(pair, WAIT_MS, pair_settled);
}

/* A link is lost while the name server is silent, or has failed. */
static void lose_link(unsigned ms)
{
	struct pair *pair = pair_alone();
	begin(ms);
	name_peer(pair);
	pair->net->timing.handshake = 2000;
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, pair_settled);
	lose_and_link(pair);
	assert_true(asked[1] > 1);
	hang_ms = 0;
	pair_end(pair);
}

TEST(the_last_address_stands_in_for_a_name_that_hangs)
{
	lose_link(UINT32_MAX);
}

TEST(the_last_address_stands_in_for_a_name_that_fails)
{
	lose_link(0);
}

/* The name server is slower than a dial may be, each time. */
TEST(a_dial_with_nothing_else_to_try_waits_for_its_name)
{
	struct pair *pair = pair_alone();
	begin(UINT32_MAX);
	silent = true;
	name_peer(pair);
	pair->net->timing.handshake = 200;
	pair_want(pair, 0, true);
	net_elapse(pair->net, 1500);
	pair->net->timing.handshake = 10000;
	silent = false;
	hang_ms = 0;
	pair_await(pair, WAIT_MS, pair_settled);
	assert_int_equal(asked[1], 1);
	pair_end(pair);
}

/* Full segments were lost, and bytes of the peer came. The next dial looks up a name first. */
TEST(small_segments_wait_for_a_name)
{
	struct pair *pair = pair_alone();
	struct sl_slot *slot = &pair->ends[0].links->slots[1];
	begin(UINT32_MAX);
	name_peer(pair);
	pair->net->timing.handshake = 8000;
	pair->net->timing.silence = 60000;
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, pair_settled);
	slot->up->stalled_at = uv_now(&pair->net->loop) - 30000;
	lose_and_link(pair);
	assert_int_equal(slot->segment, SL_SEGMENT_SMALL);
	hang_ms = 0;
	pair_end(pair);
}

static bool has_failed_twice(void *argument)
{
	return ((const struct pair *)argument)->ends[0].failed > 1;
}

/* Another learner is at the last address by now, as behind a NAT: what is wrong is the name. */
TEST(no_key_is_refused_at_an_address_that_stands_in)
{
	struct pair *pair = pair_alone();
	struct sl_links *links = pair->ends[0].links;
	int size = sizeof links->slots[1].last;
	begin(0);
	silent = true;
	name_peer(pair);
	uv_tcp_getsockname(&links->listener, (struct sockaddr *)&links->slots[1].last, &size);
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, has_failed_twice);
	assert_int_equal(pair->ends[0].refused, 0);
	assert_string_equal(pair->ends[0].why, gai_strerror(EAI_AGAIN));
	assert_true(links->figures.tls_failures[SL_TLS_FAILURE_OTHER_KEY] > 1);
	pair_end(pair);
}

/* The peer had dialled, and cannot any more. */
TEST(the_address_of_one_that_dialled_stands_in_with_its_port)
{
	struct pair *pair = pair_alone();
	begin(0);
	silent = true;
	name_peer(pair);
	pair_want(pair, 1, true);
	pair_await(pair, WAIT_MS, pair_settled);
	pair->emulators[0].closed = true;
	emulator_lose(&pair->emulators[0], true);
	pair_say(pair);
	pair_await(pair, WAIT_MS, is_lost);
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, pair_settled);
	pair_end(pair);
}

TEST(an_address_is_not_looked_up)
{
	struct pair *pair = pair_alone();
	char address[SL_ADDRESS_BYTES];
	int probe = socket(AF_INET6, SOCK_STREAM, 0);
	if (probe < 0) {
		pair_end(pair);
		skip();
	}
	close(probe);
	snprintf(address, sizeof address, "[::ffff:127.0.0.1]%.64s", strrchr(pair->members[1].address, ':'));
	memcpy(pair->members[1].address, address, sizeof address);
	begin(0);
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, pair_settled);
	assert_int_equal(resolved, 0);
	pair_end(pair);
}

static bool is_asked(void *argument)
{
	(void)argument;
	return hanging > 0;
}

/* The links, and the loop, end while the name of the peer is looked up. */
TEST(the_end_waits_for_no_name)
{
	struct pair *pair = pair_alone();
	begin(UINT32_MAX);
	silent = true;
	name_peer(pair);
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, is_asked);
	pair_end(pair);
	assert_int_equal(hanging, 1);
	end_all();
}

TEST(a_command_looks_up_for_so_long)
{
	struct addrinfo *found;
	struct sl_error error;
	struct sl_join_client client;
	struct net net;
	begin(UINT32_MAX);
	assert_int_equal(sl_address_look_up("learner-1:7400", WAIT_MS, &found), 0);
	assert_int_equal(((struct sockaddr_in *)found->ai_addr)->sin_port, htons(7400));
	freeaddrinfo(found);
	assert_int_equal(sl_address_look_up("learner-2:7400", 0, &found), EAI_AGAIN);
	net_open(&net);
	assert_int_equal(sl_join_client_open(&client, SL_JOIN_FOR_ANSWER, false, &net.identities[0], NULL,
					     NULL, "learner-2:7400", 10, &error),
			 SL_ERR_IO);
	assert_int_equal(client.failure, SL_JOIN_FAILURE_RESOLVE);
	sl_join_client_close(&client);
	hang_ms = 0;
	assert_int_equal(sl_address_look_up("learner-3:7400", 1000, &found), EAI_AGAIN);
	net_close(&net);
}

static void ignore(int number)
{
	(void)number;
}

/* Send signals to a thread that waits for a name, and then let it be found. */
static void *interrupt(void *waiting)
{
	while (hanging == 0)
		usleep(1000);
	for (int i = 0; i < 100; i++) {
		pthread_kill(*(pthread_t *)waiting, SIGUSR1);
		usleep(1000);
	}
	silent = false;
	hang_ms = 0;
	return NULL;
}

TEST(a_signal_ends_no_look_up)
{
	struct addrinfo *found;
	pthread_t self = pthread_self(), other;
	begin(UINT32_MAX);
	silent = true;
	signal(SIGUSR1, ignore);
	assert_int_equal(pthread_create(&other, NULL, interrupt, &self), 0);
	assert_int_equal(sl_address_look_up("learner-1:7400", WAIT_MS, &found), 0);
	freeaddrinfo(found);
	pthread_join(other, NULL);
	signal(SIGUSR1, SIG_DFL);
}

static bool is_answered(void *argument)
{
	return !((struct sl_membership *)argument)->fetch.busy;
}

/* Ask the member at `address` for a roster, and end the learner. */
static void end_while_asking(struct pair *pair, const char *address)
{
	bool stopping = false;
	struct sl_settings settings;
	struct sl_membership m = {.host = {.settings = &settings,
					   .loop = &pair->net->loop,
					   .links = pair->ends[0].links,
					   .stopping = &stopping},
				  .group.name = "ward",
				  .roster = pair->roster,
				  .identity = pair->net->identities[0],
				  .update.text = "a roster",
				  .fetch.linked_at = 1};
	snprintf(settings.identity, sizeof settings.identity, "%s/site-0", pair->net->folder);
	snprintf(m.roster.members[1].address, sizeof m.roster.members[1].address, "%s", address);
	sl_roster_fetch_look(&m);
	assert_true(m.fetch.busy);
	stopping = true;
	assert_true(net_until(pair->net, WAIT_MS, is_answered, &m));
}

/* The end waits for a question, which takes so long at most: the name of the member is not found, or it says
 * nothing. */
TEST(the_end_waits_for_a_question)
{
	struct pair *pair = pair_alone();
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof name;
	char address[SL_ADDRESS_BYTES];
	int mute = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(mute, (struct sockaddr *)&name, size), 0);
	assert_int_equal(listen(mute, 1), 0);
	assert_int_equal(getsockname(mute, (struct sockaddr *)&name, &size), 0);
	snprintf(address, sizeof address, "127.0.0.1:%u", ntohs(name.sin_port));
	end_while_asking(pair, address);
	close(mute);
	begin(UINT32_MAX);
	silent = true;
	end_while_asking(pair, "learner-1:7400");
	assert_int_equal(hanging, 1);
	pair_end(pair);
	end_all();
}

/* More names than that hang: the others do not resolve until one of these ends. The last case: its threads
 * take all places until they have ended. */
TEST(so_many_names_are_looked_up_at_a_time)
{
	struct sl_address_query *queries[64], *another;
	begin(UINT32_MAX);
	for (int i = 0; i < 64; i++)
		while ((queries[i] = sl_address_query_open("learner-2:7400")) == NULL)
			usleep(1000); /* those of other cases end */
	while (hanging < 64)
		usleep(1000);
	assert_null(sl_address_query_open("learner-2:7400"));
	for (int i = 0; i < 64; i++)
		sl_address_query_close(queries[i]);
	assert_null(sl_address_query_open("learner-2:7400"));
	end_all();
	while ((another = sl_address_query_open("learner-2:7400")) == NULL)
		usleep(1000);
	sl_address_query_close(another);
}
