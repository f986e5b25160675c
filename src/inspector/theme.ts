// Light or dark: as the system has it, unless somebody chose.

import { useEffect, useState } from 'preact/hooks'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const kept = 'lorekeep.theme'

export function keptTheme(): Theme {
  const found = localStorage.getItem(kept)
  return themes.find((theme) => theme === found) ?? 'system'
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme
}

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(keptTheme)
  useEffect(() => {
    applyTheme(theme)
    localStorage.setItem(kept, theme)
  }, [theme])
  return [theme, setTheme]
}
