#include "daemon/membership/discovery.h"

#include <stdlib.h>

#include "daemon/membership/membership.h"
#include "daemon/observe/report_log.h"
#include "daemon/runtime/address.h"

static void on_found(void *context, uint32_t member, const char *addresses)
{
	struct sl_membership *m = context;
	struct sl_record record;
	if (!sl_links_hint(m->host.links, member, addresses))
		return;
	sl_record_init(&record, SL_RECORD_FOUND);
	sl_record_peer(&record, &m->roster, member);
	record.address = addresses;
	sl_report_log_record(m->host.observe, &record);
}

static void on_say(void *context, bool works, const char *text)
{
	const struct sl_membership *m = context;
	sl_report_log_reason(m->host.observe, works ? SL_RECORD_DISCOVERY : SL_RECORD_DISCOVERY_FAILED, text);
}

/* Return the port of an address. */
static uint16_t port_of(const char *listen)
{
	char host[SL_ADDRESS_BYTES], port[SL_ADDRESS_PORT_BYTES];
	sl_address_split(listen, host, port);
	return (uint16_t)strtoul(port, NULL, 10);
}

int sl_discovery_open(struct sl_membership *m, const char *listen, struct sl_error *error)
{
	const struct sl_mdns_config config = {.loop = m->host.loop,
					      .roster = &m->roster,
					      .self = m->self,
					      .run = m->host.settings->run,
					      .port = port_of(listen),
					      .context = m,
					      .found = on_found,
					      .say = on_say};
	return m->host.settings->discover == SL_DISCOVER_NONE ? SL_OK
							      : sl_mdns_open(&m->mdns, &config, error);
}
