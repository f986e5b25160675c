import t from 'tap'
import { namesIn } from './names-in.js'

const names = (text: string) => namesIn(`Then we met ${text}.`)

t.test('people have no titles', async (t) => {
  t.strictSame(await names('Chief Executive Officer Jane Doe'), ['Jane Doe'])
  t.strictSame(await names('Governor Rick Perry and Prime Minister Tony Blair'), [
    'Rick Perry',
    'Tony Blair',
  ])
  t.strictSame(await names('General George Patton, President Obama and Prof. Ada Byron'), [
    ...['George Patton', 'Obama', 'Ada Byron'],
  ])
})

t.test('who has a title, and of whom', async (t) => {
  t.strictSame(await names('Apple CEO Tim Cook'), ['Apple', 'Tim Cook'])
  t.strictSame(await names('U.S. Senator John McCain'), ['U.S.', 'John McCain'])
})

t.test('things that begin like a title keep it', async (t) => {
  for (const name of [
    ...['General Electric', 'Major League Baseball', 'Prince Edward Island', 'Justice League'],
    ...['Governor General Award', 'Premier League'],
  ]) {
    t.strictSame(await names(`the ${name}`), [name])
  }
})

t.test('a title alone is no name', async (t) => {
  t.strictSame(await names('the Chief Executive Officer and the Governor'), [])
})
