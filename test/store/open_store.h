/* open_store.h - a new folder with a store that is open, for each case of a file. Header-only. */
#pragma once

#include "test/store/store_fixture.h"

static struct sl_store *store; /* of the case */

static inline int setup(void **state)
{
	int rc = folder_setup(state);
	store = rc == 0 ? open_made(*state) : NULL;
	return rc;
}

static inline int teardown(void **state)
{
	sl_store_close(store);
	return folder_teardown(state);
}

static inline void reopen(const char *folder)
{
	sl_store_close(store);
	store = open_made(folder);
}
