/* ledger_row.c - the row of the ledger. */
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/real.h"
#include "daemon/store/records.h"
#include "daemon/store/row.h"

#define DOUBLES (sizeof(struct sl_dp_spent) / sizeof(double))
#define SPENT_BYTES (DOUBLES * 8)

static void pack(const struct sl_dp_spent *spent, uint8_t bytes[static SPENT_BYTES])
{
	struct sl_writer writer = {.bytes = bytes, .size = SPENT_BYTES};
	uint64_t bits[DOUBLES];
	memcpy(bits, spent, sizeof bits);
	for (size_t i = 0; i < DOUBLES; i++)
		sl_bytes_put_u64(&writer, bits[i]);
}

/* Return false if a number is below 0 or none. */
static bool unpack(const uint8_t bytes[static SPENT_BYTES], struct sl_dp_spent *spent)
{
	double values[DOUBLES];
	bool good = true;
	for (size_t i = 0; i < DOUBLES; i++) {
		values[i] = sl_real_of(sl_bytes_get_u64(bytes + 8 * i));
		good = good && values[i] >= 0;
	}
	memcpy(spent, values, sizeof values);
	return good;
}

int sl_store_put_ledger(struct sl_store *store, const struct sl_ledger *ledger)
{
	uint8_t spent[SPENT_BYTES];
	struct sl_row row = sl_row_begin(&store->database, SL_STATEMENT_PUT_LEDGER, "ledger");
	pack(&ledger->spent, spent);
	sl_row_put_number(&row, ledger->t);
	sl_row_put_number(&row, ledger->a);
	sl_row_put_number(&row, ledger->incarnation);
	sl_row_put_number(&row, ledger->charges);
	sl_row_put_number(&row, ledger->guessed);
	sl_row_put_bytes(&row, spent, sizeof spent);
	return sl_row_write(&row);
}

static const char *flaw_of(const struct sl_ledger *ledger)
{
	if (ledger->t < 1 || ledger->t > SL_ROUNDS_MAX || ledger->a < 1 || ledger->a > SL_ATTEMPTS_MAX)
		return "round or attempt out of range";
	return ledger->guessed < ledger->charges ? NULL : "more charges are guessed than were made";
}

static int read_ledger(struct sl_database *database, enum sl_statement which, void *context)
{
	struct sl_ledger *ledger = context;
	uint8_t spent[SPENT_BYTES];
	struct sl_row row = sl_row_begin(database, which, "ledger");
	ledger->t = (sl_round)sl_row_number(&row, UINT32_MAX);
	ledger->a = (sl_attempt)sl_row_number(&row, UINT32_MAX);
	ledger->incarnation = (uint32_t)sl_row_number(&row, UINT32_MAX);
	ledger->charges = sl_row_number(&row, UINT64_MAX);
	ledger->guessed = sl_row_number(&row, UINT64_MAX);
	sl_row_bytes(&row, spent, sizeof spent);
	int rc = sl_row_end(&row);
	if (rc != SL_OK)
		return rc;
	const char *flaw = unpack(spent, &ledger->spent) ? flaw_of(ledger) : "a number is below 0, or none";
	return flaw == NULL ? SL_OK : sl_database_damaged(database, "ledger", flaw);
}

int sl_store_read_ledger(struct sl_store *store)
{
	int rc = sl_database_each(&store->database, SL_STATEMENT_LEDGER, read_ledger, &store->ledger);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

const struct sl_ledger *sl_store_ledger(const struct sl_store *store)
{
	return &store->ledger;
}
