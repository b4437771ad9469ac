#include "daemon/learner/discovery.h"

#include <stdlib.h>

#include "daemon/learner/daemon.h"
#include "daemon/learner/report_log.h"
#include "daemon/runtime/address.h"

static void on_found(void *context, uint32_t member, const char *addresses)
{
	struct sl_daemon *daemon = context;
	struct sl_record record;
	if (!sl_links_hint(daemon->links, member, addresses))
		return;
	sl_record_init(&record, SL_RECORD_FOUND);
	sl_record_peer(&record, &daemon->roster, member);
	record.address = addresses;
	sl_report_log_record(&daemon->observe, &record);
}

static void on_say(void *context, bool works, const char *text)
{
	sl_report_log_reason(&((struct sl_daemon *)context)->observe,
			     works ? SL_RECORD_DISCOVERY : SL_RECORD_DISCOVERY_FAILED, text);
}

/* Return the port at which this learner listens. */
static uint16_t own_port(const struct sl_daemon *daemon)
{
	char host[SL_ADDRESS_BYTES], port[SL_ADDRESS_PORT_BYTES];
	sl_address_split(daemon->listen, host, port);
	return (uint16_t)strtoul(port, NULL, 10);
}

int sl_discovery_open(struct sl_daemon *daemon, struct sl_error *error)
{
	const struct sl_mdns_config config = {.loop = &daemon->loop,
					      .roster = &daemon->roster,
					      .self = daemon->self,
					      .run = daemon->settings->run,
					      .port = own_port(daemon),
					      .context = daemon,
					      .found = on_found,
					      .say = on_say};
	return daemon->settings->discover == SL_DISCOVER_NONE ? SL_OK
							      : sl_mdns_open(&daemon->mdns, &config, error);
}
