"""The live page and the report of a run."""
