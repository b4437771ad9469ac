"""A router with NAT, for TCP over IPv4: nat.py ADDRESS. It needs ip and tun, and runs in a network name space of its own.

What arrives at eth1 leaves with the source ADDRESS and a port that it has not given before; what comes for such a port goes back. A connection can only begin
inside. Prints "ready".
"""
import fcntl
import os
import socket
import struct
import subprocess
import sys

TUNSETIFF, TUN, NO_INFO = 0x400454CA, 0x0001, 0x1000
FIRST_PORT = 20000
IPPROTO_TCP = 6


def checksum(data):
	data += bytes(len(data) % 2)
	total = sum(struct.unpack(f'!{len(data) // 2}H', data))
	while total >> 16:
		total = (total & 0xFFFF) + (total >> 16)
	return ~total & 0xFFFF


def rewritten(packet, at, address, port):
	"""Return the packet with another source (`at` 0) or destination (`at` 1)."""
	head = (packet[0] & 15) * 4
	ip, tcp = bytearray(packet[:head]), bytearray(packet[head:])
	ip[12 + 4 * at:16 + 4 * at] = address
	ip[10:12] = bytes(2)
	ip[10:12] = struct.pack('!H', checksum(bytes(ip)))
	tcp[2 * at:2 + 2 * at] = struct.pack('!H', port)
	tcp[16:18] = bytes(2)
	tcp[16:18] = struct.pack('!H', checksum(bytes(ip[12:20]) + struct.pack('!HH', IPPROTO_TCP, len(tcp)) + bytes(tcp)))
	return bytes(ip + tcp)


def main():
	outer = sys.argv[1]
	device = os.open('/dev/net/tun', os.O_RDWR)
	fcntl.ioctl(device, TUNSETIFF, struct.pack('16sH22x', b'nat0', TUN | NO_INFO))
	for words in ('link set dev nat0 up', f'route add {outer}/32 dev nat0', 'rule add dev eth1 lookup 100', 'route add default dev nat0 table 100'):
		subprocess.run(['ip', *words.split()], check=True)
	with open('/proc/sys/net/ipv4/ip_forward', 'w', encoding='ascii') as file:
		file.write('1')
	print('ready', flush=True)
	ports, inner, own = {}, {}, socket.inet_aton(outer)
	while packet := os.read(device, 65536):
		head = (packet[0] & 15) * 4
		if packet[0] >> 4 != 4 or packet[9] != IPPROTO_TCP:
			continue
		(from_port, to_port), flags = struct.unpack('!HH', packet[head:head + 4]), packet[head + 13]
		if packet[16:20] == own:
			if to_port in inner:
				os.write(device, rewritten(packet, 1, *inner[to_port]))
			continue
		key = packet[12:16], from_port, packet[16:20], to_port
		if key not in ports and flags & 2:
			ports[key] = FIRST_PORT + len(ports)
			inner[ports[key]] = key[:2]
		if key in ports:
			os.write(device, rewritten(packet, 0, own, ports[key]))


if __name__ == '__main__':
	main()
