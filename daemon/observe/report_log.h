/* report_log.h - the log of the daemon: reports of the core, completed by what only the daemon knows, and the
 * daemon's own records. */
#pragma once

#include "common/core/core.h"
#include "common/report/record.h"

struct sl_observe;

/* Log `report`. */
void sl_report_log(struct sl_observe *observe, const struct sl_report *report);
/* Log `record`. */
void sl_report_log_record(struct sl_observe *observe, const struct sl_record *record);
/* Tell the trainer why the round makes no progress: the sentence of `record`. */
void sl_report_log_tell(struct sl_observe *observe, const struct sl_record *record);
/* Log a record whose only fields are round `t`, attempt `a` and `reason`; 0 or NULL: it does not have it. */
void sl_report_log_attempt(struct sl_observe *observe, enum sl_record_kind kind, sl_round t, sl_attempt a,
			   const char *reason);
/* Log a record whose only field is `reason`. */
void sl_report_log_reason(struct sl_observe *observe, enum sl_record_kind kind, const char *reason);
/* Log a record whose only field is round `t`. */
void sl_report_log_round(struct sl_observe *observe, enum sl_record_kind kind, sl_round t);
/* Log that `peer` sent something unacceptable: the first time at once, then at most once in ten seconds. */
void sl_report_log_warn(struct sl_observe *observe, uint32_t peer, const char *why);
