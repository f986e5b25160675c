/** What the environment says in place of a flag. One that is empty is as good as none. */
export function variable(
  name: 'LOREKEEP_DATA' | 'LOREKEEP_URL' | 'LOREKEEP_TOKEN' | 'LOREKEEP_USER',
): string | undefined {
  const { [name]: text } = process.env
  return text === '' ? undefined : text
}
