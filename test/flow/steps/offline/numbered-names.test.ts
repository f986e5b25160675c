import t from 'tap'
import { namesIn } from './names-in.js'

t.test('numbers behind a name are of it', async (t) => {
  for (const name of ['ISO 4217', 'Apollo 11', 'Boeing 747-400', 'Windows 95', 'ISO 2022']) {
    t.strictSame(await namesIn(`They wrote about ${name} and left.`), [name])
  }
})

t.test('years, and what is counted or measured, are not', async (t) => {
  t.strictSame(await namesIn('He was in Miami 2012 and left.'), ['Miami'])
  t.strictSame(await namesIn('They beat Oxford 3 times.'), ['Oxford'])
  t.strictSame(await namesIn('It is from Tralee 12 km to the coast.'), ['Tralee'])
  t.strictSame(await namesIn('They gave Bob 20 million for it.'), ['Bob'])
})

t.test('years and ordinals begin names', async (t) => {
  t.strictSame(await namesIn('He saw the 2012 Summer Olympics.'), ['2012 Summer Olympics'])
  t.strictSame(await namesIn('She sold it to the 20th Century Fox.'), ['20th Century Fox'])
  t.strictSame(await namesIn('It is the 1960 Alfred Hitchcock film.'), ['Alfred Hitchcock'])
  t.strictSame(await namesIn('It is the 1998 Disney film.'), ['Disney'])
  t.strictSame(await namesIn('In 1998 Bill Clinton came.'), ['Bill Clinton'])
})
