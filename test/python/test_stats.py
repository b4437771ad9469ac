"""Statistics over five sites, one of twelve rows, against the same on the pooled rows."""
import importlib.util
import threading
import unittest
import warnings

import numpy as np

from fake_sites import Alone, Hub, play, pooled
from starling import Error, stats

RELATIVE = 1e-7
SIZES = (12, 40, 75, 33, 140)
LEVELS = {"sex": ["f", "m"], "grade": [1, 2, 3], "smoker": ["no", "yes"]}


def installed(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"missing Debian packages: {' '.join(f'python3-{name}' for name in missing)}")


def table():
    """300 rows with 7 missing ages."""
    random = np.random.default_rng(8)
    n = sum(SIZES)
    age, sex = random.normal(61, 12, n).round(1), random.choice(["f", "m"], n)
    grade, smoker = random.choice([1, 2, 3], n, p=[0.5, 0.3, 0.2]), random.choice(["no", "yes"], n)
    bmi = 20 + 0.1 * age + random.normal(0, 3, n)
    risk = 0.04 * (age - 61) + 0.7 * (sex == "m") - 0.3 * (grade == 2) + 0.2 * (bmi - 26)
    hazard = np.exp(0.3 * risk) / 40
    time, end = random.exponential(1 / hazard), random.uniform(5, 80, n)
    made = {"age": age, "sex": sex.astype(object), "grade": grade.astype(float), "smoker": smoker.astype(object), "bmi": bmi,
            "died": (random.uniform(size=n) < 1 / (1 + np.exp(-risk))).astype(float), "visits": random.poisson(np.exp(0.5 + 0.4 * risk)).astype(float),
            "years": random.uniform(0.5, 4, n), "time": np.ceil(np.minimum(time, end)), "event": (time <= end).astype(float)}
    made["age"][::45] = np.nan
    return made


ALL = table()
COMPLETE = {name: column[~np.isnan(ALL["age"])] for name, column in ALL.items()}


def deal(data, sizes=SIZES):
    bounds = np.cumsum((0, *sizes))
    return [{name: column[begin:end] for name, column in data.items()} for begin, end in zip(bounds, bounds[1:])]


PARTS = deal(ALL)


def worst(got, expected):
    got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    return np.max(np.abs(got - expected) / np.maximum(np.abs(expected), 1e-12))


class Case(unittest.TestCase):
    def near(self, got, expected, relative=RELATIVE):
        difference = worst(got, expected)
        self.assertLess(difference, relative, f"{got} is not {expected}")

    def fails(self, kind, text, analyse, parts=PARTS):
        with self.assertRaises(kind) as caught:
            pooled(analyse, parts)
        self.assertIn(text, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))


