/* report.h - the report of a run: report.html, which opens without a server, rounds.csv and learners.csv. */
#pragma once

#include "tools/timeline/timeline.h"
#include "tools/web/source.h"

/* Name the run after its folder, with the number of rounds of the first configuration in it. */
void sl_web_report_name(struct sl_timeline *timeline, const char *folder);

/* Write the three files into `folder`. The page has a row of each round, and of the last rounds the
 * documents: as many as fit into 16 MB. SL_ERR_NOTFOUND: no round is known. SL_ERR_IO. */
int sl_web_report_write(struct sl_timeline *timeline, const struct sl_web_source *source, const char *folder,
			struct sl_error *error);
