import { join } from 'node:path';
import { type OperatorFileId, operatorFileIdSchema } from '../contract/operator-files.ts';
import type { Settings } from './settings.ts';

/** Everything the daemon keeps under its data dir; absolute paths. */
export type DataPaths = {
  data_dir: string;
  sessions_file: string;
  events_file: string;
  commits_file: string;
  messages_file: string;
  /** One folder per launch, named by its run id. */
  runs_dir: string;
  /** State that must survive a restart of the daemon and belongs to no document. */
  state_dir: string;
  /** The emergency brake; the file exists while it is on. */
  brake_file: string;
  /** Fibers that a person has to let go: one file for each. */
  holds_dir: string;
  /** The file by which the CLI finds the daemon. */
  daemon_file: string;
  /** The Unix socket for the command line and tunnels, in a folder of its own. */
  api_socket: string;
  /** The Unix socket beside it that takes the audio of phones, and nothing else. */
  audio_socket: string;
  /** Executables made for workers, first on their PATH. */
  bin_dir: string;
  /** Images uploaded for fibers, one folder per uid (ATT-1). */
  attachments_dir: string;
  /** Messages to sessions, with their receipts. */
  messages_dir: string;
  /** Answers to writes by the ids that their callers gave them, one folder for each day. */
  answers_dir: string;
  /** The sockets on which sessions take messages. */
  session_sockets_dir: string;
  /** Cache of the token counts of sessions; may be deleted at any time. */
  spend_dir: string;
  /** The last good answers of other hosts for composites, one folder per feed (TMP-8); may be deleted at any time. */
  remote_temporal_dir: string;
  remote_feeds_dir: string;
  /** Transcripts, kept audio and lifecycle files of meetings. */
  meetings_dir: string;
};

/** Derives the data paths; the variable of a ledger overrides its path. */
export function dataPaths(settings: Settings): DataPaths {
  const { data_dir } = settings;
  return {
    data_dir,
    sessions_file: settings.sessions_file ?? join(data_dir, 'sessions.jsonl'),
    events_file: settings.events_file ?? join(data_dir, 'events.jsonl'),
    commits_file: settings.commits_file ?? join(data_dir, 'commits.jsonl'),
    messages_file: join(data_dir, 'messages.jsonl'),
    runs_dir: join(data_dir, 'runs'),
    state_dir: join(data_dir, 'state'),
    brake_file: join(data_dir, 'state', 'brake.json'),
    holds_dir: join(data_dir, 'state', 'holds'),
    daemon_file: join(data_dir, 'daemon.json'),
    api_socket: join(data_dir, 'socket', 'api.sock'),
    audio_socket: join(data_dir, 'socket', 'audio.sock'),
    bin_dir: join(data_dir, 'bin'),
    attachments_dir: join(data_dir, 'attachments'),
    messages_dir: join(data_dir, 'messages'),
    answers_dir: join(data_dir, 'answers'),
    session_sockets_dir: join(data_dir, 'session-sockets'),
    spend_dir: join(data_dir, 'cache', 'spend'),
    remote_temporal_dir: join(data_dir, 'remote-temporal'),
    remote_feeds_dir: join(data_dir, 'remote-feeds'),
    meetings_dir: join(data_dir, 'meetings'),
  };
}

export const OPERATOR_FILES = operatorFileIdSchema.options;

/** Absolute paths of the operator files (OPF-1). */
export function operatorFilePaths(settings: Settings): Record<OperatorFileId, string> {
  const inConfigDir = (id: OperatorFileId) => join(settings.config_dir, `${id}.json`);
  return {
    stores: inConfigDir('stores'),
    projects: inConfigDir('projects'),
    agents: settings.agents_file ?? inConfigDir('agents'),
    remotes: settings.remotes_file ?? inConfigDir('remotes'),
    host: settings.host_config_file ?? inConfigDir('host'),
  };
}
