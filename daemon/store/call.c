/* call.c - calls of store.h: one at a time, and none after a fatal error. */
#include "daemon/store/records.h"

#include <assert.h>

int sl_store_enter(struct sl_store *store)
{
	bool used = atomic_flag_test_and_set(&store->used);
	assert(!used); /* a call from another thread, or from a callback */
	return store->ended ? store->database.error.code : SL_OK;
}

int sl_store_leave(struct sl_store *store, int rc, struct sl_error *error)
{
	if (rc != SL_OK && rc != SL_ERR_INVALID && rc != SL_ERR_REFUSED && rc != SL_ERR_NOTFOUND)
		store->ended = true;
	if (rc != SL_OK && error != NULL)
		*error = store->database.error;
	atomic_flag_clear(&store->used);
	return rc;
}
