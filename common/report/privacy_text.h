/* privacy_text.h - the one sentence for a refusal of the privacy check (common/mixing/privacy.h): cause, then
 * remedy.
 *
 *   2 learners are too few for tolerance 1: colluding learners could compute the remaining model from
 *   the mean; at least 3 must take part
 *
 *   tolerance 1 is not met: ana (2) alone could learn sums over parts of the others' models; missing
 *   links: 2-5, 5-9
 *
 *   dan (4) left out, with too few links for tolerance 1; missing link: 2-4
 */
#pragma once

#include "common/graph/graph.h"
#include "common/mixing/privacy.h"

struct sl_privacy_refusal {
	enum sl_privacy privacy; /* not KEPT */
	bool pruned;		 /* the others go on without the learners of `cut`, who tolerate c */
	uint64_t learners, kappa, c;
	const char *cut; /* names of the learners in the cut; where kappa is 1, each of them is one */
	uint32_t cut_count;
	const struct sl_edge *links; /* the first of the missing links, by learner id */
	uint32_t link_count;
	uint64_t missing; /* missing links in all */
};

/* Write the sentence into `text`, cut short where `size` is. */
void sl_privacy_text(const struct sl_privacy_refusal *refusal, char *text, size_t size);
