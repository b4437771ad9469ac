#include "daemon/membership/mdns.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "daemon/membership/sightings.h"

/* The D-Bus interface of Avahi: /usr/share/dbus-1/interfaces/org.freedesktop.Avahi.*.xml */
#define AVAHI "org.freedesktop.Avahi"
#define SERVER "org.freedesktop.Avahi.Server"
#define GROUP "org.freedesktop.Avahi.EntryGroup"
#define BROWSER "org.freedesktop.Avahi.ServiceBrowser"
#define RESOLVER "org.freedesktop.Avahi.ServiceResolver"
#define COLLISION_ERROR "org.freedesktop.Avahi.CollisionError"
enum { ANY = -1, SERVER_RUNNING = 2, GROUP_ESTABLISHED = 2, GROUP_COLLISION = 3, GROUP_FAILURE = 4 };
enum { USE_MULTICAST = 2, NO_TXT = 4 };

#define SERVICE "_starling._tcp"
#define RETRY_MS 10000u
#define ESTABLISH_MS 5000u /* in which an announcement that nothing contests is made */
#define MESSAGES_PER_TURN 64u
#define ALTERNATIVES 100u

enum said { NOTHING, WORKS, FAILS };

struct watch;

struct sl_mdns {
	struct sl_mdns_config config;
	struct sl_sightings sightings;
	sd_bus *bus;	     /* NULL: a fault */
	struct watch *watch; /* of its socket */
	uv_timer_t due;	     /* of its next deadline */
	uv_timer_t again;    /* connects after a fault; else announces again what is not established */
	bool present;	     /* avahi-daemon is there */
	char group[SL_RESOLVER_BYTES]; /* path of the entry group; "": none yet */
	uint32_t alternative;	       /* number of the name: 0, or the names before were taken */
	char fault[SL_ERROR_BYTES];    /* why the connection must end after this turn; "": it need not */
	enum said said;
};

/* The socket of a connection; freed when its handle is closed. */
struct watch {
	uv_poll_t poll;
	struct sl_mdns *mdns;
};

static void say(struct sl_mdns *mdns, bool works, const char *text)
{
	enum said said = works ? WORKS : FAILS;
	if (mdns->said != said)
		mdns->config.say(mdns->config.context, works, text);
	mdns->said = said;
}

/* End the connection when the present event is handled. */
static void fail(struct sl_mdns *mdns, const char *why)
{
	if (mdns->fault[0] == '\0')
		snprintf(mdns->fault, sizeof mdns->fault, "%s",
			 why != NULL ? why : "an error without a text");
}

/* ---- members ---- */

static void tell(struct sl_mdns *mdns, uint32_t member)
{
	char addresses[SL_ADDRESS_BYTES];
	sl_sightings_addresses(&mdns->sightings, member, addresses);
	mdns->config.found(mdns->config.context, member, addresses);
}

static void free_resolver(struct sl_mdns *mdns, const char *path)
{
	if (path[0] != '\0')
		sd_bus_call_method_async(mdns->bus, NULL, AVAHI, path, RESOLVER, "Free", NULL, NULL, "");
}

/* A request for a resolver of a sighting. */
struct request {
	struct sl_mdns *mdns;
	int32_t interface, protocol;
	char name[SL_SERVICE_NAME_BYTES];
};

/* Copy the path that a reply has; on an error, have the connection end. */
static bool read_path(struct sl_mdns *mdns, sd_bus_message *reply, char path[static SL_RESOLVER_BYTES])
{
	const char *text;
	if (sd_bus_message_is_method_error(reply, NULL)) {
		fail(mdns, sd_bus_message_get_error(reply)->message);
		return false;
	}
	if (sd_bus_message_read(reply, "o", &text) < 0 || strlen(text) >= SL_RESOLVER_BYTES) {
		fail(mdns, "avahi-daemon gave an answer that is no path");
		return false;
	}
	snprintf(path, SL_RESOLVER_BYTES, "%s", text);
	return true;
}

/* The resolver stays: it reports each change of the address. It is freed if the sighting is gone meanwhile.
 */