class Summaries(Case):
    def test_describe(self):
        got = pooled(lambda s, part: stats.describe(s, ["age", "bmi"], part), PARTS)
        self.assertEqual((got["sites"], list(got["count"]), list(got["missing"])), (5, [293, 300], [7, 0]))
        for place, name in enumerate(("age", "bmi")):
            self.near(got["mean"][place], np.nanmean(ALL[name]), 1e-12)
            self.near(got["variance"][place], np.nanvar(ALL[name], ddof=1), 1e-12)
            self.near(got["sd"][place], np.nanstd(ALL[name], ddof=1), 1e-12)

    def test_quantiles(self):
        q = [0.025, 0.25, 0.5, 0.731, 0.975]
        for resolution in (0.1, 0.25, 7):
            got = pooled(lambda s, part: stats.quantiles(s, "bmi", part, resolution, q), PARTS)
            self.near(got["value"], np.quantile(np.rint(ALL["bmi"] / resolution) * resolution, q), 1e-12)
        self.assertLess(np.abs(got["value"] - np.quantile(ALL["bmi"], q)).max(), resolution / 2)
        negative = [{"x": -part["bmi"]} for part in PARTS]
        got = pooled(lambda s, part: stats.quantiles(s, "x", part, 1e-6), negative)
        self.assertLess(np.abs(got["value"] - np.quantile(-ALL["bmi"], (0.25, 0.5, 0.75))).max(), 1e-6)

    def test_quantiles_that_tell_a_row(self):
        self.fails(stats.NoResult, "beside the quantile 1 there are fewer than 5 rows",
                   lambda s, part: stats.quantiles(s, "bmi", part, 0.1, [0.5, 1]))
        self.fails(stats.NoResult, "beside the quantile 0.01", lambda s, part: stats.quantiles(s, "bmi", part, 0.1, [0.01]))
        got = pooled(lambda s, part: stats.quantiles(s, "bmi", part, 0.1, [0, 1], threshold=1), PARTS)
        self.near(got["value"], [np.rint(ALL["bmi"].min() / 0.1) * 0.1, np.rint(ALL["bmi"].max() / 0.1) * 0.1])

    def test_crosstab(self):
        got = pooled(lambda s, part: stats.crosstab(s, ["sex", "grade"], part, LEVELS), PARTS)
        expected = [[((ALL["sex"] == a) & (ALL["grade"] == b)).sum() for b in (1, 2, 3)] for a in "fm"]
        self.assertEqual(got["counts"].tolist(), expected)
        got = pooled(lambda s, part: stats.crosstab(s, ["grade"], part, LEVELS), PARTS)
        self.assertEqual(got["counts"].ravel().tolist(), [(ALL["grade"] == b).sum() for b in (1, 2, 3)])

    def test_correlation_and_pca(self):
        names = ["age", "bmi", "visits", "years"]
        pool = np.array([COMPLETE[name] for name in names])
        got = pooled(lambda s, part: stats.correlation(s, names, part), PARTS)
        self.near(got["matrix"], np.corrcoef(pool), 1e-10)
        self.near(got["covariance"], np.cov(pool), 1e-10)
        for scale, matrix in ((True, np.corrcoef(pool)), (False, np.cov(pool))):
            got = pooled(lambda s, part: stats.pca(s, names, part, scale), PARTS)
            variance, vectors = np.linalg.eigh(matrix)
            self.near(got["variance"], variance[::-1], 1e-10)
            self.near(np.abs(got["components"]), np.abs(vectors.T[::-1]), 1e-8)
            self.assertTrue((got["components"].max(axis=1) >= -got["components"].min(axis=1)).all())
        if importlib.util.find_spec("sklearn"):
            from sklearn.decomposition import PCA
            self.near(got["variance"], PCA().fit(pool.T).explained_variance_, 1e-10)


@installed("scipy")
class Tests(Case):
    def test_ttest(self):
        from scipy.stats import ttest_ind
        groups = [COMPLETE["age"][COMPLETE["sex"] == level] for level in "fm"]
        for equal in (False, True):
            got = pooled(lambda s, part: stats.ttest(s, "age ~ sex", part, LEVELS, equal), PARTS)
            expected = ttest_ind(*groups, equal_var=equal)
            self.near([got["t"], got["p"]], [expected.statistic, expected.pvalue])
            self.near(got["difference"], groups[0].mean() - groups[1].mean())
            if hasattr(expected, "confidence_interval"):
                self.near([got["low"], got["high"]], expected.confidence_interval())
        self.near(got["dof"], 291)
        quoted = pooled(lambda s, part: stats.ttest(s, 'age ~ Q("sex")', part, LEVELS, True), PARTS)
        self.assertEqual(quoted["t"], got["t"])

    def test_chi2(self):
        from scipy.stats import chi2_contingency
        for names, correction in ((("sex", "grade"), True), (("sex", "smoker"), True), (("sex", "smoker"), False)):
            got = pooled(lambda s, part: stats.chi2(s, names, part, LEVELS, correction), PARTS)
            counts = [[((ALL[names[0]] == a) & (ALL[names[1]] == b)).sum() for b in LEVELS[names[1]]] for a in LEVELS[names[0]]]
            expected = chi2_contingency(counts, correction=correction)
            self.near([got["chi2"], got["p"], got["dof"]], expected[:3])
            self.near(got["expected"], expected[3])


