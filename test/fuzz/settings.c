/* Read a configuration; and take one line of it as an assignment on the command line. What a roster states of
 * the settings is what was read. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/settings.h"
#include "test/fuzz/fuzz.h"

static void expect_same(const struct sl_settings *settings)
{
	static struct sl_setting_text items[SL_SETTINGS_SHARED_MAX];
	struct sl_settings again = *settings;
	struct sl_error error;
	uint8_t hash[SL_HASH_BYTES];
	int count = sl_settings_differing(settings, items, &error);
	if (count < 0)
		return;
	struct sl_setting_list list = {.path = "roster", .items = items, .count = (uint32_t)count};
	if (sl_settings_share(&again, &list, &error) != SL_OK ||
	    sl_settings_hash(&list, hash, &error) != SL_OK)
		abort();
	assert(memcmp(&again, settings, sizeof again) == 0);
}

static void assign(const uint8_t *bytes, size_t count)
{
	static struct sl_settings settings;
	char text[256];
	const char *const one = text;
	if (count >= sizeof text)
		return;
	memcpy(text, bytes, count);
	text[count] = '\0';
	if (sl_settings_check(text, NULL) != SL_OK)
		assert(sl_settings_assign(&one, 1, &settings, NULL) != SL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static struct sl_settings settings;
	struct sl_error error;
	if (sl_settings_load(fuzz_file("config.yaml", bytes, count), NULL, 0, NULL, NULL, &settings,
			     &error) == SL_OK)
		expect_same(&settings);
	assign(bytes, count);
	return 0;
}
