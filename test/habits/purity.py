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
                      r'u?(div|mod|divmod|mul)ti[34]|popcountdi2|floattidf)|_GLOBAL_OFFSET_TABLE_|abort')
MEMORY = 'memcpy memmove memset memcmp memchr bcmp strlen strcmp strncmp strchr strrchr strstr strspn strcspn'
PLAIN = 'sl_arena_* sl_bytes_* sl_bit_* sl_tensors_* ' + MEMORY

# The names that each room imports from outside itself.
IMPORTS = {
	'field': PLAIN + ' crypto_stream_chacha20* sodium_memzero fma fmax fmin frexp ldexp floor rint sqrt nextafter nextafterf __fixunsdfti __floatuntidf',
	'dp': PLAIN + ' sl_kernels* sodium_memzero ceil erfc exp expm1 floor fmax fmin frexp ldexp log log10 log1p log2 nextafter pow sqrt',
	'graph': PLAIN + ' exp fmod ldexp log',
	'mixing': PLAIN + ' sl_field_* sl_prg_* sl_augment* sl_connectivity* sl_prune* sl_graph_* sl_forest_* sl_blas_* fmax fmin floor frexp ldexp log log10 pow round',
	'protocol': PLAIN + ' sl_dp_scale_* sl_ranges_lower sl_engine_* sl_vector_hash_* crypto_generichash* sodium_memzero',
	'compute': PLAIN + ' fmax ilogb ldexp sl_encoding_* sl_gaussian_* sl_ranges_* sl_view_has_base sl_view_ranged sl_field_* sl_metropolis_* sl_prg_* sl_share* sl_vector_* sl_analysis_*'
		   ' sl_checksum_* sl_key_* sl_engine_* sl_spectrum_* sl_minimal_polynomial_* sl_canonical_* sodium_memzero',
	'core': PLAIN + ' sl_encoding_* sl_ranges_lower sl_field_* sl_graph_* sl_engine_* sl_spectrum_* sl_canonical_* sl_checksum_* sl_key_* sl_view_*'
		' sl_phase_* sl_job_* crypto_generichash sodium_memzero ldexp',
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
