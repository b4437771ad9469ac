/* What starlingd does at a crash point. A program that links a file with this function of its own does that.
 */
#include "daemon/runtime/failpoint.h"

void sl_failpoint_reach(enum sl_failpoint point)
{
	(void)point;
}
