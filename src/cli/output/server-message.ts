// A server's own words, which are those of a run without one, and what to do about them.

import { variable } from '../config/environment.js'

export function serverMessage({ code, message }: { code: string; message: string }): string {
  const advice = adviceFor(code, message)
  return advice === undefined ? message : `${message} (${advice})`
}

function adviceFor(code: string, detail: string): string | undefined {
  switch (code) {
    case 'LK_HTTP_UNAUTHORIZED':
      return 'give the token with --token or LOREKEEP_TOKEN'
    case 'LK_HTTP_FORBIDDEN':
      // It may be about a collection, or about what no user of one's own can do.
      if (!detail.includes("user'")) return undefined
      // Who has it in the environment may not know that it was asked for.
      return variable('LOREKEEP_USER') === undefined
        ? '--user names the user'
        : '--user names the user, or else LOREKEEP_USER, which is set'
    case 'LK_FLOW_NOT_FOUND':
      return '--flow names the flow'
    case 'LK_STORAGE_FAILED':
    case 'LK_STORAGE_UNAVAILABLE':
    case 'LK_STORAGE_CORRUPT':
    case 'LK_STORAGE_FORMAT':
    case 'LK_INTERNAL':
      // What can hold names of files stays there.
      return `${code}: the server's log says more`
    default:
      return undefined
  }
}
