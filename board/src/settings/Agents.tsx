import { type ReactNode, useState } from 'react';
import { post } from '../lib/api.ts';
import { readAgain, useRead } from '../lib/reads.ts';
import { toast } from '../lib/toasts.ts';
import { go } from '../lib/url.ts';
import type { Agent, AgentEffortReply, AgentsReply, DoctorReply } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Glyph } from '../ui/Glyph.tsx';
import styles from './Settings.module.css';

/** The agents of this host, with their default efforts. */
export function Agents(): ReactNode {
  const { value, refusal } = useRead<AgentsReply>('/agents');
  const doctor = useRead<DoctorReply>('/doctor');
  return (
    <>
      <h2 className={styles.title}>Agents</h2>
      <p className={styles.about}>
        Who can work on fibers here. A change of effort holds from the next launch on.
      </p>
      {refusal !== null && (
        <p className={styles.about} role="alert">
          {refusal.message}
        </p>
      )}
      <section className={styles.box} aria-label="Agents">
        {value?.agents.map((agent) => (
          <AgentRow
            key={agent.id}
            agent={agent}
            found={doctor.value?.tools.find(({ name }) => name === agent.cli)?.path}
          />
        ))}
      </section>
      <div className={styles.buttons}>
        <Button onClick={() => go({ part: 'file-agents' })}>Edit agents.json</Button>
      </div>
    </>
  );
}

/** `found`: where its program lies; null for nowhere, undefined while that is not known. */
function AgentRow({ agent, found }: { agent: Agent; found: string | null | undefined }): ReactNode {
  const { id, harness, model, cli, effort_levels, default_effort, aliases, source } = agent;
  const facts = [
    harness,
    model === null ? 'its own model' : `model ${model}`,
    ...(cli === harness ? [] : [`runs ${cli}`]),
    ...(aliases.length === 0 ? [] : [`also ${aliases.join(', ')}`]),
  ];
  return (
    <div className={styles.row}>
      <Glyph
        state={
          found === undefined ? 'unknown' : found !== null ? 'accepted' : agent.default ? 'blocked' : 'draft'
        }
      />
      <div>
        <b>{id}</b> {agent.default && <span className={styles.chip}>default</span>}{' '}
        {source === 'file' && <span className={styles.chip}>agents.json</span>}
        <p className={styles.small}>{facts.join(', ')}</p>
        {found === null && (
          <p className={styles.small}>The daemon does not find {cli}: install it to use this agent.</p>
        )}
      </div>
      {effort_levels.length > 0 && <Effort id={id} levels={effort_levels} effort={default_effort} />}
    </div>
  );
}

function Effort({
  id,
  levels,
  effort,
}: {
  id: string;
  levels: readonly string[];
  effort: string | null;
}): ReactNode {
  const [busy, setBusy] = useState(false);
  const set = async (next: string) => {
    setBusy(true);
    const answer = await post<AgentEffortReply>('/agents/effort', { id, effort: next === '' ? null : next });
    setBusy(false);
    if (answer.ok) {
      const now = answer.value.agent.default_effort;
      toast(now === null ? `${id} has its own effort again.` : `The effort of ${id} is ${now}.`);
    } else toast(answer.message, { tone: 'fault' });
    readAgain('/agents');
  };
  return (
    <select
      aria-label={`Effort of ${id}`}
      className={styles.effort}
      disabled={busy}
      value={effort ?? ''}
      onChange={({ target }) => void set(target.value)}
    >
      <option value="">Its usual effort</option>
      {levels.map((level) => (
        <option key={level}>{level}</option>
      ))}
    </select>
  );
}
