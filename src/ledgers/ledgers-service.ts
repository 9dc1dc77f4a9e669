import { watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { Mutex } from '../base/mutex.ts';
import type { LedgersState } from '../contract/http/state.ts';
import type { CommitLedgerLine, SessionLine } from '../contract/ledger.ts';
import {
  type AskedLife,
  activityTag,
  commitsTag,
  type LedgerStamps,
  lifeTag,
  sentFilesTag,
  sessionsTag,
} from '../contract/ledger-tags.ts';
import type { CallInput, CallOutput } from '../contract/threads/call-table.ts';
import type { AskedConversation, ledgersCalls } from '../contract/threads/ledgers.ts';
import { tagOfPath } from '../platform/append-only-file.ts';
import { CommitsLedger } from './commits-ledger.ts';
import { type Conversation, conversationOf, messagesOfFiber } from './conversation.ts';
import { EventsIndex } from './events-index.ts';
import { fiberLife, lifePart } from './fiber-life.ts';
import { MessagesLedger } from './messages-ledger.ts';
import { joinSentFiles, trailOf } from './sent-files.ts';
import type { Doing } from './session-fibers.ts';
import { SessionsLedger } from './sessions-ledger.ts';

/** Poll interval of the files without file system events, in milliseconds. */
const REFRESH_MS = 2_000;
/** Debounce of file system events, in milliseconds. */
const HINT_MS = 5;

/** A complete JSON body and the tag of its source files. */
export type Body = { etag: string; bytes: Buffer };

/** A body in pieces (see `ledgersCalls.activity`), with the bytes of those that the caller does not have. */
type ActivityBody = { value: CallOutput<typeof ledgersCalls, 'activity'>; bytes: Buffer };

/** A ledger that `refresh` brings up to date with its file. */
type Refreshed = { refresh(): Promise<void> };

export type LedgersService = {
  state(): Promise<LedgersState>;
  /** Current sessions, oldest first (TMP-2). */
  sessions(uid?: string): Promise<SessionLine[]>;
  /** Current lines of one harness session, oldest first. */
  linesOf(session: string): Promise<SessionLine[]>;
  /** Current commits whose names begin so, at most two. */
  commitsNamed(sha: string): Promise<CommitLedgerLine[]>;
  /** Current bodies of the time routes (TMP-1 to TMP-5); the window is in whole minutes. */
  activityBody(input: CallInput<typeof ledgersCalls, 'activity'>): Promise<ActivityBody>;
  sessionsBody(input: { host: string; uid?: string | undefined }): Promise<Body>;
  commitsBody(input: { host: string }): Promise<Body>;
  sentFilesBody(input: { host: string; uid?: string | undefined }): Promise<Body>;
  /** A page of the messages of a fiber or of a session. */
  conversation(asked: AskedConversation): Promise<Conversation>;
  /** A part of the life of one fiber. */
  fiberLifeBody(input: AskedLife & { host: string }): Promise<Body>;
  stop(): Promise<void>;
};

/**
 * Keeps the ledgers indexed and reports changes of their files. Every answer reflects the current files; an unreadable
 * file is an error.
 */
export function startLedgersService(options: {
  events_file: string;
  sessions_file: string;
  commits_file: string;
  messages_file: string;
  /** Path of the checkpoint of the events index; null for none. */
  checkpoint_file: string | null;
  /** Unique for each life of the service. */
  epoch: string;
  clock: Clock;
  logger: Logger;
  onChanged: (stamps: LedgerStamps) => void;
}): LedgersService {
  const { events_file, sessions_file, commits_file, messages_file, epoch, clock, logger } = options;
  const sessions = new SessionsLedger({ path: sessions_file });
  const commits = new CommitsLedger({ path: commits_file });
  const messages = new MessagesLedger({ path: messages_file });
  const events = new EventsIndex({ path: events_file, checkpoint: options.checkpoint_file, logger });
  const turns = new Mutex();
  let isRead = false;
  let told = '';
  let lastProblem: string | null = null;

  const stamps = (): LedgerStamps => ({
    events: events.stamp,
    sessions: tagOfPath(sessions_file),
    commits: tagOfPath(commits_file),
    messages: tagOfPath(messages_file),
  });
  /** Runs `ask` on these ledgers as they are now, with the stamps of the files they reflect. */
  const onFresh = <T>(ledgers: readonly Refreshed[], ask: (stamps: LedgerStamps) => T): Promise<T> =>
    turns.run(async () => {
      // Stamped before reading: a line appended in between gives a tag that is too old, never too new.
      const seen = stamps();
      for (const ledger of ledgers) await ledger.refresh();
      return ask(seen);
    });
  /** The same on the index of the events too. */
  const withEvents = <T>(ledgers: readonly Refreshed[], ask: (stamps: LedgerStamps) => T): Promise<T> =>
    events.read(() => {
      isRead = true;
      return onFresh(ledgers, ask);
    });
  const look = async () => {
    try {
      await withEvents([sessions, commits], (seen) => {
        const text = JSON.stringify(seen);
        if (text !== told) options.onChanged(seen);
        told = text;
      });
      lastProblem = null;
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== lastProblem) logger.warn({ err: error }, 'a ledger cannot be read');
      lastProblem = problem;
    }
  };
  const hints = watchFiles(
    [events_file, sessions_file, commits_file, messages_file],
    clock,
    () => void look(),
  );
  const cancel = clock.every(REFRESH_MS, () => {
    hints.renew();
    void look();
  });
  void look();

  const body = (etag: string, value: unknown): Body => ({ etag, bytes: Buffer.from(JSON.stringify(value)) });
  return {
    state() {
      const { lines, malformed, bytes, buckets } = events.counts;
      const counted = isRead ? { entries: lines, malformed, bytes, buckets } : null;
      return onFresh([sessions, commits], () => ({
        sessions: sessions.counts,
        commits: commits.counts,
        messages: messages.counts,
        events: counted,
      }));
    },
    sessions: (uid) => onFresh([sessions], () => sessions.sessions(uid)),
    linesOf: (session) => onFresh([sessions], () => sessions.linesOf(session)),
    commitsNamed: (sha) => onFresh([commits], () => commits.named(sha)),
    activityBody: ({ host, from_ms, to_ms, known }) =>
      withEvents([sessions, commits], (seen) => {
        const ids = new Set(known?.epoch === epoch ? known.ids : []);
        const head = `{"host":${JSON.stringify(host)},"from_ms":${from_ms},"to_ms":${to_ms},"buckets":[`;
        const buckets = events.encodeBuckets(from_ms, to_ms, ids);
        const all = [
          { id: null, skip: 0, bytes: Buffer.from(head) },
          // The first bucket has no leading comma.
          ...buckets.map((piece, nth) => ({ ...piece, skip: nth === 0 ? 1 : 0 })),
          { id: null, skip: 0, bytes: Buffer.from(']}') },
        ];
        const pieces = all.map(({ id, skip, bytes }) => ({ id, skip, length: bytes?.length ?? null }));
        return {
          value: { etag: activityTag({ from_ms, to_ms }, seen), epoch, pieces },
          bytes: Buffer.concat(all.flatMap(({ bytes }) => bytes ?? [])),
        };
      }),
    // The first read of the events does not delay these two.
    sessionsBody: ({ host, uid }) =>
      onFresh([sessions], (seen) => body(sessionsTag(uid, seen), { host, sessions: sessions.sessions(uid) })),
    commitsBody: ({ host }) =>
      onFresh([commits], (seen) => body(commitsTag(seen), { host, commits: commits.commits() })),
    sentFilesBody: ({ host, uid }) =>
      withEvents([sessions, commits], (seen) => {
        const rows = joinSentFiles(events.sent(), sessions.fiberOf);
        const sent_files = uid === undefined ? rows : trailOf(rows, uid);
        return body(sentFilesTag(uid, seen), { host, sent_files });
      }),
    conversation: (asked) =>
      onFresh([sessions, messages], () => conversationOf({ messages, sessions }, asked)),
    fiberLifeBody: ({ host, ...asked }) =>
      withEvents([sessions, commits, messages], (seen) => {
        const { uid, closing } = asked;
        const written = messagesOfFiber({ messages, sessions }, asked);
        const own = sessions.sessions(uid);
        const names = new Set(
          own.flatMap(({ session, thread_id, mux }) => [session || [], thread_id || [], mux || []].flat()),
        );
        const isNear = ({ session, mux }: Pick<Doing, 'session' | 'mux'>) =>
          names.has(session ?? '') || names.has(mux ?? '');
        const life = fiberLife(uid, {
          sessions: own,
          fiberOf: sessions.fiberOf,
          messages: written.messages,
          prompts: events.prompts(names),
          commits: commits.commits().filter(isNear),
          sent: events.sent().filter(isNear),
          closing,
        });
        const part = lifePart(life, asked);
        return body(lifeTag(asked, seen), { host, uid, ...part, earlier: part.earlier + written.older });
      }),
    async stop() {
      cancel();
      hints.stop();
      if (!isRead) return;
      await events.save().catch((error) => {
        logger.warn(
          { err: error },
          'the checkpoint of the events index cannot be written; the next start reads the ledger from the beginning',
        );
      });
    },
  };
}

