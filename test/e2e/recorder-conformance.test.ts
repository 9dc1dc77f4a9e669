import { afterAll, beforeAll, vi } from 'vitest';
import { recorderConformance } from '../kit/recorder-conformance.ts';
import { TestHome } from '../kit/test-home.ts';

vi.setConfig({ testTimeout: 120_000 });

/** The executable of another recorder to try instead of the bundled one. */
const OTHER = process.env.RECORDER_UNDER_TEST;

let home: TestHome;
let tests = 0;
beforeAll(() => {
  home = new TestHome({ SVC_RECORDER_ENGINE: 'vad' });
});
afterAll(() => home.dispose());

recorderConformance(OTHER ?? 'svc recorder', () => {
  tests += 1;
  const argv = OTHER === undefined ? [process.execPath, home.launcher, 'recorder'] : [OTHER];
  return { argv, env: home.env, folder: home.path('meetings', String(tests)) };
});
