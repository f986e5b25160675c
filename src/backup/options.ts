// What a backup and a restore may be told.

interface Options<Progress> {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** @throws TypeError for options that cannot be */
export function checkOptions<Progress>(options: Options<Progress>): Options<Progress> {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('options must be an object: { signal, onProgress }')
  }
  const { signal, onProgress, ...unknown } = options
  for (const name of Object.keys(unknown)) throw new TypeError(`there is no option '${name}'`)
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError('signal must be an AbortSignal')
  }
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw new TypeError('onProgress must be a function')
  }
  return { signal, onProgress }
}
