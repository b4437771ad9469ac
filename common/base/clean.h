/* clean.h - text that may come from a peer, for a terminal. */
#pragma once

#include <stdbool.h>

/* Replace each control character (ASCII and U+0080..U+009F), and each character that changes the direction of
 * writing, by '?'; but no newline if `text` has `lines`. */
void sl_clean_text(char *text, bool lines);
