/* idx.h - images and labels from IDX files, the format MNIST is published in, plain or gzip.
 *
 *      images  00 00 08 03 | count | 28 | 28 | count * 784 pixels       (big-endian 32-bit words)
 *      labels  00 00 08 01 | count | count labels
 *
 * The images are those of train-images-idx3-ubyte, otherwise t10k-images-idx3-ubyte, each plain or with .gz;
 * `partition: by_label` also reads the labels file with the same prefix. Only the learner's slice and the
 * held-out images stay in memory. An error about contents starts with "FILE: offset N:", N counted in
 * unpacked bytes.
 */
#pragma once

#include "common/model/images.h"

/* Load the slice of `deal` and the held-out images. SL_ERR_NOTFOUND: no such files; SL_ERR_INVALID: `folder`
 * is a file; SL_ERR_FORMAT: damaged, short, long; SL_ERR_RANGE: too few images; SL_ERR_IO. */
int sl_idx_load(const char *folder, const struct sl_deal *deal, struct sl_dataset *set,
		struct sl_error *error);
