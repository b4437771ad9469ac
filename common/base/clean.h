/* clean.h - text that may come from a peer, for a terminal. */
#pragma once

/* Replace each control character (ASCII and U+0080..U+009F), and each character that changes the direction of
 * writing, by '?'. */
void sl_clean_text(char *text);
