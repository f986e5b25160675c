/** What has the focus goes: the button of a card has it next, or all beside the navigation. */
export function passFocus(card?: Element | null): void {
  const next = card?.querySelector('button') ?? document.getElementById('content')
  next?.focus({ preventScroll: true })
}
