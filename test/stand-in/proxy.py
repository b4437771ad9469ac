"""A proxy: proxy.py ADDRESS PORT USER:PASSWORD|- NAME=ADDRESS...

It takes CONNECT and SOCKS5 on one port, knows the names given and no others, and prints a line for each connection: how it was asked for,
the destination, and "open", "denied" or "unreached".
"""
import asyncio
import base64
import ipaddress
import struct
import sys

ADDRESS, PORT, LOGIN = sys.argv[1], int(sys.argv[2]), sys.argv[3]
NAMES = dict(pair.split('=') for pair in sys.argv[4:])


async def reach(how, host, port):
	try:
		streams = await asyncio.wait_for(asyncio.open_connection(NAMES.get(host, host), port), 5)
	except (OSError, asyncio.TimeoutError):
		streams = None
	print(how, f'{host}:{port}', 'open' if streams else 'unreached', flush=True)
	return streams


async def connect(reader):
	header = (await reader.readuntil(b'\r\n\r\n')).decode()
	host, port = header.split()[1].rsplit(':', 1)
	login = base64.b64encode(LOGIN.encode()).decode()
	if LOGIN != '-' and f'\r\nProxy-Authorization: Basic {login}\r\n' not in header:
		print('CONNECT', f'{host}:{port}', 'denied', flush=True)
		return b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="clinic"\r\n\r\n', None
	far = await reach('CONNECT', host.strip('[]'), int(port))
	return b'HTTP/1.1 200 Connection established\r\n\r\n' if far else b'HTTP/1.1 502 Bad Gateway\r\n\r\n', far


async def read_text(reader):
	return (await reader.readexactly((await reader.readexactly(1))[0])).decode()


async def socks(reader, writer):
	await reader.readexactly((await reader.readexactly(1))[0])
	writer.write(b'\x05\x00' if LOGIN == '-' else b'\x05\x02')
	if LOGIN != '-':
		await reader.readexactly(1)
		given = f'{await read_text(reader)}:{await read_text(reader)}'
		writer.write(b'\x01\x00' if given == LOGIN else b'\x01\x01')
	kind = (await reader.readexactly(4))[3]
	host = await read_text(reader) if kind == 3 else str(ipaddress.ip_address(await reader.readexactly(4 if kind == 1 else 16)))
	far = await reach('SOCKS5', host, struct.unpack('>H', await reader.readexactly(2))[0])
	return b'\x05\x00\x00\x01' + bytes(6) if far else b'\x05\x04\x00\x01' + bytes(6), far


async def pump(reader, writer):
	try:
		while data := await reader.read(65536):
			writer.write(data)
			await writer.drain()
		writer.write_eof()
	except OSError:
		writer.close()


async def serve(reader, writer):
	try:
		first = await reader.readexactly(1)
		answer, far = await (socks(reader, writer) if first == b'\x05' else connect(reader))
		writer.write(answer)
		if far:
			await asyncio.gather(pump(reader, far[1]), pump(far[0], writer))
			far[1].close()
	except (OSError, asyncio.IncompleteReadError):
		pass
	writer.close()


async def main():
	server = await asyncio.start_server(serve, ADDRESS, PORT)
	print('ready', flush=True)
	await server.serve_forever()


asyncio.run(main())
