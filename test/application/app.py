"""An application of the tests, of the standard library alone: app.py [ROUND=BEHAVIOUR]...

It trains a model of two floats. In ROUND, once for each folder that it runs in, it behaves as told; `late23`: learners 2 and 3 are late."""
import array
import json
import os
import socket
import struct
import sys
import time

behaviours = dict(word.split("=") for word in sys.argv[1:])
me = os.environ["STARLING_LEARNER"]


def misbehave(behaviour):
	"""Do it, unless an earlier process has."""
	try:
		os.close(os.open("misbehaved-" + behaviour, os.O_CREAT | os.O_EXCL))
	except FileExistsError:
		return
	if behaviour == "exit":
		sys.exit(7)
	elif behaviour == "hang":
		time.sleep(1000)
	elif behaviour == "leave":
		connection.close()
		time.sleep(1000)
	elif behaviour == "garble":
		connection.sendall(b"\xff\x00{}\n")
	elif behaviour == "flood":
		for _ in range(50):
			sys.stderr.write("flood\n" * 1000)


connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["STARLING_SOCKET"])
join = {"type": "join", "version": 1, "tensors": [{"name": "w", "shape": [2]}], "token": os.environ.get("STARLING_TOKEN")}
connection.sendall(json.dumps(join).encode() + b"\n")
data, ancillary, _, _ = connection.recvmsg(65536, socket.CMSG_SPACE(8))
if not ancillary:
	sys.exit(data.decode())
up = array.array("i", ancillary[0][2])[0]
lines = connection.makefile("r")
print("joined", flush=True)
while True:
	line = data.decode() if data else lines.readline()
	data = b""
	for text in line.splitlines():
		message = json.loads(text)
		if message["type"] == "train":
			behaviour = behaviours.get(str(message["round"]), "late")
			if not behaviour.startswith("late"):
				misbehave(behaviour)
			elif me in behaviour:
				time.sleep(1.6)
			os.pwrite(up, struct.pack("<2f", int(me), message["round"]), 0)
			connection.sendall(b'{"type":"trained","round":%d}\n' % message["round"])
		elif message["type"] == "done":
			time.sleep(0.5)
			print("saved the model")
			sys.exit()
	if not line:
		sys.exit("the learner has closed the connection")
