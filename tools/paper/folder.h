/* folder.h - the files of a report, which appear all at once or not at all.
 *
 *      .NAME.part ... written      all closed, all well       NAME
 *                           ------------------------------>
 *                                 anything else               nothing
 *
 * Owns its open files. An older report in the same folder stays whole until the new one is; of two files of
 * one name the newer stays.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"

#define SL_REPORT_FILES_MOST 32u
#define SL_REPORT_NAME_BYTES 48u
#define SL_REPORT_PATH_BYTES 3800u

struct sl_paper_folder {
	char path[SL_REPORT_PATH_BYTES];
	bool made; /* here and now: goes again when the report does not come about */
	uint32_t count;
	struct {
		char name[SL_REPORT_NAME_BYTES];
		FILE *out;
	} files[SL_REPORT_FILES_MOST];
};

/* Makes the folder where there is none. SL_ERR_RANGE for too long a path, SL_ERR_IO. */
int sl_paper_folder_open(struct sl_paper_folder *folder, const char *path, struct sl_error *error);

/* A new file to write to, which the folder closes; NULL and an error if it cannot be opened. */
FILE *sl_paper_folder_file(struct sl_paper_folder *folder, const char *name, struct sl_error *error);

/* Closes and names all files, in the order in which they were opened. SL_ERR_IO when one could not be written
 * whole: then call drop. */
int sl_paper_folder_commit(struct sl_paper_folder *folder, struct sl_error *error);

/* Removes what has no name yet. After a commit: nothing. */
void sl_paper_folder_drop(struct sl_paper_folder *folder);
