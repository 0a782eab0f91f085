#!/bin/sh
# record.sh DIR: builds pluginhost and records it into DIR (made if absent): pluginhost.strace and the snapshots
# that the processes write themselves. DIR's path stands in the trace, so take a plain one such as /srv/demo.
# STRACE and CC name other programs than the usual ones. An strace too old to know mseal refuses to start.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: record.sh DIR" >&2; exit 2; }
mkdir -p "$1"
cd "$1"
[ -x pluginhost ] && [ pluginhost -nt "$here/pluginhost.c" ] ||
    "${CC:-cc}" -Wall -Wextra -Os -static -no-pie -o pluginhost "$here/pluginhost.c"
rm -f pluginhost.strace ./*.smaps
exec "${STRACE:-strace}" -f -y -s 256 -e trace=%memory,%process,prctl,openat,close,mseal -o pluginhost.strace \
    ./pluginhost
