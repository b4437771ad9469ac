/* forming.h - a learner that cannot begin a round yet: its group has too few learners, or its first program,
 * which alone knows the model, has not joined. It takes newer rosters, and answers learners that join and
 * control clients. It has no core: nothing is trained or shared. While the group is forming, it keeps links;
 * when the roster is complete, the program restarts.
 */
#pragma once

#include "common/base/err.h"

struct sl_daemon;

/* Listen, and open nothing that a round needs. The roster is read, and the loop is open. */
int sl_forming_open(struct sl_daemon *daemon, struct sl_error *error);
/* Do what is due for learners that join and newer rosters. Called several times a second; `what` the learner
 * waits for. */
void sl_forming_look(struct sl_daemon *daemon, const char *what);