@installed("statsmodels", "patsy", "pandas")
class Regressions(Case):
    formula = "~ age + C(grade, levels=[1, 2, 3]) + sex + bmi"

    def fit(self, outcome, model, formula=None, **options):
        import pandas
        import statsmodels.formula.api as api
        made = model(api)(outcome + (formula or self.formula), pandas.DataFrame(COMPLETE))
        return made.fit(**options)

    def same(self, got, expected):
        self.assertEqual(list(got["term"]), list(expected.params.index))
        self.near(got["coef"], expected.params)
        self.near(got["std err"], expected.bse)
        self.near(got["p"], expected.pvalues, 1e-6)
        self.near(np.array([got["low"], got["high"]]).T, expected.conf_int())
        unit = np.outer(expected.bse, expected.bse)
        self.assertLess(np.abs((got["cov"] - np.asarray(expected.cov_params())) / unit).max(), RELATIVE)
        self.near(got["log-likelihood"], expected.llf)
        self.assertEqual((got["rows"], got["dropped"], got["dof"]), (293, 7, expected.df_resid))

    def test_linear(self):
        got = pooled(lambda s, part: stats.glm(s, "years" + self.formula, part, levels=LEVELS), PARTS)
        expected = self.fit("years", lambda api: api.ols)
        self.same(got, expected)
        self.near([got["R2"], got["scale"], got["deviance"], got["null deviance"]],
                  [expected.rsquared, expected.scale, expected.ssr, expected.centered_tss])
        self.near([got["F"], got["p of F"]], [expected.fvalue, expected.f_pvalue], 1e-6)

    def test_logistic(self):
        import statsmodels.api as sm
        got = pooled(lambda s, part: stats.glm(s, "died" + self.formula, part, "binomial", LEVELS), PARTS)
        expected = self.fit("died", lambda api: lambda f, d: api.glm(f, d, family=sm.families.Binomial()), tol=1e-13)
        self.same(got, expected)
        self.near([got["deviance"], got["null deviance"], got["AIC"]], [expected.deviance, expected.null_deviance, expected.aic])
        words = [{**part, "died": np.where(part["died"] == 1, "yes", "no").astype(object)} for part in PARTS]
        again = pooled(lambda s, part: stats.glm(s, "died" + self.formula, part, "binomial", {**LEVELS, "died": ["no", "yes"]}), words)
        self.assertEqual(list(again["coef"]), list(got["coef"]))

    def test_poisson(self):
        import pandas
        import statsmodels.api as sm
        import statsmodels.formula.api as api
        for exposure in (None, "years"):
            got = pooled(lambda s, part: stats.glm(s, "visits" + self.formula, part, "poisson", LEVELS, exposure), PARTS)
            expected = api.glm("visits" + self.formula, pandas.DataFrame(COMPLETE), family=sm.families.Poisson(),
                               exposure=COMPLETE[exposure] if exposure else None).fit(tol=1e-13)
            self.same(got, expected)
            self.near([got["deviance"], got["null deviance"]], [expected.deviance, expected.null_deviance], 1e-7)

    def test_no_intercept_and_other_units(self):
        got = pooled(lambda s, part: stats.glm(s, "years ~ sex + age - 1", part, levels=LEVELS), PARTS)
        self.same(got, self.fit("years", lambda api: api.ols, "~ sex + age - 1"))
        far = [{**part, "age": 1e4 + part["age"] * 1e-3} for part in PARTS]
        got = pooled(lambda s, part: stats.glm(s, "died ~ age + bmi", part, "binomial"), far)
        near = pooled(lambda s, part: stats.glm(s, "died ~ age + bmi", part, "binomial"), PARTS)
        self.near(got["coef"][1] * 1e-3, near["coef"][1], 1e-5)  # the digits that 10,000 + x keeps
        self.near(got["std err"][1] * 1e-3, near["std err"][1], 1e-5)

    def test_large_values_that_vary_little(self):
        far = [{**part, "x": 1e9 + np.rint(part["bmi"] * 16) / 1024, "y": 1e9 + np.rint(part["years"] * 16) / 1024} for part in PARTS]
        near = [{**part, "x": part["x"] - 1e9, "y": part["y"] - 1e9} for part in far]  # without a rounding
        for formula in ("bmi ~ x + sex", "y ~ bmi + sex", "y ~ x", "died ~ x"):
            family = "binomial" if formula[0] == "d" else "gaussian"
            got, expected = (pooled(lambda s, part: stats.glm(s, formula, part, family, LEVELS), parts) for parts in (far, near))
            self.near(got["coef"][1:], expected["coef"][1:], 1e-9)
            self.near(got["std err"][1:], expected["std err"][1:], 1e-9)
            self.near(got["deviance"], expected["deviance"], 1e-9)
        got, expected = (pooled(lambda s, part: stats.correlation(s, ["x", "y"], part), parts) for parts in (far, near))
        self.near(got["matrix"], expected["matrix"], 1e-9)
        got, expected = (pooled(lambda s, part: stats.ttest(s, "x ~ sex", part, LEVELS), parts) for parts in (far, near))
        self.near(got["t"], expected["t"], 1e-4)  # the digits that the means keep
        got, expected = (pooled(lambda s, part: stats.cox(s, "Surv(time, event) ~ x", part, until=50), parts) for parts in (far, near))
        self.near(got["coef"], expected["coef"], 1e-9)

    def test_a_perfect_fit(self):
        exact = [{**part, "y": 2 * part["bmi"] - 0.5 * part["years"] + 1} for part in PARTS]
        got = pooled(lambda s, part: stats.glm(s, "y ~ bmi + years", part), exact)
        self.near(got["coef"], [1, 2, -0.5])
        self.near(got["R2"], 1)

    def test_terms_of_patsy(self):
        formula = "~ age * sex + np.log(bmi) + I(age ** 2)"
        got = pooled(lambda s, part: stats.glm(s, "years" + formula, part, levels=LEVELS), PARTS)
        self.same(got, self.fit("years", lambda api: api.ols, formula))


