// How much room there is where an answer goes, and whether there is bold type.

export interface Screen {
  readonly rows: number
  readonly columns: number
  /** Whether what was asked for is in bold. */
  readonly isHighlit: boolean
}

/** Where the answer goes to no terminal. */
const page = { rows: 24, columns: 80 }

export function screenOf({ isTTY, rows, columns }: NodeJS.WriteStream): Screen {
  const { NO_COLOR: noColor = '', TERM } = process.env
  return {
    ...(isTTY ? { rows: rows || page.rows, columns: columns || page.columns } : page),
    // https://no-color.org
    isHighlit: isTTY && noColor === '' && TERM !== 'dumb',
  }
}
