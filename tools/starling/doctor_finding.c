#include <stdarg.h>
#include <stdio.h>

#include "common/base/clean.h"
#include "tools/lib/command.h"
#include "tools/starling/doctor.h"

void sl_doctor_add(struct sl_doctor *doctor, enum sl_doctor_level level, const char *about,
		   const char *remedy, const char *format, ...)
{
	va_list list;
	doctor->findings =
		sl_command_grow(doctor->findings, doctor->count, &doctor->room, sizeof *doctor->findings);
	struct sl_doctor_finding *f = &doctor->findings[doctor->count++];
	*f = (struct sl_doctor_finding){.level = level};
	snprintf(f->about, sizeof f->about, "%s", about);
	snprintf(f->remedy, sizeof f->remedy, "%s", remedy != NULL ? remedy : "");
	va_start(list, format);
	vsnprintf(f->text, sizeof f->text, format, list);
	va_end(list);
	sl_clean_text(f->text);
}
