import type { Disks } from '../../src/platform/disks.ts';

/** Disks that always answer, for what is tested without the process that checks disks. */
export const answeringDisks: Disks = {
  check: async (path) => ({ kind: 'other', real: path }),
  prove: async () => 'answers',
  answered() {},
  unanswered() {},
  isSilent: () => false,
  answering: () => [],
  mountOf: () => ({ name: '/', local: true }),
  reportsChanges: () => true,
  onAnswer: () => () => {},
  stop() {},
};

/** The disk of another machine, which answers as long as `answers` says so. */
export function remoteDisk(answers: () => boolean): Disks {
  return {
    ...answeringDisks,
    check: async (path) => (answers() ? { kind: 'other', real: path } : { kind: 'unchecked' }),
    mountOf: () => ({ name: '/net', local: false }),
  };
}
