import { type ReactNode, useEffect, useRef, useState } from 'react';
import { openBulk } from '../gestures/gestures.ts';
import { clearSelection, selected, setTapping, useSelection, useTapping } from '../gestures/selection.ts';
import { useKeys } from '../lib/keys.ts';
import { usePhone } from '../lib/media.ts';
import { go, useWhere } from '../lib/url.ts';
import { BULK } from '../model/bulk.ts';
import { FACETS } from '../model/facets.ts';
import { Button } from '../ui/Button.tsx';
import styles from './DeskBar.module.css';

/** Browsers refuse an address that changes with every letter. */
const ADDRESS_MS = 250;

/** Narrows and groups the cards of the Desk; while some are chosen, what can be done to all of them. */
export default function DeskBar({ grouped = true }: { grouped?: boolean }): ReactNode {
  const phone = usePhone();
  const count = useSelection().size;
  const tapping = useTapping();
  useKeys({ Escape: clearSelection });
  if (count > 0 || tapping)
    return (
      <div className={styles.bar} role="toolbar" aria-label="The chosen cards">
        <b role="status">{count === 0 ? 'Tap the cards' : count === 1 ? '1 chosen' : `${count} chosen`}</b>
        <Button size="small" tone="quiet" onClick={clearSelection}>
          Clear
        </Button>
        {BULK.map(({ id, name }) => (
          <Button key={id} size="small" disabled={count === 0} onClick={() => openBulk(selected(), id)}>
            {name}
          </Button>
        ))}
      </div>
    );
  return (
    <div className={styles.bar}>
      <Filter phone={phone} />
      {grouped && <Group />}
      {phone && (
        <Button tone="quiet" onClick={() => setTapping(true)}>
          Select
        </Button>
      )}
    </div>
  );
}

function Filter({ phone }: { phone: boolean }): ReactNode {
  const { filter } = useWhere();
  const [typed, setTyped] = useState(filter ?? '');
  const field = useRef<HTMLInputElement>(null);
  /** What the address says because it was typed here. */
  const told = useRef(filter);
  useKeys({ f: () => field.current?.focus() });
  useEffect(() => {
    // The way back, or another link.
    if (filter !== told.current) setTyped(filter ?? '');
    told.current = filter;
  }, [filter]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const next = typed.trim() || null;
      if (next === told.current) return;
      // The first letter is a step, and so is the end of a filter: the way back leads to what was shown before.
      const replace = told.current !== null && next !== null;
      told.current = next;
      go({ filter: next }, { replace });
    }, ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <input
      ref={field}
      type="search"
      className={styles.filter}
      aria-label="Filter the Desk"
      aria-keyshortcuts="f"
      placeholder={phone ? 'Filter' : 'Filter by title, project:, agent: or host:'}
      value={typed}
      maxLength={200}
      spellCheck={false}
      autoComplete="off"
      onChange={({ target }) => setTyped(target.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        setTyped('');
        field.current?.blur();
      }}
    />
  );
}

function Group(): ReactNode {
  const { group } = useWhere();
  return (
    <select
      className={styles.group}
      aria-label="Group the cards"
      value={group ?? ''}
      onChange={({ target }) => go({ group: FACETS.find((one) => one === target.value) ?? null })}
    >
      <option value="">Not grouped</option>
      {FACETS.map((facet) => (
        <option key={facet} value={facet}>
          By {facet}
        </option>
      ))}
    </select>
  );
}
