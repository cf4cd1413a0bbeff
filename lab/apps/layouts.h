/* AT(array, i, f): member f of record i in the layout that was chosen by hand; `count` records. */
#if defined(LAYOUT_SOA)
#define AT(array, i, f) (array)[(size_t)(f)*count + (i)]
#elif defined(LAYOUT_ASTA)
#define AT(array, i, f) (array)[((size_t)(i) / 32 * WIDTH + (f)) * 32 + (size_t)(i) % 32]
#endif
