/* settings_value.c - what one row of settings.def takes as its value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/number.h"
#include "common/config/roster.h"
#include "common/config/settings_table.h"

static const struct sl_setting_choice *find_choice(const struct sl_setting *row, const char *value)
{
	for (const struct sl_setting_choice *c = row->choices; c && c->text; c++)
		if (strcmp(c->text, value) == 0)
			return c;
	return NULL;
}

/* Describe the values that `row` accepts, for an error: "a whole number from 0 to 12". */
static void describe(const struct sl_setting *row, char *out, size_t size)
{
	char words[128];
	sl_settings_table_choices(row, ", ", words, sizeof words);
	const char * or = row->choices ? " or " : "";
	if (row->kind == SL_SETTING_CHOICE)
		snprintf(out, size, "one of %s", words);
	else if (row->kind == SL_SETTING_REAL)
		snprintf(out, size, "a number from %g to %g", row->least_real, row->most_real);
	else if (row->kind == SL_SETTING_POSITIVE)
		snprintf(out, size, "%s%sa number greater than %g and at most %g", words, or, row->least_real,
			 row->most_real);
	else if (row->kind == SL_SETTING_PRIME)
		snprintf(out, size, "%s%sa prime between 2 and 2^61", words, or);
	else
		snprintf(out, size, "%s%sa whole number from %llu to %llu", words, or,
			 (unsigned long long)row->least, (unsigned long long)row->most);
}

static int refuse(const struct sl_setting *row, const char *value, int code, struct sl_error *error)
{
	char wanted[256];
	describe(row, wanted, sizeof wanted);
	return sl_err_set(error, code, "%s must be %s, not '%.64s'", row->key, wanted, value);
}

static int take_whole(const struct sl_setting *row, struct sl_settings *settings, const char *value,
		      struct sl_error *error)
{
	uint64_t n = 0;
	if (!sl_number_parse(value, row->least, row->most, &n))
		return refuse(row, value, SL_ERR_RANGE, error);
	if (row->kind == SL_SETTING_PRIME && !sl_field_is_prime(n))
		return sl_err_set(error, SL_ERR_INVALID, "%s: %s is not a prime", row->key, value);
	sl_settings_table_store(row, settings, n);
	return SL_OK;
}

static int take_real(const struct sl_setting *row, struct sl_settings *settings, const char *value,
		     struct sl_error *error)
{
	char *end = NULL;
	if (value[strspn(value, "0123456789+-.eE")] != '\0') /* strtod also takes nan, inf and hexadecimal */
		return refuse(row, value, SL_ERR_INVALID, error);
	double v = strtod(value, &end);
	if (end == value || *end != '\0')
		return refuse(row, value, SL_ERR_INVALID, error);
	if (!(v >= row->least_real && v <= row->most_real) ||
	    (row->kind == SL_SETTING_POSITIVE && v <= row->least_real))
		return refuse(row, value, SL_ERR_RANGE, error);
	memcpy((char *)settings + row->offset, &v, sizeof v);
	return SL_OK;
}

static int take_path(const struct sl_setting *row, struct sl_settings *settings, const char *folder,
		     const char *value, struct sl_error *error)
{
	char *field = (char *)settings + row->offset;
	bool as_is = value[0] == '/' || folder[0] == '\0' || find_choice(row, value);
	int n = snprintf(field, row->size, "%s%s", as_is ? "" : folder, value);
	if (n < 0 || (size_t)n >= row->size)
		return sl_err_set(error, SL_ERR_RANGE, "%s: the path is longer than %zu bytes", row->key,
				  row->size - 1);
	return SL_OK;
}

static int take_digits(const struct sl_setting *row, struct sl_settings *settings, const char *value,
		       struct sl_error *error)
{
	size_t n = strlen(value);
	if (n < SL_ACCEPT_DIGITS || n >= row->size || value[strspn(value, "0123456789abcdef")] != '\0')
		return sl_err_set(error, SL_ERR_INVALID,
				  "%s must be %u to %zu hexadecimal digits in lower case, not '%.64s'",
				  row->key, SL_ACCEPT_DIGITS, row->size - 1, value);
	strcpy((char *)settings + row->offset, value);
	return SL_OK;
}

static int take_any(const struct sl_setting *row, struct sl_settings *settings, const char *value,
		    struct sl_error *error)
{
	if (strlen(value) >= row->size)
		return sl_err_set(error, SL_ERR_RANGE, "%s: longer than %zu bytes", row->key, row->size - 1);
	strcpy((char *)settings + row->offset, value);
	return SL_OK;
}

static int take_text(const struct sl_setting *row, struct sl_settings *settings, const char *value,
		     struct sl_error *error)
{
	int code = find_choice(row, value)	  ? SL_OK
		   : row->kind == SL_SETTING_NAME ? sl_roster_name_check(value, error)
						  : sl_roster_address_check(value, error);
	if (code != SL_OK && error)
		return sl_err_wrap(error, "%s", row->key);
	if (code == SL_OK)
		strcpy((char *)settings + row->offset, value); /* the check has bounded its length */
	return code;
}

int sl_settings_table_take(const struct sl_setting *row, struct sl_settings *settings, const char *folder,
			   const char *value, struct sl_error *error)
{
	const struct sl_setting_choice *word = find_choice(row, value);
	switch (row->kind) {
	case SL_SETTING_PATH:
		return take_path(row, settings, folder, value, error);
	case SL_SETTING_DIGITS:
		return take_digits(row, settings, value, error);
	case SL_SETTING_URL:
	case SL_SETTING_COMMAND:
		return take_any(row, settings, value, error);
	case SL_SETTING_NAME:
	case SL_SETTING_ADDRESS:
		return take_text(row, settings, value, error);
	case SL_SETTING_REAL:
	case SL_SETTING_POSITIVE:
		if (word) /* it stands for 0 */
			break;
		return take_real(row, settings, value, error);
	case SL_SETTING_CHOICE:
	case SL_SETTING_WHOLE:
	case SL_SETTING_PRIME:
		break;
	}
	if (word)
		sl_settings_table_store(row, settings, word->value);
	else if (row->kind == SL_SETTING_CHOICE)
		return refuse(row, value, SL_ERR_INVALID, error);
	else
		return take_whole(row, settings, value, error);
	return SL_OK;
}
