#include "daemon/application/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/application/tensor_list.h"
#include "daemon/runtime/vector_memory.h"

__attribute__((format(printf, 3, 0))) static void say(const struct sl_application *a, enum sl_level level,
						      const char *format, va_list list)
{
	char text[SL_ERROR_BYTES];
	vsnprintf(text, sizeof text, format, list);
	if (a->config.say != NULL)
		a->config.say(a->config.context, level, text);
}

void sl_state_say(const struct sl_application *a, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	say(a, SL_INFO, format, list);
	va_end(list);
}

void sl_state_warn(const struct sl_application *a, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	say(a, SL_WARN, format, list);
	va_end(list);
}

/* Return what is wrong with a dtype, or NULL. The paper's encoding has no integers, and noise makes others of
 * them. A sum of records is rounded to the dtype before the learner sees it, which counts nowhere. */
static const char *flaw_of(const struct sl_settings *settings, enum sl_dtype dtype)
{
	if (dtype == SL_INT64 && settings->encoding == SL_ENCODING_PAPER)
		return "int64 cannot be averaged with `encoding: paper`";
	if (dtype == SL_INT64 && settings->dp != SL_DP_USE_OFF)
		return "int64 cannot be averaged with `dp`: noise is added to floats only";
	if (dtype == SL_FLOAT32 && settings->dp == SL_DP_USE_RECORD)
		return "float32 rounds sums of records by more than `dp: record` can allow: "
		       "join with float64, which costs the same between learners";
	return NULL;
}

static int check_dtypes(const struct sl_settings *settings, const struct sl_tensors *tensors,
			struct sl_error *error)
{
	char label[SL_TENSOR_LABEL_BYTES];
	for (uint32_t i = 0; i < tensors->count; i++) {
		const char *flaw = flaw_of(settings, tensors->items[i].dtype);
		if (flaw != NULL)
			return sl_err_set(error, SL_ERR_INVALID, "tensor %s: %s",
					  sl_tensors_label(tensors->items[i].name, label), flaw);
	}
	return SL_OK;
}

static int open_vectors(struct sl_application *a, struct sl_error *error)
{
	int rc = sl_shared_vector_open(&a->up, a->bytes, error);
	if (rc == SL_OK)
		rc = sl_shared_vector_open(&a->down, a->bytes, error);
	if (rc != SL_OK)
		sl_shared_vector_close(&a->up);
	return rc;
}

enum sl_values sl_state_values(const struct sl_application *a, enum sl_values asked)
{
	uint32_t set = a->config.settings->values;
	return set == SL_VALUES_AUTO ? asked : (enum sl_values)set;
}

bool sl_state_lacks_initial(const struct sl_application *a)
{
	return a->config.settings->dp != SL_DP_USE_OFF && a->values == SL_VALUES_UPDATE && !a->serving &&
	       a->config.committed == 0 && a->initial == NULL && a->file.round == 0;
}

int sl_state_adopt(struct sl_application *a, const struct sl_tensors *tensors, enum sl_values asked,
		   struct sl_error *error)
{
	a->values = sl_state_values(a, asked);
	a->n = (size_t)sl_tensor_list_elements(tensors);
	a->metrics_count = sl_tensor_list_metrics(tensors);
	a->bytes = sl_tensors_bytes(tensors, a->n) - a->metrics_count * sizeof(double);
	int rc = check_dtypes(a->config.settings, tensors, error);
	if (rc == SL_OK)
		rc = open_vectors(a, error);
	if (rc == SL_OK)
		a->base.tensors = *tensors;
	else /* as before, for another application */
		free((void *)tensors->items);
	a->opened = rc == SL_OK;
	return rc;
}

void sl_state_close(struct sl_application *a)
{
	if (a->socket.listener >= 0)
		unlink(a->config.settings->application);
	sl_command_close(a->command);
	sl_line_socket_close(&a->socket);
	sl_shared_vector_close(&a->up);
	sl_shared_vector_close(&a->down);
	sl_trained_file_close(&a->file);
	json_decref(a->metrics);
	json_decref(a->means);
	free((void *)a->base.tensors.items);
	sl_vector_memory_free(a->initial, a->bytes);
	uv_cond_destroy(&a->answered);
	uv_mutex_destroy(&a->mutex);
	free(a);
}
