#include "tools/web/excerpt.h"

#include "common/config/level.h"

void sl_web_excerpt_init(struct sl_web_excerpt *excerpt, uint64_t round, int level, size_t most)
{
	*excerpt = (struct sl_web_excerpt){json_array(), round, level, most, false};
}

void sl_web_excerpt_take(void *context, const json_t *record)
{
	struct sl_web_excerpt *e = context;
	const json_t *round = json_object_get(record, "round");
	const char *level = json_string_value(json_object_get(record, "level"));
	if (json_is_integer(round))
		e->within = (uint64_t)json_integer_value(round) == e->round;
	if ((e->round != 0 && !e->within) || (level != NULL && sl_level_find(level) < e->level))
		return;
	static const char *const fields[] = {"time", "level", "event", "text", "round"};
	json_t *kept = json_object();
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if (json_object_get(record, fields[i]) != NULL)
			json_object_set(kept, fields[i], json_object_get(record, fields[i]));
	json_array_append_new(e->records, kept);
	if (json_array_size(e->records) > e->most)
		json_array_remove(e->records, 0);
}
