#include "test/field/vectors_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void malformed(const char *what)
{
	fprintf(stderr, "vectors: not of the promised shape: %s\n", what);
	exit(2);
}

json_t *vector_member(json_t *object, const char *name)
{
	json_t *member = json_object_get(object, name);
	if (member == NULL)
		malformed(name);
	return member;
}

json_t *vector_at(json_t *array, size_t i)
{
	json_t *element = json_array_get(array, i);
	if (element == NULL)
		malformed("an array is too short");
	return element;
}

static wide parse(const char *text, char end)
{
	bool negative = *text == '-';
	wide value = 0;
	size_t digits = 0;
	for (text += negative; *text >= '0' && *text <= '9'; text++, digits++)
		value = value * 10 + (*text - '0');
	if (digits == 0 || digits > 38 || *text != end)
		malformed("an integer");
	return negative ? -value : value;
}

static const char *text_of(json_t *value)
{
	const char *text = json_string_value(value);
	if (text == NULL)
		malformed("a string");
	return text;
}

wide vector_integer(json_t *value)
{
	return json_is_integer(value) ? json_integer_value(value) : parse(text_of(value), '\0');
}

void vector_ratio(json_t *value, wide *num, wide *den)
{
	const char *text = text_of(value), *slash = strchr(text, '/');
	*num = parse(text, slash != NULL ? '/' : '\0');
	*den = slash != NULL ? parse(slash + 1, '\0') : 1;
}

double vector_real(json_t *value)
{
	char *end;
	double real = strtod(text_of(value), &end);
	if (*end != '\0')
		malformed("a real number");
	return real;
}

const char *wide_text(wide v)
{
	static char buffers[4][48];
	static unsigned turn;
	char *at = buffers[turn++ % 4] + 47;
	bool negative = v < 0;
	unsigned __int128 rest = negative ? -(unsigned __int128)v : (unsigned __int128)v;
	*at = '\0';
	do
		*--at = (char)('0' + (int)(rest % 10));
	while ((rest /= 10) != 0);
	if (negative)
		*--at = '-';
	return at;
}
