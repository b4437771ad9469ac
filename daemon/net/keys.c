#include "daemon/net/keys.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/config/settings.h"
#include "daemon/net/identity.h"

static off_t place_of(uint32_t signer)
{
	return (off_t)signer * SL_KEY_BYTES;
}

/* Learn the key of the member that pins it: its line may have been another one when the key was written. */
static void learn_of_any(struct sl_keys *keys, const uint8_t key[static SL_KEY_BYTES])
{
	uint8_t pin[SL_HASH_BYTES];
	sl_identity_pin(key, pin);
	int at = sl_roster_find_pin(keys->roster, pin);
	if (at >= 0)
		sl_keys_learn(keys, (uint32_t)at, key);
}

static void take_kept(struct sl_keys *keys, int file)
{
	uint8_t(*kept)[SL_KEY_BYTES] = calloc(SL_LEARNERS_MAX, sizeof *kept);
	ssize_t size = kept == NULL ? 0 : pread(file, kept, SL_LEARNERS_MAX * sizeof *kept, 0);
	keys->file = file; /* all are read: from here on they are written to their new places */
	for (ssize_t i = 0; i < size / SL_KEY_BYTES; i++)
		learn_of_any(keys, kept[i]);
	free(kept);
}

int sl_keys_open(struct sl_keys *keys, const struct sl_roster *roster, const char *folder,
		 struct sl_error *error)
{
	char path[SL_PATH_BYTES + 8];
	*keys = (struct sl_keys){.roster = roster, .file = -1};
	keys->keys = calloc(roster->size, sizeof *keys->keys);
	keys->known = calloc(roster->size, sizeof *keys->known);
	if (keys->keys == NULL || keys->known == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory for the keys of %u learners",
				  roster->size);
	snprintf(path, sizeof path, "%s/keys", folder);
	int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file >= 0)
		take_kept(keys, file);
	return SL_OK;
}

bool sl_keys_learn(struct sl_keys *keys, uint32_t signer, const uint8_t key[static SL_KEY_BYTES])
{
	uint8_t pin[SL_HASH_BYTES];
	if (keys->known[signer])
		return memcmp(keys->keys[signer], key, SL_KEY_BYTES) == 0;
	sl_identity_pin(key, pin);
	if (memcmp(pin, keys->roster->members[signer].pin, SL_HASH_BYTES) != 0)
		return false;
	memcpy(keys->keys[signer], key, SL_KEY_BYTES);
	keys->known[signer] = true;
	if (keys->file >= 0 && pwrite(keys->file, key, SL_KEY_BYTES, place_of(signer)) < 0) {
		close(keys->file); /* a full disk is reported elsewhere */
		keys->file = -1;
	}
	return true;
}

const uint8_t *sl_keys_of(const struct sl_keys *keys, uint32_t signer)
{
	return keys->known[signer] ? keys->keys[signer] : NULL;
}

void sl_keys_close(struct sl_keys *keys)
{
	if (keys->roster == NULL)
		return;
	if (keys->file >= 0)
		close(keys->file);
	free(keys->keys);
	free(keys->known);
	*keys = (struct sl_keys){0};
}
