#!/bin/sh
# Print the path of Chromium; install it first where that needs nobody's leave: Debian or Ubuntu, as root.
set -eu

find_chromium() {
    for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
        if [ -n "$name" ] && command -v "$name"; then
            return 0
        fi
    done
    return 1
}

if find_chromium; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "Chromium is missing: installing it with apt-get." >&2
    export DEBIAN_FRONTEND=noninteractive
    if { apt-get update && apt-get install -y --no-install-recommends chromium; } >&2 && find_chromium; then
        exit 0
    fi
fi
cat >&2 <<'TEXT'
Chromium is needed for the browser tests and could not be installed from here. Do one of:
    sudo apt-get update && sudo apt-get install --no-install-recommends chromium     (Debian)
    install Chromium or Chrome another way and set CHROMIUM=/path/to/it
then run the same command again.
TEXT
exit 1
