import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { setCustomNativeDragPreview } from '@atlaskit/pragmatic-drag-and-drop/element/set-custom-native-drag-preview';
import { autoScrollForElements } from '@atlaskit/pragmatic-drag-and-drop-auto-scroll/element';
import { COLUMN_GESTURES, type GestureId, targetsOf } from '../model/gestures.ts';
import styles from './Drag.module.css';
import { setDragged } from './dragged.ts';
import { gesturesAt, runGesture } from './gestures.ts';

/** Lets a card be dragged to wherever its gestures lead. */
export function bindCard(element: HTMLElement, path: string): () => void {
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
    onDragStart: () => setDragged({ path, targets: targetsFrom(element, path), over: null }),
    onDrop: () => setDragged(null),
  });
}

/** The places that it can be dropped: not the column that it comes from. */
function targetsFrom(element: HTMLElement, path: string) {
  const column = element.closest<HTMLElement>('[data-column]')?.dataset.column;
  const here = column === undefined ? undefined : COLUMN_GESTURES[column];
  return targetsOf(gesturesAt(path)).filter(({ id }) => id !== here);
}

/** Does a gesture with the card that is dropped here; one that is refused says why while the card is over it. */
export function bindTarget(element: HTMLElement, id: GestureId): () => void {
  const hover = (path: unknown, source: HTMLElement, over: GestureId | null) => {
    if (typeof path === 'string') setDragged({ path, targets: targetsFrom(source, path), over });
  };
  return dropTargetForElements({
    element,
    canDrop: ({ source }) => source.element.dataset.path !== undefined,
    onDragEnter: ({ source }) => hover(source.element.dataset.path, source.element, id),
    onDragLeave: ({ source }) => hover(source.element.dataset.path, source.element, null),
    onDrop: ({ source }) => {
      const { path } = source.element.dataset;
      setDragged(null);
      if (path !== undefined && targetsFrom(source.element, path).some((one) => one.id === id))
        runGesture(path, id);
    },
  });
}

/** Scrolls a list while a card is held at its edge. */
export function bindScroller(element: HTMLElement): () => void {
  return autoScrollForElements({ element });
}
