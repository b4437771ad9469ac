/* forming.h - a learner whose group has too few learners for its first round. It keeps links, takes newer
 * rosters, and answers learners that join. It has no core: nothing is trained or shared. When the roster is
 * complete, the program restarts.
 */
#pragma once

#include "common/base/err.h"

struct sl_daemon;

/* Listen, and open nothing that a round needs. The roster is read, and the loop is open. */
int sl_forming_open(struct sl_daemon *daemon, struct sl_error *error);
