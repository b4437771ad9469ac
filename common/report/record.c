#include "common/report/record.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/report/reason.h"

enum type { WHOLE, REAL, FLAG, TEXT, IDS, SPREADS, OBJECT, LIST };

static const struct {
	const char *field, *name;
	enum type type;
	size_t offset;
} fields[SL_FIELD_COUNT] = {
#define X(field, name, type) {#field, name, type, offsetof(struct sl_record, field)},
	SL_RECORD_FIELDS(X)
#undef X
};

static const struct {
	const char *event;
	enum sl_level level;
	const char *fields, *sentence;
} records[SL_RECORD_COUNT] = {
#define X(kind, event, level, fields, sentence) {event, level, fields, sentence},
	SL_RECORDS(X)
#undef X
};

enum sl_level sl_record_level(const struct sl_record *record)
{
	bool may_be_due = strstr(records[record->kind].fields, "overdue") != NULL;
	return may_be_due && !record->overdue ? SL_INFO : records[record->kind].level;
}

const char *sl_record_event(enum sl_record_kind kind)
{
	return records[kind].event;
}

void sl_record_init(struct sl_record *record, enum sl_record_kind kind)
{
	memset(record, 0, offsetof(struct sl_record, words));
	record->kind = kind;
#define SET_WHOLE(field)
#define SET_REAL(field) record->field = NAN;
#define SET_FLAG(field)
#define SET_TEXT(field)
#define SET_IDS(field)
#define SET_SPREADS(field)
#define SET_OBJECT(field)
#define SET_LIST(field)
#define X(field, name, type) SET_##type(field)
	SL_RECORD_FIELDS(X)
#undef X
}

const char *sl_record_words(struct sl_record *record, const char *format, ...)
{
	size_t room = sizeof record->words - record->words_used;
	char *text = record->words + record->words_used;
	va_list list;
	va_start(list, format);
	int n = vsnprintf(text, room, format, list);
	va_end(list);
	record->words_used += n >= 0 && (size_t)n + 1 < room ? (size_t)n + 1 : room - 1;
	return text;
}

void sl_record_peer(struct sl_record *record, const struct sl_roster *roster, uint32_t index)
{
	char who[SL_WHO_BYTES];
	record->peer = roster->members[index].id;
	record->who = sl_record_words(record, "%s", sl_reason_who(roster, index, who));
}

/* ---- the sentence ---- */

/* Return the field of the first `length` bytes of `name`; every name in the tables is one (test_record). */
static enum sl_record_field find_field(const char *name, size_t length)
{
	for (int f = 0; f < SL_FIELD_COUNT; f++)
		if (strncmp(fields[f].field, name, length) == 0 && fields[f].field[length] == '\0')
			return (enum sl_record_field)f;
	assert(false);
	abort();
}

/* decimals < 0: as many as it takes. */
static size_t print_field(const struct sl_record *record, enum sl_record_field f, int decimals, char *text,
			  size_t size)
{
	const void *at = (const char *)record + fields[f].offset;
	const char *const *string = at;
	int n = 0;
	if (fields[f].type == WHOLE)
		n = snprintf(text, size, "%" PRIu64, *(const uint64_t *)at);
	else if (fields[f].type == REAL && decimals >= 0)
		n = snprintf(text, size, "%.*f", decimals, *(const double *)at);
	else if (fields[f].type == REAL)
		n = snprintf(text, size, "%g", *(const double *)at);
	else if (fields[f].type == TEXT)
		n = snprintf(text, size, "%s", *string != NULL ? *string : "");
	return n > 0 && (size_t)n < size ? (size_t)n : n > 0 ? size - 1 : 0;
}

/* Write the sentence; return the offset of what follows its '|', or 0. */
static size_t print_sentence(const struct sl_record *record, char *text, size_t size)
{
	size_t used = 0, reason = 0;
	for (const char *c = records[record->kind].sentence; *c != '\0' && used + 1 < size; c++) {
		if (*c == '|') {
			reason = used;
		} else if (*c == '{') {
			size_t length = strcspn(c + 1, ".}");
			int decimals = c[1 + length] == '.' ? c[2 + length] - '0' : -1;
			used += print_field(record, find_field(c + 1, length), decimals, text + used,
					    size - used);
			c = strchr(c, '}');
		} else {
			text[used++] = *c;
		}
	}
	text[used] = '\0';
	return reason;
}

/* ---- JSON ---- */

/* A text may quote what came from outside: one that is not UTF-8 must not cost the record. */
static json_t *text_json(const char *text)
{
	json_t *json = json_string(text);
	return json != NULL ? json : json_string("(not UTF-8)");
}

/* Return a real number; a duration, in a field that ends in _s, in whole microseconds. */
static json_t *real_json(const char *name, double value)
{
	size_t length = strlen(name);
	bool duration = length > 2 && strcmp(name + length - 2, "_s") == 0;
	if (!isfinite(value))
		return json_null();
	return json_real(duration ? round(value * 1e6) / 1e6 : value);
}

static json_t *ids_json(const struct sl_roster *roster, const uint64_t *set)
{
	json_t *array = json_array();
	for (uint32_t i = 0; set != NULL && i < roster->size; i++)
		if (sl_bit(set, i))
			json_array_append_new(array, json_integer(roster->members[i].id));
	return array;
}

