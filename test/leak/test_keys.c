/* Deposit keys: what a coalition knows of them from key shares, by exact elimination over small fields
 * (ROUND.md §5.7 Key shares, §10.3 Keys and openings). A key is known, or all values of it are equally
 * likely. */
#include "common/field/key_share.h"
#include "test/leak/history.h"
#include "test/leak/matrix.h"
#include "test/lib/test.h"

/* Add the share of holder `id` as a row over the coefficients of the polynomial; the key is the first. */
static void add_share(struct matrix *shares, uint32_t theta, sl_id id)
{
	uint64_t *row = matrix_add(shares), c[HISTORY_LEARNERS] = {0};
	for (uint32_t k = 0; k < theta; k++) {
		c[k] = 1;
		row[k] = sl_key_share_evaluate(&shares->field, c, theta, id);
		c[k] = 0;
	}
}

static bool is_known(const struct sl_field *field, uint32_t theta, uint32_t holders)
{
	struct matrix shares = matrix_of(field, theta);
	uint64_t key[HISTORY_LEARNERS] = {1};
	for (uint32_t j = 0; holders >> j != 0; j++)
		if (holders >> j & 1)
			add_share(&shares, theta, j + 1);
	matrix_reduce(&shares);
	bool known = matrix_spans(&shares, key);
	matrix_free(&shares);
	return known;
}

TEST(threshold_is_exact)
{
	static const uint64_t fields[] = {11, SL_KEY_SHARE_P};
	for (size_t f = 0; f < 2; f++)
		for (uint32_t degree = 1; degree <= 8; degree++)
			for (uint32_t theta = 1; theta <= degree; theta++)
				for (uint32_t holders = 0; holders < 1u << degree; holders++) {
					struct sl_field field = field_of(fields[f]);
					bool enough = (uint32_t)__builtin_popcount(holders) >= theta;
					assert_int_equal(is_known(&field, theta, holders), enough);
				}
}

/* F4: before any honest learner opens, c colluders know no key of the others, on any graph that tolerates
 * them.
 */
TEST(nothing_before_the_release)
{
	struct sl_field field = field_of(11);
	for (uint32_t n = 3; n <= 5; n++)
		for (uint64_t number = 0; number < graphs_on(n); number++) {
			struct brute graph = brute_numbered(n, number);
			struct attempt attempt = attempt_of(&graph, 0);
			for (attempt.tolerance = 1; attempt.tolerance + 2 <= n; attempt.tolerance++) {
				if (!attempt_tolerates(&attempt, attempt.tolerance))
					continue;
				for (uint32_t coalition = 0; coalition <= all_of(n); coalition++) {
					uint32_t size = (uint32_t)__builtin_popcount(coalition);
					if (size > attempt.tolerance)
						continue;
					assert_int_equal(attempt_known(&attempt, coalition) & ~coalition, 0);
					for (uint32_t i = 0; i < n; i++)
						assert_false(is_known(&field, attempt_threshold(&attempt, i),
								      graph.adjacent[i] & coalition));
				}
			}
		}
}

/* With openings of some holders, too. */
TEST(with_openings)
{
	struct sl_field field = field_of(11);
	struct brute graph = brute_numbered(5, graphs_on(5) - 1);
	struct attempt attempt = attempt_of(&graph, 0);
	for (attempt.tolerance = 1; attempt.tolerance <= 3; attempt.tolerance++)
		for (uint32_t opened = 0; opened <= all_of(5); opened++)
			for (uint32_t coalition = 0; coalition <= all_of(5); coalition++) {
				attempt.opened[0] = opened;
				uint32_t holders = (opened | coalition) & graph.adjacent[0];
				assert_int_equal(attempt_opened(&attempt, coalition) & 1,
						 is_known(&field, attempt_threshold(&attempt, 0), holders));
			}
}
