/* folder.h - the files of a report: written in memory, and stored all at once or not at all.
 *
 * An older report in the same folder stays whole until commit replaces its files.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"

#define SL_REPORT_FILES_MOST 32u

struct sl_paper_folder {
	const char *path; /* borrowed */
	bool made;	  /* by open: removed again if there is no report */
	uint32_t count;
	struct sl_paper_file {
		const char *name; /* borrowed */
		FILE *out;
		char *text;
		size_t bytes;
	} files[SL_REPORT_FILES_MOST];
};

/* Make the folder if there is none, and check that files can be made in it. SL_ERR_IO. */
int sl_paper_folder_open(struct sl_paper_folder *folder, const char *path, struct sl_error *error);

/* Return a stream to a new file; the folder closes it. */
FILE *sl_paper_folder_file(struct sl_paper_folder *folder, const char *name);

/* Store all files. SL_ERR_IO: one of them could not be written; then call drop. */
int sl_paper_folder_commit(struct sl_paper_folder *folder, struct sl_error *error);

/* Remove what was not committed, and the folder if it was made for it. */
void sl_paper_folder_drop(struct sl_paper_folder *folder);
