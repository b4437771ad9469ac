/* hop.h - the bytes that a learner could send while a message crosses one link: its parameter hop_bytes, by
 * which `mixing: auto` weighs waiting against sending (ROUND.md §8.6 The price of an engine).
 */
#pragma once

#include "daemon/net/links.h"

/* Return the measured rates of the `count` links, or those of their last flights if these are higher, summed,
 * times the time of a hop: half of the longest round
 * trip and half a millisecond for the programs at both ends. The result is rounded down to a power of two, so
 * that it seldom changes. 0: no rate is known. */
uint64_t sl_hop_bytes(const struct sl_link_figures *links, size_t count);
