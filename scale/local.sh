#!/bin/sh
# Four shards side by side on this machine, then their sum: local.sh SEEDS [OPTION..], as in local.sh 0..100000 --rule paired
seeds=$1
shift
for i in 0 1 2 3; do
    overlapsim fuzz --generate small --seeds "$seeds" --shard "$i/4" --jobs 1 --out reports "$@" > /dev/null &
done
wait
overlapsim merge reports
