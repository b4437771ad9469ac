/* vector_memory.h - memory for a vector that may be secret.
 *
 * libsodium guards a small vector, keeps it out of core files and locks it, as far as RLIMIT_MEMLOCK allows.
 * A large one is a file without a name in the state folder, mapped: where memory is short the system writes
 * its pages to that disk, so that a learner needs less memory than its vectors have bytes. The disk then
 * holds what it holds anyway, the trained vector and the own deposit with its key.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SL_VECTOR_MEMORY_PAGED (256u << 20) /* bytes of a vector that is in a file */

/* Return true if such a vector is in a file. */
bool sl_vector_memory_paged(size_t size);
/* Return `size` zero bytes, aligned for a uint64_t, or NULL: no memory, or no room on the disk of `folder`,
 * which is found out here and not when the bytes are written. */
void *sl_vector_memory(const char *folder, size_t size);
/* Free them, wiped; NULL is allowed. */
void sl_vector_memory_free(void *memory, size_t size);
