#!/bin/bash
# A minimal agent: five variables in, one commit with the ready marker out.
set -euo pipefail

: "${COCODE_ISSUE_NUMBER:?}" "${COCODE_ISSUE_BODY_FILE:?}" "${COCODE_READY_MARKER:?}"

echo "[INFO] Working on issue #$COCODE_ISSUE_NUMBER"
title=$(head -n 1 "$COCODE_ISSUE_BODY_FILE")

# The work of a real agent goes here.
echo "#$COCODE_ISSUE_NUMBER: $title" >> CHANGES.txt

git add --all
git commit --quiet --message "fix: issue #$COCODE_ISSUE_NUMBER

$COCODE_READY_MARKER"
echo "[INFO] Complete"
