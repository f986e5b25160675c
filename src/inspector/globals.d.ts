/** Of the library that this page is of; scripts/inspector.js puts it in. */
declare const VERSION: string
