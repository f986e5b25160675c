// npm run api: what is public now is what should be. Read the difference before you commit it.

import assert from 'node:assert/strict'
import { checkReport } from './api-report.js'

assert.deepEqual(checkReport({ write: true }).errors, [])
