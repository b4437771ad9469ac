/* Read tensors: the bytes of a peer, which are compared with those here; and the list of an application, of
 * JSON. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/tensor_bytes.h"
#include "daemon/application/tensor_list.h"
#include "test/fuzz/fuzz.h"

static void expect_same(const struct sl_tensors *tensors)
{
	static uint8_t bytes[SL_TENSOR_BYTES_MAX];
	char text[SL_ERROR_BYTES];
	assert(sl_tensor_list_elements(tensors) <= SL_PARAMETERS_MAX && sl_tensors_aligned(tensors));
	size_t size = sl_tensor_bytes_write(tensors, bytes, sizeof bytes);
	assert(size <= sizeof bytes);
	assert(sl_tensor_bytes_compare(tensors, bytes, size, tensors->count, text, sizeof text) == SL_OK);
	sl_tensor_list_place(tensors, 0, text, sizeof text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static const struct sl_tensor items[] = {
		{.name = "w", .dtype = SL_FLOAT64, .dimensions = 2, .shape = {3, 2}},
		{.name = "b", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {7}}};
	static const struct sl_tensors own = {.items = items, .count = 2};
	struct sl_tensors tensors;
	struct sl_error error;
	char text[256];
	for (uint32_t n = 0; n < 4; n++)
		sl_tensor_bytes_compare(&own, bytes, count, n, text, sizeof text);
	json_t *json = json_loadb((const char *)bytes, count, JSON_REJECT_DUPLICATES, NULL);
	const json_t *list = json_is_object(json) ? json_object_get(json, "tensors") : json;
	if (sl_tensor_list_read(list, json_object_get(json, "metrics"), &tensors, &error) == SL_OK) {
		expect_same(&tensors);
		sl_tensor_list_compare(&own, &tensors, &error);
		free((void *)tensors.items);
	}
	json_decref(json);
	return 0;
}
