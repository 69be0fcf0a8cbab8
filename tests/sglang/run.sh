#!/usr/bin/env bash
# `run.sh VERSION..`: everything for real, with the released packages. Slow; the first time it downloads some gigabytes.
#
# For each version: records the scenarios of the repository, those written for other releases too, under every rule that
# it carries, and has `overlapsim conform` replay them; captures the same runs with capture.py, compares both, and has the captures replayed; measures
# what the capture costs. RECORD_OPTIONS (such as `--no-venv` or `--source DIR`) goes to every command that runs SGLang;
# OUT is where the files go, OVERLAPSIM the binary, PYTHON the interpreter.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
out=${OUT:-$repo/target/sglang}
overlapsim=${OVERLAPSIM:-$repo/target/release/overlapsim}
python=${PYTHON:-python3}
read -ra options <<<"${RECORD_OPTIONS:-}"
export PYTHONDONTWRITEBYTECODE=1
passed=0 failed=0

if [ $# -eq 0 ]; then
    echo "usage: run.sh VERSION.. (0.5.16, 0.5.17, 0.5.18, 0.5.23)" >&2
    exit 2
fi

check() { # NAME COMMAND..: runs it, counts it, goes on
    local name=$1
    shift
    echo "== $name"
    if "$@"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: $name" >&2
    fi
}

rules_of() {
    case $1 in
    0.5.16) echo "release token-len" ;;
    0.5.17) echo "release token-len mask-lookahead" ;;
    *) echo "release" ;;
    esac
}

agree_all() { # RECORDINGS CAPTURES VERSION: each capture beside the recording of the same run
    local wrong=0 recording name
    for recording in "$1"/*."$3".release.jsonl; do
        name=$(basename "$recording" ".$3.release.jsonl")
        $python "$here/agree.py" "$recording" "$2/$name".[0-9]*.jsonl || wrong=1
    done
    return $wrong
}

conform() { # DIR: has every recording in it replayed
    "$overlapsim" conform "$1"
}

for version in "$@"; do
    recordings=$out/$version/recordings captures=$out/$version/captures
    rm -rf "${recordings:?}" "${captures:?}"
    for rule in $(rules_of "$version"); do
        more=()
        [ "$rule" = release ] && more=(--capture "$captures")
        check "record $version $rule" "$python" "$here/record.py" --version "$version" --rule "$rule" \
            --scenarios "$repo/scenarios" --any-release --out "$recordings" --overlapsim "$overlapsim" \
            ${options[@]+"${options[@]}"} ${more[@]+"${more[@]}"}
    done
    check "conform $version" conform "$recordings"
    check "captures agree with recordings $version" agree_all "$recordings" "$captures" "$version"
    check "conform captures $version" conform "$captures"
    check "cost of the capture $version" "$python" "$here/perf.py" --version "$version" ${options[@]+"${options[@]}"}
done

echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
