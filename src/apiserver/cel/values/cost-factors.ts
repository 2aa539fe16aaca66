/** The cost of visiting one element of a text or list, in cel-go's units. */
export const traversalFactor = 0.1;

/** The cost of one character of a pattern, for each visited character of the text. */
export const patternFactor = 0.25;
