import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentService } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { depthInJson } from '../model/json-place.ts';

/** The colours come through the shadow root as custom properties. */
const LOOK = EditorView.theme({
  '&': {
    color: 'var(--ink)',
    backgroundColor: 'var(--raised)',
    fontSize: 'var(--editor-size)',
    height: '100%',
  },
  '&.cm-focused': { outline: '2.5px solid var(--ink)', outlineOffset: '-2.5px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '10px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': {
    color: 'var(--ink-3)',
    backgroundColor: 'var(--raised-quiet)',
    borderColor: 'var(--line)',
  },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--line-strong)',
  },
  '.cm-tooltip': {
    color: 'var(--ink)',
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line-strong)',
    fontFamily: 'var(--font)',
  },
  '.cm-changedLine': { backgroundColor: 'var(--agent-faint) !important' },
  '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': { backgroundColor: 'var(--you-wash) !important' },
  '.cm-changedLineGutter': { background: 'var(--you) !important' },
  '&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter': { background: 'var(--agent) !important' },
  // In a line of their own: there is no room for them beside a text on a phone.
  '.cm-chunkButtons': { position: 'static !important', padding: '4px 0', textAlign: 'right' },
  '.cm-chunkButtons button': {
    minHeight: '44px',
    margin: '0 3px',
    padding: '0 10px',
    border: '1px solid var(--line-strong)',
    borderRadius: '7px',
    background: 'var(--raised)',
    color: 'var(--ink)',
    font: '560 13px var(--font)',
  },
  '.cm-deletedChunk': { backgroundColor: 'var(--agent-faint) !important' },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'none',
    textDecoration: 'underline 2px var(--agent)',
  },
  '&.cm-merge-b .cm-changedText, .cm-insertedLine': {
    background: 'none',
    textDecoration: 'underline 2px var(--you)',
  },
});

/** Beside the editors of a merge, which are not in the theme of one. */
const MERGE_STYLE = `
.cm-mergeView { height: 100%; overflow: auto; scrollbar-width: thin; }
.cm-merge-revert { width: 2.2em; background: var(--sunk); }
.cm-merge-revert button { display: block; width: 100%; padding: 2px 0; border: 0; background: none; color: var(--agent-ink); font: 650 16px var(--font); cursor: pointer; }
.cm-merge-revert button:focus-visible { outline: 2.5px solid var(--ink); }
`;

/** A parser of the whole language would be a tenth of the editor, and is needed for nothing else. */
const INDENT = indentService.of(
  (context, at) => context.unit * depthInJson(context.state.sliceDoc(0, at), context.textAfterPos(at)),
);

type Edited = { label: string; onChange(text: string): void; onSave(): void };

function editing({ label, onChange, onSave }: Edited): Extension[] {
  const saved = () => {
    onSave();
    return true;
  };
  return [
    ...reading(label),
    history(),
    lintGutter(),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) onChange(state.doc.toString());
    }),
    keymap.of([{ key: 'Mod-s', run: saved }, ...defaultKeymap, ...historyKeymap]),
  ];
}

function reading(label: string): Extension[] {
  return [
    LOOK,
    INDENT,
    lineNumbers(),
    drawSelection(),
    bracketMatching(),
    EditorView.lineWrapping,
    // Without a tab stop of its own what scrolls cannot be reached by keys on every browser.
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  ];
}

/** The policy of the page allows no style elements; editors in a shadow root adopt sheets instead. */
function shadowOf(host: HTMLElement): ShadowRoot {
  return host.shadowRoot ?? host.attachShadow({ mode: 'open' });
}

export type CodeArea = {
  /** The text as it is now. */
  text(): string;
  setText(text: string): void;
  /** Marks what a sentence is about, and shows it there. */
  mark(found: { from: number; to: number; message: string } | null): void;
  destroy(): void;
};

/** An editor of a JSON text. */
export function openEditor(host: HTMLElement, text: string, edited: Edited): CodeArea {
  const root = shadowOf(host);
  const view = new EditorView({
    state: EditorState.create({ doc: text, extensions: editing(edited) }),
    parent: root,
    root,
  });
  return areaOf(view, () => view.destroy());
}

export type Merged = Edited & { theirs: string; mine: string; narrow: boolean };

/** What is on disk beside what was written, with a way to take each difference over; below each other where narrow. */
export function openMerge(host: HTMLElement, { theirs, mine, narrow, ...edited }: Merged): CodeArea {
  const root = shadowOf(host);
  if (narrow) {
    const unified = unifiedMergeView({
      original: theirs,
      mergeControls: (kind, run) => buttonOf(kind === 'accept' ? 'Keep mine' : 'Take the disk’s', run),
    });
    const state = EditorState.create({ doc: mine, extensions: [...editing(edited), unified] });
    const view = new EditorView({ state, parent: root, root });
    return areaOf(view, () => view.destroy());
  }
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(MERGE_STYLE);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  const view = new MergeView({
    a: { doc: theirs, extensions: [...reading('On disk now'), EditorState.readOnly.of(true)] },
    b: { doc: mine, extensions: editing(edited) },
    parent: root,
    root,
    revertControls: 'a-to-b',
    renderRevertControl: () => {
      const button = buttonOf('→');
      // The merge listens for the press of a mouse alone; a key sends only a click.
      button.addEventListener('click', ({ detail }) => {
        if (detail === 0) button.dispatchEvent(new MouseEvent('mousedown', { bubbles: true }));
      });
      button.ariaLabel = 'Take the lines on disk';
      button.title = 'Take the lines on disk';
      return button;
    },
  });
  return areaOf(view.b, () => view.destroy());
}

function buttonOf(text: string, run?: (event: MouseEvent) => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = text;
  if (run !== undefined) button.addEventListener('click', run);
  return button;
}

function areaOf(view: EditorView, destroy: () => void): CodeArea {
  return {
    text: () => view.state.doc.toString(),
    setText(text) {
      if (text !== view.state.doc.toString())
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    mark(found) {
      const diagnostics: Diagnostic[] = found === null ? [] : [{ ...found, severity: 'error' }];
      view.dispatch(setDiagnostics(view.state, diagnostics));
      if (found !== null) view.dispatch({ effects: EditorView.scrollIntoView(found.from, { y: 'center' }) });
    },
    destroy,
  };
}
