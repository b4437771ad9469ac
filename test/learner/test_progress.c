/* The watchdog of the service manager is fed while the learner's own work makes progress, and only then. The
 * test is the service manager: it reads what arrives at $NOTIFY_SOCKET. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/learner/daemon.h"
#include "daemon/observe/monitor.h"
#include "daemon/learner/progress.h"
#include "daemon/runtime/service.h"
#include "test/lib/test.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

static struct sl_daemon learner;
static const char *health;
static int manager; /* socket */
static char said[1 << 16];
static uint64_t clock_ns = UINT64_C(1000000000000000); /* the clock, which the cases turn */

uint64_t __wrap_uv_hrtime(void)
{
	return clock_ns;
}

bool __wrap_sl_monitor_health(struct sl_observe *observe, char line[static SL_MONITOR_LINE_BYTES])
{
	(void)observe;
	snprintf(line, SL_MONITOR_LINE_BYTES, "%s", health);
	return true;
}

static int setup(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char name[64];
	(void)state;
	int n = snprintf(name, sizeof name, "@starling-test-%d", (int)getpid());
	memcpy(address.sun_path + 1, name + 1, (size_t)n - 1); /* "@": in the abstract name space */
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(manager, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n)),
			 0);
	setenv("NOTIFY_SOCKET", name, 1);
	setenv("WATCHDOG_USEC", "1000", 1); /* every look may feed */
	unsetenv("WATCHDOG_PID");
	memset(&learner, 0, sizeof learner);
	sl_event_queue_init(&learner.event_queue);
	health = "round 1 of 10: mix";
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sl_event_queue_close(&learner.event_queue);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	return close(manager);
}

/* Return all messages since the last call, each ended by a line feed. */
static const char *heard(void)
{
	ssize_t n;
	size_t used = 0;
	while ((n = recv(manager, said + used, sizeof said - used - 2, 0)) > 0) {
		used += (size_t)n;
		said[used++] = '\n';
	}
	said[used] = '\0';
	return said;
}

static bool fed(void)
{
	sl_progress_look(&learner);
	clock_ns += 1000000;
	return strstr(heard(), "WATCHDOG=1\n") != NULL;
}

TEST_WITH(fed_while_there_is_nothing_to_do, setup, teardown)
{
	assert_true(fed());
	assert_true(fed());
}

TEST_WITH(not_fed_while_an_event_waits_in_vain, setup, teardown)
{
	sl_event_queue_add(&learner.event_queue, SL_EVENT_DEADLINE);
	assert_false(fed());
	assert_false(fed());
	learner.progress.taken++; /* a full queue of which events are taken */
	assert_true(fed());
	assert_false(fed());
}

TEST_WITH(not_fed_while_the_worker_hangs, setup, teardown)
{
	sl_ms now = uv_hrtime() / 1000000u;
	atomic_store(&learner.compute.since_ms, now - SL_PROGRESS_TASK_MS / 2);
	assert_true(fed()); /* a long task */
	atomic_store(&learner.compute.since_ms, now - SL_PROGRESS_TASK_MS - 1000);
	assert_false(fed());
	atomic_store(&learner.compute.since_ms, 0);
	assert_true(fed());
}

TEST_WITH(fed_four_times_in_the_interval, setup, teardown)
{
	setenv("WATCHDOG_USEC", "400000", 1);
	int count = 0;
	for (int look = 0; look < 20; look++) { /* of 20 ms */
		count += fed();
		clock_ns += 19000000;
	}
	assert_int_equal(count, 4);
}

TEST_WITH(not_fed_without_a_watchdog, setup, teardown)
{
	unsetenv("WATCHDOG_USEC");
	assert_false(fed());
}

TEST_WITH(status_is_shown_when_it_changes, setup, teardown)
{
	sl_progress_look(&learner);
	assert_non_null(strstr(heard(), "STATUS=round 1 of 10: mix\n"));
	sl_progress_look(&learner);
	assert_null(strstr(heard(), "STATUS"));
	learner.progress.shown_ms -= 2000;
	health = "round 2 of 10: train";
	sl_progress_look(&learner);
	assert_non_null(strstr(heard(), "STATUS=round 2 of 10: train\n"));
}

/* A service manager that does not read is no reason to wait. */
TEST_WITH(a_full_socket_does_not_stop_the_learner, setup, teardown)
{
	for (int i = 0; i < 2000; i++)
		sl_service_alive(); /* one that waited would never return */
	heard();
}

/* A peer's text may be in it. */
TEST_WITH(status_is_one_line, setup, teardown)
{
	sl_service_status("one\nWATCHDOG=1");
	assert_string_equal(heard(), "STATUS=one\n");
}

TEST_WITH(a_start_that_waits_is_ready_and_alive, setup, teardown)
{
	sl_progress_wait(&learner, "waits for the network");
	assert_string_equal(heard(), "READY=1\nSTATUS=waits for the network\nWATCHDOG=1\n");
	clock_ns += 1000000;
	sl_progress_wait(&learner, "waits for the network");
	assert_string_equal(heard(), "WATCHDOG=1\n");
}
