/* text.h - text in HTML and SVG: what must be written otherwise, and how wide it will be. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* & < > " as entities. */
void sl_page_text_markup(FILE *out, const char *text);

/* Characters in so many bytes of UTF-8. */
size_t sl_page_text_letters(const char *text, size_t bytes);
