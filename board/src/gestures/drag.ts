import {
  draggable,
  dropTargetForElements,
  type ElementDragPayload,
} from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { setCustomNativeDragPreview } from '@atlaskit/pragmatic-drag-and-drop/element/set-custom-native-drag-preview';
import { autoScrollForElements } from '@atlaskit/pragmatic-drag-and-drop-auto-scroll/element';
import type { Aim } from '../model/aim.ts';
import { COLUMN_GESTURES } from '../model/card-buttons.ts';
import { type GestureId, targetsOf } from '../model/gestures.ts';
import styles from './Drag.module.css';
import { setDragged } from './dragged.ts';
import { gesturesAt, runGesture } from './gestures.ts';
import { missed } from './writes.ts';

/** Lets a card be dragged to wherever its gestures lead. */
export function bindCard(element: HTMLElement, row_key: string): () => void {
  let grabbed = { x: 0, y: 0 };
  return draggable({
    element,
    onGenerateDragPreview: ({ nativeSetDragImage, location }) => {
      const box = element.getBoundingClientRect();
      const { clientX, clientY } = location.current.input;
      grabbed = { x: clientX - box.x, y: clientY - box.y };
      setCustomNativeDragPreview({
        nativeSetDragImage,
        getOffset: () => grabbed,
        render: ({ container }) => {
          const copy = element.cloneNode(true) as HTMLElement;
          copy.classList.add(styles.preview ?? '');
          copy.style.width = `${box.width}px`;
          container.append(copy);
        },
      });
    },
    // What it is when it is taken.
    getInitialData: () => ({ aim: { row_key, saw: element.dataset.saw ?? '' } }),
    onDragStart: ({ source }) => hover(source, null),
    onDrop: () => setDragged(null),
  });
}

type Source = Pick<ElementDragPayload, 'element' | 'data'>;

function aimOf({ data }: Source): Aim {
  return data.aim as Aim;
}

function hover(source: Source, over: GestureId | null): void {
  const aim = aimOf(source);
  setDragged({ aim, targets: targetsFrom(source.element, aim.row_key), over });
}

/** The places that it can be dropped: not the column that it comes from. */
function targetsFrom(element: HTMLElement, row_key: string) {
  const column = element.closest<HTMLElement>('[data-column]')?.dataset.column;
  const here = column === undefined ? undefined : COLUMN_GESTURES[column];
  return targetsOf(gesturesAt(row_key)).filter(({ id }) => id !== here);
}

/** Does a gesture with the card that is dropped here; one that is refused says why while the card is over it. */
export function bindTarget(element: HTMLElement, id: GestureId): () => void {
  return dropTargetForElements({
    element,
    canDrop: ({ source }) => source.element.dataset.row !== undefined,
    onDragEnter: ({ source }) => hover(source, id),
    onDragLeave: ({ source }) => hover(source, null),
    onDrop: ({ source }) => {
      const aim = aimOf(source);
      setDragged(null);
      // What is not offered any more is refused with the reason, unless it is where the card comes from.
      if (missed(aim) !== null || targetsFrom(source.element, aim.row_key).some((one) => one.id === id))
        runGesture(aim, id);
    },
  });
}

/** Scrolls a list while a card is held at its edge. */
export function bindScroller(element: HTMLElement): () => void {
  return autoScrollForElements({ element });
}
