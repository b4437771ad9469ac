#include "tools/topology/json.h"

json_t *sl_json_ids(const uint32_t *vertices, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer((json_int_t)vertices[i] + 1));
	return list;
}

int sl_json_print(json_t *report, FILE *out, struct sl_error *error)
{
	if (report == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	json_dumpf(report, out, JSON_INDENT(2));
	fputc('\n', out); /* what standard output does not take, main finds out */
	json_decref(report);
	return SL_OK;
}
