/* The parts of a round that many tests begin with. */
#include "test/core/driver.h"

struct driver *driver_agree(struct driver *p)
{
	play(p, "link up all\n"
		"hello t1 ready from all\n"
		"trained\n"
		"link state a1 from all");
	return p;
}

struct driver *driver_share(struct driver *p)
{
	driver_agree(p);
	play(p, "analysis done\n"
		"encode done\n"
		"secrets done\n"
		"share done");
	return p;
}

/* Deposits of all neighbours: `chunks` each, and the own one. */
static void deposits(struct driver *p)
{
	for (uint32_t m = 0; m < p->view->chunks; m++) {
		play(p, "deposit done");
		for (uint32_t r = 0; r < p->view->degree; r++)
			if (sl_view_keeps(p->view, r))
				play(p, "deposit %u of %u from %u\nfetch done", m,
				     p->view->ids[p->view->neighbours[r]],
				     p->view->ids[p->view->neighbours[r]]);
	}
}

struct driver *driver_ready(struct driver *p)
{
	driver_share(p);
	play(p, "key share from all");
	for (uint32_t m = 0; m < p->view->chunks; m++) {
		if (m > 0)
			play(p, "share done");
		for (uint32_t r = 0; r < p->view->degree; r++)
			play(p, "share %u from %u\ngather done", m, p->view->ids[p->view->neighbours[r]]);
	}
	deposits(p);
	play(p, "commitment done\n"
		"durable prepared");
	return p;
}

static void checks(struct driver *p)
{
	for (uint32_t r = 0; r < p->view->degree; r++)
		if (sl_view_keeps(p->view, r))
			play(p, "check done");
}

struct driver *driver_release(struct driver *p)
{
	driver_ready(p);
	play(p, "ready from all");
	checks(p);
	play(p, "durable released -> key of 1 to *");
	return p;
}

struct driver *driver_mix(struct driver *p)
{
	driver_release(p);
	play(p, "key from all\nmix done");
	for (uint32_t k = 1; k < p->view->steps; k++)
		play(p, "state 0 k%u from all\nmix done", k);
	return p;
}

struct driver *driver_confirm(struct driver *p)
{
	driver_mix(p);
	if (sl_view_partial_sums(p->view))
		play(p, "close done -> challenge of 1 to *\n"
			"challenge from all\n"
			"checksum done -> checksum of 1 to *\n"
			"checksum from all -> *CONFIRM, persist signs*");
	else
		play(p, "close done -> persist signs*");
	play(p, "durable signs -> digest to *");
	return p;
}

struct driver *driver_commit(struct driver *p)
{
	driver_confirm(p);
	play(p, "digest from all\n"
		"accept done\n"
		"durable commit -> COMMITTED, *");
	return p;
}

static struct driver *agree_without_4(void)
{
	struct driver *p = driver_new(4, 4);
	play(p, "link up 2 3\n"
		"hello t1 ready from 2 3\n"
		"link down 4\n"
		"trained\n"
		"link state names 1 3 from 2\n"
		"link state names 1 2 from 3 -> *compute analysis*");
	return p;
}

void driver_ready_with_2_and_3(struct driver *p)
{
	play(p, "key share from 2 3\n"
		"share 0 from 2 3\n"
		"gather done\n"
		"gather done\n"
		"deposit done\n"
		"deposit 0 of 2 from 2\n"
		"fetch done\n"
		"deposit 0 of 3 from 3\n"
		"fetch done\n"
		"commitment done\n"
		"durable prepared\n"
		"ready from 2 3");
}

struct driver *driver_release_without_4(void)
{
	struct driver *p = agree_without_4();
	play(p, "analysis done\n"
		"encode done\n"
		"secrets done\n"
		"share done\n"
		"link up 4");
	driver_ready_with_2_and_3(p);
	play(p, "check done\n"
		"check done\n"
		"durable released");
	return p;
}
