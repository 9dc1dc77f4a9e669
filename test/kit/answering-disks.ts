import type { Disks } from '../../src/platform/disks.ts';

/** Disks that always answer, for what is tested without the process that checks disks. */
export const answeringDisks: Omit<Disks, 'check'> = {
  prove: async () => 'answers',
  answered() {},
  unanswered() {},
  isSilent: () => false,
  mountOf: () => ({ name: '/', local: true }),
  reportsChanges: () => true,
  onAnswer: () => () => {},
  stop() {},
};
