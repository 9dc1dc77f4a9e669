import { Component, type ReactNode } from 'react';
import styles from './Boundary.module.css';
import { Button } from './Button.tsx';

type BoundaryProps = { what: string; children: ReactNode };

/** Holds what cannot be shown apart from the rest of the page, as when a part of the board can no longer be loaded. */
export class Boundary extends Component<BoundaryProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <div className={styles.failed} role="alert">
        <p>{this.props.what} cannot be shown. The board was updated, or its daemon does not answer.</p>
        <Button onClick={() => location.reload()}>Reload the page</Button>
      </div>
    );
  }
}
