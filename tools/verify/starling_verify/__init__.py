"""The check of `starling launch --verify`: each committed model is recomputed from the models that the learners trained, in exact rationals,
and must be the same bits (ROUND.md §4 Arithmetic). It shares neither code nor language with the learners."""
