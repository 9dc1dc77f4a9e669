import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { dialogOpened } from '../lib/open-dialogs.ts';
import { focusCame, sceneChanged } from '../lib/presses.ts';
import styles from './Dialog.module.css';
import { Toasts } from './Toasts.tsx';

type DialogProps = {
  /** Names the dialog; shown unless the content shows a heading of its own with the id that `children` gets. */
  title: string;
  /**
   * `side` is a sheet at the right, `wide` nearly the page, `top` stands near the upper edge, whatever its height; these are
   * all of it on a phone, where `menu` stands at the bottom.
   */
  shape?: 'center' | 'side' | 'wide' | 'top' | 'menu';
  /** Asked for with Escape, with a click beside it and with its own button. */
  onClose(): void;
  /** With a function, the content shows the title itself, in an element with the given id. */
  children: ReactNode | ((title_id: string) => ReactNode);
};

/** Gives the focus back from a dialog that another one takes the place of, in the same step. */
let left: (() => void) | null = null;

/**
 * A modal dialog: what is behind it cannot be reached, and the focus goes back to where it was. It begins at the control
 * with `data-autofocus`, else at the first one.
 */
export function Dialog({ title, shape = 'center', onClose, children }: DialogProps): ReactNode {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  const giveBack = useRef<(() => void) | null>(null);
  /** Where the mouse or the finger went down last. */
  const pressed = useRef<EventTarget | null>(null);
  // Before it is painted: keys that are pressed at what is seen have to reach it.
  useLayoutEffect(() => {
    const { activeElement, body } = document;
    giveBack.current = activeElement === body ? left : wayBackTo(activeElement);
    const { current: dialog } = element;
    if (dialog === null) return;
    dialog.showModal();
    // React keeps `autofocus` to itself, so that the browser chooses the first control.
    dialog.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    const gone = dialogOpened(dialog);
    sceneChanged();
    return () => {
      left = giveBack.current;
      gone();
      sceneChanged();
    };
  }, []);
  // After what it did to the page is shown.
  useEffect(() => {
    const dialog = element.current;
    return () => {
      dialog?.close();
      left = null;
      giveBack.current?.();
    };
  }, []);
  return (
    <dialog
      ref={element}
      className={`${styles.dialog} ${styles[shape]}`}
      // Keys that were pressed before it was there choose in a menu.
      data-letters={shape === 'menu' ? '' : undefined}
      aria-labelledby={id}
      onKeyDown={(event) => {
        // A browser may tell one Escape to every dialog that was opened without a click, or close one without asking.
        if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
      onCancel={(event) => {
        event.preventDefault();
        if (event.target === event.currentTarget) onClose();
      }}
      onPointerDown={({ target }) => {
        pressed.current = target;
      }}
      onClick={({ target, currentTarget }) => {
        // The element itself is hit only beside its content, also by a selection that began in it and ends there.
        if (target === currentTarget && pressed.current === target) onClose();
      }}
    >
      <div className={styles.inside}>
        {typeof children === 'function' ? (
          children(id)
        ) : (
          <>
            <h2 className={styles.title} id={id}>
              {title}
            </h2>
            {children}
          </>
        )}
      </div>
      <Toasts dialog={element} />
    </dialog>
  );
}

/** Focuses an element again; if it has left the page by then, what Tab leads to in its list, or the list itself. */
function wayBackTo(element: Element | null): () => void {
  const list = element?.closest('ul');
  return () => {
    const target = element?.isConnected ? element : (list?.querySelector('[tabindex="0"]') ?? list);
    if (target == null) return;
    (target as HTMLElement).focus({ preventScroll: true });
    if (target !== element) focusCame(target);
  };
}
