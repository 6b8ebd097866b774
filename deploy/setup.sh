#!/bin/sh
# All that is done to make the image, so that the Containerfile has no commands of its own, and a
# test can execute them in an empty environment.
#
#   setup.sh build DIST [EXTRAS]   installs the wheel in the folder DIST into $PREFIX (/opt/omd)
#   setup.sh system [EXTRAS]       as root: Debian's packages for the extras, and the account omd
#
# EXTRAS is a list such as "web,spark", or empty. A file DIST/constraints.txt says which versions of
# other packages are taken.
set -eu

PREFIX=${PREFIX:-/opt/omd}
PYTHON=${PYTHON:-python3}
ACCOUNT=65532

fail() { # fail <why> <exit code>
    echo "setup.sh: $1" >&2
    exit "$2"
}

build() { # build DIST [EXTRAS]
    folder=$1
    extras=${2:-}
    set -- "$folder"/pgomd-*.whl
    [ -f "$1" ] || fail "there is no wheel in $folder: make dist" 1
    [ "$#" -eq 1 ] || fail "there are several wheels in $folder" 1
    set -- "$1${extras:+[$extras]}"
    "$PYTHON" -m venv "$PREFIX"
    if [ -f "$folder/constraints.txt" ]; then
        # Its hashes would be asked of our own wheel too.
        sed -e '/--hash=/d' -e 's/ *\\$//' "$folder/constraints.txt" >"$PREFIX/constraints.txt"
        set -- --constraint "$PREFIX/constraints.txt" "$@"
    fi
    "$PREFIX/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check "$@"
    # What does not start is no image.
    "$PREFIX/bin/omd" --version
    "$PREFIX/bin/omd" doctor --help >/dev/null
}

system() { # system [EXTRAS]
    case ",${1:-}," in
    *,spark,* | *,demo,*)
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
            default-jre-headless
        rm -rf /var/lib/apt/lists/*
        ;;
    *) ;; # the wheels bring all that the others need
    esac
    # It owns nothing and can't log in.
    groupadd --gid "$ACCOUNT" omd
    useradd --uid "$ACCOUNT" --gid omd --no-create-home --home-dir /nonexistent \
        --shell /usr/sbin/nologin omd
}

case "${1:-} $#" in
"build 2" | "build 3") build "$2" "${3:-}" ;;
"system 1" | "system 2") system "${2:-}" ;;
*) fail "setup.sh build DIST [EXTRAS], or setup.sh system [EXTRAS]" 2 ;;
esac
