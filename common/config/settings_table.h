/* settings_table.h - the rows of settings.def as an array, for the parser and the printer. */
#pragma once

#include "common/config/settings.h"

enum sl_setting_group {
	SL_GROUP_FILES,
	SL_GROUP_ROUND,
	SL_GROUP_TIMEOUTS,
	SL_GROUP_TRAINING,
	SL_GROUP_PRIVACY,
	SL_GROUP_DEBUGGING
};
enum sl_setting_kind {
	SL_SETTING_NAME,
	SL_SETTING_ADDRESS,
	SL_SETTING_PATH,
	SL_SETTING_DIGITS, /* the first digits of a hash */
	SL_SETTING_URL,
	SL_SETTING_COMMAND,
	SL_SETTING_CHOICE,
	SL_SETTING_WHOLE,
	SL_SETTING_PRIME,
	SL_SETTING_REAL,
	SL_SETTING_POSITIVE, /* greater than `least_real` */
};
enum { SL_SETTING_LOCAL, SL_SETTING_SHARED };

/* A value that is a word; text NULL ends a list. */
struct sl_setting_choice {
	const char *text;
	uint64_t value;
};

struct sl_setting {
	enum sl_setting_group group;
	const char *key;
	enum sl_setting_kind kind;
	size_t offset, size; /* of the field in struct sl_settings */
	const char *usual;   /* default; NULL: required; "": may be left out */
	const char *sample;  /* value in deploy/starlingd.yaml; NULL: commented out */
	uint64_t least, most;
	double least_real, most_real;
	const char *unit;
	const struct sl_setting_choice *choices; /* NULL: none */
	bool shared;				 /* it stands in the roster */
	const char *sentence;
};

/* The index of each row: SL_ROW_quorum, ... */
enum {
#define TEXT(group, key, ...) SL_ROW_##key,
#define NUMBER(group, key, ...) SL_ROW_##key,
#define CHOICE(group, key, ...) SL_ROW_##key,
#include "common/config/settings.def"
#undef TEXT
#undef NUMBER
#undef CHOICE
	SL_SETTINGS_ROWS
};

extern const struct sl_setting sl_settings_table[SL_SETTINGS_ROWS];

/* Return the row of `key`, or NULL. */
const struct sl_setting *sl_settings_table_find(const char *key);

/* Write the choices of `row` to `out`, separated by `between`; "" if it has none. */
void sl_settings_table_choices(const struct sl_setting *row, const char *between, char *out, size_t size);

/* Check `value`, and store it in the field of `row`. A relative path begins at `folder`, which ends with a
 * slash or is "". Errors: SL_ERR_RANGE, SL_ERR_INVALID. */
int sl_settings_table_take(const struct sl_setting *row, struct sl_settings *settings, const char *folder,
			   const char *value, struct sl_error *error);

/* Return the bits of the number that `settings` has for a row that is no text. */
uint64_t sl_settings_table_bits(const struct sl_setting *row, const struct sl_settings *settings);

/* Store `value` in the field of `row`: a bool, 32 bits (an enum too) or 64 bits, as its size says. */
void sl_settings_table_store(const struct sl_setting *row, struct sl_settings *settings, uint64_t value);
