// What files are called that come out of the page.

/** In any script, without what systems do not take. */
export function fileName(wanted: string): string {
  return wanted.toWellFormed().replace(/[\\/:*?"<>|\p{Cc}]+/gu, '_')
}
