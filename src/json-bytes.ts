// The bytes that JSON is made of, for those who look at it before it is parsed.

export const tab = 0x09
export const lineFeed = 0x0a
export const carriageReturn = 0x0d
export const space = 0x20
export const quote = 0x22
export const comma = 0x2c
export const colon = 0x3a
export const openArray = 0x5b
export const backslash = 0x5c
export const closeArray = 0x5d
export const openObject = 0x7b
export const closeObject = 0x7d
