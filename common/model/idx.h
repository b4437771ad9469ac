/* idx.h - images and labels from IDX files, the format MNIST is published in, plain or gzip.
 *
 *      images  00 00 08 03 | count | 28 | 28 | count * 784 pixels       (big-endian 32-bit words)
 *      labels  00 00 08 01 | count | count labels
 *
 * Takes train-images-idx3-ubyte of the folder, else t10k-images-idx3-ubyte, each plain or with .gz, and with
 * `split: by_label` the labels file of the same prefix. Streams: only the learner's slice and the held-out
 * images stay in memory. Every complaint about contents reads "FILE: offset N: what", N counting unpacked
 * bytes.
 */
#pragma once

#include "common/model/images.h"

/* SL_ERR_NOTFOUND: no such files; SL_ERR_FORMAT: damaged, short, long; SL_ERR_RANGE: too few images;
 * SL_ERR_IO. */
int sl_idx_load(const char *folder, const struct sl_deal *deal, struct sl_dataset *set,
		struct sl_error *error);
