/* clean.h - text that may come from a peer, for a terminal, and paths for a shell. */
#pragma once

#include <stddef.h>

/* Replace each control character (ASCII and U+0080..U+009F), and each character that changes the direction of
 * writing, by '?'. */
void sl_clean_text(char *text);

/* Write the text as one word of a shell, quoted where needed; cut short where `size`, at least 8, is. */
void sl_clean_shell_word(const char *text, char *word, size_t size);
