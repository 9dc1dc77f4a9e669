import { type ReactNode, useEffect, useState } from 'react';
import { post } from '../lib/api.ts';
import { askNow, onLedger } from '../lib/board.ts';
import { useHostState } from '../lib/host-state.ts';
import { whyNotLoaded } from '../lib/parts.tsx';
import { START_COMMAND, STATE_PATH } from '../lib/paths.ts';
import { readAgain } from '../lib/reads.ts';
import { toast } from '../lib/toasts.ts';
import { go } from '../lib/url.ts';
import { type LostCapture, type NoticeAct, noticesOf } from '../model/notices.ts';
import { Button } from '../ui/Button.tsx';
import { Banner } from './Banner.tsx';

/** Nothing tells the page when most of these change. */
const EVERY_MS = 10_000;

/** What concerns the host as a whole beside its feed: the brake, incidents, captures and files that are not valid. */
export default function HostNotices(): ReactNode {
  const { value } = useHostState({ every_ms: EVERY_MS });
  useEffect(() => onLedger((feed) => feed === 'state' && readAgain(STATE_PATH)), []);
  const start = value?.start_command;
  useEffect(() => {
    if (start !== undefined) localStorage.setItem(START_COMMAND, start);
  }, [start]);
  return (
    <>
      {value !== undefined &&
        noticesOf(value).map(({ key, glyph, title, text, acts, part, again }) => (
          <Banner
            key={key}
            glyph={glyph}
            title={title}
            action={
              <>
                {acts.map((act) => (
                  <ActButton key={act.text} act={act} />
                ))}
                {again !== undefined && <AgainButton lost={again} />}
                {part !== undefined && (
                  <Button onClick={() => go({ view: 'settings', part: part.name, fiber: null })}>
                    {part.text}
                  </Button>
                )}
              </>
            }
          >
            {text}
          </Banner>
        ))}
    </>
  );
}

/** Writes on a click, and says what came of it. */
export function ActButton({ act }: { act: NoticeAct }): ReactNode {
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    const answer = await post<never>(act.path, act.body, { timeout_ms: ACT_MS });
    setBusy(false);
    if (answer.ok) toast(act.done(answer.value));
    else toast(answer.message, { tone: 'fault' });
    readAgain(STATE_PATH);
    askNow();
  };
  return (
    <Button tone={act.tone ?? 'plain'} disabled={busy} onClick={() => void run()}>
      {act.text}
    </Button>
  );
}

/** Sends the kept text of a capture to a new worker, and then takes the lost one off the list. */
function AgainButton({ lost }: { lost: LostCapture }): ReactNode {
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    const fault = await import('./capture-again.ts').then(
      ({ captureAgain }) => captureAgain(lost),
      whyNotLoaded,
    );
    setBusy(false);
    if (fault !== null) toast(fault, { tone: 'fault' });
    readAgain(STATE_PATH);
    askNow();
  };
  return (
    <Button tone="agent" disabled={busy} onClick={() => void run()}>
      Capture again
    </Button>
  );
}

/** The workers of an incident are started one after another. */
const ACT_MS = 120_000;
