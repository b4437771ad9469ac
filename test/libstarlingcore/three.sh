#!/bin/sh
# The header of libstarlingcore by itself, and its example compiled against what is installed: three.sh THREE.C BUILD
source=$(realpath "$1")
build=$(realpath "$2")
. "$(dirname "$0")/../lib/head.sh"

# Programs find the libraries after `meson install`, but a staged installation does not touch this machine. /usr/local is another
# one in a name space, where that is allowed.
mkdir tools
printf '#!/bin/sh\n: >"%s/ldconfig-ran"\n' "$folder" >tools/ldconfig
chmod +x tools/ldconfig
export PATH="$folder/tools:$PATH"
meson install -C "$build" --no-rebuild --quiet --destdir "$folder/root" >out 2>err || fail "meson install failed"
[ ! -e ldconfig-ran ] || fail "a staged installation changes the cache of the loader"
if unshare --map-root-user --mount mount -t tmpfs none /usr/local 2>/dev/null; then
	unshare --map-root-user --mount sh -c 'mount -t tmpfs none /usr/local && exec "$@"' sh \
		meson install -C "$build" --no-rebuild --quiet >out 2>err || fail "meson install failed"
	[ -e ldconfig-ran ] || fail "the loader does not know the installed libraries"
fi
PKG_CONFIG_PATH=$(dirname "$(find root -name libstarlingcore.pc)")
PKG_CONFIG_SYSROOT_DIR=$folder/root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
header=$(find root -path '*/include/starling/core.h')
cc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c "$header"
if command -v c++ >/dev/null; then
	c++ -std=c++98 -pedantic -Wno-long-long -Wall -Wextra -Werror -fsyntax-only -x c++ "$header"
fi

# shellcheck disable=SC2046
cc -std=c99 -pedantic -Wall -Wextra -Werror "$source" $(pkg-config --cflags --libs libstarlingcore) -o three
LD_LIBRARY_PATH=$(dirname "$(find root -name libstarlingcore.so)")
export LD_LIBRARY_PATH
./three >out 2>err || fail "the example ends with $?"
[ "$(grep -c '^learner [123], round 3: 6 12 18 24 30$' out)" = 3 ] || fail "not the mean"
has out 'three: the exact mean in 3 rounds'
