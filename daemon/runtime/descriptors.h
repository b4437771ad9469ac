/* descriptors.h - how many files and sockets this process may have open. */
#pragma once

/* Raise the limit to what the system allows: the usual one is 1,024, and a link, a learner or a log takes one
 * each. */
void sl_descriptors_raise(void);
