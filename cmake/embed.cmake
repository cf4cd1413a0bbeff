# Turns INPUT into a C file that defines `const char SYMBOL[]` with its bytes and a final zero.
file(READ "${INPUT}" HEX_BYTES HEX)
string(REGEX REPLACE "(..)" "0x\\1," BYTES "${HEX_BYTES}")
file(WRITE "${OUTPUT}" "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {${BYTES}0};\n")
