import { describe, expect, it } from 'vitest';
import type { FiberDocument, SvcBlock } from '../../src/contract/fiber.ts';
import type { LifecycleRequest } from '../../src/contract/http/lifecycle.ts';
import { planAction } from '../../src/lifecycle/actions.ts';
import { lifecycleArgv } from '../../src/lifecycle/command-line.ts';
import { worktreeOf } from '../../src/lifecycle/planned-edit.ts';

const facts = { running: false, this_host: 'host-a', this_zone: 'UTC', new_uid: 'u' } as never;
const MADE = {
  project_dir: '/srv/app.worktrees/parser-4q7zk2/web',
  worktree: 'fiber/parser-4q7zk2',
  worktree_of: '/srv/app/web',
};
const fiber = (svc: SvcBlock) =>
  ({
    id: 'parser',
    uid: '01K0000000000000000000000A',
    status: 'active',
    project_dir: svc.project_dir,
    svc: { kind: 'oneshot', host: 'host-a', ...svc },
  }) as unknown as FiberDocument;
const plan = (svc: SvcBlock, request: Omit<LifecycleRequest, 'fiber'>) =>
  planAction(fiber(svc), { fiber: 'parser', ...request } as LifecycleRequest, facts, null, 0);

describe('a git worktree for a fiber', () => {
  it.each(['install', 'pin', 'repeat', 'reshape'] as const)(
    'is asked for by %s, and made by a start',
    (action) => {
      const schedule = action === 'repeat' ? { schedule: '0 9 * * *' } : {};
      const edit = plan({ project_dir: '/srv/app' }, { action, worktree: true, ...schedule } as never);
      expect(edit?.set).toMatchObject({ 'svc.worktree': 'new' });
    },
  );

  it('is kept where it is asked for again', () => {
    expect(plan(MADE, { action: 'reshape', worktree: true } as never)).toBeNull();
    expect(plan(MADE, { action: 'install', worktree: true } as never)?.set).not.toHaveProperty(
      'svc.worktree',
    );
  });

  it('is given up for the folder that it was made from', () => {
    expect(plan(MADE, { action: 'reshape', worktree: false } as never)).toEqual({
      set: { 'svc.project_dir': '/srv/app/web' },
      unset: ['svc.worktree', 'svc.worktree_of'],
    });
    expect(
      plan({ project_dir: '/srv/app', worktree: 'new' }, { action: 'reshape', worktree: false } as never),
    ).toEqual({ set: {}, unset: ['svc.worktree'] });
  });

  it('is given up for another folder where one is named', () => {
    const edit = plan(MADE, { action: 'reshape', worktree: false, project_dir: '/srv/other' } as never);
    expect(edit?.set).toEqual({ 'svc.project_dir': '/srv/other' });
  });

  it.each([
    [
      'another folder',
      MADE,
      { action: 'reshape', project_dir: '/srv/b' },
      /svc reshape parser --drop-worktree/,
    ],
    ['another folder by install', MADE, { action: 'install', project_dir: '/srv/b' }, /give that up first/],
    [
      'a drop of none',
      { project_dir: '/srv/app' },
      { action: 'reshape', worktree: false },
      /has no git worktree/,
    ],
  ])('refuses %s', (_, svc, request, message) => {
    expect(() => plan(svc, request as never)).toThrow(message);
  });

  it.each([
    ['none', {}, null],
    ['one to be made', { project_dir: '/srv/app', worktree: 'new' }, null],
    ['one without its origin', { project_dir: '/srv/app', worktree: 'fiber/a' }, null],
    [
      'one in a folder below its top',
      MADE,
      {
        of: '/srv/app/web',
        path: '/srv/app.worktrees/parser-4q7zk2',
        folder: '/srv/app.worktrees/parser-4q7zk2/web',
        branch: 'fiber/parser-4q7zk2',
      },
    ],
    [
      'one whose folder has another name',
      { project_dir: '/srv/x', worktree: 'fiber/a', worktree_of: '/srv/app' },
      { of: '/srv/app', path: '/srv/x', folder: '/srv/x', branch: 'fiber/a' },
    ],
  ])('is read from the block: %s', (_, svc, made) => {
    expect(worktreeOf({ svc })).toEqual(made);
  });

  it('is asked for and given up by the options of the command', () => {
    const argv = (worktree: boolean) => lifecycleArgv({ action: 'reshape', fiber: 'parser', worktree });
    expect(argv(true)).toEqual(['reshape', '--local', '--worktree', '--', 'parser']);
    expect(argv(false)).toEqual(['reshape', '--local', '--drop-worktree', '--', 'parser']);
  });
});
