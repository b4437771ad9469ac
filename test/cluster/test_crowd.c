/* A hundred daemons, one round on a random 20-regular graph, with the paper's settings. Sanitized daemons are
 * ten times as large: CROWD is 30 then. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "test/cluster/cluster.h"
#include "test/lib/test.h"

TEST(runner_is_exact)
{
	struct cluster c;
	char arguments[256];
	snprintf(arguments, sizeof arguments,
		 "-n %d --rounds 1 --topology regular:%d --verify --set hidden=1 --set sigma=2 --set "
		 "p=1020431",
		 CROWD, CROWD / 5);
	cluster_launch(&c, 500, arguments);
	cluster_expect_exact(&c, 1, true);
	assert_int_equal(cluster_real(&c, 0, "learners"), CROWD);
	assert_int_equal(cluster_real(&c, 0, "edges"), CROWD * (CROWD / 5) / 2);
	assert_int_equal(cluster_checkpoints(&c, CROWD, 1), 1);
	cluster_close(&c);
}
