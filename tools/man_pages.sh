#!/usr/bin/env bash
# man_pages.sh RESTRIDE FOLDER writes a manual page for each verb into FOLDER, of what its --help says.
set -euo pipefail
restride=$1
folder=$2

# roff takes a line as it is, where it begins with no command and has no bare backslash.
literally() {
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/"
}

rm -rf "$folder"
mkdir -p "$folder"
version=$("$restride" --version)
"$restride" --help | sed -nE 's/^  ([a-z]+) +(.*)/\1 \2/p' | while read -r verb sentence; do
    # A part that is not built has no help.
    text=$("$restride" "$verb" --help 2>/dev/null) || continue
    {
        echo ".TH RESTRIDE-${verb^^} 1 \"\" \"$version\" \"User Commands\""
        echo ".SH NAME"
        echo "restride\\-$verb \\- $sentence"
        echo ".SH SYNOPSIS"
        echo ".nf"
        sed '/^$/,$d; s/^usage: //; s/^       //' <<<"$text" | literally
        echo ".fi"
        echo ".SH DESCRIPTION"
        echo ".nf"
        sed '1,/^$/d' <<<"$text" | literally
        echo ".fi"
        echo ".SH SEE ALSO"
        echo ".BR restride (1)"
    } >"$folder/restride-$verb.1"
done
