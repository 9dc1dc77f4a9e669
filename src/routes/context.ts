import type { Clock } from '../base/clock.ts';
import type { ComponentView } from '../contract/component.ts';
import type { Skew, TailnetView, Version } from '../contract/http/version.ts';
import type { OperatorFileId } from '../contract/operator-files.ts';
import type { RequestFigures } from './request-figures.ts';

/** What the routes know of the daemon they stand in. */
export type RouteContext = {
  /** Id of this host, frozen for the life of the process. */
  host: string;
  host_class: 'personal' | 'exposed';
  version: string;
  git_short_sha: string;
  /** Milliseconds since the Unix epoch. */
  booted_at: number;
  pid: number;
  /** Version of Node, e.g. `22.23.3`. */
  node: string;
  /** Folder with the built board, or null. */
  ui_dist: string | null;
  /** The agents file of the operator, and the folder of stored images; absolute paths. */
  agents_file: string;
  attachments_dir: string;
  /** Where each operator file lies; absolute paths. */
  operator_files: Readonly<Record<OperatorFileId, string>>;
  /** The ledger of sessions, and the folder of what is known of their tokens. */
  sessions_file: string;
  spend_dir: string;
  /** Generation of skills and launch messages, and what does not go with it (VER-3). */
  generation: string;
  skew: Skew[];
  clock: Clock;
  /** How long an answer waits for other hosts, in milliseconds. */
  remote_answer_ms: number;
  /** Addresses bound so far. */
  listen(): string[];
  /** Which server speaks HTTP; null until something is bound. */
  server(): Version['server'];
  /** How TCP peers are told apart (AUT-2). */
  peer_gate(): Version['peer_gate'];
  /** What is known of the private network (OPR-1). */
  tailnet(): TailnetView;
  /** Milliseconds from process start to ready; null while booting. */
  ready_ms(): number | null;
  components(): ComponentView[];
  /** The description of the API, encoded; made away from the main thread. */
  describeApi(): Promise<Uint8Array>;
  /** How many calls and jobs wait for an answer, by what they wait for. */
  queues(): { name: string; waiting: number }[];
  /** Counts of the requests so far. */
  requests: Pick<RequestFigures, 'figures'>;
  /** Calls `changed` after every change of the components, of readiness, of the private network or of the bound
   * addresses. */
  onChanged(changed: () => void): void;
};
