/* events.h - drain the event queue: decode frames, verify their signatures, step the core. */
#pragma once

struct sl_daemon;

/* Step the core with each queued event and execute the actions of each step. The number of events is limited,
 * so that the loop serves its timers and signals in between. */
void sl_events_drain(struct sl_daemon *daemon);