@installed("statsmodels", "patsy", "pandas")
class Survival(Case):
    def test_kaplan_meier(self):
        from statsmodels.duration.survfunc import SurvfuncRight
        got = pooled(lambda s, part: stats.kaplan_meier(s, "Surv(time, event) ~ 1", part), PARTS)
        expected = SurvfuncRight(ALL["time"], ALL["event"])
        shown = expected.n_risk >= 5
        self.assertGreater(shown.sum(), 20)
        self.near(got["time"], expected.surv_times[shown])
        self.near(got["at risk"], expected.n_risk[shown])
        self.near(got["survival"], expected.surv_prob[shown])
        self.near(got["std err"], expected.surv_prob_se[shown])
        self.assertTrue(((got["low"] < got["survival"]) & (got["survival"] < got["high"])).all())

    def test_kaplan_meier_of_groups_on_a_grid(self):
        from statsmodels.duration.survfunc import SurvfuncRight
        got = pooled(lambda s, part: stats.kaplan_meier(s, "Surv(time, event) ~ sex", part, 4, 40, LEVELS), PARTS)
        for level in "fm":
            of = ALL["sex"] == level
            time = np.rint(ALL["time"][of] / 4) * 4
            expected = SurvfuncRight(np.minimum(time, 40), ALL["event"][of] * (time <= 40))
            shown = np.array([name == level for name in got["group"]])
            self.near(got["survival"][shown], expected.surv_prob)
            self.near(got["std err"][shown], expected.surv_prob_se)

    def test_interval(self):
        # Kalbfleisch and Prentice, The Statistical Analysis of Failure Time Data, section 1.4: S^exp(+-z sd / log S)
        got = pooled(lambda s, part: stats.kaplan_meier(s, "Surv(time, event) ~ 1", part), PARTS)
        S, sd = got["survival"], got["std err"] / got["survival"]
        theta = np.exp(1.959963984540054 * sd / np.abs(np.log(S)))
        self.near(got["low"], S**theta)
        self.near(got["high"], S**(1 / theta))

    def test_logrank(self):
        from statsmodels.duration.survfunc import survdiff
        for group, until, threshold in (("sex", 50, 5), ("C(grade, levels=[1, 2, 3])", None, 1)):
            got = pooled(lambda s, part: stats.logrank(s, f"Surv(time, event) ~ {group}", part, LEVELS, 1, until, threshold), PARTS)
            end = until or np.inf
            expected = survdiff(np.minimum(ALL["time"], end), ALL["event"] * (ALL["time"] <= end), ALL[group if group in ALL else "grade"])
            self.near([got["chi2"], got["p"]], expected)

    def test_cox(self):
        import pandas
        from statsmodels.duration.hazard_regression import PHReg
        for until, resolution, threshold in ((50, 1, 5), (None, 1, 1), (48, 3, 5)):
            got = pooled(lambda s, part: stats.cox(s, "Surv(time, event) ~ age + sex + bmi", part, resolution, until, LEVELS,
                                                   threshold=threshold), PARTS)
            time = np.rint(COMPLETE["time"] / resolution) * resolution
            end = until or np.inf
            pool = pandas.DataFrame({**COMPLETE, "time": np.minimum(time, end)})
            expected = PHReg.from_formula("time ~ sex + age + bmi", pool, status=COMPLETE["event"] * (time <= end), ties="breslow").fit()
            self.near(got["coef"], expected.params, 1e-6)
            self.near(got["std err"], expected.bse, 1e-6)
            self.near(got["p"], expected.pvalues, 1e-6)
            self.near(got["log-likelihood"], expected.llf)
            self.near(np.array([got["low"], got["high"]]).T, expected.conf_int(), 1e-6)
            self.near(got["hazard ratio"], np.exp(expected.params), 1e-6)


