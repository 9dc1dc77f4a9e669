import { defaultRangeExtractor, type Range, useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import {
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { useDragBinding } from '../gestures/drag-binding.ts';
import { cardAim, isTapping, select, toggle } from '../gestures/selection.ts';
import { openFiber } from '../lib/open-fiber.ts';
import { focusCame, SEEN_MS } from '../lib/presses.ts';
import { toast } from '../lib/toasts.ts';
import { useWhere } from '../lib/url.ts';
import type { Item } from '../model/lists.ts';
import { Glyph } from '../ui/Glyph.tsx';
import { CardView } from './CardView.tsx';
import { HostItem } from './HostItem.tsx';
import styles from './ItemList.module.css';
import { Line } from './Line.tsx';

/** Heights before an item has been measured, in pixels. */
const ESTIMATES = { heading: 30, card: 118, line: 30, hosts: 40, host: 26, empty: 40 } as const;
/** How many items above and below those that can be seen are in the page, once those are shown. */
const OVERSCAN = 6;
/** Room above the first item for the ring of its focus, in pixels. */
const RING = 4;

/** How the keys of the Desk move the focus through a list. */
export type ListHandle = {
  hasFocus(): boolean;
  /** Moves it by so many items from the focused one. */
  move(by: number): void;
  /** Focuses the item that had the focus last; false if the list has none. */
  enter(): boolean;
};

type ItemListProps = {
  items: readonly Item[];
  /** The id of the heading that names the list. */
  labelled_by: string;
  /** Called with how to move the focus, and with null once the list is gone. */
  handle(handle: ListHandle | null): void;
};

/** A list of which only what can be seen is in the page. One of its items at a time can be reached with Tab. */
export function ItemList({ items, labelled_by, handle }: ItemListProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState<string | null>(null);
  useDragBinding(scroller, ({ bindScroller }, at) => bindScroller(at), '');
  const stop = useStop(items, current);
  const filled = items.length > 0;
  const [shown, setShown] = useState(false);
  useEffect(() => setShown(filled), [filled]);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ESTIMATES[items[index]?.kind ?? 'card'],
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: shown ? OVERSCAN : 0,
    paddingStart: RING,
    rangeExtractor: (range) => withStop(range, stop),
  });
  const focus = useFocusAfterMove(scroller, items, stop);
  const unseen = useRef(false);
  /** Where a choice with Shift begins: at the item that was pressed last without it, else at the stop. */
  const anchor = useRef<number | null>(null);
  const isUnseen = useUnseen(virtualizer.getVirtualItems());
  const goTo = (index: number) => {
    const item = items[index];
    if (item === undefined) return;
    setCurrent(item.key);
    virtualizer.scrollToIndex(index, { align: 'auto' });
    focus.request(item.key);
  };
  useEffect(() => {
    handle({
      hasFocus: focus.isInside,
      move: (by) => goTo(nextStop(items, stop, by)),
      enter: () => {
        if (stop < 0) return false;
        goTo(stop);
        return true;
      },
    });
    return () => handle(null);
  });
  /** Chooses the card of a click, with Shift all from the one that Tab leads to. */
  const choose = ({ target, shiftKey, ctrlKey, metaKey }: MouseEvent): boolean => {
    const card = target instanceof Element ? target.closest('article') : null;
    const aim = cardAim(card);
    if (aim === null || !(shiftKey || ctrlKey || metaKey || isTapping())) return false;
    if (shiftKey) {
      const to = items.findIndex((one) => 'card' in one && one.card.key === aim.row_key);
      const from = anchor.current ?? (stop < 0 ? to : stop);
      const between = items.slice(Math.min(from, to), Math.max(from, to) + 1);
      select(
        between.flatMap((one) => (one.kind === 'card' ? [{ row_key: one.card.key, saw: one.card.saw }] : [])),
      );
    } else toggle(aim);
    return true;
  };
  const open = (target: EventTarget) => {
    const key = target instanceof Element ? target.closest('li')?.dataset.key : undefined;
    const item = items.find((one) => one.key === key);
    if (item !== undefined && 'card' in item) openFiber(item.card);
  };
  return (
    <div className={styles.scroller} ref={scroller}>
      <ul
        tabIndex={-1}
        className={styles.items}
        style={{ height: virtualizer.getTotalSize() }}
        aria-labelledby={labelled_by}
        onPointerDownCapture={(event) => {
          const key = event.target instanceof Element ? event.target.closest('li')?.dataset.key : undefined;
          if (event.shiftKey) event.preventDefault();
          else anchor.current = items.findIndex((one) => one.key === key);
          unseen.current = key !== undefined && isUnseen(key, event.timeStamp);
        }}
        onClickCapture={(event) => {
          // A click without a pointer is that of a screen reader, which names what it clicks.
          if (!unseen.current || event.detail === 0) return;
          unseen.current = false;
          event.preventDefault();
          event.stopPropagation();
          toast('The list had just moved under your click, so nothing was done.');
        }}
        onFocus={({ target }) => {
          focus.came();
          const key = target.closest('li')?.dataset.key;
          if (key !== undefined) setCurrent(key);
        }}
        onBlur={({ relatedTarget }) => {
          if (relatedTarget !== null) focus.went();
        }}
        onClick={(event) => {
          const { target, defaultPrevented } = event;
          if (defaultPrevented || isControl(target)) return;
          if (choose(event)) return getSelection()?.removeAllRanges();
          if (getSelection()?.isCollapsed !== false) open(target);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.defaultPrevented || isControl(event.target)) return;
          event.preventDefault();
          open(event.target);
        }}
      >
        {virtualizer.getVirtualItems().map(({ index, key, start }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <li
              key={key}
              ref={virtualizer.measureElement}
              className={styles.item}
              style={{ transform: `translateY(${start}px)` }}
              data-index={index}
              data-key={item.key}
              aria-setsize={items.length}
              aria-posinset={index + 1}
            >
              <ItemView item={item} tab_stop={index === stop} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function ItemView({ item, tab_stop }: { item: Item; tab_stop: boolean }): ReactNode {
  switch (item.kind) {
    case 'heading': {
      const Heading = item.level === 'section' ? 'h2' : 'h3';
      return (
        <Heading className={styles[item.level]}>
          {item.state !== undefined && <Glyph state={item.state} />}
          {item.text} <span>{item.count}</span>
        </Heading>
      );
    }
    case 'card':
      return <CardView card={item.card} tab_stop={tab_stop} />;
    case 'line':
      return <Line card={item.card} tab_stop={tab_stop} />;
    case 'hosts':
      return (
        <h2 className={styles.hosts}>
          Hosts <span>not fresh</span>
        </h2>
      );
    case 'host':
      return <HostItem line={item.line} tab_stop={tab_stop} />;
    case 'empty':
      return <Empty text={item.text} />;
  }
}

function Empty({ text }: { text: string }): ReactNode {
  const { filter } = useWhere();
  return <p className={styles.empty}>{filter === null ? text : 'Nothing here matches the filter.'}</p>;
}

/**
 * Gives the focus to the stop once it is in the page: after a move, and when the card that had it has left the list. The
 * list itself takes it from its last card.
 */
function useFocusAfterMove(
  scroller: RefObject<HTMLDivElement | null>,
  items: readonly Item[],
  stop: number,
): { request(key: string): void; isInside(): boolean; came(): void; went(): void } {
  const requested = useRef<string | null>(null);
  const had = useRef(false);
  const isInside = () => scroller.current?.contains(document.activeElement) === true;
  const give = (key: string | null | undefined) => {
    const item = [...(scroller.current?.querySelectorAll('li') ?? [])].find((one) => one.dataset.key === key);
    const target = item?.querySelector<HTMLElement>('[tabindex]');
    target?.focus({ preventScroll: true });
    return target != null;
  };
  useLayoutEffect(() => {
    if (requested.current !== null && give(requested.current)) requested.current = null;
    else if (had.current && document.activeElement === document.body) {
      if (!give(items[stop]?.key)) scroller.current?.querySelector('ul')?.focus();
      if (document.activeElement !== null) focusCame(document.activeElement);
    }
    if (isInside()) had.current = true;
    else if (document.activeElement !== document.body) had.current = false;
  });
  return {
    came: () => {
      had.current = true;
    },
    went: () => {
      had.current = false;
    },
    request: (key) => {
      requested.current = give(key) ? null : key;
    },
    isInside,
  };
}

/** Tells whether an item had not stood long enough in its place for a press at that moment to be meant for it. */
function useUnseen(shown: readonly VirtualItem[]): (key: string, pressed_at: number) => boolean {
  const places = useRef(new Map<VirtualItem['key'], { start: number; since: number }>());
  useLayoutEffect(() => {
    const now = performance.now();
    const before = places.current;
    const taken = new Set([...before.values()].map(({ start }) => start));
    places.current = new Map(
      shown.map(({ key, start }) => {
        const known = before.get(key);
        if (known?.start === start) return [key, known];
        // One that comes into view while the list is scrolled takes nobody's place.
        return [key, { start, since: known !== undefined || taken.has(start) ? now : 0 }];
      }),
    );
  });
  return (key, pressed_at) => pressed_at < (places.current.get(key)?.since ?? 0) + SEEN_MS;
}

/** The place of the item that Tab leads to: the current one; the one that took its place, once that has left; else the first. */
function useStop(items: readonly Item[], current: string | null): number {
  const last = useRef(-1);
  const found = current === null ? -1 : items.findIndex(({ key }) => key === current);
  const stop =
    found >= 0 ? found : current === null ? nextStop(items, -1, 1) : siblingStop(items, last.current);
  last.current = stop;
  return stop;
}

/** What takes the focus at a place, after it, or else before it. */
function siblingStop(items: readonly Item[], place: number): number {
  const from = Math.max(place, 0);
  const next = nextStop(items, from - 1, 1);
  if (next >= from) return next;
  const before = nextStop(items, items.length, -1);
  return before < items.length ? before : -1;
}

function nextStop(items: readonly Item[], from: number, by: number): number {
  for (let index = from + by; index >= 0 && index < items.length; index += by) {
    const item = items[index];
    if (item !== undefined && takesFocus(item)) return index;
  }
  return from;
}

/** A button within a card does what it says, and nothing else. */
function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('button, a, input, textarea, select, summary') !== null;
}

function takesFocus({ kind }: Item): boolean {
  return kind === 'card' || kind === 'line' || kind === 'host';
}

/** The items that can be seen, and the stop wherever it is, so that it keeps the focus. */
function withStop(range: Range, stop: number): number[] {
  const seen = defaultRangeExtractor(range);
  return stop < 0 || stop >= range.count || seen.includes(stop)
    ? seen
    : [...seen, stop].sort((a, b) => a - b);
}
