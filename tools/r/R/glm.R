# Regressions over the rows of all sites. Iteratively reweighted least squares (McCullagh and Nelder, Generalized Linear
# Models, section 2.5) needs the sums of X'WX, X'W(z - Xb) and the deviance over all rows in each step. If there is an
# intercept, the other columns are centred by their common mean first, and so is the response of a linear regression: large
# values lose no digits then.

STEPS_MOST <- 25
HALVINGS_MOST <- 20
ROWS_LEAST <- 5
DECREMENT <- 1e-16 # of the quadratic form at the end: the last step is 10^-8 standard errors
PERFECT <- 1e-10 # the residual deviance in units of the null deviance, below which it is rounding
SINGULAR <- 1e-10 # the least eigenvalue of X'WX, scaled to a diagonal of ones
CONSTANT <- 1e-26 # the least squared coefficient of variation of a column; that of the rounding of its mean is below 1e-28

# Return the columns of this site, or refuse them before anything is shared.
own_columns <- function(formula, data, family) {
  frame <- model.frame(formula, data, na.action = na.omit)
  terms <- attr(frame, "terms")
  for (name in names(frame))
    if (is.character(frame[[name]]))
      stop(name, " has words: make it a factor whose levels are the same at all sites, factor(x, levels = c(...))", call. = FALSE)
  if (!identical(attr(terms, "predvars"), attr(terms, "variables")))
    stop("the formula has a term such as poly() or scale(), which depends on the rows of this site alone: leave it out",
         call. = FALSE)
  check_rows_alone(terms, frame, data)
  X <- model.matrix(terms, frame)
  if (nrow(X) < ROWS_LEAST)
    stop(sprintf("this site has %d complete rows, and needs at least %d: nothing was shared", nrow(X), ROWS_LEAST), call. = FALSE)
  if (ncol(X) == 0) stop("the formula has no term and no intercept", call. = FALSE)
  y <- model.response(frame, "any")
  if (is.null(y)) stop("the formula has no response", call. = FALSE)
  if (is.matrix(y) && family$family != "binomial") stop("the response has ", ncol(y), " columns: give one", call. = FALSE)
  if (is.factor(y) && family$family != "binomial")
    stop(names(frame)[1], " is a factor: give family = binomial(), or a number", call. = FALSE)
  if (family$family == "poisson" && any(y != floor(y))) stop(names(frame)[1], " has values that are no counts", call. = FALSE)
  own <- list2env(list(y = y, nobs = nrow(X), weights = rep(1, nrow(X)), etastart = NULL, mustart = NULL, start = NULL),
                  parent = environment())
  eval(family$initialize, own)
  offset <- model.offset(frame)
  finite <- vapply(list(X, as.double(own$y), as.double(offset)), function(x) all(is.finite(x)), NA)
  if (!all(finite))
    stop(c("a term", "the response", "the offset")[!finite][1], " has a value that is not finite, such as log(0): nothing was shared",
         call. = FALSE)
  factors <- lapply(Filter(function(x) is.factor(x) || is.logical(x), as.list(frame)),
                    function(x) if (is.logical(x)) factor(x, c(FALSE, TRUE)) else x)
  list(X = X, y = as.double(own$y), weights = own$weights, n = own$n, mustart = own$mustart, rows = nrow(X),
       dropped = length(attr(frame, "na.action")), intercept = attr(terms, "intercept") == 1,
       offset = if (is.null(offset)) numeric(nrow(X)) else as.double(offset), has_offset = !is.null(offset),
       centred = attr(terms, "intercept") == 1 && family$family == "gaussian" && family$link == "identity", centre = 0,
       response = names(frame)[1],
       levels = lapply(factors, levels), tables = lapply(factors, tabulate_levels),
       contrasts = lapply(attr(X, "contrasts"), function(x) if (is.character(x)) x else paste(format(x), collapse = " ")))
}

