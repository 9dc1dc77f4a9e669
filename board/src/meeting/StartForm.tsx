import { type ReactNode, useEffect, useState } from 'react';
import { get } from '../lib/api.ts';
import { keepDraft, keptDraft, useDraft } from '../lib/drafts.ts';
import { fiberPath } from '../lib/paths.ts';
import { audioSays } from '../model/audio-words.ts';
import { folderName } from '../model/folder-name.ts';
import { captureMeeting, joinMeeting, type MeetingChoice, NO_CHOICE } from '../model/meeting.ts';
import { projectChoices, storeOf } from '../model/task.ts';
import type { Captured, FiberReply, FiberStores, MeetingJoined } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Field } from '../ui/Field.tsx';
import { startMeeting } from './meeting.ts';
import styles from './PhonePage.module.css';
import type { UsedMicrophone } from './use-microphone.ts';

const KEPT = 'draft meeting';
const NOT_STARTED = 'The daemon began no meeting.';

function choiceOf(kept: Partial<MeetingChoice> | null): MeetingChoice {
  return { ...NO_CHOICE, ...kept };
}

/** The fiber that the address of the page names, for the meeting to join. */
function fiberInAddress(): { id: string; origin: string | null } | null {
  const query = new URLSearchParams(location.search);
  const id = query.get('fiber') ?? '';
  return id === '' ? null : { id, origin: query.get('origin') || null };
}

type StartFormProps = {
  microphone: UsedMicrophone;
  /** It is recorded; `fault` is what failed after it had begun, or null. */
  onStarted(fault: string | null): void;
};

/** Begins a meeting with this phone as its microphone, for a worker of its own or into a fiber. */
export function StartForm({ microphone, onStarted }: StartFormProps): ReactNode {
  const choice = choiceOf(useDraft(KEPT));
  const [stores, setStores] = useState<FiberStores | null>(null);
  const [fault, setFault] = useState<{ project: boolean; text: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const [fiber] = useState(fiberInAddress);
  useEffect(() => {
    if (fiber !== null) return;
    void get<FiberStores>('/fiber-stores').then((answer) => {
      if (answer.ok) setStores(answer.value);
      else setFault({ project: false, text: answer.message });
    });
  }, [fiber]);
  const choiceNow = () => choiceOf(keptDraft(KEPT));
  const change = (next: Partial<MeetingChoice>) => {
    setFault(null);
    keepDraft(KEPT, { ...choiceNow(), ...next });
  };
  const origin = stores?.origins[choice.host === '' ? stores.host : choice.host];

  const start = async () => {
    if (fiber === null && choice.project === '') {
      setFault({ project: true, text: 'Choose the folder that its worker runs in.' });
      return;
    }
    setBusy(true);
    setFault(null);
    // Before anything else is waited for, since only a tap may open a microphone.
    if (await microphone.open()) {
      const store = storeOf(origin?.stores ?? [], { store: '', project: choice.project });
      const started = await (fiber === null
        ? startMeeting<Captured>('/capture', captureMeeting('phone', choice, store))
        : startMeeting<MeetingJoined>(
            '/meeting/join',
            joinMeeting('phone', fiber.id, fiber.origin, choice.note),
          ));
      const recorded = started.ok || started.recording ? started.meeting : null;
      if (recorded !== null) {
        microphone.connect(recorded.launch);
        if (started.ok && choiceNow().note === choice.note) change({ note: '' });
        onStarted(started.ok ? null : started.message);
      } else {
        microphone.close();
        setFault({ project: false, text: started.ok ? NOT_STARTED : started.message });
      }
    }
    setBusy(false);
  };

  return (
    <form
      className={styles.start}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void start();
      }}
    >
      {fiber === null ? (
        <Place stores={stores} choice={choice} change={change} error={fault?.project ? fault.text : null} />
      ) : (
        <Joined fiber={fiber} />
      )}
      <Field label="What it is about" hint="The first line is its title. It may be left empty.">
        {(input) => (
          <textarea
            {...input}
            rows={2}
            value={choice.note}
            placeholder="Review of the gauges"
            onChange={({ target }) => change({ note: target.value })}
          />
        )}
      </Field>
      {fault !== null && !fault.project && (
        <p className={styles.fault} role="alert">
          {fault.text}
        </p>
      )}
      <NoMicrophone microphone={microphone} />
      <Button type="submit" tone="agent" disabled={busy}>
        {busy ? 'Starting …' : 'Start recording'}
      </Button>
      <p className={styles.note}>
        Everybody in the room should know that it is recorded. The recording and its transcript stay on this
        host.
      </p>
    </form>
  );
}

/** Why the browser gave no microphone, when it was asked to begin. */
function NoMicrophone({ microphone: { state } }: { microphone: UsedMicrophone }): ReactNode {
  if (state.kind !== 'no_microphone' && state.kind !== 'opening') return null;
  const { tone, text } = audioSays(state, false, false);
  return (
    <p className={tone === 'fault' ? styles.fault : styles.note} role="alert">
      {text}
    </p>
  );
}

/** The fiber that the meeting joins. */
function Joined({ fiber: { id, origin } }: { fiber: { id: string; origin: string | null } }): ReactNode {
  const [name, setName] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  useEffect(() => {
    void get<FiberReply>(fiberPath(id, origin)).then((answer) => {
      if (answer.ok) setName(answer.value.fiber.name);
      else setRefusal(answer.message);
    });
  }, [id, origin]);
  return (
    <div className={styles.joined}>
      <p>
        The meeting joins <b>{name ?? id}</b>, whose worker is told of it.{' '}
        <a href="/?view=meeting">Record for a new fiber</a>
      </p>
      {refusal !== null && <p className={styles.fault}>{refusal}</p>}
    </div>
  );
}

type PlaceProps = {
  stores: FiberStores | null;
  choice: MeetingChoice;
  change(next: Partial<MeetingChoice>): void;
  error: string | null;
};

/** The host and the folder that the worker of the meeting runs in. */
function Place({ stores, choice, change, error }: PlaceProps): ReactNode {
  const hosts = Object.keys(stores?.origins ?? {});
  const origin = stores?.origins[choice.host === '' ? stores.host : choice.host];
  const choices = projectChoices(origin, choice.project);
  const none = stores !== null && choices.length === 0;
  return (
    <>
      <Field
        label="Project"
        error={error}
        hint={
          none ? 'This host knows no folder yet. Add one on the board, in Stash or Capture.' : choice.project
        }
      >
        {(input) => (
          <select
            {...input}
            value={choice.project}
            onChange={({ target }) => change({ project: target.value })}
          >
            <option value="">Choose a project</option>
            {choices.map((path) => (
              <option key={path} value={path}>
                {choices.filter((one) => folderName(one) === folderName(path)).length > 1
                  ? path
                  : folderName(path)}
              </option>
            ))}
          </select>
        )}
      </Field>
      {hosts.length > 1 && (
        <Field label="Its host" hint="The recording is made here, and its transcript is copied there.">
          {(input) => (
            <select
              {...input}
              value={choice.host === '' ? stores?.host : choice.host}
              onChange={({ target }) =>
                change({ host: target.value === stores?.host ? '' : target.value, project: '' })
              }
            >
              {hosts.map((host) => (
                <option key={host}>{host}</option>
              ))}
            </select>
          )}
        </Field>
      )}
    </>
  );
}
