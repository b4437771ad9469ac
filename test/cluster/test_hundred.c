/* A hundred daemons, one round on a random 20-regular graph, with the paper's settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/cluster/cluster.h"

static void hundred_learners_are_exact(void **state)
{
	(void)state;
	struct cluster c;
	cluster_launch(&c, 500, "-n 100 --rounds 1 --topology regular:20 --verify --set hidden=1 --set sigma=2 --set p=1020431");
	cluster_expect_exact(&c, 1, true);
	assert_int_equal(cluster_real(&c, 0, "learners"), 100);
	assert_int_equal(cluster_checkpoints(&c, 100, 1), 1);
	cluster_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(hundred_learners_are_exact)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
