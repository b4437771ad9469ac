/* evidence.h - write a file that proves equivocation: two contradicting link states signed by one learner
 * (PROTOCOL.md §12.5 Equivocation and evidence). */
#pragma once

#include "common/config/settings.h"
#include "common/protocol/canonical.h"
#include "common/protocol/report.h"

/* Write the two link states of `report` (SL_REPORT_EVIDENCE) into the state folder; `name` receives the name
 * of the file. */
int sl_evidence_write(const struct sl_settings *settings, const struct sl_scope *scope,
		      const struct sl_report *report, char *name, size_t name_bytes, struct sl_error *error);
