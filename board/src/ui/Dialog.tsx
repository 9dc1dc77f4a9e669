import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { dialogOpened } from '../lib/open-dialogs.ts';
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

/** Where the focus was before a dialog that another one takes the place of, in the same step. */
let left: Element | null = null;

/**
 * A modal dialog: what is behind it cannot be reached, and the focus goes back to where it was. It begins at the control
 * with `data-autofocus`, else at the first one.
 */
export function Dialog({ title, shape = 'center', onClose, children }: DialogProps): ReactNode {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  const before = useRef<Element | null>(null);
  /** Where the mouse or the finger went down last. */
  const pressed = useRef<EventTarget | null>(null);
  // Before it is painted: keys that are pressed at what is seen have to reach it.
  useLayoutEffect(() => {
    const { activeElement, body } = document;
    before.current = activeElement === body ? left : activeElement;
    const { current: dialog } = element;
    if (dialog === null) return;
    dialog.showModal();
    // React keeps `autofocus` to itself, so that the browser chooses the first control.
    dialog.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    const gone = dialogOpened(dialog);
    return () => {
      left = before.current;
      gone();
    };
  }, []);
  // After what it did to the page is shown.
  useEffect(() => {
    const dialog = element.current;
    return () => {
      dialog?.close();
      const { current } = before;
      left = null;
      if (current instanceof HTMLElement && current.isConnected) current.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={element}
      className={`${styles.dialog} ${styles[shape]}`}
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
