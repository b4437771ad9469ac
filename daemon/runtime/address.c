#include "daemon/runtime/address.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void sl_address_split(const char *address, char host[static SL_ADDRESS_BYTES],
		      char port[static SL_ADDRESS_PORT_BYTES])
{
	const char *colon = strrchr(address, ':');
	size_t n = colon == NULL ? strlen(address) : (size_t)(colon - address);
	const char *from = address;
	if (n >= 2 && from[0] == '[' && from[n - 1] == ']') {
		from++;
		n -= 2;
	}
	snprintf(host, SL_ADDRESS_BYTES, "%.*s", (int)n, from);
	snprintf(port, SL_ADDRESS_PORT_BYTES, "%s", colon == NULL ? "0" : colon + 1);
}

bool sl_address_is_loopback(const char *address)
{
	return strncmp(address, "127.", 4) == 0 || strncmp(address, "localhost:", 10) == 0 ||
	       strncmp(address, "[::1]", 5) == 0 || strcmp(address, "::1") == 0;
}

/* ---- names ---- */

/* Of its thread and its owner; the last one frees it. */
struct sl_address_query {
	atomic_int owners, rc;
	sem_t answered;
	struct addrinfo *found; /* owned; written before rc */
	char host[SL_ADDRESS_BYTES], port[SL_ADDRESS_PORT_BYTES];
};

#define THREADS_MAX 64u
static atomic_uint threads;

void sl_address_query_close(struct sl_address_query *query)
{
	if (query == NULL || --query->owners > 0)
		return;
	if (query->found != NULL)
		freeaddrinfo(query->found);
	free(query);
}

static void *look_up(void *argument)
{
	struct sl_address_query *query = argument;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
	int rc = getaddrinfo(query->host, query->port, &hints, &found);
	threads--;
	query->found = rc == 0 ? found : NULL;
	query->rc = rc;
	sem_post(&query->answered);
	sl_address_query_close(query);
	return NULL;
}

struct sl_address_query *sl_address_query_open(const char *address)
{
	struct sl_address_query *query = calloc(1, sizeof *query);
	pthread_t thread;
	if (query == NULL)
		return NULL;
	query->owners = 2;
	query->rc = EAI_INPROGRESS;
	sem_init(&query->answered, 0, 0);
	sl_address_split(address, query->host, query->port);
	if (threads++ < THREADS_MAX && pthread_create(&thread, NULL, look_up, query) == 0) {
		pthread_detach(thread);
		return query;
	}
	threads--;
	free(query);
	return NULL;
}

int sl_address_query_answer(struct sl_address_query *query, struct addrinfo **found)
{
	int rc = query->rc;
	if (rc != 0)
		return rc;
	*found = query->found;
	query->found = NULL;
	return 0;
}

int sl_address_look_up(const char *address, uint64_t ms, struct addrinfo **found)
{
	struct sl_address_query *query = sl_address_query_open(address);
	struct timespec until;
	if (query == NULL)
		return EAI_AGAIN;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(ms / 1000) + 1;
	while (sem_clockwait(&query->answered, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
		;
	int rc = sl_address_query_answer(query, found);
	sl_address_query_close(query);
	return rc == EAI_INPROGRESS ? EAI_AGAIN : rc;
}

const struct addrinfo *sl_address_pick(const struct addrinfo *found, uint32_t turn, uint32_t *count)
{
	*count = 0;
	for (const struct addrinfo *at = found; at != NULL; at = at->ai_next)
		++*count;
	for (turn %= *count; turn > 0; turn--)
		found = found->ai_next;
	return found;
}

const char *sl_address_family_fault(int family, int why)
{
	if (family != AF_INET6 || (why != ENETUNREACH && why != EAFNOSUPPORT && why != EADDRNOTAVAIL))
		return NULL;
	return "this machine has no IPv6 route to it; that learner needs an IPv4 address in the roster, too";
}

/* ---- addresses that lead nowhere ---- */

static const char here[] = "leads each machine to itself";

static const char *flaw_of(const struct in6_addr *at)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(at);
	const uint8_t *a = at->s6_addr + (v4 ? 12 : 0);
	if (v4 ? a[0] == 0 || a[0] == 127 : IN6_IS_ADDR_UNSPECIFIED(at) || IN6_IS_ADDR_LOOPBACK(at))
		return here;
	if (v4 ? a[0] >= 224 : IN6_IS_ADDR_MULTICAST(at)) /* multicast, reserved, broadcast */
		return "is the address of no machine";
	return (v4 ? a[0] == 169 && a[1] == 254 : IN6_IS_ADDR_LINKLOCAL(at)) ? "is valid on one link only"
									     : NULL;
}

const char *sl_address_flaw(const char *address, bool resolve)
{
	char host[SL_ADDRESS_BYTES], port[SL_ADDRESS_PORT_BYTES];
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_V4MAPPED, .ai_family = AF_INET6}, *found;
	const char *flaw = NULL;
	sl_address_split(address, host, port);
	size_t size = strlen(host), end = sizeof ".invalid" - 1;
	resolve = resolve && (size < end || strcmp(host + size - end, ".invalid") != 0); /* on purpose */
	if (strcmp(host, "localhost") == 0)
		return here;
	if (getaddrinfo(host, NULL, &hints, &found) == 0)
		flaw = flaw_of(&((const struct sockaddr_in6 *)found->ai_addr)->sin6_addr);
	else if (!resolve)
		return NULL;
	else if (sl_address_look_up(address, SL_ADDRESS_LOOK_UP_MS, &found) != 0)
		return "has a name that does not resolve on this machine";
	freeaddrinfo(found);
	return flaw;
}

bool sl_address_is_here(const char *address)
{
	return sl_address_flaw(address, false) == here;
}
