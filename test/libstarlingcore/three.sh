#!/bin/sh
# The header of libstarlingcore by itself, and its example compiled against what is installed: three.sh THREE.C BUILD
source=$(realpath "$1")
build=$(realpath "$2")
. "$(dirname "$0")/../lib/head.sh"

meson install -C "$build" --no-rebuild --quiet --destdir "$folder/root" >out 2>err || fail "meson install failed"
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
