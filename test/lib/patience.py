"""Waiting for what is expected. The limit only ends a test that hangs: no test measures time with it."""
import time

PATIENCE = 600  # seconds


def expect(what, condition, pause=0.05):
	"""Wait until the condition holds; return its value."""
	end = time.monotonic() + PATIENCE
	while not (value := condition()):
		assert time.monotonic() < end, f'in vain: {what}'
		time.sleep(pause)
	return value
