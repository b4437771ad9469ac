/* terminal.h - text on a terminal: its width, wrapped lines, words that a shell reads back.
 *
 * A width counts columns; it is 0 where there is no terminal. Owns nothing.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#define SL_WIDTH_USUAL 80u

/* Return the current width of the terminal `out`, or 0. */
size_t sl_terminal_width(FILE *out);

/* Print lines, each with its newline; a line wider than `width` is broken between words and continued with an
 * indent of 4 more. */
void sl_terminal_fill(FILE *out, const char *text, size_t width);

/* Print formatted text as sl_terminal_fill does: at the width of the terminal, or of SL_WIDTH_USUAL where
 * there is none. */
void sl_terminal_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Cut ASCII text of more than `columns` (at least 1) between words and put "…" there. The text needs room for
 * columns + 3 bytes. */
void sl_terminal_cut(char *text, size_t columns);

/* Write a number as "47,000". */
#define SL_THOUSANDS_BYTES 32u
void sl_terminal_thousands(uint64_t number, char text[static SL_THOUSANDS_BYTES]);