class OfR(Case):
    """Survival of acute myelogenous leukaemia, and five rows that end before the first event: numbers of R 4.2.2, survival 3.5-3."""

    kept = [(time, event, "kept") for time, event in zip((9, 13, 13, 18, 23, 28, 31, 34, 45, 48, 161), (1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0))]
    bare = [(time, event, "bare") for time, event in zip((5, 5, 8, 8, 12, 16, 23, 27, 30, 33, 43, 45), (1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1))]
    early = [(time, 0, "early") for time in (1, 1, 2, 2, 4)]

    def rows(self, *rows):
        columns = dict(zip(("time", "event", "x"), zip(*(row for part in rows for row in part))))
        made = {name: np.array(column, dtype=object if name == "x" else float) for name, column in columns.items()}
        return deal(made, (2, 1, made["time"].size - 3))

    def test_logrank(self):
        # survdiff(Surv(time, status) ~ x, aml): a group without rows at risk at any event changes nothing, and has no degree of freedom
        for levels in (["kept", "bare"], ["early", "kept", "bare"], ["kept", "early", "bare"]):
            parts = self.rows(self.kept, self.bare, *[self.early] * (len(levels) - 2))
            got = pooled(lambda s, part: stats.logrank(s, "Surv(time, event) ~ x", part, {"x": levels}, threshold=1), parts)
            self.near([got["chi2"], got["dof"], got["p"]], [3.39638869898, 1, 0.0653393220405], 1e-9)
            self.near([got["expected"][levels.index(name)] for name in ("kept", "bare")], [10.6893359923, 7.3106640077], 1e-10)
        self.fails(stats.NoResult, "fewer than two groups have rows at risk", lambda s, part: stats.logrank(
            s, "Surv(time, event) ~ x", part, {"x": ["early", "bare"]}, threshold=1), self.rows(self.bare, self.early))

    def test_kaplan_meier_ends_at_zero(self):
        # summary(survfit(Surv(time, status) ~ x, aml, conf.type = "log-log")); R prints NaN and NA where the survival is 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = pooled(lambda s, part: stats.kaplan_meier(s, "Surv(time, event) ~ 1", part, threshold=1), self.rows(self.bare))
        self.near(got["survival"][[1, 7]], [2 / 3, 0.0972222222222])
        self.near(got["std err"][[1, 7]], [0.136082763488, 0.0918663649675])
        self.near([got["low"][7], got["high"][7]], [0.00574630569586, 0.348903861111])
        self.assertEqual(got["survival"][8], 0)
        self.assertTrue(np.isnan([got["std err"][8], got["low"][8], got["high"][8]]).all())

    def test_cox(self):
        # coxph(Surv(time, status) ~ x, aml, ties = "breslow")
        def cox(s, part):
            return stats.cox(s, "Surv(time, event) ~ x", part, levels={"x": ["kept", "bare"]}, threshold=1)

        got = pooled(cox, self.rows(self.kept, self.bare))
        self.near([got["coef"][0], got["std err"][0], got["log-likelihood"]], [0.904219723686, 0.512247907304, -41.2501143501], 1e-9)

    def test_an_outlier_of_cox(self):
        # Its hazard is e^100 times the others': coxph has the log-likelihood -301.1, which is not in the range of the sums.
        random = np.random.default_rng(3)
        x = random.normal(size=60)
        time = np.ceil(20 * random.exponential(np.exp(-0.5 * x))) + 2
        x[0], time[0] = 300, 1
        self.fails(stats.NoResult, "1 row has a hazard more than e^30 times", lambda s, part: stats.cox(s, "Surv(time, event) ~ x", part, threshold=1),
                   deal({"time": time, "event": np.ones(60), "x": x}, (20, 20, 20)))


