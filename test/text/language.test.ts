import t from 'tap'
import { languageOf, languagesOfQuestion } from '../../src/text/language.js'

t.test('sentences tell their language', async (t) => {
  for (const [language, sentence] of [
    ['en', 'Which of the two kings was the first who lived in the castle?'],
    ['de', 'Welcher von den beiden Königen hat zuerst in der Burg gewohnt?'],
    ['fr', 'Lequel des deux rois est le premier qui a vécu dans le château ?'],
    ['es', '¿Cuál de los dos reyes fue el primero que vivió en el castillo?'],
    ['it', 'Quale dei due re è stato il primo che ha vissuto nel castello?'],
    ['pt', 'Qual dos dois reis foi o primeiro que viveu no castelo e não na cidade?'],
    ['nl', 'Welke van de twee koningen heeft het eerst in het kasteel gewoond?'],
    ['sv', 'Vilken av de två kungarna var den första som bodde i slottet och inte i staden?'],
    ['pl', 'Który z dwóch królów był pierwszym, który mieszkał w zamku?'],
    ['ru', 'Какой из двух королей был первым, кто жил в замке?'],
    ['uk', 'Хто з двох королів був першим, що жив у замку?'],
    ['ar', 'من هو الملك الذي كان يعيش في القلعة؟'],
    ['fa', 'کدام پادشاه در قلعه زندگی می‌کرد؟'],
    ['he', 'מי מהמלכים גר בטירה?'],
    ['el', 'Ποιος βασιλιάς έζησε στο κάστρο;'],
    ['hi', 'कौन सा राजा किले में रहता था?'],
    ['th', 'กษัตริย์องค์ใดอาศัยอยู่ในปราสาท'],
    ['zh', '哪位国王住在城堡里？'],
    ['ja', 'どの王が城に住んでいましたか。'],
    ['ko', '어느 왕이 성에 살았습니까?'],
  ] as const) {
    t.equal(languageOf(sentence), language, sentence)
  }
})

t.test('what tells nothing is undefined', async (t) => {
  const few = [
    '',
    ' ',
    '42',
    'Paris',
    'die',
    'Angela Merkel',
    'C++ server',
    'an',
    'no',
    'Москва',
    '😀',
  ]
  for (const text of [...few, 'de la', 'in die', '\ud800'])
    t.equal(languageOf(text), undefined, text)
})

t.test('a question of a few words is read in the likeliest languages', async (t) => {
  for (const [text, forms, stopWords] of [
    ['Where does Ellen live?', 'en', 'en'],
    ['boundary layer', 'en', 'en'],
    ['Le cheval a-t-il traversé le pont ?', 'fr it', 'fr it'],
    ['la luz del barco', 'es it', 'es it'],
    ['die hard', 'de nl en', 'en'],
    ['احمد والقطار', 'ar', 'ar'],
    ['книга', 'ru', 'ru'],
    ['桜はいつ咲きますか', 'ja', 'ja'],
    ['', 'en', 'en'],
  ] as const) {
    const found = languagesOfQuestion(text)
    t.strictSame([found.forms.join(' '), found.stopWords.join(' ')], [forms, stopWords], text)
  }
})
