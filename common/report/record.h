/* record.h - the log records of a learner, as values: what the daemon writes and what every tool reads.
 *
 *   core report -> sl_record_report -\
 *                                     sl_record -> sl_record_write -> sentence, JSON object
 *   daemon (link, roster, store ...) -/                                              |
 *                                                                 log file, control socket
 *                                                                                    |
 *   tools:                            sl_record <- sl_record_read <------------------+
 *
 * record_table.h states each record once: its event, level, fields and sentence. The in-process runner fills
 * the same records from the same reports, and reads them without the way through JSON.
 */
#pragma once

#include "common/config/level.h"
#include "common/config/roster.h"
#include "common/protocol/report.h"
#include "common/protocol/wait.h"
#include "common/report/record_table.h"

struct json_t;

enum sl_record_kind {
#define X(kind, event, level, fields, sentence) SL_RECORD_##kind,
	SL_RECORDS(X)
#undef X
		SL_RECORD_COUNT
};

enum sl_record_field {
#define X(field, name, type) SL_FIELD_##field,
	SL_RECORD_FIELDS(X)
#undef X
		SL_FIELD_COUNT
};

/* The types of fields. */
#define SL_RECORD_WHOLE uint64_t
#define SL_RECORD_REAL double
#define SL_RECORD_FLAG bool
#define SL_RECORD_TEXT const char *
#define SL_RECORD_IDS const uint64_t *
#define SL_RECORD_SPREADS const struct sl_spreads *
#define SL_RECORD_OBJECT const struct json_t *
#define SL_RECORD_LIST const struct json_t *

#define SL_RECORD_WORDS_BYTES 1536u
#define SL_RECORD_TEXT_BYTES 8192u /* of a sentence, with paths in it */

/* Texts point to what their writer owns, into `words`, or, after reading, into the JSON object: a record is
 * not copied. */
struct sl_record {
	enum sl_record_kind kind;
#define X(field, name, type) SL_RECORD_##type field;
	SL_RECORD_FIELDS(X)
#undef X
	const struct json_t *has[SL_FIELD_COUNT]; /* after reading: values of the fields in the object */
	const struct json_t *json;		  /* after reading: the object */
	size_t words_used;
	char words[SL_RECORD_WORDS_BYTES];
};

/* Begin a record: whole numbers 0, real numbers NaN (written as null), texts and sets NULL. */
void sl_record_init(struct sl_record *record, enum sl_record_kind kind);
/* Begin the record of `report` and fill in what the report and the roster say. */
void sl_record_report(struct sl_record *record, const struct sl_report *report,
		      const struct sl_roster *roster);
/* Begin the record of a wait, or of its end. `set`: the learners that are awaited, a bit set over the roster,
 * to which the record refers. `overdue`: beyond the deadline of the phase. `obstacle`: what waiting alone
 * does not cure, cause and remedy; "": it may. */
void sl_record_waiting(struct sl_record *record, enum sl_wait wait, const uint64_t *set, bool overdue,
		       const char *obstacle, const struct sl_roster *roster);
void sl_record_waited(struct sl_record *record, enum sl_wait wait, const uint64_t *set,
		      const struct sl_roster *roster);
/* Print into the record's own space; return the text, cut where the space ends. */
const char *sl_record_words(struct sl_record *record, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Set the fields `peer` and `who`, such as "ana (2)", to the learner at roster index `index`. */
void sl_record_peer(struct sl_record *record, const struct sl_roster *roster, uint32_t index);

/* Return the level of the row; of one with the field `overdue`, info until it is. */
enum sl_level sl_record_level(const struct sl_record *record);
const char *sl_record_event(enum sl_record_kind kind);
/* Write the sentence into `text`; return the fields that the table lists for the record as a new object. */
struct json_t *sl_record_write(const struct sl_record *record, const struct sl_roster *roster, char *text,
			       size_t size);

/* Read a log record from its JSON object. `kind` is the first row of its event, or SL_RECORD_COUNT for an
 * event that the table does not have; the fields are read in either case, and false is returned in the
 * latter. */
bool sl_record_read(struct sl_record *record, const struct json_t *object);
