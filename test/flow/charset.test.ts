import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import t from 'tap'
import { charsetOf, type Charset } from '../../src/flow/charset.js'
import { Utf8State } from '../../src/codec/utf8.js'
import { pickSeed, Random } from '../fixtures/random.js'

/** The standard's names, and the other labels of each. */
const labels: Readonly<Record<string, string>> = {
  'utf-8': 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8',
  ibm866: '866 cp866 csibm866',
  'iso-8859-2': 'csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2',
  'iso-8859-3': 'csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3',
  'iso-8859-4': 'csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4',
  'iso-8859-5':
    'csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988',
  'iso-8859-6':
    'arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987',
  'iso-8859-7':
    'csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek',
  'iso-8859-8':
    'csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual',
  'iso-8859-8-i': 'csiso88598i logical',
  'iso-8859-10': 'csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6',
  'iso-8859-13': 'iso8859-13 iso885913',
  'iso-8859-14': 'iso8859-14 iso885914',
  'iso-8859-15': 'csisolatin9 iso8859-15 iso885915 iso_8859-15 l9',
  'iso-8859-16': '',
  'koi8-r': 'cskoi8r koi koi8 koi8_r',
  'koi8-u': 'koi8-ru',
  macintosh: 'csmacintosh mac x-mac-roman',
  'windows-874': 'dos-874 iso-8859-11 iso8859-11 iso885911 tis-620',
  'windows-1250': 'cp1250 x-cp1250',
  'windows-1251': 'cp1251 x-cp1251',
  'windows-1252':
    'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252',
  'windows-1253': 'cp1253 x-cp1253',
  'windows-1254':
    'cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254',
  'windows-1255': 'cp1255 x-cp1255',
  'windows-1256': 'cp1256 x-cp1256',
  'windows-1257': 'cp1257 x-cp1257',
  'windows-1258': 'cp1258 x-cp1258',
  'x-mac-cyrillic': 'x-mac-ukrainian',
  gbk: 'chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk',
  gb18030: '',
  big5: 'big5-hkscs cn-big5 csbig5 x-x-big5',
  'euc-jp': 'cseucpkdfmtjapanese x-euc-jp',
  'iso-2022-jp': 'csiso2022jp',
  shift_jis: 'csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis',
  'euc-kr':
    'cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949',
  'utf-16be': 'unicodefffe',
  'utf-16le': 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16',
  'x-user-defined': '',
}

/**
 * The first half of the SHA-256 of the upper 128 characters in UTF-8, from the standard's index-*.txt, with
 * U+FFFD where a byte means nothing.
 */
const singleByte: Readonly<Record<string, string>> = {
  ibm866: '2e3f89d51df1d1b9',
  'iso-8859-2': 'da4d3b2f8f06435d',
  'iso-8859-3': 'c1d9ce25d3762a52',
  'iso-8859-4': '54140e6e75ba62ce',
  'iso-8859-5': '5372981566958051',
  'iso-8859-6': '2b716bc800e7bfe3',
  'iso-8859-7': '8d94b0308cf418c9',
  'iso-8859-8': 'ade2c0790e86ddc8',
  'iso-8859-8-i': 'ade2c0790e86ddc8',
  'iso-8859-10': '129e084c5bc4da60',
  'iso-8859-13': '20a9bcd406361c31',
  'iso-8859-14': '80050213abdb4257',
  'iso-8859-15': 'b9a4a2394ee58552',
  'iso-8859-16': 'c2bb18a77fe0cd90',
  'koi8-r': '25a9da95cf2db39e',
  'koi8-u': '79b0a6e96024f61a',
  macintosh: '94dcdcc19412eb48',
  'windows-874': '4bb5efdc1a2832ec',
  'windows-1250': '52665a0c49e77322',
  'windows-1251': '153baf169d84e269',
  'windows-1252': '9ba654722668eee9',
  'windows-1253': 'fa630499b7db169e',
  'windows-1254': '612d01246f4b5106',
  'windows-1255': '16925d6a9d5cff62',
  'windows-1256': 'ae636a90722c9d75',
  'windows-1257': 'abd51531663d43f8',
  'windows-1258': 'ded84db6d51e3143',
  'x-mac-cyrillic': 'ab39a8a69bbbd008',
  'x-user-defined': '3c73f8bf837f120d',
}

/** The same of all pairs from 0x8141 to 0xfefe. */
const koreanPairs = '5c78f63b09bdb486'

function charset(label: string): Charset {
  const found = charsetOf(label)
  if (typeof found === 'string') throw new Error(`${label} ${found}`)
  return found
}

