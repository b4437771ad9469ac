/* pages.h - memory that maps a file, or is shared with another process: its bytes are there without the pages
 * that this process has mapped.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Unmap the pages of `size` bytes, which are all of such memory, for as long as they are not used again.
 * Nothing is lost: what was written is in the file. */
void sl_pages_release(const uint8_t *bytes, size_t size);
