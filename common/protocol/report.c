#include "common/protocol/report.h"

const char *sl_report_name(enum sl_report_kind kind)
{
	static const char *const names[] = {
#define X(kind, name) [SL_REPORT_##kind] = name,
		SL_REPORTS(X)
#undef X
	};
	return names[kind];
}

const char *sl_report_reason_name(enum sl_reason reason)
{
	static const char *const names[] = {
#define X(reason, name) [SL_REASON_##reason] = name,
		SL_REASONS(X)
#undef X
	};
	return names[reason];
}
