// Texts of HTML in which everything is escaped that was not written here.

export interface Html {
  readonly text: string
}

type Part = string | Html | readonly (string | Html)[]

export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const rest = parts.map((part, n) => textOf(part) + (strings[n + 1] ?? ''))
  return { text: (strings[0] ?? '') + rest.join('') }
}

/** Of our own: a style, whose characters are its own. */
export function raw(text: string): Html {
  return { text }
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function textOf(part: Part): string {
  if (typeof part === 'string') return part.replace(/[&<>"']/g, (found) => escapes[found] ?? found)
  return 'text' in part ? part.text : part.map(textOf).join('')
}
