/* streams.h - the standard streams of a program. */
#pragma once

#include <stdio.h>

/* Take the places of streams that the parent has closed: else the next file that is opened gets one, and what
 * is printed. A write to this standard output fails, as before. When the program ends, however it does, lost
 * output is one line of standard error and status 1; a reader that has read enough (head) loses none. */
void sl_streams_open(void);
/* Flush a stream. The reason of a failure of standard output is kept for the line at the end. */
void sl_streams_flush(FILE *out);
