/* The failpoint of starlingd: no effect. A program that links its own version of this function uses that one.
 */
#include "daemon/runtime/failpoint.h"

void sl_failpoint_reach(enum sl_failpoint point)
{
	(void)point;
}
