#!/bin/bash
# states.sh TEST_CORE DOCUMENT: the document has the table of a buffer's states as the layer has it.
set -euo pipefail
table=$("$1" --table)
if [[ $(<"$2") != *"$table"* ]]; then
    echo "states.sh: $2 needs this table:" >&2
    echo "$table" >&2
    exit 1
fi