static int on_resolver(sd_bus_message *reply, void *argument, sd_bus_error *unused)
{
	struct request *request = argument;
	struct sl_mdns *mdns = request->mdns;
	char path[SL_RESOLVER_BYTES];
	(void)unused;
	if (!read_path(mdns, reply, path))
		return 0;
	struct sl_sighting *sighting =
		sl_sightings_find(&mdns->sightings, request->interface, request->protocol, request->name);
	if (sighting != NULL && sighting->resolver[0] == '\0')
		memcpy(sighting->resolver, path, sizeof path);
	else
		free_resolver(mdns, path);
	return 0;
}

static void resolve(struct sl_mdns *mdns, const struct sl_sighting *sighting, const char *type,
		    const char *domain)
{
	struct request *request = calloc(1, sizeof *request);
	sd_bus_slot *slot;
	if (request == NULL)
		return;
	*request = (struct request){mdns, sighting->interface, sighting->protocol, ""};
	memcpy(request->name, sighting->name, sizeof request->name);
	int rc = sd_bus_call_method_async(mdns->bus, &slot, AVAHI, "/", SERVER, "ServiceResolverNew",
					  on_resolver, request, "iisssiu", request->interface,
					  request->protocol, request->name, type, domain, request->protocol,
					  NO_TXT);
	if (rc < 0) {
		free(request);
		fail(mdns, strerror(-rc));
		return;
	}
	sd_bus_slot_set_destroy_callback(slot, free);
	sd_bus_slot_set_floating(slot, 1);
	sd_bus_slot_unref(slot);
}

static void item_new(struct sl_mdns *mdns, sd_bus_message *m)
{
	int32_t interface, protocol;
	const char *name, *type, *domain;
	if (sd_bus_message_read(m, "iisss", &interface, &protocol, &name, &type, &domain) < 0 ||
	    sl_sightings_find(&mdns->sightings, interface, protocol, name) != NULL)
		return;
	const struct sl_sighting *sighting = sl_sightings_add(&mdns->sightings, interface, protocol, name);
	if (sighting != NULL)
		resolve(mdns, sighting, type, domain);
}

static void item_remove(struct sl_mdns *mdns, sd_bus_message *m)
{
	int32_t interface, protocol;
	const char *name;
	if (sd_bus_message_read(m, "iis", &interface, &protocol, &name) < 0)
		return;
	struct sl_sighting *sighting = sl_sightings_find(&mdns->sightings, interface, protocol, name);
	if (sighting == NULL)
		return;
	uint32_t member = sighting->member;
	free_resolver(mdns, sighting->resolver);
	sl_sightings_remove(&mdns->sightings, sighting);
	tell(mdns, member);
}

static void found(struct sl_mdns *mdns, sd_bus_message *m)
{
	int32_t interface, protocol, family;
	const char *name, *type, *domain, *host, *address;
	uint16_t port;
	if (sd_bus_message_read(m, "iissssisq", &interface, &protocol, &name, &type, &domain, &host, &family,
				&address, &port) < 0)
		return;
	struct sl_sighting *sighting = sl_sightings_find(&mdns->sightings, interface, protocol, name);
	if (sighting != NULL && sl_sightings_locate(sighting, address, port) == SL_OK)
		tell(mdns, sighting->member);
}

/* Avahi found no address in 5 s; the resolver goes on, and may find one later. */
static void not_found(struct sl_mdns *mdns, const char *path)
{
	for (struct sl_sighting *s = mdns->sightings.all; s != NULL; s = s->next)
		if (s->address[0] != '\0' && strcmp(s->resolver, path) == 0) {
			s->address[0] = '\0';
			tell(mdns, s->member);
			return;
		}
}

/* ---- this learner ---- */

static int on_answer(sd_bus_message *reply, void *argument, sd_bus_error *unused)
{
	struct sl_mdns *mdns = argument;
	(void)unused;
	if (sd_bus_message_is_method_error(reply, COLLISION_ERROR))
		mdns->alternative = (mdns->alternative + 1) % ALTERNATIVES;
	if (sd_bus_message_is_method_error(reply, NULL))
		fail(mdns, sd_bus_message_get_error(reply)->message);
	return 0;
}

