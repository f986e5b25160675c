// Six languages from the text to the answer: words are found in their other forms, and marked at the right places.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'

interface Asked {
  readonly text: string
  /** The number of the passage that answers it. */
  readonly right: number
  /** What is marked in it, in its order. */
  readonly marked: readonly string[]
}

const asked = (text: string, right: number, ...marked: string[]): Asked => {
  return { text, right, marked }
}

interface Language {
  readonly passages: readonly string[]
  readonly questions: readonly Asked[]
}

const languages: Readonly<Record<string, Language>> = {
  German: {
    passages: [
      'Die Bücher der alten Stadtbibliothek wurden nach dem Brand in ein Kloster gebracht.',
      'Müller mahlen das Korn in der Mühle am Fluss, und die Bäcker holen das Mehl.',
      'Auf der Straße vor dem Rathaus verkauften Händler Äpfel und Käse.',
      'Der Fußballverein gewann das Spiel gegen die Gäste aus Österreich.',
      'Im Winter schließen die Häuser früh ihre Läden, denn die Nächte sind kalt.',
      'Die Ärztin untersuchte den Jungen, der vom Baum gefallen war.',
    ],
    questions: [
      asked(
        'Wohin wurde das Buch der Stadtbibliothek gebracht?',
        0,
        'Bücher',
        'Stadtbibliothek',
        'gebracht',
      ),
      asked('Was macht der Mueller mit dem Korn?', 1, 'Müller', 'Korn'),
      asked('Wer verkauft Kaese auf der Strasse?', 2, 'Straße', 'verkauften', 'Käse'),
      asked(
        'Das Spiel der Fussballvereine gegen Oesterreich',
        3,
        'Fußballverein',
        'Spiel',
        'Österreich',
      ),
      asked('Wann schliesst ein Haus im Winter?', 4, 'Winter', 'Häuser'),
      asked('Welche Arztin hat einen Jungen untersucht?', 5, 'Ärztin', 'untersuchte', 'Jungen'),
    ],
  },
  French: {
    passages: [
      'L’eau de la rivière était si claire qu’on voyait les pierres.',
      'Les élèves de l’école apprennent à lire dans de vieux journaux.',
      'Le boulanger vend des gâteaux et du pain dès l’aube.',
      'Aujourd’hui, les chevaux du marchand ont traversé le pont.',
      'L’hôpital fut bâti par des religieuses au Moyen Âge.',
      'Son œuvre la plus connue est un poème sur la forêt.',
    ],
    questions: [
      asked('Quelle eau voit-on dans la riviere ?', 0, 'L’eau', 'rivière'),
      asked('Que lit l’élève dans un journal à l’école ?', 1, 'élèves', 'l’école', 'journaux'),
      asked('qui vend un gateau', 2, 'vend', 'gâteaux'),
      asked('Le cheval a-t-il traversé le pont ?', 3, 'chevaux', 'traversé', 'pont'),
      asked("Qui a bâti l'hopital ?", 4, 'L’hôpital', 'bâti'),
      asked('oeuvre connue foret', 5, 'œuvre', 'connue', 'forêt'),
    ],
  },
  Spanish: {
    passages: [
      'El niño corría por la montaña con su perro.',
      'Las ciudades de España tienen plazas con árboles.',
      'Los años pasaron y el pingüino volvió al mar.',
      '¿Quién escribió la canción? La escribieron dos mujeres.',
      'Las luces del faro guían a los barcos de noche.',
      'El camión lleva naranjas y limones al mercado.',
    ],
    questions: [
      asked('¿Dónde corría el nino?', 0, 'niño', 'corría'),
      asked('¿Qué ciudad tiene una plaza con árbol?', 1, 'ciudades', 'plazas', 'árboles'),
      asked('¿Cuándo volvió el pinguino?', 2, 'pingüino', 'volvió'),
      asked('canciones que escribió una mujer', 3, 'escribió', 'canción', 'mujeres'),
      asked('la luz del barco', 4, 'luces', 'barcos'),
      asked('¡camiones con limón y naranja!', 5, 'camión', 'naranjas', 'limones'),
    ],
  },
  Japanese: {
    passages: [
      '東京都の図書館は毎朝九時に開きます。',
      '彼女は京都で古い寺を訪れた。',
      'コンピューターの歴史についての本を読みました。',
      '桜の花は四月に咲き、川沿いの道を飾る。',
      '新幹線は大阪まで二時間半で走る。',
      '漁師は夜明け前に船を出し、魚を市場へ運ぶ。',
    ],
    questions: [
      asked('図書館は何時に開きますか', 0, '図書館', '開き'),
      asked('京都の寺', 1, '京都', '寺を'),
      asked('コンピューターの歴史', 2, 'コンピューターの歴史'),
      asked('桜はいつ咲きますか', 3, '桜の', '咲き'),
      asked('新幹線で大阪まで', 4, '新幹線', '大阪'),
      asked('漁師は魚をどこへ運ぶ', 5, '漁師', '魚を', '運ぶ'),
    ],
  },
  Chinese: {
    passages: [
      '北京大学的图书馆收藏了许多古代手稿。',
      '長江是亞洲最長的河流，流經十一個省份。',
      '他在上海学习音乐，后来成为著名的钢琴家。',
      '農民在春天播種，秋天收割稻米。',
      '这座桥建于一八九八年，连接两个岛屿。',
      '老師在教室裡講述唐朝的詩歌。',
    ],
    questions: [
      asked('图书馆收藏了什么手稿？', 0, '图书馆收藏了', '手稿'),
      asked('亞洲最長的河流', 1, '亞洲最長的河流'),
      asked('谁在上海学习音乐', 2, '在上海学习音乐'),
      asked('農民什麼時候播種', 3, '農民', '播種'),
      asked('桥连接哪两个岛屿', 4, '连接', '两个岛屿'),
      asked('唐朝詩歌', 5, '唐朝', '詩歌'),
    ],
  },
  Arabic: {
    passages: [
      'زار الطلاب المكتبة القديمة في وسط المدينة.',
      'كَتَبَ الشاعر قصيدةً عن البحر والسفن.',
      'يبيع التاجر الخبز والتمر في السوق كل صباح.',
      'أُسِّست المدرسة قبل مئة عام على يد امرأة غنية.',
      'الأنهار الكبيرة تجري من الجبال إلى البحر.',
      'سافر أحمد إلى مصر بالقطار مع إخوته.',
    ],
    questions: [
      asked('أين مكتبة الطلاب؟', 0, 'الطلاب', 'المكتبة'),
      asked('من كتب قصيدة عن البحر؟', 1, 'كَتَبَ', 'قصيدةً', 'البحر'),
      asked('ماذا يبيع تاجر في سوق؟', 2, 'يبيع', 'التاجر', 'السوق'),
      asked('متى اسست مدرسة؟', 3, 'أُسِّست', 'المدرسة'),
      asked('الانهار الكبيرة', 4, 'الأنهار', 'الكبيرة'),
      asked('احمد والقطار', 5, 'أحمد', 'بالقطار'),
    ],
  },
}