class SmallCells(Case):
    few = [{"a": np.array(["x"] * 20 + ["y"] * 20 + (["z"] if place < 3 else []), dtype=object),
            "b": np.array(["p", "q"] * 20 + (["q"] if place < 3 else []), dtype=object)} for place in range(5)]
    levels = {"a": ["x", "y", "z"], "b": ["p", "q"]}

    def test_crosstab(self):
        self.fails(stats.NoResult, "a count is below 5", lambda s, part: stats.crosstab(s, ["a", "b"], part, self.levels), self.few)
        got = pooled(lambda s, part: stats.crosstab(s, ["a", "b"], part, self.levels, small="merge"), self.few)
        self.assertEqual(got["counts"].tolist(), [[50, 53], [50, 50]])
        self.assertEqual(got["a / b"].tolist(), ["x+z", "y"])
        got = pooled(lambda s, part: stats.crosstab(s, ["a", "b"], part, self.levels, threshold=3), self.few)
        self.assertEqual(got["counts"].tolist(), [[50, 50], [50, 50], [0, 3]])

    def test_nothing_follows_a_small_count(self):
        hub = Hub(4)
        said = []

        def ask(site):
            try:
                stats.describe(site, ["x"], {"x": np.ones(1)})
            except stats.NoResult as refusal:
                said.append(str(refusal))

        threads = [threading.Thread(target=ask, args=(site,)) for site in hub.members]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(said), 4)
        self.assertEqual([np.count_nonzero(given) for given in hub.members[0].shared], [0, 1])  # the question; the rows

    def test_regressions(self):
        parts = [{"y": np.arange(40 + (place < 3)) % 2.0, **self.few[place]} for place in range(5)]
        for family in ("binomial", "poisson", "gaussian"):
            self.fails(stats.NoResult, "a[T.z] has fewer than 5 rows",
                       lambda s, part: stats.glm(s, "y ~ a", part, family, self.levels), parts)
        self.fails(stats.NoResult, "the first level of a has fewer than 5 rows",
                   lambda s, part: stats.glm(s, "y ~ a", part, "gaussian", {"a": ["z", "x", "y"]}), parts)
        for common in (0, 1):
            rare = [{"y": np.abs((np.arange(20) == place - 1) - float(common)), "x": np.arange(20.0)} for place in range(5)]
            self.fails(stats.NoResult, "one of the two values of y has fewer than 5",
                       lambda s, part: stats.glm(s, "y ~ x", part, "binomial"), rare)

    def test_survival(self):
        longest = np.argsort(ALL["time"])[-2:]
        late = deal({**ALL, "event": np.where(np.isin(np.arange(ALL["time"].size), longest), 1.0, ALL["event"])})
        for analyse in (stats.cox, stats.logrank):
            for until in (None, 80):
                self.fails(stats.NoResult, "events happen while fewer than 5 rows are at risk: follow the rows until an earlier time "
                           "(--until ", lambda s, part: analyse(s, "Surv(time, event) ~ sex", part, levels=LEVELS, until=until), late)
            pooled(lambda s, part: analyse(s, "Surv(time, event) ~ sex", part, levels=LEVELS, until=60), late)
        for until in (None, 80):
            got = pooled(lambda s, part: stats.kaplan_meier(s, "Surv(time, event) ~ 1", part, until=until), late)
            self.assertGreaterEqual(got["at risk"].min(), 5)
            self.assertIn("A curve ends where fewer than 5 rows are followed longer", str(got))


