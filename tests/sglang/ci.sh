#!/usr/bin/env bash
# The tests of this folder that need nothing but a plain python3: no torch, no SGLang, no network.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export PYTHONDONTWRITEBYTECODE=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

python3 -m unittest discover --pattern 'test_*.py' --top-level-directory . --start-directory . 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

ran=$(sed -n 's/^Ran \([0-9]*\) tests\{0,1\} in .*/\1/p' "$log" | tail -1)
wrong=$(grep -cE '^(FAIL|ERROR): ' "$log")
echo
echo "$((${ran:-0} - wrong)) passed, $wrong failed"
[ "$status" -eq 0 ] && [ "${ran:-0}" -gt 0 ]
