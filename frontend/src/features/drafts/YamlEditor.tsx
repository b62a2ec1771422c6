/** The campaign file as text. A chunk of its own: only who opens the text loads the editor. */
import { autocompletion, type CompletionContext, type CompletionResult, closeBrackets, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Annotation, EditorState, type Text } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'
import type { PlacedProblem } from '@/api/problem'
import { type KnownNames, type Suggestion, suggest } from './completion'
import classes from './drafts.module.css'
import type { Shape } from './schema'

interface YamlEditorProps {
  text: string
  onChange: (text: string) => void
  problems: readonly PlacedProblem[]
  schema: Shape | null
  known: KnownNames
}

interface Live {
  onChange: (text: string) => void
  schema: Shape | null
  known: KnownNames
}

/** A change that came from outside, which nobody needs to hear of. */
const outside = Annotation.define<boolean>()

export function YamlEditor({ text, onChange, problems, schema, known }: YamlEditorProps) {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const live = useRef<Live>({ onChange, schema, known })
  live.current = { onChange, schema, known }
  const start = useRef(text)
  useEffect(() => {
    if (!place.current) return
    const made = new EditorView({ parent: place.current, state: EditorState.create({ doc: start.current, extensions: extensions(live) }) })
    view.current = made
    return () => made.destroy()
  }, [])
  useEffect(() => {
    const own = view.current
    if (!own || own.state.doc.toString() === text) return
    own.dispatch({ changes: { from: 0, to: own.state.doc.length, insert: text }, annotations: outside.of(true) })
  }, [text])
  useEffect(() => {
    const own = view.current
    if (own) own.dispatch(setDiagnostics(own.state, diagnostics(own.state.doc, problems)))
  }, [problems])
  return <div ref={place} className={classes.yaml} />
}

const extensions = (live: { current: Live }) => [
  lineNumbers(),
  lintGutter(),
  history(),
  drawSelection(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  indentOnInput(),
  indentUnit.of('  '),
  bracketMatching(),
  closeBrackets(),
  yaml(),
  syntaxHighlighting(COLOURS),
  autocompletion({ override: [(context) => complete(context, live.current)], icons: false }),
  // Tab moves on to the next field, as everywhere else on the page.
  keymap.of([...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ 'aria-label': 'Campaign file', spellcheck: 'false', tabindex: '0' }),
  EditorView.updateListener.of((update) => {
    const isOwn = !update.transactions.some((one) => one.annotation(outside))
    if (update.docChanged && isOwn) live.current.onChange(update.state.doc.toString())
  }),
]

/** By variables, so that both colour schemes have their own. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--yaml-key)' },
  { tag: [tags.lineComment, tags.comment], color: 'var(--mantine-color-dimmed)', fontStyle: 'italic' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--yaml-text)' },
])

function complete(context: CompletionContext, { schema, known }: Live): CompletionResult | null {
  if (!schema || (!context.explicit && !context.matchBefore(/[\w.]+$|: $|\[$|- $/))) return null
  const found = suggest(context.state.doc.toString(), context.pos, schema, known)
  return found && { from: found.from, options: found.suggestions.map(option), validFor: /^[\w.]*$/ }
}

const option = ({ label, apply, kind, detail, help }: Suggestion) => ({
  label,
  apply,
  detail,
  type: kind === 'key' ? 'property' : 'constant',
  ...(help ? { info: help } : {}),
})

function diagnostics(doc: Text, problems: readonly PlacedProblem[]): Diagnostic[] {
  return problems.flatMap(({ line, place, message }) => {
    if (!line || line > doc.lines) return []
    const { from, to, text } = doc.line(line)
    const indent = text.length - text.trimStart().length
    return [{ from: Math.min(from + indent, to), to, severity: 'error', message: place ? `${place}: ${message}` : message }]
  })
}
