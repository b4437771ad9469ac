# One of three sites, or the comparison with the pooled rows: sites.R stats | average MODE | compare | compared MODE, in the run's folder.
library(starling)
arguments <- commandArgs(TRUE)
me <- as.integer(Sys.getenv("STARLING_LEARNER"))
RELATIVE <- 1e-6
out <- Sys.getenv("R_TEST_FOLDER")

# The rows of a site: 12 of site 3, the others dealt out.
rows_of <- function(data, site) {
  deal <- rep(1:2, length.out = nrow(data))
  deal[round(seq(2, nrow(data), length.out = 12))] <- 3
  data[deal == site, , drop = FALSE]
}
cars <- transform(mtcars, cyl = factor(cyl, levels = c(4, 6, 8)))
cars$wt[5] <- NA
questions <- list(
  gaussian = list(mpg ~ wt + hp + cyl, cars, gaussian()),
  binomial = list(case ~ spontaneous + induced + age + education, infert, binomial()),
  poisson = list(breaks ~ wool * tension, warpbreaks, poisson()),
  probit = list(factor(case, levels = 0:1) ~ spontaneous + age, infert, binomial("probit")),
  offset = list(breaks ~ 0 + tension + offset(log(rep_len(2, length(breaks)))), warpbreaks, poisson()))
# Large values that vary little, without a rounding: their standard deviations are 1.5e-11 and 3.7e-13 of them.
large <- transform(mtcars, x = 1e9 + round(wt * 64) / 4096, y = 2e9 + round(mpg * 64) / 524288)
targets <- list(list(m = matrix(1:6, 2), v = c(a = 0.1, b = 1e6)), list(m = matrix(6:1, 2), v = c(a = -3, b = 2e6)),
                list(m = matrix(0.5, 2, 3), v = c(a = 7, b = 0)))
x_of <- function(site) matrix(c(site, site^2, 1e9 * site, 0.1, -site, 1 / 3), 2, dimnames = list(NULL, c("a", "b", "c")))
weights <- c(3, 1, 4)
halfway <- function(model, target) Map(function(a, b) (a + b) / 2, model, target)
# The error of an expression that must fail.
error_of <- function(expression) tryCatch({ expression; "no error" }, error = conditionMessage)

stats <- function() {
  found <- list(mean = starling_mean(x_of(me)))
  for (name in names(questions)) {
    q <- questions[[name]]
    found[[name]] <- starling_glm(q[[1]], rows_of(q[[2]], me), q[[3]])
  }
  print(found$binomial)
  found$large <- starling_glm(y ~ x, rows_of(large, me))
  found$different <- error_of(starling_glm(if (me == 3) mpg ~ hp else mpg ~ wt, rows_of(mtcars, me)))
  found$separated <- error_of(starling_glm(I(wt > 3) ~ wt, rows_of(mtcars, me), binomial()))
  found$levels <- error_of(starling_glm(mpg ~ factor(carb, levels = c(1:4, 6, 8)), rows_of(mtcars, me)))
  found$dependent <- error_of(starling_glm(mpg ~ wt + I(2 * wt) + hp, rows_of(mtcars, me)))
  found$constant <- error_of(starling_glm(mpg ~ wt + I(0 * wt + 1e9), rows_of(mtcars, me)))
  found$flat <- error_of(starling_glm(I(0 * wt + 1e9) ~ wt, rows_of(mtcars, me)))
  found$few <- error_of(starling_glm(mpg ~ wt, mtcars[1:4, ]))
  found$words <- error_of(starling_glm(mpg ~ name, transform(mtcars, name = rownames(mtcars))))
  found$two <- error_of(starling_glm(am ~ wt, rows_of(mtcars, me)))
  found$factor <- error_of(starling_glm(factor(am) ~ wt, rows_of(mtcars, me)))
  found$rare <- error_of(starling_glm(I(1 * (mpg > 31)) ~ wt, rows_of(mtcars, me), binomial()))
  found$logical <- error_of(starling_glm(mpg ~ wt + (carb > 6), rows_of(mtcars, me)))
  found[["a term"]] <- error_of(starling_glm(mpg ~ log(am), mtcars))
  found[["the offset"]] <- error_of(starling_glm(carb ~ wt + offset(log(am)), mtcars, poisson()))
  found[["the response"]] <- error_of(starling_glm(log(am) ~ wt, mtcars))
  found$matrix <- error_of(starling_glm(cbind(mpg, hp) ~ wt, mtcars))
  found$counts <- error_of(starling_glm(mpg ~ wt, mtcars, poisson()))
  found$level <- error_of(starling_glm(mpg ~ wt, mtcars, level = 95))
  found$centred <- error_of(starling_glm(mpg ~ wt + I(hp - mean(hp)), mtcars))
  found$rows <- error_of(starling_glm(cumsum(mpg) ~ wt, mtcars))
  found$poly <- error_of(starling_glm(mpg ~ poly(wt, 2), mtcars))
  # The rounds that are left, but for three.
  group <- starling_join(list(question = numeric(5), sums = numeric(4096)), values = "model")
  print(group)
  while (starling_next(group) && with(starling_status(group), rounds - round + 1) > 3)
    starling_average(group, list(question = numeric(5), sums = numeric(4096)))
  starling_leave(group)
  found$rounds <- error_of(starling_glm(mpg ~ wt, rows_of(mtcars, me)))
  for (i in 1:3) starling_mean(1)
  saveRDS(found, file.path(out, paste0("stats-", me)))
}