static void on_again(uv_timer_t *timer);

static void call_group(struct sl_mdns *mdns, const char *method)
{
	int rc = sd_bus_call_method_async(mdns->bus, NULL, AVAHI, mdns->group, GROUP, method, on_answer, mdns,
					  "");
	if (rc < 0)
		fail(mdns, strerror(-rc));
}

/* Announce the port under the own tag, with " #2" and so on if other announcements have taken the name. */
static void announce(struct sl_mdns *mdns)
{
	char name[SL_SERVICE_NAME_BYTES];
	const char *tag = mdns->sightings.tags[mdns->config.self];
	if (mdns->alternative == 0)
		snprintf(name, sizeof name, "%s", tag);
	else
		snprintf(name, sizeof name, "%s #%u", tag, mdns->alternative + 1);
	call_group(mdns, "Reset");
	int rc = sd_bus_call_method_async(mdns->bus, NULL, AVAHI, mdns->group, GROUP, "AddService", on_answer,
					  mdns, "iiussssqaay", ANY, ANY, 0u, name, SERVICE, "", "",
					  mdns->config.port, 0);
	if (rc < 0)
		fail(mdns, strerror(-rc));
	call_group(mdns, "Commit");
	uv_timer_start(&mdns->again, on_again, ESTABLISH_MS, 0);
}

static int on_group(sd_bus_message *reply, void *argument, sd_bus_error *unused)
{
	struct sl_mdns *mdns = argument;
	(void)unused;
	if (read_path(mdns, reply, mdns->group))
		announce(mdns);
	return 0;
}

/* Announce this learner by a new entry group. Avahi 0.8 never establishes one if an interface was removed at
 * the wrong moment, as when the machine changes the network. */
static void publish(struct sl_mdns *mdns)
{
	if (mdns->group[0] != '\0')
		call_group(mdns, "Free");
	mdns->group[0] = '\0';
	int rc = sd_bus_call_method_async(mdns->bus, NULL, AVAHI, "/", SERVER, "EntryGroupNew", on_group,
					  mdns, "");
	if (rc < 0)
		fail(mdns, strerror(-rc));
}

static void group_changed(struct sl_mdns *mdns, sd_bus_message *m)
{
	int32_t state;
	const char *error;
	char text[SL_ERROR_BYTES];
	if (strcmp(sd_bus_message_get_path(m), mdns->group) != 0 ||
	    sd_bus_message_read(m, "is", &state, &error) < 0)
		return;
	if (state == GROUP_ESTABLISHED) {
		uv_timer_stop(&mdns->again);
		snprintf(text, sizeof text, "this learner announces port %u by mDNS and looks for the others",
			 mdns->config.port);
		say(mdns, true, text);
	} else if (state == GROUP_COLLISION) {
		mdns->alternative = (mdns->alternative + 1) % ALTERNATIVES;
		fail(mdns, "another machine announces the same name; trying the next one");
	} else if (state == GROUP_FAILURE) {
		fail(mdns, error);
	}
}

/* avahi-daemon has settled on a name of this machine, maybe another one: announce it. */
static void server_changed(struct sl_mdns *mdns, sd_bus_message *m)
{
	int32_t state;
	if (sd_bus_message_read(m, "i", &state) >= 0 && state == SERVER_RUNNING && mdns->group[0] != '\0')
		announce(mdns);
}

/* ---- avahi-daemon ---- */

static void forget(struct sl_mdns *mdns)
{
	mdns->group[0] = '\0';
	while (mdns->sightings.all != NULL) {
		uint32_t member = mdns->sightings.all->member;
		sl_sightings_remove(&mdns->sightings, mdns->sightings.all);
		tell(mdns, member);
	}
}

static void appear(struct sl_mdns *mdns)
{
	if (mdns->present)
		return;
	mdns->present = true;
	publish(mdns);
	int rc = sd_bus_call_method_async(mdns->bus, NULL, AVAHI, "/", SERVER, "ServiceBrowserNew", on_answer,
					  mdns, "iissu", ANY, ANY, SERVICE, "local", USE_MULTICAST);
	if (rc < 0)
		fail(mdns, strerror(-rc));
}