class BadInput(Case):
    def test_data(self):
        def glm(formula, **options):
            return lambda s, part: stats.glm(s, formula, part, **options)

        bad = stats.InputError
        self.fails(bad, "the data has no column 'size': it has age, sex", glm("died ~ size"))
        self.fails(bad, "row 1: sex is", glm("died ~ sex"))
        self.fails(bad, "name the levels, the same at all sites", glm("died ~ C(grade)"))
        self.fails(bad, "sex is 'm', which is not among its levels f, x", glm("died ~ sex", levels={"sex": ["f", "x"]}))
        self.fails(bad, "visits has values other than 0 and 1", glm("visits ~ age", family="binomial"))
        self.fails(bad, "bmi has values that are no counts", glm("bmi ~ age", family="poisson"))
        self.fails(bad, "died has two values: give --family binomial", glm("died ~ age"))
        two = [{"y": np.array(y), "x": np.array(y) ** 2} for y in ([1.5, 2], [3.5, 1, 4, 2], [6.0, 2, 5])]
        self.assertEqual(pooled(glm("y ~ x"), two)["rows"], 9)
        words = [{**part, "died": np.where(np.nan_to_num(part["died"]) == 1, "yes", "no")} for part in PARTS]
        self.fails(bad, "died has two values: give --family binomial", glm("died ~ age", levels={"died": ["no", "yes"]}), words)
        self.fails(bad, "'died' is no formula", glm("died"))
        self.fails(bad, "family is gaussian, binomial, poisson, not 'gamma'", glm("died ~ age", family="gamma"))
        self.fails(bad, "bmi has values other than 0 and 1", lambda s, part: stats.cox(s, "Surv(time, bmi) ~ age", part))
        self.fails(bad, "at least two different columns", lambda s, part: stats.pca(s, ["age", "age"], part))
        self.fails(bad, "name at least one column", lambda s, part: stats.describe(s, [], part))
        absent = [*PARTS[:4], {**PARTS[4], "age": np.full(140, np.nan)}]
        self.fails(bad, "each of its 140 rows has a missing value in died, age: no row is left", glm("died ~ age", family="binomial"), absent)

    def test_nothing_is_shared_of_bad_input(self):
        hub = Hub(1)
        with self.assertRaises(stats.InputError):
            stats.glm(hub.members[0], "died ~ size", PARTS[0])
        self.assertEqual(hub.members[0].shared, [])

    def test_constant_and_dependent_columns(self):
        parts = [{**part, "one": np.full(part["bmi"].size, 7.1), "twice": 2 * part["bmi"] + 3} for part in PARTS]
        for family in ("gaussian", "binomial"):
            self.fails(stats.NoResult, "one is constant over all sites",
                       lambda s, part: stats.glm(s, "died ~ bmi + one", part, family), parts)
            self.fails(stats.NoResult, "the columns bmi, twice depend linearly on each other",
                       lambda s, part: stats.glm(s, "died ~ bmi + years + twice", part, family), parts)
        self.fails(stats.NoResult, "one is constant", lambda s, part: stats.glm(s, "one ~ bmi", part), parts)
        self.fails(stats.NoResult, "one is constant", lambda s, part: stats.correlation(s, ["bmi", "one"], part), parts)
        self.fails(stats.NoResult, "one is constant", lambda s, part: stats.cox(s, "Surv(time, event) ~ one", part, until=50), parts)
        for constant in (0.1, 1 / 3, 1e9 + 0.1, 7e14 / 3):  # but for the rounding of its mean
            parts = [{**part, "one": np.full(part["bmi"].size, constant)} for part in PARTS]
            for formula in ("bmi ~ one", "one ~ bmi"):
                self.fails(stats.NoResult, "one is constant", lambda s, part: stats.glm(s, formula, part), parts)
            self.fails(stats.NoResult, "one is constant in each group", lambda s, part: stats.ttest(s, "one ~ sex", part, LEVELS), parts)
        # large, with a small variance
        parts = [{**part, "far": part["bmi"] + 1e8} for part in PARTS]
        got = pooled(lambda s, part: stats.glm(s, "far ~ years", part), parts)
        self.near(got["coef"][1], np.polyfit(ALL["years"], ALL["bmi"], 1)[0], 1e-6)
        # constant at each site, and different between them
        parts = [{**part, "site": np.full(part["bmi"].size, float(place))} for place, part in enumerate(PARTS)]
        got = pooled(lambda s, part: stats.glm(s, "bmi ~ site", part), parts)
        x = np.repeat(np.arange(5.0), SIZES)
        self.near(got["coef"], np.polyfit(x, ALL["bmi"], 1)[::-1])

    def test_separation(self):
        perfect = [{"x": part["bmi"], "y": (part["bmi"] > 26).astype(float)} for part in PARTS]
        quasi = [{"g": part["sex"], "x": part["bmi"], "y": np.where(part["sex"] == "m", 1.0, part["died"])} for part in PARTS]
        self.fails(stats.NoResult, "separation", lambda s, part: stats.glm(s, "y ~ x", part, "binomial"), perfect)
        self.fails(stats.NoResult, "separation", lambda s, part: stats.glm(s, "y ~ x + g", part, "binomial", {"g": ["f", "m"]}), quasi)
        empty = [{"g": part["sex"], "y": np.where(part["sex"] == "m", 0.0, part["visits"])} for part in PARTS]
        self.fails(stats.NoResult, "no finite estimates", lambda s, part: stats.glm(s, "y ~ g", part, "poisson", {"g": ["f", "m"]}), empty)
        order = [{**part, "x": -part["time"]} for part in PARTS]
        self.fails(stats.NoResult, "no finite estimates", lambda s, part: stats.cox(s, "Surv(time, event) ~ x", part, until=40), order)

    def test_different_questions(self):
        for other in ("died ~ bmi + years", "died ~ years"):
            results = play(lambda s, part: stats.glm(s, "died ~ bmi" if s._place else other, part, "binomial"), PARTS)
            said = {str(result) for result in results if not isinstance(result, Alone)}
            self.assertEqual(len(said), 1)
            self.assertIn("the sites do not ask the same question: nothing was shared", said.pop())
        hub = Hub(1)
        hub.members[0].agree("x")
        self.assertEqual(np.count_nonzero(hub.members[0].shared), 0)
        results = play(lambda s, part: stats.glm(s, "died ~ bmi" if s._place else " died~bmi", part, "binomial"), PARTS)
        self.assertEqual([list(result["term"]) for result in results], [["Intercept", "bmi"]] * 5)  # the same with other blanks

    def test_learners_that_drop_digits(self):
        hub = Hub(1)
        hub.mean, exact = lambda place, model: {name: exact(place, model)[name].round(4) for name in model}, hub.mean
        with self.assertRaisesRegex(Error, "the learners drop digits: leave out the settings"):
            hub.members[0].agree("x")

    def test_another_step(self):
        def analyse(s, part):
            s.agree("x")
            if s._place:
                s.sum({"a": size})
            return s.sum({"b": size})

        for size in (1.0, 1e30):
            with self.assertRaisesRegex(Error, "a site is at another step than step 1"):
                pooled(analyse, PARTS)


