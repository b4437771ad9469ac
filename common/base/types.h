/* types.h - the scalars that have a meaning of their own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t sl_id;	     /* a learner: its Shamir evaluation point, 1 <= id < p */
typedef uint32_t sl_round;   /* t, from 1 */
typedef uint32_t sl_attempt; /* a, from 1 within a round */
typedef uint64_t sl_ms;	     /* monotonic milliseconds */

#define SL_NEVER UINT64_MAX /* an sl_ms that does not come */