/** Hexadecimal in, text out; the offset of a bad byte. */
function decode(label: string, hex: string | Uint8Array): string | number {
  const decoded = charset(label).decode(typeof hex === 'string' ? Buffer.from(hex, 'hex') : hex)
  return typeof decoded === 'number' ? decoded : Buffer.from(decoded).toString()
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

t.test(
  'every label of the standard is known, in any case and with white space around',
  async (t) => {
    for (const [name, others] of Object.entries(labels)) {
      for (const label of [name, ...others.split(' ').filter(Boolean)]) {
        t.equal(charset(label).name, name, label)
        t.equal(charset(`\t\n\f\r ${label.toUpperCase()} `).name, name)
      }
    }
  },
)

// https://docs.python.org/3/library/codecs.html#standard-encodings
const ofPython: Readonly<Record<string, string>> = {
  'utf-8': 'utf_8 utf8 U8 UTF cp65001 utf_8_sig',
  'utf-16le': 'utf_16 utf16 u16 utf_16_le utf_16le UTF-16LE',
  'utf-16be': 'utf_16_be UTF-16BE',
  'windows-1252': 'ascii 646 us-ascii latin_1 latin-1 iso8859_1 8859 cp819 L1 cp1252 windows_1252',
  'windows-1254': 'iso8859_9 latin5 cp1254',
  'windows-874': 'iso8859_11 tis_620 cp874',
  ...Object.fromEntries(
    [2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16].map((n) => [
      `iso-8859-${n}`,
      `iso8859_${n} iso_8859_${n} iso-8859-${n}`,
    ]),
  ),
  ...Object.fromEntries(
    [0, 1, 3, 5, 6, 7, 8].map((n) => [`windows-125${n}`, `cp125${n} windows_125${n}`]),
  ),
  ibm866: 'cp866 IBM866',
  'koi8-r': 'koi8_r',
  'koi8-u': 'koi8_u',
  macintosh: 'mac_roman macroman macintosh',
  'x-mac-cyrillic': 'mac_cyrillic',
  shift_jis: 'shift_jis shiftjis sjis s_jis cp932 932 ms932 mskanji ms_kanji',
  'euc-jp': 'euc_jp eucjp ujis',
  'iso-2022-jp': 'iso2022_jp iso2022jp iso_2022_jp',
  'euc-kr': 'euc_kr euckr ksc5601 cp949 949 ms949 uhc',
  gbk: 'gb2312 chinese euccn euc_cn eucgb2312_cn gbk 936 cp936 ms936',
  gb18030: 'gb18030',
  big5: 'big5 big5_tw cp950 950 ms950 big5hkscs big5_hkscs',
}

t.test("Python's names of codecs are those of the standard's charsets", async (t) => {
  for (const [name, codecs] of Object.entries(ofPython)) {
    for (const codec of codecs.split(' ')) {
      const charset = charsetOf(codec)
      t.equal(typeof charset === 'string' ? charset : charset.name, name, codec)
    }
  }
  for (const codec of ['cp437', 'cp037', 'utf_32', 'utf_7', 'rot13', 'hex']) {
    t.type(charsetOf(codec), 'string', codec)
  }
})

t.test('other labels are refused, and those that the standard refuses to decode', async (t) => {
  const refused = ['', ' ', 'utf-7', 'utf-32', 'cp437', 'utf 9', '\u00a0utf-8', 'utf-8'.padEnd(1e6)]
  const replaced = 'csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement'
  for (const label of [...refused, ...replaced.split(' '), '__proto__', 'constructor']) {
    t.type(charsetOf(label), 'string', label.slice(0, 20))
  }
})

t.test("each byte of a single-byte charset is that of the standard's index", async (t) => {
  for (const [name, wanted] of Object.entries(singleByte)) {
    const upper = Array.from({ length: 128 }, (_, i) => decode(name, Uint8Array.of(i + 128)))
    t.equal(digest(upper.map((c) => (c === 0 ? '\ufffd' : c)).join('')), wanted, name)
    const lower = Uint8Array.from({ length: 128 }, (_, i) => i)
    t.equal(decode(name, lower), Buffer.from(lower).toString('latin1'), `${name}, ASCII`)
  }
})

t.test('each pair of bytes of Korean is that of the index of windows-949', async (t) => {
  let text = ''
  for (let lead = 0x81; lead <= 0xfe; lead++) {
    for (let trail = 0x41; trail <= 0xfe; trail++) {
      const decoded = decode('windows-949', Uint8Array.of(lead, trail))
      text += typeof decoded === 'string' ? decoded : '\ufffd'
    }
  }
  t.equal(digest(text), koreanPairs)
})

t.test('texts decode as the standard says', async (t) => {
  const texts: readonly (readonly [label: string, hex: string, text: string | number])[] = [
    ['latin1', '63e920809fff', 'cé €Ÿÿ'],
    ['ascii', '8081', '€\x81'],
    ['iso-8859-16', 'aade', 'ȘȚ'],
    ['koi8-u', 'aebe', 'ўЎ'],
    ['866', '8fe0a8a2a5e21a', 'Привет\x1a'],
    ['gb2312', 'c4e3bac3', '你好'],
    ['gbk', 'a2e3a6d9fe9f81308130', '€︐䶮\u0080'],
    ['gb18030', '9439da33', '💩'],
    ['big5', 'a741a66e', '你好'],
    ['euc-jp', 'a4b3a4f38fb0c38ec1', 'こん仃ﾁ'],
    ['iso-2022-jp', '1b2442243324731b284221', 'こん!'],
    ['sjis', '82b182f11a1c7fc1', 'こん\x1a\x1c\x7fﾁ'],
    ['euc-kr', 'beeeb3e78141a2e6', '어녕갂€'],
    ['utf-16', '410000d800dc', 'A\u{10000}'],
    ['utf-16be', 'feff0041d800dc00', '\ufeffA\u{10000}'],
    ['utf-16le', 'fffe4100', '\ufeffA'],
    ['utf-8', 'efbbbf41c3a9', '\ufeffAé'],
    ['x-user-defined', '4180ff', 'A\uf780\uf7ff'],
  ]
  for (const [label, hex, text] of texts) t.equal(decode(label, hex), text, inspect([label, text]))
})

t.test('a bad byte is refused, and where it stands is told', async (t) => {
  const flaws: readonly (readonly [label: string, hex: string, offset: number])[] = [
    ['utf-8', '41ff41', 1],
    ['utf-8', '41c3', 1],
    ['utf-8', 'eda080', 0],
    ['windows-1253', '41aa', 1],
    ['windows-874', '41db41', 1],
    ['iso-8859-8', '414241a1', 3],
    ['gbk', 'c4e3ff', 2],
    ['gb18030', '41843181', 1],
    // Hong Kong's, and what Node takes for block elements and control characters.
    ['big5', 'a7418740', 2],
    ['big5', '41f9fe', 1],
    ['big5', '4180', 1],
    ['euc-jp', '414192', 2],
    ['euc-jp', '418ee0', 1],
    ['shift_jis', '4181', 1],
    ['euc-kr', '4180', 1],
    ['euc-kr', 'beee81', 2],
    ['euc-kr', 'beee8120', 2],
    ['euc-kr', 'beeec9a1', 2],
    ['iso-2022-jp', '41e9', 1],
    ['utf-16le', '410000d84100', 2],
    ['utf-16le', '410042', 2],
    // The byte order mark of the other order: all that follows would be nonsense.
    ['utf-16', 'feff0041', 0],
    ['utf-16be', 'fffe4100', 0],
  ]
  for (const [label, hex, offset] of flaws) t.equal(decode(label, hex), offset, `${label} ${hex}`)
})

const seed = pickSeed()

t.test(`a bad byte is found at any place of a long text (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  for (let round = 0; round < 50; round++) {
    const words = Array.from({ length: 3000 + random.below(3000) }, () =>
      random.pick(['a', 'é', '語', '💩']),
    )
    const bytes = Buffer.from(words.join(''))
    bytes[random.below(bytes.length)] = random.pick([0x20, 0x80, 0xc3, 0xe0, 0xed, 0xff])
    const found = decode('utf-8', bytes)
    if (isUtf8(bytes)) t.type(found, 'string')
    else {
      const state = new Utf8State()
      let wanted = state.check(bytes, 0, bytes.length)
      while (!isUtf8(bytes.subarray(0, wanted))) wanted--
      t.equal(found, wanted)
    }
  }
  // A character lies across each border of pieces.
  const japanese = Buffer.from(`41${'82b182f1'.repeat(4000)}`, 'hex')
  for (const at of [1 + random.below(8000) * 2, 4095, 8191, 15_999]) {
    const bad = Buffer.from(japanese)
    bad[at] = 0xff
    t.equal(decode('shift_jis', bad), at)
    bad[at] = 0x82
    bad[at + 1] = 0x20
    t.equal(decode('shift_jis', bad), at)
  }
})
