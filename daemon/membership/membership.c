#include "daemon/membership/membership.h"

#include "daemon/membership/group_update.h"
#include "daemon/membership/joining.h"

void sl_membership_close(struct sl_membership *m)
{
	sl_mdns_free(m->mdns);
	sl_joining_close(m);
	sl_identity_close(&m->identity);
	sl_roster_close(&m->roster);
	sl_group_update_close(m);
	sl_group_close(&m->group);
}
