#include "common/config/settings_table.h"

#include <string.h>

#include "common/config/level.h"

#define SECONDS_MAX 86400
#define HIDDEN_UNITS_MAX ((SL_PARAMETERS_MAX - 785u) / 1569u) /* a model has 1569 h + 785 parameters */

#define REQUIRED(sample) NULL, sample
#define OPTIONAL(usual) usual, NULL
#define SAMPLED(usual, sample) usual, sample
#define NONE NULL
#define CHOICES(...)                                                                                         \
	(const struct sl_setting_choice[])                                                                   \
	{                                                                                                    \
		__VA_ARGS__,                                                                                 \
		{                                                                                            \
			NULL, 0                                                                              \
		}                                                                                            \
	}
/* The words of a list X(constant, name). */
#define NAMES(list, word)                                                                                    \
	(const struct sl_setting_choice[])                                                                   \
	{                                                                                                    \
		list(word)                                                                                   \
		{                                                                                            \
			NULL, 0                                                                              \
		}                                                                                            \
	}
#define LEVEL(constant, name) {name, SL_##constant},
#define SHARING(constant, name) {name, SL_SHARING_##constant},
#define ENGINE(constant, name) {name, SL_ENGINE_##constant},
#define FIELD(key) offsetof(struct sl_settings, key), sizeof(((struct sl_settings *)0)->key)

#define TEXT(group, key, kind, usual, choices, agreement, sentence)                                          \
	{SL_GROUP_##group,	 #key,	  SL_SETTING_##kind, FIELD(key), usual, 0, 0, 0, 0, "", choices,     \
	 SL_SETTING_##agreement, sentence},
#define NUMBER(group, key, type, kind, usual, least, most, unit, choices, agreement, sentence)               \
	{SL_GROUP_##group,                                                                                   \
	 #key,                                                                                               \
	 SL_SETTING_##kind,                                                                                  \
	 FIELD(key),                                                                                         \
	 usual,                                                                                              \
	 (uint64_t)(least),                                                                                  \
	 (uint64_t)(most),                                                                                   \
	 (double)(least),                                                                                    \
	 (double)(most),                                                                                     \
	 unit,                                                                                               \
	 choices,                                                                                            \
	 SL_SETTING_##agreement,                                                                             \
	 sentence},
#define CHOICE(group, key, type, usual, choices, agreement, sentence)                                        \
	{SL_GROUP_##group,	 #key,	  SL_SETTING_CHOICE, FIELD(key), usual, 0, 0, 0, 0, "", choices,     \
	 SL_SETTING_##agreement, sentence},

const struct sl_setting sl_settings_table[SL_SETTINGS_ROWS] = {
#include "common/config/settings.def"
};

const struct sl_setting *sl_settings_table_find(const char *key)
{
	for (size_t i = 0; i < SL_SETTINGS_ROWS; i++)
		if (strcmp(sl_settings_table[i].key, key) == 0)
			return &sl_settings_table[i];
	return NULL;
}

void sl_settings_table_choices(const struct sl_setting *row, const char *between, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (const struct sl_setting_choice *c = row->choices; c && c->text && used < size; c++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", used ? between : "", c->text);
}

uint64_t sl_settings_table_bits(const struct sl_setting *row, const struct sl_settings *settings)
{
	const char *field = (const char *)settings + row->offset;
	uint32_t narrow;
	uint64_t wide = 0;
	memcpy(&narrow, field, sizeof narrow);
	if (row->size == sizeof wide)
		memcpy(&wide, field, sizeof wide);
	return row->size == sizeof narrow ? narrow : wide;
}

void sl_settings_table_store(const struct sl_setting *row, struct sl_settings *settings, uint64_t value)
{
	char *field = (char *)settings + row->offset;
	uint32_t narrow = (uint32_t)value;
	bool flag = value != 0;
	if (row->size == sizeof flag)
		memcpy(field, &flag, sizeof flag);
	else if (row->size == sizeof narrow)
		memcpy(field, &narrow, sizeof narrow);
	else
		memcpy(field, &value, sizeof value);
}
