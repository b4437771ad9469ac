/* Read a file as a checkpoint, as a trained vector and as a result. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/checkpoint.h"
#include "common/model/tensor_header.h"
#include "daemon/application/trained_file.h"
#include "daemon/store/result.h"
#include "test/fuzz/fuzz.h"

/* Tensors that are read are written as a header of the same tensors. */
static void expect_same(const struct sl_tensors *tensors, uint64_t bytes)
{
	struct sl_tensors again;
	uint64_t bytes_again;
	json_t *header = sl_tensor_header_make(json_object(), tensors);
	assert(header != NULL && sl_tensor_header_read(header, &again, &bytes_again) == NULL);
	assert(again.count == tensors->count && bytes == bytes_again);
	free((void *)again.items);
	json_decref(header);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static double model[64];
	struct sl_tensors tensors;
	struct sl_error error;
	struct sl_checkpoint checkpoint = {.n = sizeof model / sizeof model[0]};
	struct sl_trained_file trained = {0};
	struct sl_trained_file_place place = {.folder = fuzz_folder(), .run = "run"};
	struct sl_result result;
	fuzz_file("checkpoints/round-000001.safetensors", bytes, count);
	if (sl_checkpoint_tensors(fuzz_folder(), "run", 1, &tensors, &error) == SL_OK) {
		expect_same(&tensors, sl_tensors_bytes(&tensors, 0));
		free((void *)tensors.items);
	}
	sl_checkpoint_read(fuzz_folder(), "run", 1, NULL, &checkpoint, NULL, &error);
	fuzz_file("trained.safetensors", bytes, count);
	sl_trained_file_read(&trained, &place, &error);
	sl_trained_file_close(&trained);
	fuzz_file("result-000001.safetensors", bytes, count);
	if (sl_result_show(fuzz_folder(), "run", 4, 1, &result, &error) == SL_OK)
		assert(result.model != NULL);
	sl_result_close(&result);
	return 0;
}
