# The loop over the rounds. Vectors are float64, in the order of the sorted names and, as in libstarling, row after row.

shape_of <- function(x) as.double(if (is.null(dim(x))) length(x) else dim(x))

# The names in an order that does not depend on the locale.
sorted <- function(names) sort(enc2utf8(names), method = "radix")

pack <- function(model, names) {
  as.double(unlist(lapply(model[names], function(x) if (length(dim(x)) > 1) aperm(x) else x), use.names = FALSE))
}

# Return `model` with the values of `vector`; dims, dimnames and names stay.
unpack <- function(vector, model, names) {
  at <- 0
  for (place in match(names, names(model))) { # by place: a name is looked for from the first on
    x <- model[[place]]
    values <- vector[at + seq_along(x)]
    at <- at + length(x)
    if (length(dim(x)) > 1) values <- aperm(array(values, rev(dim(x))))
    storage.mode(x) <- "double"
    x[] <- values
    model[[place]] <- x
  }
  model
}

check_model <- function(model) {
  if (!is.list(model) || is.data.frame(model) || length(model) == 0 || is.null(names(model)) ||
      anyNA(names(model)) || any(names(model) == "") || anyDuplicated(names(model)))
    stop("a model is a list of numeric vectors, matrices or arrays, each with a name of its own", call. = FALSE)
  for (place in seq_along(model)) {
    name <- names(model)[place]
    x <- model[[place]]
    if (is.object(x) || !is.numeric(x) || length(x) == 0)
      stop(name, " is no numeric vector, matrix or array with values", call. = FALSE)
    if (!all(is.finite(x)))
      stop(name, " has values that are missing or not finite", call. = FALSE)
  }
}

check_path <- function(path) {
  if (!is.character(path) || length(path) != 1 || is.na(path) || path == "")
    stop("no learner is named: start this program with `starling launch -- ...`, set STARLING_SOCKET, or give path",
         call. = FALSE)
}

starling_join <- function(model, path = Sys.getenv("STARLING_SOCKET"), values = c("update", "model"), metrics = character()) {
  values <- match.arg(values)
  check_path(path)
  check_model(model)
  stopifnot(is.character(metrics), !anyNA(metrics), !anyDuplicated(metrics))
  state <- new.env(parent = emptyenv())
  state$names <- sorted(names(model))
  state$shapes <- lapply(model[state$names], shape_of)
  state$metrics <- metrics
  state$asked <- state$done <- state$warned <- FALSE
  state$held <- 0 # the round whose mean the caller has
  state$on_wait <- function(text) message("starling: ", text)
  initial <- if (values == "update") pack(model, state$names)
  group <- .Call(C_join, path, state$names, state$shapes, metrics, values == "model", initial, state)
  class(group) <- "starling_group"
  joined <- FALSE
  on.exit(if (!joined) starling_leave(group)) # after an error or an interrupt
  while (!joined) joined <- take(group) == "joined"
  group
}

starling_leave <- function(group) invisible(.Call(C_leave, group))

starling_status <- function(group) {
  .Call(C_fields, group)[c("name", "learner", "learners", "rounds", "round", "committed", "participants", "total_weight",
                           "metrics", "dp", "clip", "noise", "spent")]
}

print.starling_group <- function(x, ...) {
  s <- tryCatch(starling_status(x), error = function(e) NULL)
  if (is.null(s)) cat("<starling group, closed>\n")
  else cat(sprintf("<starling group: learner %s, one of %.0f; %s%.0f rounds>\n", s$name, s$learners,
                   if (s$round > 0) sprintf("round %.0f of ", s$round) else "", s$rounds))
  invisible(x)
}

# Wait for one event, note it in the state of the group, and return its name.
take <- function(group) {
  state <- .Call(C_state_of, group)
  event <- .Call(C_wait_event, group)
  text <- .Call(C_fields, group)$text
  switch(event,
    train = state$asked <- TRUE,
    mean = , lost = state$asked <- FALSE,
    done = { state$asked <- FALSE; state$done <- TRUE },
    waiting = state$on_wait(text),
    refused = { state$asked <- TRUE; stop("the learner cannot use these values: ", text, call. = FALSE) },
    error = stop(text, call. = FALSE))
  event
}

starling_next <- function(group) {
  state <- .Call(C_state_of, group)
  while (!state$asked && !state$done) take(group)
  state$asked
}

# Return the last committed model, or `model` before the first commit.
committed_model <- function(group, model) {
  state <- .Call(C_state_of, group)
  state$held <- .Call(C_fields, group)$committed
  if (state$held == 0) model else unpack(.Call(C_down, group), model, state$names)
}

check_shapes <- function(state, model) {
  if (!identical(sorted(names(model)), state$names))
    stop("the names of the model are not those of starling_join", call. = FALSE)
  places <- match(state$names, names(model))
  for (i in seq_along(places))
    if (!identical(shape_of(model[[places[i]]]), state$shapes[[i]]))
      stop(state$names[i], " has another length or other dimensions than at starling_join", call. = FALSE)
}

check_weight <- function(group, state, weight) {
  if (!is.numeric(weight) || length(weight) != 1 || !is.finite(weight) || weight < 0 || weight != floor(weight) || weight > 2^53)
    stop("a weight is a whole number from 0, such as the number of rows", call. = FALSE)
  if (weight != 1 && !state$warned && !.Call(C_fields, group)$weighted) {
    state$warned <- TRUE
    warning("the weight does not count: the learner has not set weighting: samples", call. = FALSE)
  }
}

starling_average <- function(group, model, weight = 1, metrics = numeric()) {
  state <- .Call(C_state_of, group)
  check_model(model)
  check_shapes(state, model)
  check_weight(group, state, weight)
  if (!starling_next(group)) stop("the run is over: all of its rounds are used", call. = FALSE)
  status <- .Call(C_fields, group)
  if (state$held < status$committed) return(committed_model(group, model))
  numbers <- as.double(metrics[state$metrics])
  vector <- pack(model, state$names)
  repeat { # once, but after a restart of the learner that lost the vector
    if (state$asked) {
      state$asked <- FALSE
      .Call(C_trained, group, vector, weight, numbers)
    }
    take(group)
    now <- .Call(C_fields, group)
    if (now$committed >= status$round || (state$asked && now$again)) break
    if (state$done) stop("the run ended before the round was committed", call. = FALSE)
  }
  committed_model(group, model)
}
