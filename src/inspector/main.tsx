// The page begins here.

import { render } from 'preact'
import { Shell } from './shell.js'
import { applyTheme, keptTheme } from './theme.js'

applyTheme(keptTheme())

render(<Shell />, document.body)
