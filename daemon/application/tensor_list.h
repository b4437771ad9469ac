/* tensor_list.h - the tensors that an application states when it joins. */
#pragma once

#include <jansson.h>

#include "common/base/err.h"
#include "common/base/tensors.h"

/* The tensors of metrics that are averaged precede those of the application. */
#define SL_METRIC_TENSOR_NAME(tensor) ((tensor)->name + sizeof SL_METRIC_PREFIX - 1)

/* Read [{"name":..., "shape":[...], "dtype":...}, ...], and before them the names of `metrics`, NULL: none,
 * into tensors->items, to be freed. SL_ERR_INVALID: not of this form, empty, a name twice, or not aligned;
 * SL_ERR_RANGE: more elements than a model may have. */
int sl_tensor_list_read(const json_t *list, const json_t *metrics, struct sl_tensors *tensors,
			struct sl_error *error);
/* Return the number of metrics at the front. */
uint32_t sl_tensor_list_metrics(const struct sl_tensors *tensors);
/* Return the elements of all tensors together. */
uint64_t sl_tensor_list_elements(const struct sl_tensors *tensors);
/* SL_OK if both are equal; SL_ERR_INVALID: the error names a tensor that differs, "there" in this run and
 * "here" in `other`. */
int sl_tensor_list_compare(const struct sl_tensors *known, const struct sl_tensors *other,
			   struct sl_error *error);
/* Write the place of element `index` of the model to `text`: "layer.weight[3,17]". */
void sl_tensor_list_place(const struct sl_tensors *tensors, uint64_t index, char *text, size_t size);
