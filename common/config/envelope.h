/* envelope.h - the fields that the log writes into every record: X(field, name in JSON, type), the type as in
 * report/record_table.h. */
#pragma once

/* The version of the records: raised when a field or an event is removed, or changes its type, unit or
 * meaning. New ones do not raise it. */
#define SL_RECORDS_VERSION 1

#define SL_ENVELOPE_FIELDS(X)                                                                                \
	X(v, "v", WHOLE)	     /* version of the format */                                             \
	X(time, "time", TEXT)	     /* when it was written, RFC 3339 in UTC */                              \
	X(mono_ms, "mono_ms", REAL)  /* the same on CLOCK_MONOTONIC, milliseconds */                         \
	X(level, "level", TEXT)	     /* debug, info, warn or error */                                        \
	X(learner, "learner", WHOLE) /* id of the learner that wrote it */                                   \
	X(name, "name", TEXT)	     /* its name in the roster */                                            \
	X(event, "event", TEXT)	     /* the kind of record */                                                \
	X(text, "text", TEXT)	     /* the sentence */