static json_t *spreads_json(const struct sl_spreads *spreads)
{
	json_t *array = json_array();
	for (uint32_t k = 0; spreads != NULL && k < spreads->count; k++)
		json_array_append_new(array, json_pack("[I, f, f]", (json_int_t)spreads->points[k].exchanges,
						       spreads->points[k].spread, spreads->points[k].bound));
	return array;
}

static json_t *field_json(const struct sl_record *record, enum sl_record_field f,
			  const struct sl_roster *roster)
{
	const void *at = (const char *)record + fields[f].offset;
	const char *const *text = at;
	const double *real = at;
	json_t *const *object = at;
	switch (fields[f].type) {
	case WHOLE:
		return json_integer((json_int_t) * (const uint64_t *)at);
	case REAL:
		return real_json(fields[f].name, *real);
	case FLAG:
		return json_boolean(*(const bool *)at);
	case TEXT:
		return text_json(*text != NULL ? *text : "");
	case IDS:
		return ids_json(roster, *(const uint64_t *const *)at);
	case SPREADS:
		return spreads_json(*(const struct sl_spreads *const *)at);
	case OBJECT:
	case LIST:
		return json_incref(*object);
	}
	return NULL;
}

/* Set key `name` of `object`; "a.b" is key b of the object under a. */
static void set_field(json_t *object, const char *name, json_t *value)
{
	const char *dot = strchr(name, '.');
	char outer[16];
	if (dot == NULL) {
		json_object_set_new(object, name, value); /* nothing, if there is no value */
		return;
	}
	snprintf(outer, sizeof outer, "%.*s", (int)(dot - name), name);
	if (json_object_get(object, outer) == NULL)
		json_object_set_new(object, outer, json_object());
	json_object_set_new(json_object_get(object, outer), dot + 1, value);
}

json_t *sl_record_write(const struct sl_record *record, const struct sl_roster *roster, char *text,
			size_t size)
{
	json_t *object = json_object();
	size_t reason = print_sentence(record, text, size);
	bool split = strchr(records[record->kind].sentence, '|') != NULL;
	for (const char *name = records[record->kind].fields; *name != '\0'; name += strspn(name, " ")) {
		size_t length = strcspn(name, " ");
		enum sl_record_field f = find_field(name, length);
		set_field(object, fields[f].name,
			  f == SL_FIELD_reason && split ? text_json(text + reason)
							: field_json(record, f, roster));
		name += length;
	}
	return object;
}

/* ---- reading ---- */

static bool fits(enum type type, const json_t *value)
{
	switch (type) {
	case WHOLE:
		return json_is_integer(value) && json_integer_value(value) >= 0;
	case REAL:
		return json_is_number(value) || json_is_null(value);
	case FLAG:
		return json_is_boolean(value);
	case TEXT:
		return json_is_string(value);
	case IDS:
	case SPREADS:
		return json_is_array(value);
	case OBJECT:
		return json_is_object(value);
	case LIST:
		return json_is_array(value);
	}
	return false;
}

static void take(struct sl_record *record, enum sl_record_field f, const json_t *value)
{
	void *at = (char *)record + fields[f].offset;
	record->has[f] = value;
	if (fields[f].type == WHOLE)
		*(uint64_t *)at = (uint64_t)json_integer_value(value);
	else if (fields[f].type == REAL && json_is_number(value))
		*(double *)at = json_number_value(value);
	else if (fields[f].type == FLAG)
		*(bool *)at = json_is_true(value);
	else if (fields[f].type == TEXT)
		*(const char **)at = json_string_value(value);
	else if (fields[f].type == OBJECT || fields[f].type == LIST)
		*(const json_t **)at = value;
}

static enum sl_record_kind find_event(const char *event)
{
	int kind = 0;
	while (kind < SL_RECORD_COUNT && (event == NULL || strcmp(records[kind].event, event) != 0))
		kind++;
	return (enum sl_record_kind)kind;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(fields[*(const uint8_t *)a].name, fields[*(const uint8_t *)b].name);
}

static int compare_name(const void *name, const void *field)
{
	return strcmp(name, fields[*(const uint8_t *)field].name);
}

/* Return the field with a name in JSON, or NULL. */
static const uint8_t *find_name(const char *name)
{
	static _Thread_local uint8_t order[SL_FIELD_COUNT]; /* fields, ascending by name */
	static _Thread_local bool ordered;
	for (uint8_t f = 0; !ordered && f < SL_FIELD_COUNT; f++)
		order[f] = f;
	if (!ordered)
		qsort(order, SL_FIELD_COUNT, sizeof *order, by_name);
	ordered = true;
	return *name != '\0' ? bsearch(name, order, SL_FIELD_COUNT, sizeof *order, compare_name) : NULL;
}

/* Take the members of `object`, which is under key `outer`; NULL: it is the record. */
static void take_members(struct sl_record *record, const char *outer, const json_t *object)
{
	char both[64];
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)object, name, value)
	{
		if (outer != NULL)
			snprintf(both, sizeof both, "%s.%s", outer, name);
		const uint8_t *f = find_name(outer != NULL ? both : name);
		if (f != NULL && fits(fields[*f].type, value))
			take(record, (enum sl_record_field) * f, value);
		else if (f == NULL && outer == NULL)
			take_members(record, name, value);
	}
}

bool sl_record_read(struct sl_record *record, const json_t *object)
{
	sl_record_init(record, SL_RECORD_COUNT);
	record->json = object;
	take_members(record, NULL, object);
	record->kind = find_event(record->event);
	return record->kind != SL_RECORD_COUNT;
}
