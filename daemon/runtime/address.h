/* address.h - "HOST:PORT" in its parts, and the addresses of a host's name. */
#pragma once

#include <netdb.h>
#include <stdbool.h>

#include "common/base/limits.h"

#define SL_ADDRESS_PORT_BYTES 8u

/* Split "host:port" or "[v6]:port", whose form has been checked; without a port, `port` is "0". */
void sl_address_split(const char *address, char host[static SL_ADDRESS_BYTES],
		      char port[static SL_ADDRESS_PORT_BYTES]);

/* Return true if `address`, with or without a port, leads each machine to itself. */
bool sl_address_is_loopback(const char *address);

/* A look-up of the addresses of "host:port" on a thread of its own, which none waits for: that of a name can
 * hang, and cannot be cancelled. */
struct sl_address_query;
/* NULL: as many look-ups hang as may, or memory is short. */
struct sl_address_query *sl_address_query_open(const char *address);
/* Return what getaddrinfo did, EAI_INPROGRESS: it has not. The caller frees what it has found. */
int sl_address_query_answer(struct sl_address_query *query, struct addrinfo **found);
/* Drop it, which may be NULL, whether its thread has ended or not. */
void sl_address_query_close(struct sl_address_query *query);

/* Find the addresses of "host:port", as getaddrinfo does; EAI_AGAIN: not within `ms` and a second. The caller
 * frees them. */
int sl_address_look_up(const char *address, uint64_t ms, struct addrinfo **found);

/* Return number `turn`, modulo their count, of the addresses that a name has; `count`: how many it has. */
const struct addrinfo *sl_address_pick(const struct addrinfo *found, uint32_t turn, uint32_t *count);

/* Return what is wrong if a connection failed by `why`, an errno, because this machine has no way to
 * addresses of `family`; NULL: it failed by something else. */
const char *sl_address_family_fault(int family, int why);

/* Return why other machines can hardly dial "host:port", as the end of a sentence; NULL: they may. A name is
 * looked up only with `resolve`, for SL_ADDRESS_LOOK_UP_MS at most: a second name server may answer by then.
 */
#define SL_ADDRESS_LOOK_UP_MS 6000u
const char *sl_address_flaw(const char *address, bool resolve);
/* Return true if the address leads each machine to itself. */
bool sl_address_is_here(const char *address);
