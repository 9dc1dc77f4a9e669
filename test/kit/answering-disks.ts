import type { Disks } from '../../src/platform/disks.ts';

/** Disks that always answer, for what is tested without a process that looks. */
export const answeringDisks: Omit<Disks, 'look'> = {
  prove: async () => 'answers',
  answered() {},
  unanswered() {},
  isSilent: () => false,
  mountOf: () => ({ name: '/', local: true }),
  onAnswer: () => () => {},
  stop() {},
};
