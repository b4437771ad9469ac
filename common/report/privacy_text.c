#include "common/report/privacy_text.h"

#include <inttypes.h>
#include <stdio.h>

#define LINKS_NAMED 8u

/* Write "3-7, 5-9 and 4 more". */
static void write_links(const struct sl_privacy_refusal *r, char *text, size_t size)
{
	size_t used = 0;
	uint32_t named = r->link_count < LINKS_NAMED ? r->link_count : LINKS_NAMED;
	for (uint32_t i = 0; i < named && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%u-%u", i > 0 ? ", " : "",
					 r->links[i].a, r->links[i].b);
	if (r->missing > named && used < size)
		snprintf(text + used, size - used, " and %" PRIu64 " more", r->missing - named);
}

static void write_cut(const struct sl_privacy_refusal *r, char *text, size_t size)
{
	char links[256] = "";
	bool together = r->kappa > 1, any = !together && r->cut_count > 1;
	write_links(r, links, sizeof links);
	if (r->pruned) {
		snprintf(text, size,
			 "%s left out, with too few links for tolerance %" PRIu64 "; missing link%s: %s",
			 r->cut, r->c, r->missing == 1 ? "" : "s", links);
		return;
	}
	snprintf(text, size,
		 "tolerance %" PRIu64
		 " is not met: %s%s%s could learn sums over parts of the others' models; missing link%s: %s",
		 r->c, any ? "any one of " : "", r->cut,
		 together ? " together"
		 : any	  ? ""
			  : " alone",
		 r->missing == 1 ? "" : "s", links);
}

void sl_privacy_text(const struct sl_privacy_refusal *refusal, char *text, size_t size)
{
	if (refusal->privacy == SL_PRIVACY_CUT)
		write_cut(refusal, text, size);
	else
		snprintf(text, size,
			 "%" PRIu64 " learners are too few for tolerance %" PRIu64
			 ": colluding learners could compute the remaining model from the mean; at least "
			 "%" PRIu64 " must take part",
			 refusal->learners, refusal->c, refusal->c + 2);
}
