/** The user of whoever names none: that of the reference system, whose clients rely on it. */
export const referenceUser = 'trustgraph'