/**
 * Calls `changed` soon after one of the files changes. Events may be missing, as on a network file system. A missing
 * folder is watched from the first `renew` after it exists.
 */
function watchFiles(paths: string[], clock: Clock, changed: () => void) {
  const names = new Set(paths.flatMap((path) => [basename(path), `${basename(path)}.1`]));
  const watchers = new Map<string, ReturnType<typeof watch>>();
  let due: (() => void) | null = null;
  const hint = () => {
    due ??= clock.after(HINT_MS, () => {
      due = null;
      changed();
    });
  };
  const renew = () => {
    for (const folder of new Set(paths.map((path) => dirname(path)))) {
      if (watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, (_event, name) => {
          if (name === null || names.has(name)) hint();
        });
        const end = () => {
          watcher.close();
          watchers.delete(folder);
        };
        watcher.on('error', end);
        watchers.set(folder, watcher);
      } catch {
        // Without file system events the poll still notices changes.
      }
    }
  };
  renew();
  return {
    renew,
    stop() {
      due?.();
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

type LedgerSettings = {
  events_file: string | null;
  sessions_file: string | null;
  commits_file: string | null;
  data_dir: string;
};

/** Path of the sessions ledger: its own setting, else in the data dir. */
function sessionsFile(settings: Pick<LedgerSettings, 'sessions_file' | 'data_dir'>): string {
  return settings.sessions_file ?? join(settings.data_dir, 'sessions.jsonl');
}

/** All paths that the service needs. */
export function ledgerFiles(settings: LedgerSettings) {
  const { data_dir } = settings;
  return {
    events_file: settings.events_file ?? join(data_dir, 'events.jsonl'),
    sessions_file: sessionsFile(settings),
    commits_file: settings.commits_file ?? join(data_dir, 'commits.jsonl'),
    messages_file: join(data_dir, 'messages.jsonl'),
    checkpoint_file: join(data_dir, 'events.index'),
  };
}
