import { type ReactNode, useState } from 'react';
import { AddProject } from '../forms/ProjectPicker.tsx';
import { releaseAll } from '../gestures/release.ts';
import { useHostState } from '../lib/host-state.ts';
import { STATE_PATH } from '../lib/paths.ts';
import { readAgain, useRead } from '../lib/reads.ts';
import { go } from '../lib/url.ts';
import { firstSteps, type Step } from '../model/first-run.ts';
import type { AgentsReply, DoctorReply, FiberStores, StoreOrigin } from '../model/wire.ts';
import { writeList } from '../settings/Stores.tsx';
import { Button } from '../ui/Button.tsx';
import { Glyph } from '../ui/Glyph.tsx';
import { Hidden } from '../ui/Hidden.tsx';
import styles from './FirstRun.module.css';

/** Nothing tells the page when these change. */
const EVERY_MS = 5_000;
const SEEN = { every_ms: EVERY_MS };

/** What stands between an empty board and its first worker, each gap with what closes it; goes with the first fiber. */
export default function FirstRun(): ReactNode {
  const doctor = useRead<DoctorReply>('/doctor', SEEN);
  const agents = useRead<AgentsReply>('/agents', SEEN);
  const stores = useRead<FiberStores>('/fiber-stores', SEEN);
  const state = useHostState(SEEN);
  const origin = stores.value?.origins[stores.value.host];
  const steps = firstSteps({ doctor: doctor.value, agents: agents.value, origin, state: state.value });
  const refusals = [doctor, agents, stores, state].flatMap(({ refusal }) => refusal?.message ?? []);
  const next = steps.find(({ done }) => done !== true)?.name;
  return (
    <section className={styles.page} aria-labelledby="first-run">
      <div className={styles.sheet}>
        <h2 className={styles.title} id="first-run">
          {stores.value === undefined ? 'Getting started' : `Getting started on ${stores.value.host}`}
        </h2>
        {[...new Set(refusals)].map((message) => (
          <p key={message} className={styles.refusal} role="alert">
            {message}
          </p>
        ))}
        <ol className={styles.steps}>
          {steps.map((step) => (
            <li key={step.name} className={styles.step} data-done={step.done} data-next={step.name === next}>
              <Glyph state={step.done === true ? 'accepted' : step.done === null ? 'unknown' : 'due'} />
              <div>
                <h3>
                  {step.title}
                  <Hidden>{step.done === true ? ', done' : step.done === null ? '' : ', to do'}</Hidden>
                </h3>
                <p>{step.says}</p>
                {step.command !== null && <code className={styles.command}>{step.command}</code>}
                <Mend step={step} origin={origin} />
              </div>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

/** The button that closes a gap. */
function Mend({ step, origin }: { step: Step; origin: StoreOrigin | undefined }): ReactNode {
  if (step.name === 'task')
    return (
      <div className={styles.buttons}>
        <Button shortcut="s" onClick={() => go({ sheet: 'stash' })}>
          Stash
        </Button>
        <Button tone="agent" shortcut="c" onClick={() => go({ sheet: 'capture' })}>
          Capture
        </Button>
      </div>
    );
  if (step.done !== false) return null;
  if (step.name === 'launches')
    return (
      <div className={styles.buttons}>
        <Button onClick={() => void releaseAll().then(() => readAgain(STATE_PATH))}>Let it launch</Button>
      </div>
    );
  if (step.name === 'store') return origin === undefined ? null : <AddStore origin={origin} />;
  return (
    <div className={styles.buttons}>
      <Button
        onClick={() => {
          readAgain('/doctor');
          readAgain('/agents');
        }}
      >
        Look again
      </Button>
    </div>
  );
}

function AddStore({ origin }: { origin: StoreOrigin }): ReactNode {
  const [adding, setAdding] = useState(false);
  if (!adding)
    return (
      <div className={styles.buttons}>
        <Button onClick={() => setAdding(true)}>Choose a folder</Button>
      </div>
    );
  return (
    <AddProject
      host=""
      dialog={origin.native_folder_picker}
      onDone={(path) => {
        setAdding(false);
        if (path !== null) void writeList('stores', [...origin.stores, path], origin);
      }}
    />
  );
}
