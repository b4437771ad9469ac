/* proxy.h - a bad network on loopback, between daemons that know nothing of it.
 *
 * For each ordered pair of learners a port, on which `from` dials `to`; what arrives there is passed on to
 *the port where `to` listens. Faults are of a direction, from -> to, whoever of the two has dialled: they
 *apply at once, to the connections that stand and to later ones. Learners are counted from 1, as their ids.
 *
 *	from --> proxy_port(from, to) --[delay, swallow, stall, truncate]--> the real port of `to`
 *
 * One thread with a loop of its own; the functions may be called from the thread of the test.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PROXY_LEARNERS_MAX 16u

struct proxy;

/* real[i]: where learner i+1 listens. */
struct proxy *proxy_open(const uint16_t *real, uint32_t learners);
uint16_t proxy_port(const struct proxy *proxy, uint32_t from, uint32_t to);
void proxy_close(struct proxy *proxy);

/* Bytes take this long; 0: as long as they take. */
void proxy_delay(struct proxy *proxy, uint32_t from, uint32_t to, uint32_t ms);
/* What `from` sends is read and thrown away. */
void proxy_swallow(struct proxy *proxy, uint32_t from, uint32_t to, bool on);
/* What `from` sends is not read: it fills the buffers between. */
void proxy_stall(struct proxy *proxy, uint32_t from, uint32_t to, bool on);
/* So many bytes more arrive, then the connection ends, in the middle of whatever that is. Once. */
void proxy_truncate(struct proxy *proxy, uint32_t from, uint32_t to, uint64_t bytes);
/* Their connections are reset. */
void proxy_reset(struct proxy *proxy, uint32_t a, uint32_t b);
/* Nothing between the two from now on, and connections are refused; or all is well again. */
void proxy_apart(struct proxy *proxy, uint32_t a, uint32_t b, bool on);

/* Bytes that `to` was given. */
uint64_t proxy_passed(struct proxy *proxy, uint32_t from, uint32_t to);
