/** Of the package. Not read from its file, which is not where the code is when that is bundled; a test compares the two. */
export const version = '0.1.0'
