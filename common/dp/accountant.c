#include "common/dp/accountant.h"

#include <assert.h>
#include <math.h>

#define LN_SQRT_2PI 0.91893853320467274178
#define TAIL 4.0	       /* beyond: the continued fraction */
#define TERMS 50	       /* of which: an error below 1e-16 */
#define BISECTIONS 200	       /* from a bound to neighbouring doubles */
#define ROUNDING_RATIO 1e-15   /* of a round of integers, summed over the coordinates */
#define ROUNDING_ERROR 1e-9    /* relative, of a published epsilon: far above that of the sums */
#define DISTANCE_ALLOWANCE 1.0 /* by which the sampler's distance may raise epsilon */

/* ---- Gaussian noise of real numbers ---- */

/* Return ln((1 - Phi(x)) / phi(x)), Mills' ratio. */
static double ln_mills(double x)
{
	if (x < TAIL)
		return log(erfc(x * M_SQRT1_2) / 2) + x * x / 2 + LN_SQRT_2PI;
	double f = x; /* x + 1/(x + 2/(x + ...)) */
	for (int k = TERMS; k > 0; k--)
		f = x + k / f;
	return -log(f);
}

/* Return ln(1 - Phi(x)). */
static double ln_upper_tail(double x)
{
	return x < TAIL ? log(erfc(x * M_SQRT1_2) / 2) : ln_mills(x) - x * x / 2 - LN_SQRT_2PI;
}

double sl_dp_ln_delta(double epsilon, double mu)
{
	assert(epsilon >= 0 && mu >= 0);
	double middle = epsilon / mu, low = middle - mu / 2, high = middle + mu / 2;
	if (mu == 0 || isinf(middle))
		return -INFINITY;
	if (isinf(mu))
		return 0;
	/* e^epsilon phi(high) = phi(low), so that delta = (1 - Phi(low)) (1 - mills(high) / mills(low)); for
	 * a small mu, the derivative of ln mills is x - 1 / mills. */
	double step = mu < 1e-5 ? mu * (middle - exp(-ln_mills(middle))) : ln_mills(high) - ln_mills(low);
	return ln_upper_tail(low) + log(-expm1(fmin(step, 0)));
}

double sl_dp_epsilon(double delta, double mu)
{
	assert(mu >= 0);
	if (!(delta > 0) || isinf(mu))
		return mu == 0 ? 0 : INFINITY;
	double target = log(delta), low = 0;
	if (delta >= 1 || sl_dp_ln_delta(0, mu) <= target)
		return 0;
	double high = mu * (mu / 2 + sqrt(-2 * target)); /* 1 - Phi(x) <= exp(-x^2 / 2) */
	for (int i = 0; i < BISECTIONS && isfinite(high); i++) {
		double middle = low + (high - low) / 2;
		*(sl_dp_ln_delta(middle, mu) > target ? &low : &high) = middle;
	}
	return high;
}

/* ---- Renyi divergence ---- */

/* Return ln(e^x - 1), x > 0. */
static double ln_expm1(double x)
{
	return x > 1 ? x + log1p(-exp(-x)) : log(expm1(x));
}

double sl_dp_sampled_rdp(uint32_t order, double q, double z)
{
	assert(order > 1 && q > 0 && q <= 1 && z > 0);
	if (q == 1)
		return order / (2 * z * z);
	/* The binomial weights sum to 1: with exp - 1 in place of exp, the sum is what exceeds 1. Its terms
	 * are added as e^most * sum. */
	double binomial = log(order), most = -INFINITY, sum = 0;
	for (uint32_t k = 2; k <= order; k++) {
		binomial += log((order - k + 1.0) / k);
		double exponent = ((double)k * k - k) / (2 * z * z);
		double term = binomial + k * log(q) + (order - k) * log1p(-q) + ln_expm1(exponent);
		if (term == INFINITY)
			return INFINITY;
		if (term > most) {
			sum = sum * exp(most - term) + 1;
			most = term;
		} else if (term > -INFINITY) {
			sum += exp(term - most);
		}
	}
	double excess = most + log(sum); /* ln(e^excess + 1), without overflow */
	return (excess > 0 ? excess + log1p(exp(-excess)) : log1p(exp(excess))) / (order - 1);
}

/* Return epsilon of a curve of orders SL_DP_ORDER_LEAST.. at delta: the least of
 * R + ln(1 - 1/order) - (ln delta + ln order)/(order - 1), but at least 0 ([CKS] Proposition 12). */
static double curve_epsilon(const double rdp[static SL_DP_ORDERS], double delta)
{
	double least = INFINITY;
	for (uint32_t i = 0; i < SL_DP_ORDERS && delta > 0; i++) {
		double order = SL_DP_ORDER_LEAST + i;
		least = fmin(least, rdp[i] + log1p(-1 / order) - (log(delta) + log(order)) / (order - 1));
	}
	return fmax(least, 0);
}

double sl_dp_tau(uint32_t shares, double sigma)
{
	double sum = 0;
	if (sigma < 0.5)
		return INFINITY;
	for (double k = 1; k < shares; k++)
		sum += exp(-2 * M_PI * M_PI * sigma * sigma * (k / (k + 1)));
	return 10 * sum;
}

/* ---- what rounds have spent ---- */

/* Add `rounds` times `value`, rounded upwards. */
static void add(double *sum, uint64_t rounds, double value)
{
	if (rounds > 0 && value > 0)
		*sum = nextafter(*sum + nextafter((double)rounds * value, INFINITY), INFINITY);
}

void sl_dp_charge(struct sl_dp_spent *spent, const struct sl_dp_round *round, uint64_t rounds)
{
	assert(round->dimension >= 1 && round->sensitivity > 0 && round->sigma >= 0.5 && round->shares > 0);
	double all = sqrt(round->shares) * round->sigma, z = all / round->sensitivity;
	double s2 = log(5 * round->dimension / ROUNDING_RATIO) / (2 * M_PI * M_PI);
	double left = all * all - s2;
	add(&spent->mu2, rounds, left > 0 ? round->sensitivity / left * round->sensitivity : INFINITY);
	for (uint32_t i = 0; i < SL_DP_ORDERS; i++)
		add(&spent->rdp[i], rounds, sl_dp_sampled_rdp(SL_DP_ORDER_LEAST + i, round->sampled, z));
	double sums = round->dimension * sl_dp_tau(round->shares, round->sigma) / 2;
	add(&spent->ratio, rounds, sums + round->ratio + ROUNDING_RATIO);
	add(&spent->beta, rounds, round->beta);
	add(&spent->distance, rounds, round->distance);
}

/* Return epsilon where the sampler is exact, with `failed` of delta taken by what may fail. */
static double exact_epsilon(const struct sl_dp_spent *spent, double delta, double failed, bool sampled)
{
	double rest = (delta - failed) * exp(-spent->ratio);
	double epsilon = sl_dp_epsilon(rest, sqrt(spent->mu2));
	if (sampled)
		epsilon = fmin(epsilon, curve_epsilon(spent->rdp, rest));
	return epsilon + 2 * spent->ratio;
}

double sl_dp_spent_epsilon(const struct sl_dp_spent *spent, double delta, bool sampled)
{
	double epsilon = exact_epsilon(spent, delta, spent->beta, sampled);
	if (spent->distance > 0) {
		double most = epsilon + DISTANCE_ALLOWANCE;
		double failed = spent->beta + (1 + exp(most)) * spent->distance;
		epsilon = exact_epsilon(spent, delta, failed, sampled);
		if (!(epsilon <= most))
			return INFINITY;
	}
	return epsilon * (1 + ROUNDING_ERROR);
}
