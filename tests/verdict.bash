# SPDX-License-Identifier: MIT
#
# What the shell tests share: they source it, give a verdict a test, and end with `told`.
passed=0
failed=0
skipped=0
export HEDDLE_PROBE_MB=16 # no test reads the times of products, which caches may shorten

verdict() { # verdict NAME PROBLEM: a test passed if PROBLEM is empty
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED %s: %s\n' "$1" "$2"
    fi
}
skip() { # skip NAME REASON: a test that cannot run here has not passed
    skipped=$((skipped + 1))
    printf 'skipped %s: %s\n' "$1" "$2"
}
told() { # the last line, and the exit status
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ]
}
