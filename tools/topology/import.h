/* import.h - a schedule from what others recorded: NetworkX edge lists, BonnMotion and ns-2 movements.
 *
 * edges: "u v", then data that is skipped; '#' starts a comment; commas may stand for the blanks. A loop
 * "u u" only says that u is there. A file is a step; or each edge names its step or time, and those are put
 * in order.
 *
 * bonnmotion: a node a line, "t x y t x y ..."; a file of three dimensions begins with "#3D" and z is
 * skipped.
 *
 * ns2: "$node_(0) set X_ 1.0", "$ns_ at 2.0 "$node_(0) setdest 10.0 20.0 1.5""; "$god_ ..." is skipped.
 *
 * Nodes of a movement are in range of each other in a step if they are within `range_m` at its instant.
 */
#pragma once

#include "tools/topology/import_names.h"
#include "tools/lib/schedule.h"

enum sl_import_format {
	SL_IMPORT_GUESS,
	SL_IMPORT_EDGES,
	SL_IMPORT_BONNMOTION,
	SL_IMPORT_NS2,
	SL_IMPORT_FORMATS
};

#define SL_IMPORT_EVERY_S 10.0	/* between steps of a movement, when nobody says how long */
#define SL_IMPORT_RANGE_MAX 1e9 /* metres */
#define SL_IMPORT_EVERY_MAX 1e9 /* seconds */
#define SL_IMPORT_STEPS_MAX 100000u
#define SL_IMPORT_LINKS_MAX 50000000u /* of all steps together, 400 MB */

struct sl_import_request {
	const char *const *files; /* one or more; "-": standard input */
	size_t count;
	enum sl_import_format format;
	const char *by;	    /* edges: the key of their data that says the step, a number; NULL */
	uint32_t by_column; /* edges: the column that says it, from 3 on; 0: none */
	double range_m;	    /* movements; 0: not said */
	double every_s;	    /* movements; 0: SL_IMPORT_EVERY_S */
	uint32_t steps;	    /* no more than these; 0: all */
};

struct sl_import {
	struct sl_schedule schedule;
	struct sl_import_names *names; /* names->name[i] is what learner i + 1 was called */
	enum sl_import_format format;
};

/* "edges", "bonnmotion", "ns2"; and back, SL_IMPORT_FORMATS when there is no such format. */
const char *sl_import_format_name(enum sl_import_format format);
enum sl_import_format sl_import_format_find(const char *name);

/* Errors name the file, and the line where there is one; *import is closed after one. */
int sl_import(const struct sl_import_request *request, struct sl_import *import, struct sl_error *error);
void sl_import_close(struct sl_import *import);
