import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { setCustomNativeDragPreview } from '@atlaskit/pragmatic-drag-and-drop/element/set-custom-native-drag-preview';
import { autoScrollForElements } from '@atlaskit/pragmatic-drag-and-drop-auto-scroll/element';
import { COLUMN_GESTURES, type GestureId, targetsOf } from '../model/gestures.ts';
import styles from './Drag.module.css';
import { setDragged } from './dragged.ts';
import { gesturesAt, runGesture } from './gestures.ts';

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
    onDragStart: () => setDragged({ row_key, targets: targetsFrom(element, row_key), over: null }),
    onDrop: () => setDragged(null),
  });
}

/** The places that it can be dropped: not the column that it comes from. */
function targetsFrom(element: HTMLElement, row_key: string) {
  const column = element.closest<HTMLElement>('[data-column]')?.dataset.column;
  const here = column === undefined ? undefined : COLUMN_GESTURES[column];
  return targetsOf(gesturesAt(row_key)).filter(({ id }) => id !== here);
}

/** Does a gesture with the card that is dropped here; one that is refused says why while the card is over it. */
export function bindTarget(element: HTMLElement, id: GestureId): () => void {
  const hover = (row_key: unknown, source: HTMLElement, over: GestureId | null) => {
    if (typeof row_key === 'string') setDragged({ row_key, targets: targetsFrom(source, row_key), over });
  };
  return dropTargetForElements({
    element,
    canDrop: ({ source }) => source.element.dataset.row !== undefined,
    onDragEnter: ({ source }) => hover(source.element.dataset.row, source.element, id),
    onDragLeave: ({ source }) => hover(source.element.dataset.row, source.element, null),
    onDrop: ({ source }) => {
      const { row: row_key } = source.element.dataset;
      setDragged(null);
      if (row_key !== undefined && targetsFrom(source.element, row_key).some((one) => one.id === id))
        runGesture(row_key, id);
    },
  });
}

/** Scrolls a list while a card is held at its edge. */
export function bindScroller(element: HTMLElement): () => void {
  return autoScrollForElements({ element });
}
