"""Ports of this machine for learners under test; as a program, ports.py COUNT prints such ports, and holds them until it is ended."""
import random
import signal
import socket
import sys

held = []


def first_of_system():
	"""Return the first port that the system hands out to connecting sockets."""
	try:
		with open('/proc/sys/net/ipv4/ip_local_port_range') as range_:
			return int(range_.read().split()[0])
	except (OSError, ValueError):
		return 32768


def reserve(port):
	"""Bind a socket that stays open: other searches find the port in use, and a learner can listen beside it, with SO_REUSEADDR."""
	one = socket.socket()
	one.bind(('127.0.0.1', port))
	one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
	return one


def free_ports(count):
	"""Return free ports in a row that no other test and no launcher (tools/lib/ports.h) takes before this program ends."""
	end = max(first_of_system(), 12000)
	while True:
		first, row = random.randrange(10000, end - count), []
		try:
			for port in range(first, first + count):
				row.append(reserve(port))
		except OSError:
			for one in row:
				one.close()
			continue
		held.extend(row)
		return list(range(first, first + count))


if __name__ == '__main__':
	print(*free_ports(int(sys.argv[1])), flush=True)
	signal.pause()
