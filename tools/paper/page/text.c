#include "tools/paper/page/text.h"

void sl_page_text_markup(FILE *out, const char *text)
{
	for (; *text != '\0'; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*text, out);
		}
}

size_t sl_page_text_letters(const char *text, size_t bytes)
{
	size_t letters = 0;
	for (size_t i = 0; i < bytes; i++)
		letters += ((unsigned char)text[i] & 0xC0) != 0x80; /* not the rest of a letter */
	return letters;
}
