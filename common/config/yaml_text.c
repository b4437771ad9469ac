#include "common/config/yaml_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Return the length of the UTF-8 character at `s`, of which `left` bytes may be read; 0: it is none. */
static size_t character(const uint8_t *s, size_t left)
{
	size_t n = s[0] < 0x80			 ? 1
		   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		   : (s[0] & 0xf0) == 0xe0	 ? 3
		   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						 : 0;
	if (n == 0 || n > left || s[0] == 0)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
	bool outside = (s[0] == 0xed && s[1] >= 0xa0) ||
		       (s[0] == 0xf4 && s[1] >= 0x90); /* surrogates; above U+10FFFF */
	return overlong || outside ? 0 : n;
}

int sl_yaml_text_check(const char *path, const char *text, size_t bytes, struct sl_error *error)
{
	int line = 1;
	size_t begin = 0;
	uint32_t ampersands = 0;
	for (size_t i = 0, n; i < bytes; i += n) {
		n = character((const uint8_t *)text + i, bytes - i);
		if (n == 0)
			return sl_err_set(error, SL_ERR_FORMAT,
					  "%s:%d:%zu: byte 0x%02x is not UTF-8 text; is this a YAML file?",
					  path, line, i - begin + 1, (unsigned)(uint8_t)text[i]);
		if (text[i] == '%' && i == begin)
			return sl_err_set(
				error, SL_ERR_FORMAT,
				"%s:%d:1: YAML directives (lines that start with %%) are not supported", path,
				line);
		ampersands += text[i] == '&';
		if (ampersands > SL_YAML_AMPERSANDS_MAX)
			return sl_err_set(error, SL_ERR_FORMAT, "%s:%d:%zu: more than %u '&'", path, line,
					  i - begin + 1, SL_YAML_AMPERSANDS_MAX);
		if (strncmp(text + i, "''''", 4) == 0) /* libfyaml loses memory for each such text */
			return sl_err_set(error, SL_ERR_FORMAT,
					  "%s:%d:%zu: four ' in a row; put the text between \"", path, line,
					  i - begin + 1);
		if (text[i] == '\n') {
			line++;
			begin = i + 1;
		}
	}
	return SL_OK;
}

/* One line of the file without its comment and the blanks around it. */
struct content {
	const char *start;
	size_t indent, size;
};

static struct content content_of(const char *line)
{
	struct content c = {.indent = strspn(line, " \t")};
	c.start = line + c.indent;
	while (c.start[c.size] != '\0' && c.start[c.size] != '\n' &&
	       (c.start[c.size] != '#' || (c.size > 0 && c.start[c.size - 1] != ' ')))
		c.size++;
	while (c.size > 0 && strchr(" \t\r", c.start[c.size - 1]))
		c.size--;
	return c;
}

static bool has_colon(struct content c)
{
	for (size_t i = 0; i < c.size; i++)
		if (c.start[i] == ':' && (i + 1 == c.size || c.start[i + 1] == ' '))
			return true;
	return strchr("-{}[]\"'", c.start[0]) != NULL; /* not a plain key */
}

static const char *cause_in(struct content before, struct content c)
{
	if (memchr(c.start - c.indent, '\t', c.indent))
		return "the line is indented by a tab; use spaces";
	if (!has_colon(c))
		return "no colon with a space behind it: expected 'key: value'";
	if (before.size > 0 && c.indent > before.indent && before.start[0] != '-' &&
	    before.start[before.size - 1] != ':')
		return "the line is indented further than the one before";
	return NULL;
}

const char *sl_yaml_text_cause(const char *text, int *line)
{
	struct content before = {0};
	int at = 1, looked = 0;
	for (const char *l = text; l != NULL && looked < 2; at++) {
		struct content c = content_of(l);
		const char *cause = at >= *line && c.size > 0 ? cause_in(before, c) : NULL;
		if (cause) {
			*line = at;
			return cause;
		}
		looked += at >= *line && c.size > 0;
		before = c.size > 0 ? c : before;
		l = strchr(l, '\n');
		l = l ? l + 1 : NULL;
	}
	return NULL;
}

void sl_yaml_text_quote(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}
