#include "tools/paper/grid.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define GAP 2u

void sl_paper_grid_open(struct sl_grid *grid, FILE *out, uint32_t columns, const uint32_t *shares,
			const uint32_t *least, uint32_t total)
{
	uint32_t taken = GAP * (columns - 1), parts = 0;
	assert(columns <= SL_GRID_COLUMNS_MOST);
	*grid = (struct sl_grid){.out = out, .columns = columns};
	for (uint32_t c = 0; c < columns; c++) {
		taken += least[c];
		parts += shares[c];
	}
	uint32_t rest = total > taken ? total - taken : 0;
	for (uint32_t c = 0; c < columns; c++)
		grid->width[c] = least[c] + (parts > 0 ? rest * shares[c] / parts : 0);
}

/* Letters of UTF-8 in the first `bytes` bytes. */
static size_t letters_of(const char *text, size_t bytes)
{
	size_t letters = 0;
	for (size_t i = 0; i < bytes; i++)
		letters += ((unsigned char)text[i] & 0xC0) != 0x80;
	return letters;
}

/* The bytes of `text` that go into a line of `width` letters: whole words, or as much of one as fits. */
static size_t line_bytes(const char *text, uint32_t width)
{
	size_t bytes = 0, whole = 0;
	uint32_t letters = 0;
	for (;; bytes++) {
		if (text[bytes] == '\0')
			return bytes;
		if (text[bytes] == ' ')
			whole = bytes;
		if (((unsigned char)text[bytes] & 0xC0) == 0x80)
			continue;
		if (letters++ == width)
			return text[bytes] == ' ' || whole == 0 ? bytes : whole;
	}
}

struct line {
	FILE *out;
	uint32_t owed; /* spaces before the next text: none at the end of a line */
};

/* Writes the next line of the cell; what is left of it. */
static const char *write_line(struct line *line, uint32_t width, const char *text)
{
	size_t bytes = line_bytes(text, width > 0 ? width : 1);
	if (bytes > 0) {
		fprintf(line->out, "%*s", (int)line->owed, "");
		fwrite(text, 1, bytes, line->out);
		line->owed = 0;
	}
	line->owed += width + GAP - (uint32_t)letters_of(text, bytes);
	text += bytes;
	return text + strspn(text, " ");
}

void sl_paper_grid_row(const struct sl_grid *grid, const char *const *cells)
{
	const char *left[SL_GRID_COLUMNS_MOST];
	bool more = true;
	memcpy(left, cells, grid->columns * sizeof *left);
	while (more) {
		struct line line = {.out = grid->out};
		more = false;
		for (uint32_t c = 0; c < grid->columns; c++) {
			left[c] = write_line(&line, grid->width[c], left[c]);
			more = more || *left[c] != '\0';
		}
		fputc('\n', grid->out);
	}
}

void sl_paper_grid_rule(const struct sl_grid *grid)
{
	uint32_t total = GAP * (grid->columns - 1);
	for (uint32_t c = 0; c < grid->columns; c++)
		total += grid->width[c];
	for (uint32_t i = 0; i < total; i++)
		fputc('-', grid->out);
	fputc('\n', grid->out);
}
