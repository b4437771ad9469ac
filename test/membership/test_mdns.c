/* A machine without D-Bus, and one whose D-Bus does not answer: the loop goes on, and the log has one line.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/membership/mdns.h"
#include "test/lib/test.h"

struct heard {
	uint32_t works, fails;
	char text[SL_ERROR_BYTES];
};

static void on_say(void *context, bool works, const char *text)
{
	struct heard *heard = context;
	heard->works += works;
	heard->fails += !works;
	snprintf(heard->text, sizeof heard->text, "%s", text);
}

static void on_found(void *context, uint32_t member, const char *addresses)
{
	(void)context, (void)member, (void)addresses;
	fail_msg("a member was found");
}

static void on_timer(uv_timer_t *timer)
{
	uv_close((uv_handle_t *)timer, NULL);
	uv_stop(timer->loop);
}

/* Run the loop for `ms`; expect that nothing holds it up: a call of D-Bus that is not answered takes 25 s. */
static void run(uv_loop_t *loop, uint64_t ms)
{
	uv_timer_t timer;
	uv_update_time(loop);
	uint64_t begin = uv_hrtime() / 1000000;
	uv_timer_init(loop, &timer);
	uv_timer_start(&timer, on_timer, ms, 0);
	uv_run(loop, UV_RUN_DEFAULT);
	assert_true(uv_hrtime() / 1000000 - begin < ms + 20000);
	uv_run(loop, UV_RUN_NOWAIT); /* the timer closes */
}

static struct sl_mdns *open_mdns(uv_loop_t *loop, const char *bus, struct heard *heard)
{
	static struct sl_member members[2];
	static const struct sl_roster roster = {.members = members, .size = 2};
	const struct sl_mdns_config config = {.loop = loop,
					      .roster = &roster,
					      .run = "ward",
					      .port = 7400,
					      .context = heard,
					      .found = on_found,
					      .say = on_say};
	struct sl_mdns *mdns;
	members[1].pin[0] = 1;
	setenv("DBUS_SYSTEM_BUS_ADDRESS", bus, 1);
	uv_loop_init(loop);
	assert_int_equal(sl_mdns_open(&mdns, &config, NULL), SL_OK);
	return mdns;
}

static void close_mdns(uv_loop_t *loop, struct sl_mdns *mdns)
{
	sl_mdns_close(mdns);
	uv_run(loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(loop), 0);
	sl_mdns_free(mdns);
}

TEST(no_bus)
{
	struct heard heard = {0};
	uv_loop_t loop;
	struct sl_mdns *mdns = open_mdns(&loop, "unix:path=/nowhere/bus", &heard);
	run(&loop, 50);
	close_mdns(&loop, mdns);
	assert_int_equal(heard.fails, 1);
	assert_string_equal(heard.text,
			    "no member is found by mDNS: No such file or directory; tried again every 10 s: "
			    "start D-Bus and avahi-daemon, or set discover: none");
}

/* The socket takes connections, and nothing reads it; then it ends. */
TEST(a_bus_that_hangs)
{
	struct heard heard = {0};
	uv_loop_t loop;
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	char bus[128];
	snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "starling-test-bus-%d", (int)getpid());
	snprintf(bus, sizeof bus, "unix:abstract=%s", name.sun_path + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name.sun_path + 1));
	assert_int_equal(bind(fd, (struct sockaddr *)&name, size), 0);
	assert_int_equal(listen(fd, 1), 0);
	struct sl_mdns *mdns = open_mdns(&loop, bus, &heard);
	run(&loop, 50);
	uint32_t before = heard.fails;
	close(fd);
	run(&loop, 50);
	close_mdns(&loop, mdns);
	assert_int_equal(before, 0);
	assert_int_equal(heard.fails, 1);
	assert_int_equal(heard.works, 0);
}
