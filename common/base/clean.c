#include "common/base/clean.h"

#include <stdbool.h>
#include <string.h>

/* Return true if the UTF-8 sequence at `c` changes the direction of writing: what follows it could be shown
 * in another order. */
static bool turns(const unsigned char *c)
{
	if (c[0] == 0xd8)
		return c[1] == 0x9c; /* U+061C */
	if (c[0] != 0xe2)
		return false;
	return (c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xaa && c[2] <= 0xae))) ||
	       (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9); /* U+200E, U+200F, U+202A..E, U+2066..9 */
}

/* Return the bytes of the character at `c` if it must not be shown, else 0. */
static size_t hidden(const unsigned char *c)
{
	if (*c < 0x20 || *c == 0x7f)
		return 1;
	if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
		return 2;
	return !turns(c) ? 0 : c[0] == 0xd8 ? 2 : 3;
}

void sl_clean_text(char *text)
{
	unsigned char *to = (unsigned char *)text;
	for (const unsigned char *c = to; *c != '\0';) {
		size_t bytes = hidden(c);
		*to++ = bytes > 0 ? '?' : *c;
		c += bytes > 0 ? bytes : 1;
	}
	*to = '\0';
}

void sl_clean_shell_word(const char *text, char *word, size_t size)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-+:,@%";
	const char *quote = *text != '\0' && text[strspn(text, plain)] == '\0' ? "" : "'",
		   *end = word + size - 6; /* a quoted quote, the last quote, the end */
	for (word = stpcpy(word, quote); *text != '\0' && word < end; text++)
		word = stpcpy(word, *text == '\'' ? "'\\''" : (char[]){*text, '\0'});
	strcpy(word, quote);
}
