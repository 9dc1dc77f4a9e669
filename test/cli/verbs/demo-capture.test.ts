import { describe, expect, it } from 'vitest';
import { captureIn, fileCapture } from '../../../src/cli/verbs/demo/file-capture.ts';

const PROMPT = [
  'You are a fiber worker: activate the skills before you do anything else.',
  'Capture: /skills/capture.md',
  'Surface: cli',
  'Install: {"host":"here","store":"/a store","project_dir":"/p","agent":"demo","surface":"cli"}',
  'Claim: POST http://127.0.0.1:4000/api/v1/claim',
  'Claim body: {"fiber_id":"<fiber>"}',
  'Claim command: svc claim <fiber> --mux-session capture-1',
  'From User:',
  'Look for moss',
  '',
  'Under the northern stones.',
].join('\n');

describe('a captured text that the agent of the demo is given', () => {
  it('[PRM-8] is read from the launch message, which for a fiber holds none', () => {
    expect(captureIn('Fiber: work/one\nFrom User:\nCapture: this')).toBeNull();
    expect(captureIn(PROMPT)).toEqual({
      text: 'Look for moss\n\nUnder the northern stones.',
      install: { host: 'here', store: '/a store', project_dir: '/p', agent: 'demo', surface: 'cli' },
      claim: ['claim', '<fiber>', '--mux-session', 'capture-1'],
    });
  });

  it('[CAP-1] is filed, claimed before it is armed, and then installed', async () => {
    const calls: [string[], string | undefined][] = [];
    const id = await fileCapture(captureIn(PROMPT)!, async (args, input) => {
      calls.push([args, input]);
      return '{"fiber":{"id":"look-for-moss"}}';
    });
    expect(id).toBe('look-for-moss');
    expect(calls).toEqual([
      [
        ['fiber', 'add', 'Look for moss', '--store', '/a store', '--body', '-', '--json'],
        'Look for moss\n\nUnder the northern stones.\n',
      ],
      [['claim', 'look-for-moss', '--mux-session', 'capture-1'], undefined],
      [
        [
          ...['install', 'look-for-moss', '--host', 'here', '--store', '/a store'],
          ...['--project-dir', '/p', '--agent', 'demo'],
        ],
        undefined,
      ],
    ]);
  });
});
