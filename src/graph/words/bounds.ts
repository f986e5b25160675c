/** What looking for words may cost, by themselves and beside each other. Tests change them. */
export const bounds = {
  /**
   * Where the rarer word of a pair is in more passages the pair is not looked for: the lists of both would be
   * read with all positions. Of a million passages those of two frequent words take longer than all else.
   */
  mostPaired: 2 ** 14,
  /** Words whose lists are held at once have so many passages together, and those of one word more. */
  mostHeld: 2 ** 22,
  /** All of a question is looked for by so many of its words first. */
  mostPlaced: 3,
  /** Where so few passages have these so, all of it is looked for in their texts, of so many words together. */
  mostRead: 16,
  mostReadWords: 2 ** 14,
  /** Passages with one word of a name: where they are more, the name is not looked up in texts. */
  mostListed: 20_000,
}
