/* log.h - a durable record of a learner as bytes, for the log that the program keeps.
 *
 *    checksum | head | persist | view | Readys | Aborts | secrets | certificate | own deposit | model
 *
 * Structs are written as they lie in memory: a log is read by the version of the library that wrote it, on a
 * machine of the same kind, and by no other.
 */
#pragma once

#include "tools/host/hosted.h"

/* Return the record as bytes, which the caller frees with sl_heap_give; of kind 0: a start. A record PREPARED
 * has the own deposit, a COMMIT the model. */
uint8_t *sl_log_write(const struct sl_hosted *learner, const struct sl_persist *record, size_t *size);
/* Do to the disk of `learner` what the record says. SL_ERR_FORMAT: the bytes are not as they were written. */
int sl_log_read(struct sl_hosted *learner, const void *bytes, size_t size);
