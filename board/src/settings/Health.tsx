import type { ReactNode } from 'react';
import { releaseAll } from '../gestures/release.ts';
import { useTimeText, useToday } from '../lib/clock.ts';
import { useHostState } from '../lib/host-state.ts';
import { useRead } from '../lib/reads.ts';
import { go } from '../lib/url.ts';
import { type Fault, faultsOf, muxWords } from '../model/health.ts';
import type { AgentsReply, DoctorReply, State, Version } from '../model/wire.ts';
import { lasting, moment, timeOfDay } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import { Glyph } from '../ui/Glyph.tsx';
import { Phrase } from '../ui/Sentence.tsx';
import styles from './Settings.module.css';

/** Nothing tells the page when these change. */
const EVERY_MS = 10_000;

/** What is wrong with the host, each with its fix; then what it consists of. */
export function Health(): ReactNode {
  const state = useHostState({ every_ms: EVERY_MS });
  const version = useRead<Version>('/version', { every_ms: EVERY_MS });
  const doctor = useRead<DoctorReply>('/doctor');
  const agents = useRead<AgentsReply>('/agents');
  const reads = [state, version, doctor, agents];
  const faults = faultsOf({
    ...{ state: state.value, version: version.value, doctor: doctor.value, agents: agents.value },
  });
  const known = reads.every(({ value }) => value !== undefined);
  return (
    <>
      <h2 className={styles.title}>Health</h2>
      {reads.map(
        ({ refusal }, index) =>
          refusal !== null && (
            // biome-ignore lint/suspicious/noArrayIndexKey: these three, in this order.
            <p key={index} className={styles.about} role="alert">
              {refusal.message}
            </p>
          ),
      )}
      <section className={styles.box} aria-label="What is wrong">
        <h3>
          {faults.length === 0 ? (known ? 'All is well' : 'Looking…') : 'To fix'}{' '}
          {faults.length > 0 && <span>{faults.length}</span>}
        </h3>
        {faults.map((fault) => (
          <FaultRow key={fault.key} fault={fault} />
        ))}
      </section>
      {state.value !== undefined && <Held state={state.value} />}
      {version.value !== undefined && <Build version={version.value} />}
      {state.value !== undefined && <Polling state={state.value} />}
      {doctor.value !== undefined && <Tools doctor={doctor.value} />}
    </>
  );
}

function FaultRow({ fault: { level, of, what, mend, file, fiber } }: { fault: Fault }): ReactNode {
  return (
    <div className={styles.row}>
      <Glyph state={level === 'fault' ? 'blocked' : 'delayed'} />
      <div>
        <b>{of}</b>
        <p>
          <Phrase>{what}</Phrase>
        </p>
        {mend !== null && (
          <p className={styles.mend}>
            <b>Fix:</b> <Phrase>{mend}</Phrase>
          </p>
        )}
      </div>
      {file !== undefined && <Button onClick={() => go({ part: `file-${file}` })}>Correct it</Button>}
      {fiber !== undefined && <Button onClick={() => go({ fiber })}>Open</Button>}
    </div>
  );
}

function Held({ state: { pending_launch, boot_quarantine } }: { state: State }): ReactNode {
  const today = useToday();
  if (pending_launch.length === 0 && !boot_quarantine.active) return null;
  return (
    <section className={styles.box} aria-label="Held back">
      <h3>
        Held back <span>{pending_launch.length}</span>
      </h3>
      {boot_quarantine.active && (
        <div className={styles.row}>
          <Glyph state="held" />
          <div>
            <p>
              {boot_quarantine.reason === 'reboot'
                ? 'The machine was restarted.'
                : 'The daemon was restarted.'}{' '}
              Nothing that was there before is launched until you say so.
            </p>
          </div>
          {boot_quarantine.held > 0 && (
            <Button onClick={() => void releaseAll()}>Release all {boot_quarantine.held}</Button>
          )}
        </div>
      )}
      {pending_launch.map(({ fiber_id, reason, since, note }) => (
        <div key={fiber_id} className={styles.row}>
          <Glyph state="held" />
          <div>
            <b>{fiber_id}</b>
            <p>
              {reason.replaceAll('_', ' ')}, since {moment(since, today)}
              {note === null ? '' : `: ${note}`}
            </p>
          </div>
          <Button onClick={() => go({ fiber: fiber_id })}>Open</Button>
        </div>
      ))}
    </section>
  );
}

