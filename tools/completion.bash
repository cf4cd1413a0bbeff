# Completion of the verbs of restride and restride-lab and options for bash, from what --help says.
_restride() {
    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} i
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "--help --version $("$1" --help 2>/dev/null | sed -nE 's/^  ([a-z][a-z-]*) .*/\1/p')" -- "$word")
        return
    fi
    # What follows "--" is another program's.
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = -- ]; then
            [ "$verb" != run ] || ! declare -F _command_offset >/dev/null || _command_offset $((i + 1))
            return
        fi
    done
    if [ "$verb" = bench ] && [ "$COMP_CWORD" -eq 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W "--help $("$1" bench --help 2>/dev/null | sed -nE 's/^  ([a-z][a-z-]*) .*/\1/p')" -- "$word")
        return
    fi
    if [ "$verb" = bench ]; then
        verb="bench ${COMP_WORDS[2]}"
    fi
    case $word in
    -*)
        # shellcheck disable=SC2086 # two words for bench
        mapfile -t COMPREPLY < <(compgen -W "--help $("$1" $verb --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u)" -- "$word")
        ;;
    esac
}
complete -o default -F _restride restride restride-lab
