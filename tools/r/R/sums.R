# Private sums over all sites, exact to double precision (values: model), of weight 1 each. All questions of a run use
# tensors of the same shapes, so a run can answer one question after the other.

ROOM <- 4096 # values of a round
PIECES <- 4 # 16-bit numbers that stand for the question and the step
PROBE <- 1.234567e-3 # beside them, to notice settings that drop digits

# Return PIECES numbers that are another ones for another text.
fingerprint <- function(text) {
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(charToRaw(enc2utf8(text)), file)
  begin <- seq(1, by = 4, length.out = PIECES)
  as.double(strtoi(substring(md5sum(file), begin, begin + 3), 16L))
}

# Join, to ask `question`, which contains all that must be the same at all sites. The caller calls starling_leave.
open_sums <- function(path, question) {
  group <- starling_join(list(question = numeric(PIECES + 1), sums = numeric(ROOM)), path, values = "model")
  state <- .Call(C_state_of, group)
  state$question <- paste("R", question, sep = "\n")
  state$step <- 0
  state$on_wait <- function(text) {
    if (grepl("trains another model", text, fixed = TRUE))
      stop(text, ": all sites must call the same function of the package starling, of the same version; then start all ",
           "daemons with another run: and another state:", call. = FALSE)
    message("starling: ", text)
  }
  if (!is.na(starling_status(group)$dp)) {
    starling_leave(group)
    stop("this learner adds noise (setting dp), and this function needs exact sums. Nothing was shared. ",
         "Use a run with dp: off, or `starling stats describe` or `crosstab` with --epsilon and --delta", call. = FALSE)
  }
  group
}

over <- function(rounds) {
  stop(sprintf("the run has too few rounds: all of its %.0f are used. Set rounds: to a larger number at all learners, with another run: and another state:",
               rounds), call. = FALSE)
}

# Refuse to begin if the run has fewer than `needed` rounds left.
check_rounds <- function(group, needed) {
  asked <- starling_next(group)
  s <- starling_status(group)
  if (!asked) over(s$rounds)
  left <- s$rounds - s$round + 1
  if (left < needed)
    stop(sprintf("the run has too few rounds: %.0f of its %.0f are left, and at least %d are needed. Nothing was shared. Set rounds: to a larger number at all learners, with another run: and another state:",
                 left, s$rounds, needed), call. = FALSE)
}

# Return the mean of the values in `part` over all sites, in one round.
one_round <- function(group, part, shapes) {
  state <- .Call(C_state_of, group)
  if (!starling_next(group)) over(starling_status(group)$rounds)
  state$held <- starling_status(group)$committed # means of earlier questions are not read
  round <- starling_status(group)$round
  own <- c(fingerprint(paste(state$question, state$step, shapes, sep = "\n")), PROBE)
  repeat { # once, but after an attempt that failed when keys were sent
    f <- .Call(C_fields, group)
    if (f$again && !f$repeatable)
      stop(sprintf("round %.0f failed after keys were sent; the same values again could reveal them: set membership_change: wait or cohort at all sites, and start all daemons with another run: and another state:",
                   round), call. = FALSE)
    mean <- starling_average(group, list(question = own, sums = c(part, numeric(ROOM - length(part)))))
    s <- starling_status(group)
    if (s$committed >= round) break
    if (!starling_next(group)) over(s$rounds)
  }
  if (s$participants != s$learners)
    stop(sprintf("round %.0f had %.0f of %.0f sites: set quorum: all, and begin again when all sites are there", round,
                 s$participants, s$learners), call. = FALSE)
  difference <- abs(mean$question - own)
  if (any(difference[seq_len(PIECES)] > 0.01))
    stop(if (state$step == 0) "the sites ask different questions: compare function, formula, family, columns, levels and lengths of all sites; after a new start, end it at all sites before it begins again"
         else sprintf("a site is at another step than step %d, as after a new start: end it at all sites before it begins again", as.integer(state$step)),
         call. = FALSE)
  if (difference[PIECES + 1] > 1e-3 * PROBE)
    stop("the learners drop digits: leave out the settings values, decimals, clipping_range, modulus and encoding at all sites",
         call. = FALSE)
  state$step <- state$step + 1
  mean$sums[seq_along(part)]
}

# Return the means of the arrays in the list `own` over all sites. Names and lengths are the same at all sites.
mean_of <- function(group, own) {
  flat <- as.double(unlist(own, use.names = FALSE))
  if (!all(is.finite(flat))) stop("a value is missing or not finite: the analysis cannot go on", call. = FALSE)
  shapes <- paste(names(own), lengths(own), collapse = " ")
  means <- numeric()
  for (begin in seq(1, max(length(flat), 1), by = ROOM)) {
    end <- min(begin + ROOM - 1, length(flat))
    means <- c(means, one_round(group, if (end >= begin) flat[begin:end] else numeric(), shapes))
  }
  at <- 0
  for (name in names(own)) {
    values <- means[at + seq_along(own[[name]])]
    at <- at + length(values)
    own[[name]][] <- values
  }
  own
}

sum_of <- function(group, own) {
  means <- mean_of(group, own)
  lapply(means, `*`, starling_status(group)$participants)
}

starling_mean <- function(x, path = Sys.getenv("STARLING_SOCKET")) {
  check_path(path)
  check_model(list(x = x))
  storage.mode(x) <- "double"
  group <- open_sums(path, paste("mean", paste(shape_of(x), collapse = " ")))
  on.exit(starling_leave(group))
  mean_of(group, list(x = x))$x
}
