/* What holds and what does not. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "tools/lib/command.h"
#include "tools/paper/reproduce.h"

const char *sl_paper_verdict_text(enum sl_verdict verdict)
{
	static const char *const texts[] = {"holds", "does not hold", "measured", "misprint"};
	return texts[verdict];
}

void sl_paper_claim(struct sl_paper *r, char part, enum sl_verdict verdict, const char *claim,
		    const char *paper, const char *here, ...)
{
	va_list arguments;
	assert(r->claim_count < SL_CLAIMS_MOST);
	struct sl_claim *c = &r->claims[r->claim_count++];
	*c = (struct sl_claim){.part = part, .verdict = verdict};
	assert(strlen(claim) < sizeof c->claim && strlen(paper) < sizeof c->paper);
	strcpy(c->claim, claim);
	strcpy(c->paper, paper);
	va_start(arguments, here);
	vsnprintf(c->here, sizeof c->here, here, arguments);
	va_end(arguments);
}

enum sl_verdict sl_paper_full_verdict(const struct sl_paper *r, bool holds)
{
	return r->options.quick ? SL_MEASURED : holds ? SL_HOLDS : SL_HOLDS_NOT;
}

enum sl_verdict sl_paper_power_verdict(const struct sl_paper *r, double power, double by)
{
	return sl_paper_full_verdict(r, fabs(power - 1) <= by);
}

void sl_paper_broken(struct sl_paper *r, const char *format, ...)
{
	va_list arguments;
	if (r->broken_count++ >= SL_BROKEN_MOST)
		return;
	va_start(arguments, format);
	vsnprintf(r->broken[r->broken_count - 1], sizeof r->broken[0], format, arguments);
	va_end(arguments);
}

int sl_paper_status(const struct sl_paper *r)
{
	return r->broken_count > 0 ? SL_EXIT_FAILED : 0;
}
