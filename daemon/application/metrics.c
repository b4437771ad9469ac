#include "daemon/application/metrics.h"

#include <math.h>
#include <string.h>

static bool usable(const char *name, const json_t *value)
{
	size_t length = strlen(name);
	return length > 0 && length < SL_METRIC_NAME_BYTES && json_is_number(value) &&
	       isfinite(json_number_value(value));
}

json_t *sl_metrics_take(const json_t *object, size_t *dropped)
{
	const char *name;
	json_t *value, *taken = json_object();
	*dropped = 0;
	json_object_foreach((json_t *)object, name, value)
	{
		if (json_object_size(taken) >= SL_METRICS_MAX || !usable(name, value) ||
		    json_object_set_new(taken, name, json_real(json_number_value(value))) != 0)
			++*dropped;
	}
	if (json_object_size(taken) > 0)
		return taken;
	json_decref(taken);
	return NULL;
}