average <- function(values) {
  model <- list(m = matrix(0, 2, 3), v = c(a = 0, b = 0))
  group <- starling_join(model, values = values, metrics = "loss")
  while (starling_next(group)) {
    model <- halfway(model, targets[[me]])
    model <- starling_average(group, model, weight = weights[me], metrics = c(loss = me))
    loss <- starling_status(group)$metrics
  }
  closed <- capture.output({ starling_leave(group); print(group) })
  saveRDS(list(model = model, loss = loss, closed = closed), file.path(out, paste0("average-", values, "-", me)))
}

near <- function(what, a, b, bound = RELATIVE, unit = pmax(abs(as.vector(b)), 1e-300)) {
  difference <- max(abs(as.vector(a) - as.vector(b)) / unit)
  cat(sprintf("%-24s %.1e\n", what, difference))
  if (length(a) != length(b) || !isTRUE(difference <= bound)) stop(what, " differs")
}
says <- function(found, what, text) if (!grepl(text, found[[what]], fixed = TRUE)) stop(what, " says: ", found[[what]])

compare <- function() {
  all <- lapply(1:3, function(site) readRDS(file.path(out, paste0("stats-", site))))
  found <- all[[1]]
  near("mean", found$mean, Reduce(`+`, lapply(1:3, x_of)) / 3, 1e-15)
  stopifnot(identical(dimnames(found$mean), dimnames(x_of(1))))
  for (name in names(questions)) {
    for (other in all[2:3]) stopifnot(identical(other[[name]]$coefficients, found[[name]]$coefficients))
    q <- questions[[name]]
    # All rows in the order of the sites, to the last digit.
    pooled <- glm(q[[1]], q[[3]], q[[2]], control = list(epsilon = 1e-14, maxit = 100))
    table <- summary(pooled)$coefficients
    r <- found[[name]]
    stopifnot(identical(names(r$coefficients), rownames(table)), r$rows == nobs(pooled), r$sites == 3,
              r$df.residual == pooled$df.residual, r$df.null == pooled$df.null, r$dropped == (name == "gaussian"))
    near(paste(name, "coefficients"), coef(r), table[, 1])
    near(paste(name, "standard errors"), r$std.errors, table[, 2])
    near(paste(name, "ratios"), r$statistic, table[, 3])
    near(paste(name, "p values"), r$p.values, table[, 4], 1e-5)
    near(paste(name, "intervals"), confint(r), if (name == "gaussian") confint(lm(q[[1]], q[[2]])) else confint.default(pooled))
    near(paste(name, "covariances"), vcov(r), vcov(pooled), 1e-5)
    near(paste(name, "deviances, AIC"), c(r$deviance, r$null.deviance, r$aic), c(pooled$deviance, pooled$null.deviance, pooled$aic))
  }
  pooled <- summary(glm(I(y - 2e9) ~ I(x - 1e9), data = large)) # R loses the digits of y ~ x
  r <- found$large
  near("large: slope", c(coef(r)[2], r$std.errors[2]), pooled$coefficients[2, 1:2])
  near("large: intercept", coef(r)[1] - 2e9 + coef(r)[2] * 1e9, pooled$coefficients[1, 1], 1e-6, 1)
  near("large: deviances", c(r$deviance, r$null.deviance), c(pooled$deviance, pooled$null.deviance))
  for (found in all) {
    says(found, "different", "the sites ask different questions")
    says(found, "separated", "no finite estimates after")
    says(found, "levels", "= 3, 6, 8 has fewer than 5 rows at all sites together")
    says(found, "dependent", "these columns depend linearly on each other, or are 0: wt, I(2 * wt)")
    says(found, "constant", "I(0 * wt + 1e+09) is constant over all sites")
    says(found, "flat", "I(0 * wt + 1e+09) is constant over all sites")
    says(found, "few", "this site has 4 complete rows, and needs at least 5: nothing was shared")
    says(found, "words", "name has words")
    says(found, "two", "am has two values: give family = binomial()")
    says(found, "factor", "factor(am) is a factor: give family = binomial()")
    says(found, "rare", "one of the two values of I(1 * (mpg > 31)) has fewer than 5 rows at all sites together")
    says(found, "logical", "carb > 6 = TRUE has fewer than 5 rows at all sites together")
    for (what in c("a term", "the response", "the offset")) says(found, what, paste(what, "has a value that is not finite, such as log(0): nothing was shared"))
    says(found, "matrix", "the response has 2 columns: give one")
    says(found, "counts", "mpg has values that are no counts")
    says(found, "level", "level is a number between 0 and 1")
    says(found, "centred", "I(hp - mean(hp)) depends on other rows of the site")
    says(found, "rows", "cumsum(mpg) depends on other rows of the site")
    says(found, "poly", "poly() or scale()")
    says(found, "rounds", "the run has too few rounds: 3 of its")
  }
}

compared <- function(values) {
  all <- lapply(1:3, function(site) readRDS(file.path(out, paste0("average-", values, "-", site))))
  model <- list(m = matrix(0, 2, 3), v = c(a = 0, b = 0))
  for (round in 1:6) {
    trained <- lapply(targets, function(target) halfway(model, target))
    for (name in names(model))
      model[[name]] <- Reduce(`+`, Map(function(w, t) w * t[[name]], weights, trained)) / sum(weights)
  }
  stopifnot(identical(all[[1]], all[[2]]), identical(all[[1]], all[[3]]), identical(names(all[[1]]$model$v), c("a", "b")),
            identical(all[[1]]$closed, "<starling group, closed>"))
  near(paste(values, "loss"), all[[1]]$loss, sum(weights * 1:3) / sum(weights), 1e-9)
  for (name in names(model)) { # an update is rounded to a step of its tensor
    own <- all[[1]]$model[[name]]
    if (values == "model") near(paste(values, name), own, model[[name]], 1e-12)
    else near(paste(values, name), own, model[[name]], 1e-3, max(abs(model[[name]])))
  }
}

do.call(arguments[1], as.list(arguments[-1]))
