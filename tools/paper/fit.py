"""Lines and powers through measured points, by least squares."""
import numpy as np


def line(x, y):
	"""Return slope and intercept; NaN with fewer than three points."""
	return tuple(map(float, np.polyfit(x, y, 1))) if len(x) >= 3 else (np.nan, np.nan)


def off(x, y):
	"""Return the largest distance of a point from the line, as a part of its y."""
	slope, intercept = line(x, y)
	return float(np.max(np.abs(intercept + slope * np.asarray(x) - y) / y)) if len(x) >= 3 else np.nan


def power(x, y):
	return line(np.log(x), np.log(y))[0]
