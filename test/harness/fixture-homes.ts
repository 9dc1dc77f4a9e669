import { utimesSync } from 'node:fs';
import type { Agent } from '../../src/contract/agent.ts';
import type { HarnessName } from '../../src/contract/harness-name.ts';
import { builtinAgents } from '../../src/harness/agents/builtin-agents.ts';
import type { ScratchFolder } from '../kit/scratch-folder.ts';

/** What a transcript in a fixture home is about. */
type FixtureSession = {
  session_uuid: string;
  cwd: string;
  /** First user text. */
  prompt: string;
  /** When it began, in milliseconds. */
  at: number;
};

/** One harness's home on disk, in the shapes that the program itself writes. */
export type FixtureHome = {
  harness: HarnessName;
  /** A session id in the form that the program uses. */
  uuid(index: number): string;
  /** Writes a transcript into `home` and answers its path. */
  writeTranscript(scratch: ScratchFolder, home: string, session: FixtureSession): string;
  /** Writes the home of a program that has been set up and trusts `project_dir`; answers the variables it needs. */
  writeReady(scratch: ScratchFolder, home: string, project_dir: string): Record<string, string>;
};

const API_KEY = 'sk-ant-0123456789-0123456789-abcdef';
const jsonLines = (records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const serial = (index: number) => String(index).padStart(12, '0');

export const FIXTURE_HOMES: Record<HarnessName, FixtureHome> = {
  claude: {
    harness: 'claude',
    uuid: (index) => `11111111-1111-4111-8111-${serial(index)}`,
    writeTranscript(scratch, home, { session_uuid, cwd, prompt, at }) {
      const base = {
        isSidechain: false,
        cwd,
        sessionId: session_uuid,
        version: '2.1.197',
        timestamp: iso(at),
      };
      const path = scratch.write(
        `${home}/.claude/projects/${cwd.replace(/[^a-zA-Z0-9]/g, '-')}/${session_uuid}.jsonl`,
        jsonLines([
          { type: 'custom-title', customTitle: 'loader', sessionId: session_uuid },
          { ...base, parentUuid: null, type: 'user', message: { role: 'user', content: prompt }, uuid: 'a' },
          {
            ...base,
            parentUuid: 'a',
            type: 'assistant',
            message: { id: 'msg_1', role: 'assistant', content: [{ type: 'text', text: 'done' }] },
            uuid: 'b',
          },
          { ...base, type: 'system', subtype: 'turn_duration', durationMs: 294 },
        ]),
      );
      return touched(path, at);
    },
    writeReady(scratch, home, project_dir) {
      scratch.write(`${home}/.claude.json`, {
        hasCompletedOnboarding: true,
        customApiKeyResponses: { approved: [API_KEY.slice(-20)], rejected: [] },
        projects: { [project_dir]: { hasTrustDialogAccepted: true } },
      });
      return { ANTHROPIC_API_KEY: API_KEY };
    },
  },
  codex: {
    harness: 'codex',
    uuid: (index) => uuid7(BORN + index),
    writeTranscript(scratch, home, { session_uuid, cwd, prompt, at }) {
      const day = new Date(at);
      const two = (value: number) => String(value).padStart(2, '0');
      const folder = `${day.getFullYear()}/${two(day.getMonth() + 1)}/${two(day.getDate())}`;
      const stamp = `${folder.replaceAll('/', '-')}T${two(day.getHours())}-${two(day.getMinutes())}-00`;
      const item = (role: string, text: string) => ({
        timestamp: iso(at),
        type: 'response_item',
        payload: { type: 'message', role, content: [{ type: 'input_text', text }] },
      });
      const path = scratch.write(
        `${home}/.codex/sessions/${folder}/rollout-${stamp}-${session_uuid}.jsonl`,
        jsonLines([
          {
            timestamp: iso(at),
            ordinal: 0,
            type: 'session_meta',
            payload: {
              session_id: session_uuid,
              id: session_uuid,
              cwd,
              originator: 'codex-tui',
              cli_version: '0.169.0',
              source: 'cli',
              base_instructions: { text: 'long '.repeat(80_000) },
            },
          },
          item('developer', 'permissions'),
          item('user', `<environment_context>${cwd}</environment_context>`),
          item('user', prompt),
          { timestamp: iso(at), type: 'event_msg', payload: { type: 'task_complete', duration_ms: 301 } },
        ]),
      );
      return touched(path, at);
    },
    writeReady(scratch, home, project_dir) {
      scratch.write(`${home}/.codex/auth.json`, { OPENAI_API_KEY: 'sk-test' });
      scratch.write(
        `${home}/.codex/config.toml`,
        `model = "gpt"\n[projects."${project_dir}"]\ntrust_level = "trusted"\n`,
      );
      return {};
    },
  },
  pi: {
    harness: 'pi',
    uuid: (index) => `22222222-2222-4222-8222-${serial(index)}`,
    writeTranscript(scratch, home, { session_uuid, cwd, prompt, at }) {
      const stamp = iso(at).replace(/[:.]/g, '-');
      const message = (role: string, text: string, more = {}) => ({
        type: 'message',
        id: 'c5d4',
        parentId: null,
        timestamp: iso(at),
        message: { role, content: [{ type: 'text', text }], ...more },
      });
      const path = scratch.write(
        `${home}/.pi/agent/sessions/--${cwd.slice(1).replaceAll('/', '-')}--/${stamp}_${session_uuid}.jsonl`,
        jsonLines([
          { type: 'session', version: 3, id: session_uuid, timestamp: iso(at), cwd },
          { type: 'model_change', id: 'a', parentId: null, provider: 'stub', modelId: 'stub-1' },
          message('user', prompt),
          message('assistant', 'done', { stopReason: 'stop' }),
        ]),
      );
      return touched(path, at);
    },
    writeReady(scratch, home, project_dir) {
      scratch.write(`${home}/.pi/agent/auth.json`, { openai: { type: 'api_key', key: 'sk-test' } });
      scratch.write(`${home}/.pi/agent/trust.json`, { [project_dir]: true });
      return {};
    },
  },
};

/** When the sessions of the fixtures were born: a past that every clock agrees on. */
export const BORN = Date.UTC(2024, 2, 5, 12, 0, 0);

/** The first built-in agent of a harness, with changes. */
export function agentOf(harness: HarnessName, change: Partial<Agent> = {}): Agent {
  return { ...builtinAgents().find((agent) => agent.harness === harness)!, ...change };
}

function uuid7(at: number): string {
  const time = at.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7abc-8def-0123456789ab`;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function touched(path: string, at: number): string {
  utimesSync(path, at / 1000, at / 1000);
  return path;
}
