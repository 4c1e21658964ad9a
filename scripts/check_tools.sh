#!/bin/sh
# Say what is missing before anything is built: $1 is the Python to use.
set -eu
python="$1"
missing=0

say() {
    echo "$1" >&2
    missing=1
}

if ! command -v "$python" >/dev/null; then
    say "Python 3.11 or newer is needed, and there is no '$python': install it, or set PYTHON=/path/to/python3."
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    say "Python 3.11 or newer is needed; '$python' is $("$python" -V 2>&1): set PYTHON=/path/to/a/newer/python3."
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    say "Python's venv module is missing: sudo apt-get install python3-venv"
fi
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    say "Node 20 or newer with npm is needed to build the views: https://nodejs.org, or sudo apt-get install nodejs npm"
elif ! node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)'; then
    say "Node 20 or newer is needed; this is $(node --version)."
fi
exit "$missing"
