/*
 * Strips of a matrix that groups.cu has no room for on its way.
 *
 * The host defines THREADS and BLOCKS (a multiprocessor).
 */
/* A strip of the matrix is kept aside, or comes to its place: `rows` of `width` elements, row_words apart; as it
 * lies there, or transposed. */
KERNEL strips(word *data, ulong rows, ulong width, ulong row_words, ulong transposed, ulong saves,
              word *kept, ulong unit)
{
    ulong words = rows * width * unit;
    for (ulong x = (ulong)blockIdx.x * THREADS + threadIdx.x; x < words;
         x += (ulong)gridDim.x * THREADS) {
        ulong element = x / unit;
        ulong inside = x - element * unit;
        ulong row = element / width;
        ulong col = element - row * width;
        word *aside = kept + (transposed ? col * rows + row : element) * unit + inside;
        word *place = data + row * row_words + col * unit + inside;
        if (saves)
            *aside = *place;
        else
            *place = *aside;
    }
}