static void vanish(struct sl_mdns *mdns)
{
	mdns->present = false;
	uv_timer_stop(&mdns->again);
	forget(mdns);
	say(mdns, false,
	    "no member is found by mDNS, since avahi-daemon does not run on this machine: install or start "
	    "it, or set discover: none");
}

static int on_owner(sd_bus_message *m, void *argument, sd_bus_error *unused)
{
	struct sl_mdns *mdns = argument;
	const char *name, *before, *now;
	(void)unused;
	if (sd_bus_message_read(m, "sss", &name, &before, &now) < 0 || strcmp(name, AVAHI) != 0)
		return 0;
	if (before[0] != '\0')
		vanish(mdns);
	if (now[0] != '\0')
		appear(mdns);
	return 0;
}

static int on_has_owner(sd_bus_message *reply, void *argument, sd_bus_error *unused)
{
	struct sl_mdns *mdns = argument;
	int has;
	(void)unused;
	if (sd_bus_message_is_method_error(reply, NULL))
		fail(mdns, sd_bus_message_get_error(reply)->message);
	else if (sd_bus_message_read(reply, "b", &has) < 0)
		fail(mdns, "D-Bus gave an answer of another type");
	else if (has)
		appear(mdns);
	else if (!mdns->present)
		vanish(mdns);
	return 0;
}

/* Take a signal. Its sender is not checked: any machine could announce the same on the network. */
static int on_message(sd_bus_message *m, void *argument, sd_bus_error *unused)
{
	struct sl_mdns *mdns = argument;
	(void)unused;
	if (sd_bus_message_is_signal(m, BROWSER, "ItemNew"))
		item_new(mdns, m);
	else if (sd_bus_message_is_signal(m, BROWSER, "ItemRemove"))
		item_remove(mdns, m);
	else if (sd_bus_message_is_signal(m, BROWSER, "Failure"))
		fail(mdns, "avahi-daemon cannot look for services");
	else if (sd_bus_message_is_signal(m, RESOLVER, "Found"))
		found(mdns, m);
	else if (sd_bus_message_is_signal(m, RESOLVER, "Failure"))
		not_found(mdns, sd_bus_message_get_path(m));
	else if (sd_bus_message_is_signal(m, GROUP, "StateChanged"))
		group_changed(mdns, m);
	else if (sd_bus_message_is_signal(m, SERVER, "StateChanged"))
		server_changed(mdns, m);
	return 0;
}

/* ---- the connection ---- */

static void on_watch_closed(uv_handle_t *handle)
{
	free(handle->data);
}

/* Without calls of `found` while the learner ends. */
static void disconnect(struct sl_mdns *mdns)
{
	if (mdns->watch != NULL)
		uv_close((uv_handle_t *)&mdns->watch->poll, on_watch_closed);
	mdns->watch = NULL;
	mdns->bus = sd_bus_close_unref(mdns->bus); /* avahi-daemon withdraws what the connection announced */
	mdns->present = false;
	mdns->group[0] = mdns->fault[0] = '\0';
	uv_timer_stop(&mdns->due);
	uv_timer_stop(&mdns->again);
}

static void on_ready(uv_poll_t *poll, int status, int events);
static void on_due(uv_timer_t *timer);

/* Wait for what the connection waits for; `more`: it has messages to process already. */
static void await(struct sl_mdns *mdns, bool more)
{
	uint64_t due_us, now_us = uv_hrtime() / 1000, wait_ms = 0;
	int events = sd_bus_get_events(mdns->bus);
	uv_poll_start(&mdns->watch->poll,
		      (events & POLLIN ? UV_READABLE : 0) | (events & POLLOUT ? UV_WRITABLE : 0), on_ready);
	if (sd_bus_get_timeout(mdns->bus, &due_us) < 0)
		due_us = UINT64_MAX;
	uv_timer_stop(&mdns->due);
	if (!more && due_us == UINT64_MAX)
		return;
	if (!more && due_us > now_us)
		wait_ms = (due_us - now_us) / 1000 + 1;
	uv_timer_start(&mdns->due, on_due, wait_ms, 0);
}

