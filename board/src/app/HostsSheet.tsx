import { type ReactNode, useMemo } from 'react';
import { post } from '../lib/api.ts';
import { askNow, useFollowed } from '../lib/board.ts';
import { useTimeText, useToday } from '../lib/clock.ts';
import { toast } from '../lib/toasts.ts';
import { go } from '../lib/url.ts';
import type { Contact } from '../model/contact.ts';
import {
  byUrgency,
  countsByHost,
  countsText,
  type HostCounts,
  type HostLine,
  hostLines,
  isSkewed,
  standingText,
} from '../model/hosts.ts';
import { fullMoment } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { HostTicks } from '../ui/HostTicks.tsx';
import styles from './HostsSheet.module.css';

function close(): void {
  go({ sheet: null });
}

/** Every host with how fresh what is shown of it is, what is wrong first. */
export default function HostsSheet(): ReactNode {
  const { copy, contact, heard_at } = useFollowed();
  const rows = copy?.rows;
  const counts = useMemo(() => countsByHost(rows?.values() ?? []), [rows]);
  const lines = copy === null ? [] : hostLines(copy, contact, heard_at);
  return (
    <Dialog title="Hosts" onClose={close}>
      {(title_id) => (
        <>
          <header className={styles.head}>
            <h2 id={title_id}>Hosts</h2>
            <Button
              tone="quiet"
              onClick={() => go({ sheet: null, view: 'settings', part: 'health', fiber: null })}
            >
              Health of this host
            </Button>
            <Button data-autofocus onClick={close}>
              Close
            </Button>
          </header>
          {lines.length === 0 ? (
            <p className={styles.none}>No host has told its fibers yet.</p>
          ) : (
            <ul className={styles.hosts}>
              {byUrgency(lines).map((line) => (
                <HostRow
                  key={line.host}
                  line={line}
                  contact={contact}
                  counts={counts.get(line.host) ?? NOTHING}
                  skewed={isSkewed(line, lines)}
                />
              ))}
            </ul>
          )}
        </>
      )}
    </Dialog>
  );
}

const NOTHING: HostCounts = { fibers: 0, workers: 0 };

/** One whose breaker has not tripped is asked every few seconds anyway, so that its refusal says nothing. */
async function tryNow(host: string): Promise<void> {
  const answer = await post(`/remotes/${encodeURIComponent(host)}/reset`, {});
  if (!answer.ok && answer.code !== 'breaker_not_tripped') toast(answer.message, { tone: 'fault' });
  else toast(`${host} is being tried.`);
  askNow();
}

type HostRowProps = {
  line: HostLine;
  contact: Contact;
  counts: HostCounts;
  skewed: boolean;
};

function HostRow({ line, contact, counts, skewed }: HostRowProps): ReactNode {
  const { host, own, tick, as_of, error, build } = line;
  const today = useToday();
  const standing = useTimeText((now) => standingText(line, contact, now));
  const facts = [
    ...(tick === 'fresh' || as_of === null ? [] : [`as of ${fullMoment(as_of, today)}`]),
    countsText(counts),
  ];
  return (
    <li className={styles.host} data-host={host} data-tick={tick}>
      <HostTicks ticks={[tick]} />
      <div className={styles.words}>
        <p>
          <b>{host}</b> <span>{standing}</span>
        </p>
        {error !== null && <p className={styles.error}>{error}</p>}
        <p className={styles.facts}>
          {facts.map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
          {build !== null && (
            <span className={skewed ? styles.skewed : undefined}>
              build <code>{build}</code>
              {skewed && ', not that of this host'}
            </span>
          )}
        </p>
      </div>
      {!own && error !== null && (
        <Button size="small" aria-label={`Try now: ${host}`} onClick={() => void tryNow(host)}>
          Try now
        </Button>
      )}
      {!own && counts.fibers > 0 && (
        <Button
          size="small"
          aria-label={`Its fibers: ${host}`}
          onClick={() => go({ sheet: 'find', q: host })}
        >
          Its fibers
        </Button>
      )}
    </li>
  );
}
