import t from 'tap'
import { checkReport } from './api-report.js'

t.test('public types are those of the report: `npm run api` writes it', (t) => {
  t.strictSame(checkReport(), { changed: false, errors: [] })
  t.end()
})
