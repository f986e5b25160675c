// The rules of Unicode (UAX 29) as Intl.Segmenter knows them.

/**
 * A segmenter that is made when it is first used: of each process the first one takes some 10 ms, and most that open a
 * store cut no text. One locale for all: the same text is cut alike on every machine.
 */
export function segmenterOf(
  granularity: 'grapheme' | 'sentence' | 'word',
): (text: string) => Intl.Segments {
  let segmenter: Intl.Segmenter | undefined
  return (text) => {
    segmenter ??= new Intl.Segmenter('en', { granularity })
    return segmenter.segment(text)
  }
}