# Refuse a term such as x - mean(x), which is another one in the last half of the rows: each site would have another column.
check_rows_alone <- function(terms, frame, data) {
  if (!is.data.frame(data)) return()
  half <- tryCatch(suppressWarnings(model.frame(terms, tail(data, ceiling(nrow(data) / 2)), na.action = na.omit,
                                                xlev = .getXlevels(terms, frame))),
                   error = function(e) NULL) # too few rows for a term: not compared
  same <- tail(frame, NROW(half))
  for (name in names(half))
    if (!isTRUE(all.equal(as.vector(half[[name]]), as.vector(same[[name]]))))
      stop(name, " depends on other rows of the site: each site would compute another column", call. = FALSE)
}

tabulate_levels <- function(x) stats::setNames(as.double(table(x)), levels(x))

# Return what must be the same at all sites, as text.
question_of <- function(formula, family, own) {
  lines <- function(x) paste(names(x), vapply(x, paste, "", collapse = ","), sep = ":", collapse = "; ")
  paste("glm", paste(deparse(formula, width.cutoff = 500L), collapse = ""), family$family, family$link,
        paste(colnames(own$X), collapse = "\n"), lines(own$levels), lines(own$contrasts), own$has_offset, sep = "\n")
}

# Return the sums of this site at the estimate `b`; `first`: at the start, where b is 0 and mustart has the means.
own_sums <- function(own, family, b, first, mean0) {
  p <- ncol(own$X)
  eta <- if (first) family$linkfun(own$mustart) else drop(own$X %*% b) + own$offset
  mu <- family$linkinv(eta)
  slope <- family$mu.eta(eta)
  w <- own$weights * slope^2 / family$variance(mu)
  r <- eta - own$offset + (own$y - mu) / slope - drop(own$X %*% b)
  used <- own$weights > 0 & slope != 0
  w[!used] <- r[!used] <- 0
  deviance <- sum(family$dev.resids(own$y, mu, own$weights))
  H <- crossprod(own$X, own$X * w)
  g <- drop(crossprod(own$X, w * r))
  null <- sum(family$dev.resids(own$y, if (own$intercept) rep(mean0, own$rows) else family$linkinv(own$offset), own$weights))
  aic <- if (family$family == "gaussian") 0 else family$aic(own$y, own$n, mu, own$weights, deviance)
  sums <- list(H = H[upper.tri(H, TRUE)], g = g, deviance = deviance, null = null, aic = aic, bad = 0)
  if (isTRUE(family$valideta(eta)) && isTRUE(family$validmu(mu)) && all(is.finite(unlist(sums)))) return(sums)
  list(H = numeric(p * (p + 1) / 2), g = numeric(p), deviance = 0, null = 0, aic = 0, bad = 1)
}

# Return a list with V, H^-1, or else with the names of the columns that depend on each other.
inverse <- function(H) {
  scale <- sqrt(diag(H))
  if (any(!is.finite(scale) | scale <= 0)) return(list(dependent = rownames(H)[!is.finite(scale) | scale <= 0]))
  parts <- eigen(H / outer(scale, scale), symmetric = TRUE)
  last <- length(scale)
  if (parts$values[last] < SINGULAR) return(list(dependent = rownames(H)[abs(parts$vectors[, last]) > 0.1]))
  list(V = parts$vectors %*% (t(parts$vectors) / parts$values) / outer(scale, scale))
}

check_counts <- function(total, own, family) {
  for (name in names(own$tables)) {
    few <- round(total[[paste("level", name)]]) < ROWS_LEAST
    if (any(few))
      stop(sprintf("%s = %s has fewer than %d rows at all sites together: merge or leave out levels", name,
                   paste(names(own$tables[[name]])[few], collapse = ", "), ROWS_LEAST), call. = FALSE)
  }
  if (family$family == "binomial" && round(min(total$y, total$weights - total$y)) < ROWS_LEAST)
    stop(sprintf("one of the two values of %s has fewer than %d rows at all sites together", own$response, ROWS_LEAST), call. = FALSE)
  if (round(total$rows) <= ncol(own$X))
    stop(sprintf("%.0f rows are too few for %d columns", total$rows, ncol(own$X)), call. = FALSE)
}

