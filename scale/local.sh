#!/bin/sh
# Four shards side by side on this machine, then their sum: local.sh SEEDS [OPTION..], as in local.sh 0..100000 --rule paired
# Reports go to reports/, where those of an earlier campaign are removed first.
if [ $# -eq 0 ]; then
    echo "usage: local.sh SEEDS [OPTION..], as in local.sh 0..100000 --rule paired" >&2
    exit 2
fi
seeds=$1
shift
rm -f reports/fuzz-*-of-4.json
pids=
for i in 0 1 2 3; do
    overlapsim fuzz --generate small --seeds "$seeds" --shard "$i/4" --jobs 1 --out reports "$@" > /dev/null &
    pids="$pids $!"
done
# 1 and 3 are what the runs came to: the shard is done. All shards are waited for, so that what they found is there.
failed=0
for pid in $pids; do
    wait "$pid"
    code=$?
    case $code in 0 | 1 | 3) ;; *) failed=$code ;; esac
done
if [ $failed -ne 0 ]; then
    exit $failed
fi
overlapsim merge reports
