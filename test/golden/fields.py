"""Print the JSON of standard input, an object that is short in one line: fields.py [KEY...], the value under the keys."""
import json
import sys

WIDTH = 150


def show(value, indent, lead):
	flat = json.dumps(value, ensure_ascii=False)
	if len(indent) + len(lead) + len(flat) <= WIDTH or not isinstance(value, (dict, list)):
		print(f'{indent}{lead}{flat}')
		return
	print(f'{indent}{lead}{"{" if isinstance(value, dict) else "["}')
	for key, one in value.items() if isinstance(value, dict) else enumerate(value):
		show(one, indent + '  ', f'{json.dumps(key)}: ' if isinstance(value, dict) else '')
	print(f'{indent}{"}" if isinstance(value, dict) else "]"}')


document = json.load(sys.stdin)
for key in sys.argv[1:]:
	document = document[int(key) if key.isdecimal() and isinstance(document, list) else key]
show(document, '', '')
