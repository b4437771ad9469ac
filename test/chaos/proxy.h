/* proxy.h - a bad network on loopback, between daemons that do not know of it.
 *
 * For each ordered pair of learners there is a port, on which `from` dials `to`; what arrives there is passed
 * on to the port where `to` listens. A fault has a direction, from -> to, whichever of the two has dialled.
 * It applies at once, to present connections and to later ones. Learners are counted from 1, as their ids.
 *
 *   from --> proxy_port(from, to) --[delay, swallow, stall, truncate]--> the real port of `to`
 *
 * The proxy is one thread with a loop of its own; the functions may be called from the thread of the test.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "test/lib/cluster.h"

#define PROXY_LEARNERS_MAX CLUSTER_MAX

struct proxy;

/* real[i]: port where learner i+1 listens. */
struct proxy *proxy_open(const uint16_t *real, uint32_t learners);
/* Open a proxy between all learners of a cluster that is open and not started: each has a roster of its own.
 */
struct proxy *proxy_between(struct cluster *c);
uint16_t proxy_port(const struct proxy *proxy, uint32_t from, uint32_t to);
void proxy_close(struct proxy *proxy);

/* Delay bytes by this time. */
void proxy_delay(struct proxy *proxy, uint32_t from, uint32_t to, uint32_t ms);
void proxy_delay_all(struct proxy *proxy, uint32_t ms);
/* Read what `from` sends and drop it. */
void proxy_swallow(struct proxy *proxy, uint32_t from, uint32_t to, bool on);
/* Do not read what `from` sends: it fills the buffers between. */
void proxy_stall(struct proxy *proxy, uint32_t from, uint32_t to, bool on);
/* Pass so many more bytes, then close the connection. Once. */
void proxy_truncate(struct proxy *proxy, uint32_t from, uint32_t to, uint64_t bytes);
/* Reset the connections between the two. */
void proxy_reset(struct proxy *proxy, uint32_t a, uint32_t b);