/** Before a passage, so that code units and characters count differently. */
const before = '🚣‍♀️ 🇩🇪 — '

for (const [name, { passages, questions }] of Object.entries(languages)) {
  for (const form of ['NFC', 'NFD'] as const) {
    t.test(`${name}, as ${form}`, async (t) => {
      const keep = await createLorekeep({ backend: new MemoryBackend() })
      t.teardown(() => keep.close())
      const texts = passages.map((text) => `${before}${text}`.normalize(form))
      keep.flows.run()
      for (const [n, content] of texts.entries()) {
        await keep.flows.load('default', { user: 'u', id: `urn:${n}`, content })
      }
      for (;;) {
        const { done, dead } = await keep.flows.stats('default')
        t.equal(dead, 0)
        if (done === texts.length) break
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      const graph = keep.knowledge.graph({ user: 'u' })
      for (const { text, right, marked } of questions) {
        const [first] = await graph.search({ text })
        t.equal(first?.document?.v, `urn:${right}`, text)
        const [from = 0, to] = [first?.start, first?.end]
        const passage = texts[right]?.slice(from, to) ?? ''
        t.equal(first?.text, passage)
        const marks = first?.highlights.map(([start, end]) => passage.slice(start, end))
        t.strictSame(
          marks?.map((mark) => mark.normalize('NFC')),
          marked,
          text,
        )
        const { sources } = await graph.retrieve({ text })
        t.equal(sources[0]?.document?.v, `urn:${right}`, `retrieve: ${text}`)
      }
    })
  }
}
