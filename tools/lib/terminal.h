/* terminal.h - text for a person at a terminal: its width, lines that fit it, words that a shell reads back.
 *
 * A width counts columns, and is 0 where there is no terminal and nothing needs to fit. Owns nothing.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#define SL_WIDTH_USUAL 80u

/* Columns of the terminal that `out` is; asked each time, since a window changes its width. */
size_t sl_terminal_width(FILE *out);

/* Prints lines, each with its newline; what is wider than `width` is broken between words and goes on below,
 * indented by 4 more. */
void sl_terminal_fill(FILE *out, const char *text, size_t width);

/* Cuts ASCII text of more than `columns` (at least 1) between words and puts "…" there. The text needs room
 * for columns + 3 bytes. */
void sl_terminal_cut(char *text, size_t columns);

/* The text as one word of a shell: as it is, or in single quotes. Cut short when `size` is. */
void sl_terminal_shell_word(const char *text, char *word, size_t size);

/* "47,000" */
#define SL_THOUSANDS_BYTES 32u
void sl_terminal_thousands(uint64_t number, char text[static SL_THOUSANDS_BYTES]);
