/* status.h - the answer to the request `status`: what this learner is doing, and what it knows of the others.
 *
 * common/report/status_table.h states the fields. Nothing secret is in it: no sample count, no value of a
 * model.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct sl_observe;
struct sl_record;

/* Note what the status says of `record`, which is about to be logged. */
void sl_status_note(struct sl_observe *observe, const struct sl_record *record);

/* Note that the link to a peer of the roster is up. */
void sl_status_linked(struct sl_observe *observe, uint32_t peer);

/* Return the object, with what is known of the peers if `peers`. */
json_t *sl_status(struct sl_observe *observe, bool peers);
