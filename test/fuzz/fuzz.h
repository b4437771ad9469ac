/* fuzz.h - one fuzz target for each parser of bytes from outside. Each is a program: with clang and its
 * fuzzer (tools/dev/fuzz) it searches for bytes that break a rule; built as usual, it replays the files of
 * corpus/NAME, each once (replay.c).
 *
 * A target asserts more than that nothing crashes: where a format has a writer, what was read is written and
 * read again. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Take one input. Return 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Return the path of a folder in memory that is removed at the end. */
const char *fuzz_folder(void);
/* Write the file `name` in that folder, whose own folder is made; return its path, valid until the next call.
 */
const char *fuzz_file(const char *name, const void *bytes, size_t count);
