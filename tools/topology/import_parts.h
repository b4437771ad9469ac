/* import_parts.h - the readers behind import.h, one for each format. */
#pragma once

#include "tools/topology/import.h"
#include "tools/topology/import_text.h"
#include "tools/topology/import_tracks.h"

/* Return the format that the text seems to have, SL_IMPORT_GUESS when it is empty. Does not change the text.
 */
enum sl_import_format sl_import_guess(struct sl_import_text *text);

/* The contents of edge lists: edges between indexes of names, each with its step or time. */
struct sl_contact {
	struct sl_edge edge;
	double when;
};
struct sl_contacts {
	struct sl_contact *contact;
	size_t count, room;
};

/* Add the contacts of a file; `when` is the step of all of them, unless the request names a key or column for
 * it. */
int sl_import_edges(struct sl_import_text *text, const struct sl_import_request *request, double when,
		    struct sl_import_names *names, struct sl_contacts *contacts);

/* Read the tracks of the nodes, by their index in names. */
int sl_import_bonnmotion(struct sl_import_text *text, struct sl_import_names *names,
			 struct sl_import_tracks *tracks);
int sl_import_ns2(struct sl_import_text *text, struct sl_import_names *names,
		  struct sl_import_tracks *tracks);

/* Call sl_import_names_index; an error names the line. */
int sl_import_name(const struct sl_import_text *text, struct sl_import_names *names, const char *name,
		   size_t length, uint32_t *index);
