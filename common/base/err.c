#include "common/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clean.h"

const char *sl_err_text(int code)
{
	switch (code) {
#define X(name, value, text)                                                                                 \
	case name:                                                                                           \
		return text;
		SL_ERRORS(X)
#undef X
	case SL_OK:
		return "no error";
	case SL_PENDING:
		return "not ready yet";
	default:
		return "unknown error";
	}
}

int sl_err_set(struct sl_error *e, int code, const char *format, ...)
{
	if (e == NULL)
		return code;
	va_list args;
	va_start(args, format);
	e->code = code;
	vsnprintf(e->text, sizeof e->text, format, args);
	va_end(args);
	sl_clean_text(e->text);
	return code;
}

int sl_err_wrap(struct sl_error *e, const char *format, ...)
{
	char inner[SL_ERROR_BYTES], prefix[SL_ERROR_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(prefix, sizeof prefix, format, args);
	va_end(args);
	sl_clean_text(prefix);
	memcpy(inner, e->text, sizeof inner);
	size_t used = strlen(prefix);
	if (used + 3 > sizeof e->text)
		return e->code;
	memcpy(e->text, prefix, used);
	memcpy(e->text + used, ": ", 2);
	size_t room = sizeof e->text - used - 3;
	inner[room] = '\0';
	strcpy(e->text + used + 2, inner);
	return e->code;
}
