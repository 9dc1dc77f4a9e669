/** What comes from the daemon, as its contract says; types alone, so that no schema is bundled. */

import type { FiberRow as ToldRow } from '../../../src/contract/fiber.ts';

export type { Agent, AgentEffortReply, AgentsReply } from '../../../src/contract/agent.ts';
export type { Roster } from '../../../src/contract/fiber.ts';
export type { Activity, ActivityComposite } from '../../../src/contract/http/activity.ts';
export type { Attached } from '../../../src/contract/http/attach.ts';
export type { AttachmentsReply, StoredFile } from '../../../src/contract/http/attachments.ts';
export type { Booting } from '../../../src/contract/http/booting.ts';
export type { BrakePulled, BrakeReleased } from '../../../src/contract/http/brake.ts';
export type { Captured, CaptureRequest } from '../../../src/contract/http/capture.ts';
export type { CommitPatch, PatchFile, PatchHunk } from '../../../src/contract/http/commit-patch.ts';
export type { CommitsComposite } from '../../../src/contract/http/commits.ts';
export type { Composite, Origin } from '../../../src/contract/http/composite.ts';
export type {
  ConfigFile,
  ConfigWritten,
  FiberStores,
  FolderChoice,
  ProjectsWritten,
  StoreOrigin,
  StoresWritten,
} from '../../../src/contract/http/config.ts';
export type { Conversation, ConversationMessage } from '../../../src/contract/http/conversation.ts';
export type { Delivered } from '../../../src/contract/http/deliver.ts';
export type {
  Dispatched,
  DispatchRequest,
  KillRequest,
  Refused,
  Released,
} from '../../../src/contract/http/dispatch.ts';
export type { DoctorReply } from '../../../src/contract/http/doctor.ts';
export type {
  CreateFiber,
  EditFiber,
  FiberReply,
  FibersComposite,
  FibersDelta,
  FibersWhole,
  NestFiber,
  Undo,
} from '../../../src/contract/http/fibers.ts';
export type { FileInfo } from '../../../src/contract/http/files.ts';
export type { Incident, IncidentReply } from '../../../src/contract/http/incidents.ts';
export type { Life, LifeEntry } from '../../../src/contract/http/life.ts';
export type { LifecycleRequest, TransitionRequest } from '../../../src/contract/http/lifecycle.ts';
export type { LiveMessage } from '../../../src/contract/http/live.ts';
export type {
  AudioMessage,
  Meeting,
  MeetingAnswer,
  MeetingJoin,
  MeetingJoined,
  MeetingMarked,
  MeetingStopped,
} from '../../../src/contract/http/meeting.ts';
export type { Moment, Words } from '../../../src/contract/http/moment.ts';
export type { Rehearsal, RehearsedStep } from '../../../src/contract/http/rehearsal.ts';
export type { SearchHit, SearchReply } from '../../../src/contract/http/search.ts';
export type { SentFiles, SentFilesComposite, SentFilesRow } from '../../../src/contract/http/sent-files.ts';
export type { SessionsComposite } from '../../../src/contract/http/sessions.ts';
export type { Spend } from '../../../src/contract/http/spend.ts';
export type { State } from '../../../src/contract/http/state.ts';
export type { ScreenMessage, TerminalMessage, TerminalRun } from '../../../src/contract/http/terminal.ts';
export type { TranscriptPage, TranscriptWords } from '../../../src/contract/http/transcript-words.ts';
export type { Uncommitted } from '../../../src/contract/http/uncommitted.ts';
export type { Version } from '../../../src/contract/http/version.ts';
export type { Why } from '../../../src/contract/http/why.ts';
export type { CommitLedgerLine, SessionLine } from '../../../src/contract/ledger.ts';
export type { MeetingMode } from '../../../src/contract/recorder.ts';
export type { Surface } from '../../../src/contract/surface.ts';

/** A row with the host whose feed has it. */
export type FiberRow = ToldRow & { origin: string };
