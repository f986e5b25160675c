/** What all progress bars have in common. */
export const barStyle = {
  stream: process.stderr,
  barsize: 24,
  clearOnComplete: true,
  hideCursor: true,
  barCompleteChar: '=',
  barIncompleteChar: '-',
} as const