# Refuse columns whose `squares`, the sum of squared differences to the mean, are those of rounding.
check_constant <- function(squares, mean, rows, names) {
  few <- squares <= CONSTANT * mean^2 * rows
  if (any(few)) stop(paste(names[few], collapse = ", "), " is constant over all sites: leave it out", call. = FALSE)
}

# Fit the columns as they are in `own`. Return estimate, inverse of X'WX, sums at the estimate and number of steps.
fit <- function(group, own, family, rows, mean0, mean_columns) {
  p <- ncol(own$X)
  b <- previous <- stats::setNames(numeric(p), colnames(own$X))
  halvings <- 0
  step <- 0
  repeat {
    total <- sum_of(group, own_sums(own, family, b, step == 0, mean0))
    if (total$bad > 0.5) {
      halvings <- halvings + 1
      if (step <= 1 || halvings > HALVINGS_MOST)
        stop("no valid estimates were found: the values of a site do not fit family and link", call. = FALSE)
      b <- (b + previous) / 2
      next
    }
    H <- matrix(0, p, p, dimnames = list(names(b), names(b)))
    H[upper.tri(H, TRUE)] <- total$H
    H <- H + t(H) - diag(diag(H), p)
    if (step == 0 && own$intercept) check_constant(diag(H)[-1] * rows / H[1, 1], mean_columns[-1], rows, names(b)[-1])
    if (step == 0 && own$centred && !own$has_offset) check_constant(total$null, own$centre, rows, own$response)
    solved <- inverse(H)
    if (is.null(solved$V) && step == 0)
      stop("these columns depend linearly on each other, or are 0: ", paste(solved$dependent, collapse = ", "), call. = FALSE)
    change <- if (!is.null(solved$V)) drop(solved$V %*% total$g)
    unit <- if (family$family == "gaussian") max(total$deviance, PERFECT * total$null) / (rows - p) else 1
    if (!is.null(change) && step > 0 && sum(change * total$g) <= DECREMENT * unit)
      return(list(b = b + change, V = solved$V, total = total, steps = step))
    if (is.null(change) || step == STEPS_MOST)
      stop(sprintf("no finite estimates after %d steps%s", step, if (family$family == "binomial")
        ": the columns separate the two values of the response (perfect or quasi-complete separation)" else ""), call. = FALSE)
    previous <- b
    b <- b + change
    step <- step + 1
  }
}

starling_glm <- function(formula, data, family = stats::gaussian(), path = Sys.getenv("STARLING_SOCKET"), level = 0.95) {
  call <- match.call()
  named <- !missing(family)
  if (is.character(family)) family <- get(family, mode = "function", envir = parent.frame())
  if (is.function(family)) family <- family()
  if (!inherits(family, "family") || !family$family %in% c("gaussian", "binomial", "poisson"))
    stop("family is gaussian(), binomial() or poisson()", call. = FALSE)
  if (!is.numeric(level) || length(level) != 1 || !isTRUE(level > 0 && level < 1))
    stop("level is a number between 0 and 1, such as 0.95", call. = FALSE)
  check_path(path)
  own <- own_columns(formula, data, family)
  if (!named && length(unique(own$y)) == 2)
    stop(own$response, " has two values: give family = binomial() (logistic regression) or family = gaussian() (linear)", call. = FALSE)
  group <- open_sums(path, question_of(formula, family, own))
  on.exit(starling_leave(group))
  check_rounds(group, 4)
  sum_of(group, list()) # has no data: do all sites ask the same question?
  tables <- own$tables
  names(tables) <- if (length(tables)) paste("level", names(tables))
  total <- sum_of(group, c(list(rows = own$rows, dropped = own$dropped, columns = colSums(own$X),
                                y = sum(own$weights * own$y), weights = sum(own$weights), used = sum(own$weights > 0)), tables))
  check_counts(total, own, family)
  rows <- round(total$used)
  mean_columns <- if (own$intercept) replace(total$columns / total$rows, 1, 0) else numeric(ncol(own$X))
  own$X <- sweep(own$X, 2, mean_columns)
  mean0 <- total$y / total$weights
  if (own$centred) own$centre <- mean0
  own$y <- own$y - own$centre
  own$mustart <- own$mustart - own$centre
  found <- fit(group, own, family, rows, mean0 - own$centre, mean_columns)
  found$b[1] <- found$b[1] + own$centre
  back <- diag(length(found$b)) # from the centred columns to those as they are
  if (own$intercept) back[1, ] <- back[1, ] - mean_columns
  result(call, formula, family, own, found, drop(back %*% found$b), back %*% found$V %*% t(back), rows, round(total$dropped),
         starling_status(group)$participants, level)
}

