#!/bin/sh
# The R package of tools/r, with real daemons, against the pooled rows in R: r_package.sh STARLING SOURCE LIBSTARLING [--nightly]
# LIBSTARLING: the shared library of the build. --nightly: R CMD check. Status 77 where R or a compiler for its packages is missing.
if ! command -v R >/dev/null || ! command -v make >/dev/null; then
	echo "R is not installed (Debian: r-base-core r-base-dev)"
	exit 77
fi
if [ ! -e "$(R CMD config --cppflags 2>/dev/null | sed -n 's/^-I\([^ ]*\).*/\1/p')/R.h" ]; then
	echo "the headers of R are not installed (Debian: r-base-dev)"
	exit 77
fi
source=$2
library=$(dirname "$(realpath "$3")")
here=$(realpath "$(dirname "$0")")
nightly=${4-}
. "$(dirname "$0")/../lib/head.sh"
starling=$program
export STARLING_CFLAGS="-I$source/tools/libstarling"
export STARLING_LIBS="-L$library -Wl,-rpath,$library -lstarling"
export R_LIBS="$folder/library" R_LIBS_USER=NULL R_TEST_FOLDER="$folder" TMPDIR="$folder" OPENBLAS_NUM_THREADS=1
mkdir library
cp -r "$source/tools/r" package

if [ "$nightly" = --nightly ]; then
	R CMD build --no-build-vignettes package >out 2>err || fail "R CMD build failed"
	_R_CHECK_FORCE_SUGGESTS_=false R CMD check --no-manual --no-build-vignettes starling_*.tar.gz >out 2>err ||
		fail "R CMD check failed"
	! grep -E '^Status:.*(ERROR|WARNING)' out >/dev/null || fail "R CMD check warns"
	exit 0
fi

env -u STARLING_LIBS PKG_CONFIG_LIBDIR="$folder" R CMD INSTALL package >out 2>err && fail "installed without libstarling"
has err 'libstarling is not installed: ' 'ninja -C build install'
R CMD INSTALL package >out 2>err || fail "the package cannot be installed"
launch() { # ROUNDS, then the arguments of sites.R
	rounds=$1
	shift
	rm -rf run
	"$starling" launch -n 3 --rounds "$rounds" --run-dir run --set weighting=samples --set max_weight=10 --set metrics=aggregate \
		-- Rscript "$here/sites.R" "$@" >out 2>err || {
		cat run/learner-0*/output.txt >&2
		fail "the run failed: $*"
	}
}
launch 100 stats
has run/learner-01/output.txt 'Pr(>|z|)' 'education12+ yrs' '248 rows of 3 sites' '<starling group: learner ' 'one of 3; 100 rounds>'
Rscript "$here/sites.R" compare >differences 2>err || fail "not as of the pooled rows: $(cat differences)"
cat differences
for values in update model; do
	launch 6 average $values
	Rscript "$here/sites.R" compared $values >differences 2>err || fail "not the mean: $(cat differences)"
	cat differences
done

# A round that comes again after its keys were sent.
PYTHONPATH="$here/../python" /usr/bin/python3 "$here/again.py" || fail "a round that comes again"

# Without a learner.
status=0
env -u STARLING_SOCKET Rscript -e 'starling::starling_mean(1)' >out 2>err || status=$?
[ $status -eq 1 ] && grep -q 'no learner is named: start this program with `starling launch' err || fail "a missing socket is not named"
