/* import_parts.h - the readers behind import.h, one a format. */
#pragma once

#include "tools/topology/import.h"
#include "tools/topology/import_text.h"
#include "tools/topology/import_tracks.h"

/* Which format a text seems to be; SL_IMPORT_GUESS when there is nothing in it. Leaves the text as it is. */
enum sl_import_format sl_import_guess(struct sl_import_text *text);

/* What edge lists say: edges between indexes of names, each with its step or its time. */
struct sl_contact {
	struct sl_edge edge;
	double when;
};
struct sl_contacts {
	struct sl_contact *contact;
	size_t count, room;
};

/* Adds the contacts of a file; `when` is that of all of them, unless the request tells how they say it
 * themselves. */
int sl_import_edges(struct sl_import_text *text, const struct sl_import_request *request, double when,
		    struct sl_import_names *names, struct sl_contacts *contacts);

/* The tracks of the nodes, by their index in names. */
int sl_import_bonnmotion(struct sl_import_text *text, struct sl_import_names *names,
			 struct sl_import_tracks *tracks);
int sl_import_ns2(struct sl_import_text *text, struct sl_import_names *names,
		  struct sl_import_tracks *tracks);

/* sl_import_names_index, or the line's fault. */
int sl_import_name(const struct sl_import_text *text, struct sl_import_names *names, const char *name,
		   size_t length, uint32_t *index);
