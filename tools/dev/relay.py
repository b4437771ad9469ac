"""Pass packets between tap devices, as a switch that is so far from each: relay.py MILLISECONDS MBIT QUEUE_BYTES LOSS DEVICE...

It makes the devices; a line on standard output says that they are there. (Not every kernel has netem.) A packet is at its receiver
after MILLISECONDS. Its link carries one packet after another at MBIT (0: all at once); what finds QUEUE_BYTES before it is lost.
A packet may hold up to 64 KB in segments that no device has cut yet, as between two virtual machines: otherwise this process would need a
processor of its own. LOSS is the probability with which a segment is lost on the way, and with it its packet.
"""
import collections
import fcntl
import os
import random
import select
import struct
import sys
import time

TUNSETIFF, TUNSETOFFLOAD = 0x400454ca, 0x400454d0
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x0002, 0x1000, 0x4000
TUN_F_CSUM, TUN_F_TSO4 = 1, 2
HEADER_BYTES = 10  # struct virtio_net_hdr; the size of a segment at 4
SEGMENT_HEADERS = 66  # Ethernet, IPv4, TCP with timestamps
PACKET_BYTES = HEADER_BYTES + 14 + 65536
AT_ONCE = 16  # packets that are read before others are written


def make_device(name):
	device = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
	fcntl.ioctl(device, TUNSETIFF, struct.pack('16sH22x', name.encode(), IFF_TAP | IFF_NO_PI | IFF_VNET_HDR))
	fcntl.ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4)
	return device


def segments(packet):
	segment = int.from_bytes(packet[4:6], sys.byteorder)
	return (len(packet) - HEADER_BYTES - 1) // segment + 1 if segment else 1


def bytes_on_link(packet):
	"""Return the bytes of a packet with the headers of all its segments."""
	return len(packet) - HEADER_BYTES + (segments(packet) - 1) * SEGMENT_HEADERS


class Port:
	"""A device, and the packets on their way to it with the times when they arrive."""

	def __init__(self, name):
		self.device, self.packets, self.free = make_device(name), collections.deque(), 0.0

	def send(self, packet, arrives, seconds_a_byte, queue):
		begins = max(self.free, arrives)
		if begins - arrives <= queue:
			self.free = begins + seconds_a_byte * bytes_on_link(packet)
			self.packets.append((self.free, packet))

	def deliver(self, now):
		while self.packets and self.packets[0][0] <= now:
			try:
				os.write(self.device, self.packets.popleft()[1])
			except OSError:
				pass  # lost, as on a real link


class Switch:
	def __init__(self, milliseconds, mbit, queue_bytes, loss, *names):
		self.passes = 1 - float(loss)  # a segment
		self.seconds, self.seconds_a_byte = float(milliseconds) / 1000, 8e-6 / float(mbit) if float(mbit) > 0 else 0.0
		self.queue = float(queue_bytes) * self.seconds_a_byte
		self.ports = {port.device: port for port in map(Port, names)}
		self.behind = {}  # Ethernet address: port

	def take(self, port):
		for _ in range(AT_ONCE):
			try:
				packet = os.read(port.device, PACKET_BYTES)
			except OSError:
				return
			arrives = time.monotonic() + self.seconds
			to, source = packet[HEADER_BYTES:HEADER_BYTES + 6], packet[HEADER_BYTES + 6:HEADER_BYTES + 12]
			self.behind[source] = port
			if self.passes < 1 and random.random() > self.passes ** segments(packet):
				continue
			known = self.behind.get(to)
			for receiver in (known,) if known else self.ports.values():
				if receiver is not port:
					receiver.send(packet, arrives, self.seconds_a_byte, self.queue)

	def pass_on(self):
		while True:
			now = time.monotonic()
			for port in self.ports.values():
				port.deliver(now)
			due = min((port.packets[0][0] for port in self.ports.values() if port.packets), default=None)
			wait = None if due is None else max(due - time.monotonic(), 0)
			for device in select.select(self.ports, (), (), wait)[0]:
				self.take(self.ports[device])


switch = Switch(*sys.argv[1:])
try:
	os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # as if it were a device
except OSError:
	pass
print('ready', flush=True)
switch.pass_on()
