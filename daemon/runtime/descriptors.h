/* descriptors.h - how many files and sockets this process may have open. */
#pragma once

/* Raise the limit to what the system allows: the usual one is 1,024, and a link, a learner or a log takes one
 * each. */
void sl_descriptors_raise(void);

/* Take the places of standard streams that the parent has closed: else the next file that is opened gets one,
 * and what is printed. A write to this standard output fails, as before. */
void sl_descriptors_reserve(void);
