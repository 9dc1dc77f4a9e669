import { type ReactNode, useState } from 'react';
import { post } from '../lib/api.ts';
import { usePhone } from '../lib/media.ts';
import type { Attached } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Command } from './Command.tsx';
import styles from './OpenTerminal.module.css';
import { useOrigin } from './origin.ts';

/** The harness of a past session has to start first. */
const ATTACH_MS = 60_000;

const NO_WINDOW = 'No window could be opened here. Run this in a terminal:';

type Opened = { fault: boolean; text: string; command: string | null };

/**
 * Opens a worker, or a past session by its id, in a window of the terminal emulator of the host that answers; without one
 * it shows the command that does so by hand. A phone has no terminal.
 */
export function OpenTerminal({
  asked,
  children,
}: {
  asked: { mux_session: string } | { session: string };
  children: ReactNode;
}): ReactNode {
  const origin = useOrigin();
  const phone = usePhone();
  const [busy, setBusy] = useState(false);
  const [opened, setOpened] = useState<Opened | null>(null);
  if (phone) return null;
  const open = async () => {
    setBusy(true);
    const body = { ...asked, ...(origin === null ? {} : { shuttle_host: origin }) };
    const answer = await post<Attached>('/attach', body, { timeout_ms: ATTACH_MS });
    setBusy(false);
    if (answer.ok) {
      const { terminal, mux_session } = answer.value;
      setOpened({ fault: false, text: `${terminal} shows ${mux_session}.`, command: null });
    } else {
      const { command } = (answer.body ?? {}) as { command?: unknown };
      const by_hand = typeof command === 'string' ? command : null;
      const text = by_hand === null ? answer.message : NO_WINDOW;
      setOpened({ fault: by_hand === null, text, command: by_hand });
    }
  };
  return (
    <div className={styles.open}>
      <Button size="small" disabled={busy} onClick={() => void open()}>
        {children}
      </Button>
      <div role="status">
        {opened !== null && <p data-tone={opened.fault ? 'fault' : 'done'}>{opened.text}</p>}
        {opened?.command != null && <Command text={opened.command} />}
      </div>
    </div>
  );
}
