// A field for queries, with their words coloured. In a shadow root, where styles are adopted: those that CodeMirror
// puts into a document are kept out by the policy of the page.

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import {
  bracketMatching,
  HighlightStyle,
  StreamLanguage,
  syntaxHighlighting,
} from '@codemirror/language'
import { sparql } from '@codemirror/legacy-modes/mode/sparql'
import { EditorState, StateEffect, StateField } from '@codemirror/state'
import { Decoration, EditorView, keymap, lineNumbers, type DecorationSet } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'preact/hooks'

interface EditorProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly onRun: () => void
  /** From 1: where it is wrong. */
  readonly wrongLine: number | undefined
}

export function Editor({ label, value, onInput, onRun, wrongLine }: EditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | undefined>(undefined)
  const latest = useRef({ onInput, onRun })
  latest.current = { onInput, onRun }
  useEffect(() => {
    if (host.current === null) return
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          bracketMatching(),
          StreamLanguage.define(sparql),
          syntaxHighlighting(colours),
          wrong,
          theme,
          typing,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) latest.current.onInput(state.doc.toString())
          }),
          keymap.of([
            {
              key: 'Mod-Enter',
              run: () => {
                latest.current.onRun()
                return true
              },
            },
            ...defaultKeymap,
            ...historyKeymap,
          ]),
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [])
  useEffect(() => {
    const { current } = view
    if (current === undefined || current.state.doc.toString() === value) return
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } })
  }, [value])
  useEffect(() => {
    const { current } = view
    if (current === undefined) return
    const isThere = wrongLine !== undefined && wrongLine <= current.state.doc.lines
    const at = isThere ? current.state.doc.line(wrongLine).from : undefined
    current.dispatch({ effects: setWrong.of(at) })
    if (at !== undefined) current.dispatch({ effects: EditorView.scrollIntoView(at) })
  }, [wrongLine])
  return <div class="editor" ref={host} />
}

/** Left to a browser, a text that replaces another one gets its style as an attribute, which the policy refuses. */
const typing = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data, isComposing } = event
    if (inputType !== 'insertText' || data === null || isComposing) return false
    event.preventDefault()
    const text = view.state.toText(data)
    view.dispatch(view.state.replaceSelection(text), {
      userEvent: 'input.type',
      scrollIntoView: true,
    })
    return true
  },
})

const setWrong = StateEffect.define<number | undefined>()

/** The line that is wrong, until it is changed. */
const wrong = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, { docChanged, effects }) {
    for (const effect of effects) {
      if (!effect.is(setWrong)) continue
      const line = Decoration.line({ class: 'wrong' })
      return effect.value === undefined
        ? Decoration.none
        : Decoration.set([line.range(effect.value)])
    }
    return docChanged ? Decoration.none : set
  },
  provide: (field) => EditorView.decorations.from(field),
})

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.standard(tags.variableName), tags.operatorKeyword], color: 'var(--accent)' },
  { tag: tags.variableName, color: 'var(--warn)' },
  { tag: [tags.string, tags.atom], color: 'var(--good)' },
  { tag: tags.meta, color: 'var(--quiet)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
])

const theme = EditorView.theme({
  '&': { color: 'var(--text)', fontSize: '0.9rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
    maxHeight: '50vh',
  },
  '.cm-content, .cm-gutter': { minHeight: '11rem' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.6rem 0' },
  '.cm-gutters': {
    background: 'var(--ground)',
    color: 'var(--quiet)',
    borderRight: '1px solid var(--line)',
  },
  '.wrong': { background: 'var(--danger-soft)', boxShadow: 'inset 3px 0 var(--danger)' },
  '&.cm-focused .cm-matchingBracket, .cm-matchingBracket': { background: 'var(--accent-soft)' },
})
