import { describe, expect, it } from 'vitest';
import { classifyAnswer, listensAt, parsePanes } from '../../src/mux/server-answer.ts';
import type { ProcessResult } from '../../src/platform/process.ts';

const said = (stderr: string, code = 1): ProcessResult => ({ kind: 'exited', code, stdout: '', stderr });

describe('the result of a run of tmux', () => {
  it.each([
    ['no server running on /tmp/tmux-0/default\n', '/tmp/tmux-0/default'],
    ['error connecting to /tmp/a b/s (No such file or directory)\n', '/tmp/a b/s'],
  ])('finds no server in the message %j', (words, socket) => {
    expect(classifyAnswer(said(words))).toEqual({ kind: 'no_server', socket });
  });

  it.each<[string, ProcessResult]>([
    ['permission', said('error connecting to /tmp/s (Permission denied)\n')],
    ['a folder that is a file', said('error connecting to /tmp/s/x (Not a directory)\n')],
    ['a server that left meanwhile', said('server exited unexpectedly\n')],
    ['a lost server', said('lost server\n')],
    ['no word at all', said('')],
    ['a timeout', { kind: 'timed_out' }],
    ['too much output', { kind: 'overflowed', stdout: '' }],
    ['a missing tmux', { kind: 'not_started', code: 'ENOENT' }],
    ['a tmux that was killed', { kind: 'signalled', signal: 'SIGKILL', stdout: '', stderr: '' }],
  ])('is unknown after %s', (_what, result) => {
    expect(classifyAnswer(result).kind).toBe('unknown');
  });

  it('keeps the message of a refusal', () => {
    expect(classifyAnswer(said('duplicate session: a\n'))).toEqual({
      kind: 'refused',
      message: 'duplicate session: a',
    });
  });
});

describe('the list of panes', () => {
  it('groups panes into sessions, the oldest pane first', () => {
    expect(
      parsePanes([
        '$2 1795225935 /dev/pts/3,client-88 %9 400 0 77:1795220000 3.3a 0 work two:',
        '$2 1795225935 /dev/pts/3,client-88 %4 300 1 77:1795220000 3.3a 0 work two:/bin/sh "/a b/runs/01K2/run.sh"',
        '$3 1795225936  %5  0 77:1795220000 3.3a 0 x:sh -c "a/b/run.sh; x"',
      ]),
    ).toEqual({
      server_pid: 77,
      version: '3.3a',
      exits_unattached: false,
      server: { pid: 77, started_at: 1795220000000 },
      sessions: [
        {
          id: '$2',
          name: 'work two',
          created_at: 1795225935000,
          attached: 1,
          panes: [
            { id: '%4', pid: 300, dead: true, launch_id: '01K2' },
            { id: '%9', pid: 400, dead: false, launch_id: null },
          ],
        },
        {
          id: '$3',
          name: 'x',
          created_at: 1795225936000,
          attached: 0,
          panes: [{ id: '%5', pid: null, dead: false, launch_id: null }],
        },
      ],
    });
  });

  it.each([
    ['/bin/sh /home/a/runs/01K2/run.sh', '01K2'],
    ['/bin/sh "/home/a b/meetings/2026-11-29-1030-budget-4z8k2q.sh"', '2026-11-29-1030-budget-4z8k2q'],
    ['/bin/sh /home/a/deploy.sh', null],
    ['/home/a/2026-11-29-notes.sh', null],
    ['/bin/sh /home/a/meetings/2026-11-29-1030-budget-4z8k2q.sh --again', null],
    ['', null],
  ])('tells which start a pane was made for: %s', (command, launch_id) => {
    const told = parsePanes([`$2 1795225935  %9 400 0 77:1795220000 3.3a 0 any:${command}`]);
    expect(told?.sessions[0]?.panes[0]?.launch_id).toBe(launch_id);
  });

  it('refuses a list with a malformed line', () => {
    expect(parsePanes(['$2 1795225935 1 %9 400 0 77 3.3a 0 a:', 'what is this'])).toBeNull();
  });
});

it('finds a listener at an exact path', () => {
  const table = [
    'Num       RefCount Protocol Flags    Type St Inode Path',
    '0000000000000000: 00000002 00000000 00010000 0001 01 23456 /tmp/x/s',
    '0000000000000000: 00000003 00000000 00000000 0001 03 23457 /tmp/y/s',
    '0000000000000000: 00000003 00000000 00000000 0001 03 23458',
  ].join('\n');
  expect(listensAt(table, '/tmp/x/s')).toBe(true);
  expect(listensAt(table, '/tmp/x')).toBe(false);
  expect(listensAt(table, '/tmp/y/s')).toBe(false);
});
