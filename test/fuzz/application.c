/* Send lines to a learner as its application does. The learner waits for the model of round 2 after its
 * answer to join. */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/application/conversation.h"
#include "test/fuzz/fuzz.h"

#define LINES_MOST 64u
#define MOST 16384u /* bytes that the socket takes at once */

static void restart(void *context)
{
	(void)context;
}

static void stop(void *context, sl_round round)
{
	(void)context;
	assert(round == 1);
}

static struct sl_application *open_one(const struct sl_settings *settings, const struct sl_roster *roster,
				       int peer)
{
	struct sl_application *a = calloc(1, sizeof *a);
	assert(a != NULL);
	a->config = (struct sl_application_config){.settings = settings,
						   .roster = roster,
						   .committed = 1,
						   .restart = restart,
						   .stop = stop,
						   .failed = restart,
						   .stopped = NULL,
						   .wake = -1};
	a->socket = (struct sl_line_socket){
		.listener = -1, .peer = peer, .life = -1, .line = malloc(1u << 16), .room = 1u << 16};
	a->called_ms = uv_hrtime() / 1000000u;
	a->committed.round = 1;
	a->wanted = 2;
	a->up.fd = a->down.fd = -1;
	uv_mutex_init(&a->mutex);
	uv_cond_init(&a->answered);
	return a;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static struct sl_member member = {.id = 1, .name = "ana"};
	static const struct sl_roster roster = {.members = &member, .size = 1};
	static struct sl_settings settings;
	int pair[2];
	if (count < 1 || count > MOST || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0)
		return 0;
	if (settings.rounds == 0 && sl_settings_assign((const char *const[]){"values=model", "rounds=9"}, 2,
						       &settings, NULL) != SL_OK)
		abort();
	settings.metrics = bytes[0] & 1 ? SL_METRICS_AGGREGATE : SL_METRICS_LOCAL;
	settings.weighting = bytes[0] & 2 ? SL_WEIGHTING_SAMPLES : SL_WEIGHTING_EQUAL;
	struct sl_application *a = open_one(&settings, &roster, pair[0]);
	if (write(pair[1], bytes + 1, count - 1) != (ssize_t)count - 1)
		abort();
	shutdown(pair[1], SHUT_WR);
	for (uint32_t i = 0; i < LINES_MOST && a->socket.peer >= 0; i++)
		sl_conversation_serve(a, -1, 0);
	close(pair[1]);
	sl_state_close(a);
	return 0;
}
