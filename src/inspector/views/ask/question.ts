// What questions have in common, wherever they are asked.

/** From so many entities an answer is drawn. */
export const entities = 10
