/* A run that fails is a test that fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "test/simulator/sim.h"

void sl_sim_failed(struct sl_sim *sim, const char *text)
{
	(void)sim;
	fail_msg("%s", text);
	abort(); /* not reached: fail_msg jumps */
}
