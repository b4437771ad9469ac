/* logs.h - the options of `starling logs`, which its parts share. */
#pragma once

#include "tools/lib/log_files.h"

/* A learner as the user names it: by id or name. */
struct sl_logs_learner {
	const char *text; /* NULL: any */
	uint64_t id;	  /* 0: by name */
};

struct sl_logs {
	const char **paths;
	size_t path_count, path_room;
	struct sl_logs_learner learner, peer;
	uint64_t round; /* 0: all */
	const char *phase, *trace;
	int level; /* -1: all */
	bool follow, json, records, stats, colour;
};

/* Print the records that pass the filters, merged; return the exit status. */
int sl_logs_records(const struct sl_logs *logs, struct sl_log_files *files);