function Build({ version }: { version: Version }): ReactNode {
  const up = useTimeText((now) => lasting(now - Date.parse(version.booted_at)));
  return (
    <section className={styles.box} aria-label="Daemon">
      <h3>Daemon</h3>
      <dl className={styles.facts}>
        <dt>Host</dt>
        <dd>
          {version.host}, {version.host_class}
        </dd>
        <dt>Version</dt>
        <dd>
          {version.version} ({version.git_short_sha}), Node {version.node}
        </dd>
        <dt>Up for</dt>
        <dd>
          {up}, pid {version.pid}
        </dd>
        <dt>Listens at</dt>
        <dd>{version.listen.join(', ')}</dd>
        <dt>Skills</dt>
        <dd>generation {version.generation ?? 'unknown'}</dd>
      </dl>
      {version.components.map(({ name, state, restarts }) => (
        <div key={name} className={styles.row}>
          <Glyph state={state === 'running' ? 'accepted' : 'blocked'} />
          <div>
            <b>{name}</b>
          </div>
          <p className={styles.small}>
            {state}
            {restarts === 0 ? '' : `, restarted ${restarts} times`}
          </p>
        </div>
      ))}
    </section>
  );
}

function Polling({ state: { poll_health, workers, worker_memory } }: { state: State }): ReactNode {
  const { ticks, interval_ms, last_tick_at, last_tick_ms, mux, stores } = poll_health;
  const ago = useTimeText((now) => (last_tick_at === null ? 'never' : `${lasting(now - last_tick_at)} ago`));
  return (
    <section className={styles.box} aria-label="Polling">
      <h3>Polling</h3>
      <dl className={styles.facts}>
        <dt>Last tick</dt>
        <dd>
          {ago}
          {last_tick_ms === null ? '' : `, took ${Math.round(last_tick_ms)} ms`}; {ticks} so far, one every{' '}
          {interval_ms < 1_000 ? `${interval_ms} ms` : lasting(interval_ms)}
        </dd>
        <dt>tmux</dt>
        <dd>{muxWords(mux)}</dd>
        <dt>Workers</dt>
        <dd>
          {workers.count}
          {workers.most === null
            ? ', no limit'
            : `: ${workers.resting} resting, ${workers.count - workers.resting} of at most ${workers.most} at work`}
        </dd>
        <dt>Memory</dt>
        <dd>
          {worker_memory.mechanism}: {worker_memory.detail}
        </dd>
      </dl>
      {stores.map(({ store, state, fibers, lease, last_ok_at, error }) => (
        <div key={store} className={styles.row}>
          <Glyph state={state === 'ok' ? 'accepted' : state === 'cold' ? 'launching' : 'unknown'} />
          <div>
            <b>{store}</b>
          </div>
          <p className={styles.small}>
            {fibers === 1 ? '1 fiber' : `${fibers} fibers`}, {state}, lease {lease.state}
            {last_ok_at === null || state === 'ok' ? '' : `, shown as of ${timeOfDay(last_ok_at)}`}
            {error === null ? '' : `: ${error}`}
          </p>
        </div>
      ))}
    </section>
  );
}

function Tools({ doctor: { tools } }: { doctor: DoctorReply }): ReactNode {
  return (
    <section className={styles.box} aria-label="Programs">
      <h3>Programs</h3>
      {tools.map(({ name, path, version }) => (
        <div key={name} className={styles.row}>
          <Glyph state={path === null ? 'parked' : 'accepted'} />
          <div>
            <b>{name}</b>
          </div>
          <p className={styles.small}>
            {path === null ? 'not found' : `${path}${version === null ? '' : `, ${version}`}`}
          </p>
        </div>
      ))}
    </section>
  );
}
