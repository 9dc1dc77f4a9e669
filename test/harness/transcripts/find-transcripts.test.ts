import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../../src/contract/harness-name.ts';
import { findTranscripts } from '../../../src/harness/transcripts/find-transcripts.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';
import { agentOf, BORN, FIXTURE_HOMES } from '../fixture-homes.ts';

let scratch: ScratchFolder;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  scratch = scratchFolder();
  env = { HOME: join(scratch.path, 'home') };
});
afterEach(() => scratch.remove());

const agents = HARNESS_NAMES.map((name) => agentOf(name));
const unknown = { harness: null, agent: null };
const write = (
  harness: (typeof HARNESS_NAMES)[number],
  index: number,
  home = 'home',
  cwd = '/srv/my.project',
) =>
  FIXTURE_HOMES[harness].writeTranscript(scratch, home, {
    session_uuid: FIXTURE_HOMES[harness].uuid(index),
    cwd,
    prompt: 'Say hello',
    at: BORN,
  });

describe('transcripts by session id', () => {
  it('[RPL-12] are found for every harness, with or without a ledger line, in the requested order', async () => {
    const paths = HARNESS_NAMES.map((name) => write(name, 1));
    const wanted = HARNESS_NAMES.map((name) => ({ ...unknown, session: FIXTURE_HOMES[name].uuid(1) }));
    const expected = HARNESS_NAMES.map((harness, index) => ({
      harness,
      linked: harness === 'claude',
      path: paths[index],
    }));
    expect(await findTranscripts(agents, wanted, env)).toEqual(expected);
    const told = wanted.map((one, index) => ({ ...one, harness: HARNESS_NAMES[index]! }));
    expect(await findTranscripts(agents, told.toReversed(), env)).toEqual(expected.toReversed());
  });

  it('[RPL-12] are missing if there is none, if another harness is named, and in an empty home', async () => {
    const session = FIXTURE_HOMES.claude.uuid(1);
    expect(await findTranscripts(agents, [{ ...unknown, session }], env)).toEqual([null]);
    write('claude', 1);
    scratch.write('home/.claude/projects/a-file', '');
    expect(
      await findTranscripts(
        agents,
        [
          { ...unknown, session: FIXTURE_HOMES.claude.uuid(2) },
          { ...unknown, session, harness: 'pi' },
        ],
        env,
      ),
    ).toEqual([null, null]);
  });

  it('[RPL-12] are searched first with the agent in the ledger, then with the others', async () => {
    const session = FIXTURE_HOMES.claude.uuid(1);
    const here = write('claude', 1);
    const there = write('claude', 1, 'other-home');
    const own = { ...agentOf('claude'), id: 'own', env: { HOME: join(scratch.path, 'other-home') } };
    const find = async (agent: string | null) => {
      const [found] = await findTranscripts([...agents, own], [{ session, harness: 'claude', agent }], env);
      return found !== null && found !== undefined && 'path' in found ? found.path : null;
    };
    expect(await find('own')).toBe(there);
    expect(await find(null)).toBe(here);
    expect(await find('gone')).toBe(here);
  });

  it('[RPL-12] of Pi are found in the folder that its own settings name', async () => {
    scratch.write('home/.pi/agent/settings.json', { sessionDir: '~/pi-sessions' });
    const session = FIXTURE_HOMES.pi.uuid(4);
    const path = scratch.write(`home/pi-sessions/2024_${session}.jsonl`, '{"type":"session"}\n');
    expect(await findTranscripts(agents, [{ ...unknown, session }], env)).toEqual([
      { harness: 'pi', path, linked: false },
    ]);
  });
});