class Rounds(Case):
    def test_sums_that_are_rounded(self):
        # a group with values: model and 40 bits below the largest value
        def analyse(site, part):
            exact = site._hub.mean

            def rounded(place, model):
                mean = exact(place, model)
                unit = 2.0 ** (np.ceil(np.log2(np.abs(mean["sums"]).max() + 1)) - 40)
                return {"question": mean["question"], "sums": np.rint(mean["sums"] / unit) * unit}

            if rounding:
                site._exchange = lambda model: [site.shared.append(0), rounded(site._place, model)][1]
                site.participants = 5
            return stats.glm(site, "years ~ age + far + bmi", part), stats.glm(site, "died ~ age + far", part, "binomial")

        parts = [{**part, "far": 300 * np.sin(np.arange(part["bmi"].size))} for part in PARTS]
        results = []
        for rounding in (False, True):
            results.append(play(analyse, parts)[0])
        for got, expected in zip(results[1], results[0]):
            self.near(got["coef"], expected["coef"], 1e-6)
            self.near(got["std err"], expected["std err"], 1e-6)

    def test_a_sum_of_several_rounds(self):
        for room in (3, 7, 64):
            hub = Hub(1, room)
            site = hub.members[0]
            site.agree("x")
            got = site.sum({"a": np.arange(6.0).reshape(2, 3), "b": 9.0})
            self.assertEqual((got["a"].tolist(), float(got["b"])), ([[0, 1, 2], [3, 4, 5]], 9.0))
            self.assertEqual(len(site.shared), 1 + -(-7 // room))

    def test_a_result(self):
        got = pooled(lambda s, part: stats.describe(s, ["age"], part), PARTS)
        said = got.as_dict()
        self.assertEqual((said["sites"], said["table"]["column"], said["table"]["count"]), (5, ["age"], [293]))
        self.assertEqual(str(got).splitlines()[0], "Summary")
        self.assertIn("sites 5, rows 300", str(got))
        long = stats.Result("t", {}, {"x": range(100), "p": [float("nan")] + [1e-9] * 99})
        self.assertIn("... 60 more rows", str(long))
        self.assertIn("<0.0001", str(long))
        self.assertIsNone(long.as_dict()["table"]["p"][0])
        large = stats.Result("t", {}, {"x": [1000000000.0301, -1234567.5, 123456.75, 1e20 / 3]})
        self.assertEqual(str(large).split()[2:], ["1000000000.03", "-1234567.50", "123457", "3.33333e+19"])


if __name__ == "__main__":
    unittest.main()
