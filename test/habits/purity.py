#!/usr/bin/env python3
"""Fail on an import of a pure library that IMPORTS does not list: no clock, memory, chance, output or event loop.

    purity.py LIBRARY...    each named lib<room>.a
"""
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

from rooms import symbols

# What the compiler, its sanitizers and assert() put in.
COMPILER = re.compile(r'__(assert_fail|stack_chk_fail|cpu_model|cpu_indicator_init|(asan|ubsan|sanitizer|gcov|llvm)_.*|'
                      r'u?(div|mod|divmod|mul)ti[34]|popcountdi2)|_GLOBAL_OFFSET_TABLE_|abort')
MEMORY = 'memcpy memmove memset memcmp memchr bcmp strlen strcmp strncmp strchr strrchr strstr strspn strcspn'
PLAIN = 'sl_arena_* sl_bytes_* sl_bit_* ' + MEMORY

# The names that each room imports from outside itself.
IMPORTS = {
	'field': PLAIN + ' crypto_stream_chacha20* sodium_memzero frexp ldexp floor rint nextafter nextafterf',
	'graph': PLAIN + ' sl_field_* fmod log',
	'mixing': PLAIN + ' sl_field_* sl_kernels_* sl_graph_* sl_blas_* fmax fmin frexp log',
	'protocol': PLAIN + ' sl_field_* sl_engine_* crypto_generichash* sodium_memzero',
	'compute': PLAIN + ' sodium_is_zero sodium_memzero sl_*',
	'core': PLAIN + ' crypto_generichash ldexp sl_*',
}


def main():
	"""Report each name that a library imports from outside itself and IMPORTS does not list."""
	wrong = []
	for archive in sys.argv[1:]:
		room = Path(archive).name[len('lib'):-len('.a')]
		members = symbols(archive).values()
		if not members:
			wrong.append(f'{archive}: no symbols read')
		own = set().union(*(exported for exported, _ in members))
		imported = set().union(*(names for _, names in members)) - own
		for name in sorted(imported):
			plain = re.sub(r'^__(.*)_chk$', r'\1', name)
			if not COMPILER.fullmatch(name) and not any(fnmatch(plain, p) for p in IMPORTS[room].split()):
				wrong.append(f'{room} must not use {name}')
	print('\n'.join(wrong), file=sys.stderr)
	return 1 if wrong else 0


if __name__ == '__main__':
	sys.exit(main())