result <- function(call, formula, family, own, found, b, V, rows, dropped, sites, level) {
  p <- length(b)
  gaussian <- family$family == "gaussian"
  deviance <- found$total$deviance
  dispersion <- if (gaussian) deviance / (rows - p) else 1
  aic <- if (gaussian) rows * (log(2 * pi * deviance / rows) + 1) + 2 else found$total$aic
  names(b) <- colnames(own$X)
  V <- V * dispersion
  dimnames(V) <- list(names(b), names(b))
  error <- sqrt(diag(V))
  ratio <- b / error
  r <- list(call = call, formula = formula, family = family, coefficients = b, std.errors = error, statistic = ratio,
            p.values = if (gaussian) 2 * pt(-abs(ratio), rows - p) else 2 * pnorm(-abs(ratio)), vcov = V,
            dispersion = dispersion, deviance = deviance,
            null.deviance = if (own$intercept && own$has_offset) NA_real_ else found$total$null,
            df.residual = rows - p, df.null = rows - own$intercept, aic = aic + 2 * p, rows = rows, dropped = dropped,
            sites = sites, steps = found$steps)
  class(r) <- "starling_glm"
  r$conf.int <- confint(r, level = level)
  r
}

vcov.starling_glm <- function(object, ...) object$vcov

confint.starling_glm <- function(object, parm, level = 0.95, ...) {
  tails <- c((1 - level) / 2, (1 + level) / 2)
  q <- if (object$family$family == "gaussian") qt(tails, object$df.residual) else qnorm(tails)
  table <- object$coefficients + outer(object$std.errors, q)
  dimnames(table) <- list(names(object$coefficients), paste(format(100 * tails, trim = TRUE, digits = 3), "%"))
  if (missing(parm)) table else table[parm, , drop = FALSE]
}

print.starling_glm <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  gaussian <- x$family$family == "gaussian"
  table <- cbind(x$coefficients, x$std.errors, x$statistic, x$p.values)
  dimnames(table) <- list(names(x$coefficients), c("Estimate", "Std. Error", if (gaussian) c("t value", "Pr(>|t|)")
    else c("z value", "Pr(>|z|)")))
  cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\nCoefficients:\n", sep = "")
  printCoefmat(table, digits = digits, signif.stars = getOption("show.signif.stars"))
  cat("\n")
  print(x$conf.int, digits = digits)
  cat("\n(Dispersion parameter for ", x$family$family, " family taken to be ", format(x$dispersion), ")\n\n", sep = "")
  if (!is.na(x$null.deviance))
    cat("    Null deviance: ", format(x$null.deviance, digits = digits + 1L), "  on ", x$df.null, "  degrees of freedom\n", sep = "")
  cat("Residual deviance: ", format(x$deviance, digits = digits + 1L), "  on ", x$df.residual, "  degrees of freedom\n",
      if (x$dropped > 0) sprintf("  (%.0f rows deleted due to missingness)\n", x$dropped), "AIC: ", format(x$aic, digits = digits),
      "\n\n", sprintf("%.0f rows of %.0f sites, %d steps\n", x$rows, x$sites, as.integer(x$steps)), sep = "")
  invisible(x)
}
