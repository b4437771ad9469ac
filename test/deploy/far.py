"""A link of so many milliseconds each way, between two tap devices that it makes: far.py DEVICE DEVICE MILLISECONDS

A line on standard output says that the devices are there. (Not every kernel has netem.)
"""
import collections
import fcntl
import os
import select
import struct
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 0x0002, 0x1000
PACKET_BYTES = 65536


def make_device(name):
	device = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
	fcntl.ioctl(device, TUNSETIFF, struct.pack('16sH22x', name.encode(), IFF_TAP | IFF_NO_PI))
	return device


class Way:
	"""One direction, and the packets on it with the times when they arrive."""

	def __init__(self, source, target, seconds):
		self.source, self.target, self.seconds, self.packets = source, target, seconds, collections.deque()

	def take(self):
		try:
			while True:
				packet = os.read(self.source, PACKET_BYTES)
				self.packets.append((time.monotonic() + self.seconds, packet))
		except BlockingIOError:
			pass

	def deliver(self):
		while self.packets and self.packets[0][0] <= time.monotonic():
			try:
				os.write(self.target, self.packets.popleft()[1])
			except OSError:
				pass  # lost, as on a real link


def main():
	one, two = (make_device(name) for name in sys.argv[1:3])
	seconds = float(sys.argv[3]) / 1000
	ways = Way(one, two, seconds), Way(two, one, seconds)
	print('ready', flush=True)
	while True:
		for way in ways:
			way.deliver()
		due = min((way.packets[0][0] for way in ways if way.packets), default=None)
		wait = None if due is None else max(due - time.monotonic(), 0)
		readable, _, _ = select.select([way.source for way in ways], [], [], wait)
		for way in ways:
			if way.source in readable:
				way.take()


main()
