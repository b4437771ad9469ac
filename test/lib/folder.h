/* folder.h - a folder of its own for each test, and small IDX files to put into it. */
#pragma once

#include "common/model/images.h"
#include "test/lib/test.h"

/* cmocka set-up and tear-down: *state is the folder's path; all files in it go with it. */
int folder_setup(void **state);
int folder_teardown(void **state);

/* "FOLDER/NAME", valid until the next but three. */
const char *folder_path(const char *folder, const char *name);

/* Writes a file, packed when its name ends in .gz; reads one whole (to free()). */
void folder_put(const char *folder, const char *name, const void *bytes, size_t size);
uint8_t *folder_get(const char *folder, const char *name, size_t *size);

/* Return the number of files in `folder`. */
size_t folder_count(const char *folder);

/* IDX bytes, to free(): image i begins with i as 32 bits and is filled with i % 251; label i is labels[i]. */
uint8_t *idx_images(uint32_t count, size_t *size);
uint8_t *idx_labels(const uint8_t *labels, uint32_t count, size_t *size);

/* The number that idx_images wrote into an image. */
uint32_t idx_number(const struct sl_images *images, uint32_t index);

/* The folder of the 600 real MNIST images in the tree. */
const char *mnist_folder(void);