/* Process what has arrived, up to a bound; after a fault, end the connection and try again later. */
static void turn(struct sl_mdns *mdns)
{
	char text[SL_ERROR_BYTES + 128];
	int rc = 1;
	for (uint32_t i = 0; i < MESSAGES_PER_TURN && rc > 0 && mdns->fault[0] == '\0'; i++)
		rc = sd_bus_process(mdns->bus, NULL);
	if (rc < 0)
		fail(mdns, strerror(-rc));
	if (mdns->fault[0] == '\0') {
		await(mdns, rc > 0);
		return;
	}
	snprintf(text, sizeof text,
		 "no member is found by mDNS: %s; tried again every %u s: start D-Bus and avahi-daemon, or "
		 "set discover: none",
		 mdns->fault, RETRY_MS / 1000);
	say(mdns, false, text);
	disconnect(mdns);
	forget(mdns);
	uv_timer_start(&mdns->again, on_again, RETRY_MS, 0);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
	(void)status, (void)events; /* processing finds the error */
	turn(((struct watch *)poll->data)->mdns);
}

static void on_due(uv_timer_t *timer)
{
	turn(timer->data);
}

/* Watch the socket of the connection. */
static int watch(struct sl_mdns *mdns)
{
	struct watch *watch = calloc(1, sizeof *watch);
	if (watch == NULL)
		return -ENOMEM;
	int rc = uv_poll_init(mdns->config.loop, &watch->poll, sd_bus_get_fd(mdns->bus));
	if (rc < 0) {
		free(watch);
		return rc;
	}
	watch->poll.data = watch;
	watch->mdns = mdns;
	mdns->watch = watch;
	return 0;
}

/* Connect to D-Bus. Requests wait until the connection stands. */
static void connect_bus(struct sl_mdns *mdns)
{
	int rc = sd_bus_open_system(&mdns->bus); /* does not wait */
	if (rc >= 0)
		rc = watch(mdns);
	if (rc >= 0)
		rc = sd_bus_add_filter(mdns->bus, NULL, on_message, mdns);
	if (rc >= 0)
		rc = sd_bus_add_match_async(mdns->bus, NULL,
					    "type='signal',sender='org.freedesktop.DBus',"
					    "member='NameOwnerChanged',arg0='" AVAHI "'",
					    on_owner, NULL, mdns);
	if (rc >= 0) /* on_message takes it */
		rc = sd_bus_add_match_async(mdns->bus, NULL, "type='signal',interface='" SERVER "'", NULL,
					    NULL, mdns);
	if (rc >= 0)
		rc = sd_bus_call_method_async(mdns->bus, NULL, "org.freedesktop.DBus",
					      "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
					      on_has_owner, mdns, "s", AVAHI);
	if (rc < 0)
		fail(mdns, strerror(-rc));
	turn(mdns);
}

static void on_again(uv_timer_t *timer)
{
	struct sl_mdns *mdns = timer->data;
	if (mdns->bus == NULL) {
		connect_bus(mdns);
		return;
	}
	publish(mdns);
	turn(mdns);
}

/* ---- opening and closing ---- */

int sl_mdns_open(struct sl_mdns **out, const struct sl_mdns_config *config, struct sl_error *error)
{
	struct sl_mdns *mdns = calloc(1, sizeof *mdns);
	*out = mdns;
	if (mdns == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	mdns->config = *config;
	uv_timer_init(config->loop, &mdns->due);
	uv_timer_init(config->loop, &mdns->again);
	mdns->due.data = mdns->again.data = mdns;
	int rc = sl_sightings_open(&mdns->sightings, config->roster, config->self, config->run, error);
	if (rc == SL_OK)
		connect_bus(mdns);
	return rc;
}

void sl_mdns_close(struct sl_mdns *mdns)
{
	disconnect(mdns);
	sl_sightings_clear(&mdns->sightings);
	uv_close((uv_handle_t *)&mdns->due, NULL);
	uv_close((uv_handle_t *)&mdns->again, NULL);
}

void sl_mdns_free(struct sl_mdns *mdns)
{
	if (mdns == NULL)
		return;
	sl_sightings_close(&mdns->sightings);
	free(mdns);
}
