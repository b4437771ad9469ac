"""The rounds of a run, from the log records of its learners: documents, explanations, statistics, traces. Needs the standard library
alone.

    records of all learners (logs.py; starling_web asks learners over HTTP) --> timeline.py --> one JSON document for each round --> explain, stats, trace
"""
