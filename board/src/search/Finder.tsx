import {
  type KeyboardEvent,
  type ReactNode,
  useDeferredValue,
  useEffect,
  useId,
  useMemo,
  useState,
} from 'react';
import { useFollowed } from '../lib/board.ts';
import { useToday } from '../lib/clock.ts';
import { openFiber } from '../lib/open-fiber.ts';
import { go, useWhere } from '../lib/url.ts';
import { commandsFor } from '../model/commands.ts';
import { keyOf } from '../model/feed-copy.ts';
import { FiberFinder } from '../model/finder.ts';
import { agedOf } from '../model/hosts.ts';
import type { FiberRow, SearchHit } from '../model/wire.ts';
import { Dialog } from '../ui/Dialog.tsx';
import { Lens } from '../ui/Lens.tsx';
import { CommandView, FiberView, type Shown } from './Entries.tsx';
import styles from './Finder.module.css';
import { useTexts } from './use-texts.ts';

const MOST_FIBERS = 30;
/** Before anything was typed. */
const MOST_RECENT = 7;
const MOST_COMMANDS = 6;
/** Browsers refuse an address that changes with every letter. */
const ADDRESS_MS = 300;

function close(): void {
  go({ sheet: null, q: null });
}

/** Finds fibers and commands while one types, and what stands in the texts of fibers. */
export default function Finder(): ReactNode {
  const { q } = useWhere();
  const id = useId();
  const today = useToday();
  const { copy } = useFollowed();
  const [typed, setTyped] = useState(q ?? '');
  const [chosen, setChosen] = useState(0);
  const [finder] = useState(() => new FiberFinder());
  const asked = useDeferredValue(typed);
  const blank = asked.trim() === '';
  const host = copy?.host ?? '';
  const { found, total } = useMemo(
    () => finder.find(copy?.rows.values() ?? [], asked, blank ? MOST_RECENT : MOST_FIBERS),
    [finder, copy, asked, blank],
  );
  const texts = useTexts(typed);
  const shown: Shown[] = useMemo(() => {
    const here = new Set(found.map(({ row }) => keyOf(row)));
    // Only the host that answers searches its texts.
    const hits = texts.hits.map((hit) => ({ key: keyOf({ origin: host, path: hit.path }), hit }));
    const fiber = (row: FiberRow) => () => openFiber(row);
    const commands = commandsFor(asked, MOST_COMMANDS);
    return [
      ...found.map((one) => ({ kind: 'fiber' as const, key: keyOf(one.row), ...one, run: fiber(one.row) })),
      ...hits
        .filter(({ key }) => !here.has(key))
        .map(({ key, hit }) => ({
          kind: 'text' as const,
          key,
          hit,
          row: copy?.rows.get(key),
          run: openHit(hit),
        })),
      ...commands.map(({ command, marks }) => ({
        kind: 'command' as const,
        key: command.text,
        command,
        marks,
        run: () => go({ q: null, sheet: null, ...command.to }),
      })),
    ];
  }, [found, texts.hits, asked, copy, host]);
  const at = Math.min(chosen, Math.max(0, shown.length - 1));
  const option = (index: number) => `${id}-${index}`;
  useEffect(() => {
    const timer = setTimeout(() => go({ q: typed.trim() || null }, { replace: true }), ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, at]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = shown.length - 1;
    const to = {
      ArrowDown: at === last ? 0 : at + 1,
      ArrowUp: at === 0 ? last : at - 1,
      PageDown: Math.min(last, at + PAGE),
      PageUp: Math.max(0, at - PAGE),
    }[event.key];
    if (to !== undefined) setChosen(Math.max(0, to));
    else if (event.key === 'Enter') shown[at]?.run();
    else return;
    event.preventDefault();
  };
  const groups = [
    {
      kind: 'fiber',
      heading: blank
        ? 'Changed last'
        : total > found.length
          ? `Fibers, the best ${found.length} of ${total}`
          : 'Fibers',
    },
    { kind: 'text', heading: 'In the text' },
    { kind: 'command', heading: 'Go to' },
  ] as const;
  return (
    <Dialog title="Find" shape="top" onClose={close}>
      {(title) => (
        <div className={styles.finder}>
          <h2 id={title} className={styles.title}>
            Find
          </h2>
          <div className={styles.ask}>
            <Lens />
            <input
              data-autofocus
              className={styles.input}
              role="combobox"
              aria-label="Find a fiber or a command"
              aria-expanded={shown.length > 0}
              aria-controls={`${id}-list`}
              aria-autocomplete="list"
              aria-activedescendant={shown.length === 0 ? undefined : option(at)}
              placeholder="Find a fiber by title, id, tag, host or text"
              value={typed}
              maxLength={MOST_CHARS}
              spellCheck={false}
              autoComplete="off"
              enterKeyHint="go"
              onChange={({ target }) => {
                setTyped(target.value);
                setChosen(0);
              }}
              onKeyDown={onKeyDown}
            />
            <button type="button" className={styles.close} onClick={close}>
              Close
            </button>
          </div>
          <div className={styles.results}>
            <div id={`${id}-list`} role="listbox" aria-label="Found">
              {groups.map(({ kind, heading }) => {
                const of = shown.flatMap((one, index) => (one.kind === kind ? [{ one, index }] : []));
                if (of.length === 0) return null;
                return (
                  // biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of a list box.
                  <div key={kind} role="group" aria-labelledby={`${id}-${kind}`}>
                    <p id={`${id}-${kind}`} className={styles.heading} role="presentation">
                      {heading}
                    </p>
                    {of.map(({ one, index }) => (
                      // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the field choose and open it.
                      <div
                        key={`${kind} ${one.key}`}
                        id={option(index)}
                        role="option"
                        tabIndex={-1}
                        aria-selected={index === at}
                        className={styles.entry}
                        onPointerMove={() => setChosen(index)}
                        onClick={one.run}
                      >
                        {one.kind === 'command' ? (
                          <CommandView command={one.command} marks={one.marks} />
                        ) : (
                          <FiberView
                            of={one}
                            today={today}
                            aged={copy === null || one.row === undefined ? null : agedOf(copy, one.row)}
                          />
                        )}
                      </div>
                    ))}
                  </div>
                );
              })}
            </div>
            {shown.length === 0 && !texts.busy && (
              <p className={styles.none}>
                Nothing has “{asked.trim()}” in its title, id, tags, host or text.
              </p>
            )}
          </div>
          <p className={styles.foot} role="status">
            {texts.says ??
              (copy === null
                ? 'The fibers are still being read.'
                : asked.trim() === ''
                  ? 'Type to find'
                  : `${shown.length} found`)}
          </p>
        </div>
      )}
    </Dialog>
  );
}

const PAGE = 8;
/** As the daemon takes it. */
const MOST_CHARS = 500;

function openHit({ id }: SearchHit): () => void {
  return () => go({ fiber: id, part: null, sheet: null, q: null });
}
