/*
 * Compares matrices that a plan has transposed with what they were, by the definition. An element
 * is WORDS words of the type WORD.
 */
KERNEL count_wrong(GLOBAL const WORD *array, GLOBAL const WORD *original, GLOBAL uint *wrong,
                   ulong rows, ulong cols, ulong words)
{
    ulong place = GLOBAL_ID;
    if (place >= words)
        return;
    ulong element = place / WORDS;
    ulong line = element / rows; /* of cols x rows elements */
    ulong source = (line / cols * rows + element % rows) * cols + line % cols;
    if (array[place] != original[source * WORDS + place % WORDS])
        INCREMENT(wrong);
}
