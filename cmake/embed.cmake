# Turns INPUT, files between "|", into a C file that defines `const char SYMBOL[]` with their bytes and a final zero.
string(REPLACE "|" ";" INPUTS "${INPUT}")
set(HEX_BYTES "")
foreach(FILE ${INPUTS})
  file(READ "${FILE}" BYTES HEX)
  string(APPEND HEX_BYTES "${BYTES}")
endforeach()
string(REGEX REPLACE "(..)" "0x\\1," BYTES "${HEX_BYTES}")
file(WRITE "${OUTPUT}" "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {${BYTES}0};\n")
