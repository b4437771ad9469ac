"""Statistics over the rows of several sites that show no row to another site.

    from starling import stats

    with stats.Sums() as sums:                       # the learner of $STARLING_SOCKET
        print(stats.describe(sums, ["age", "bmi"], "data.csv"))
        print(stats.glm(sums, "died ~ age + sex", "data.csv", family="binomial", levels={"sex": ["f", "m"]}))

All sites run the same analyses in the same order, each on its own data, and all get the same result: that of the pooled rows.
Each analysis is a sequence of exact private sums, of which each takes a round of the run (values: model): begin with
`rounds: 1000` and `quorum: all`. The command `starling stats` does the same; see starling-stats(1)."""
from starling.stats.csv import Columns, read
from starling.stats.glm import glm
from starling.stats.summary import correlation, crosstab, describe, pca, quantiles
from starling.stats.sums import InputError, NoResult, Sums
from starling.stats.survival import cox, kaplan_meier, logrank
from starling.stats.table import Result
from starling.stats.tests import chi2, ttest

__all__ = ["Columns", "InputError", "NoResult", "Result", "Sums", "chi2", "correlation", "cox", "crosstab", "describe", "glm",
           "kaplan_meier", "logrank", "pca", "quantiles", "read", "ttest"]
