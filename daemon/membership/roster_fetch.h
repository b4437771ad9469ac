/* roster_fetch.h - asks members for a newer roster while this learner has no link (GROUP.md §12.9 Joining,
 * ROSTER): while it was away, all others may have got other keys or addresses.
 *
 *   no link for SL_ROSTER_FETCH_ALONE_MS --> one member after the other, one each SL_ROSTER_FETCH_PAUSE_MS
 *
 * A thread of libuv asks, since the client of joining waits for its answers (membership/join_client.h). A
 * learner that ends waits for the thread: for SL_ROSTER_FETCH_ASK_MS, or a second more while a name is looked
 * up.
 */
#pragma once

struct sl_membership;

#define SL_ROSTER_FETCH_ALONE_MS 30000u
#define SL_ROSTER_FETCH_PAUSE_MS 5000u
#define SL_ROSTER_FETCH_ASK_MS 3000u /* for connection, handshake and answer */

/* Ask if it is time. Called often. */
void sl_roster_fetch_look(struct sl_membership *m);
