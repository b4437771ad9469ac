library(starling)
stopifnot(is.function(starling_glm))
