import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { babble, joinedAudio, silence } from '../kit/made-audio.ts';
import { samplesOf, writeWav } from '../kit/sound.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({ settings: { SVC_RECORDER_ENGINE: 'vad' } });
  const { home } = daemon;
  const names = ['SVC_STORES', 'SVC_CONFIG_DIR', 'SVC_DATA_DIR', 'SVC_RUNTIME_DIR', 'SVC_HOST'];
  const given = names.flatMap((name) => ['-e', `${name}=${home.env[name]}`]);
  const svc = `'${process.execPath}' '${home.launcher}'`;
  const start = `${svc} meeting start 'Budget 2027' --project-dir '${home.project('atlas')}' --agent talks`;
  await home.tmux(
    ...['new-session', '-d', '-s', 'person', '-x', '120', '-y', '40', ...given],
    `${start} && ${svc} meeting status -f; echo "left with $?"; exec sleep 600`,
  );
});
afterAll(async () => {
  await daemon.home.tmux('kill-session', '-t', 'person');
  await daemon.dispose();
});

const screen = () => daemon.home.tmux('capture-pane', '-p', '-J', '-t', 'person');
const shows = (what: RegExp, most_ms = 60_000) =>
  until(
    `the terminal with ${what}`,
    async () => {
      const text = await screen();
      return what.test(text) ? text : null;
    },
    most_ms,
  );

describe('svc meeting in a terminal', () => {
  it('[EVT-6] start says how to follow it; status -f shows each line as it is spoken, the level between them, and the end', async () => {
    const { home } = daemon;
    expect(await shows(/no phone is heard/)).toMatch(
      /^"Budget 2027" is live\nPhone +http.*view=meeting.*\nText +\/.*\.txt\nFollow +.*svc meeting status -f\n/,
    );
    const wav = home.path('talk.wav');
    writeWav(wav, samplesOf(joinedAudio(babble(2), silence(1.5), babble(1, 300), silence(9))));
    const played = home.svc('meeting', 'play', wav);
    await shows(/^\d\d:\d\d:\d\d-\d\d:\d\d:\d\d S1 \[speech 2\.\d s, not transcribed\]$/m);
    await shows(/^\[-{20}\] -90 dB$/m);
    expect((await played).code).toBe(0);
    // Each line is written once.
    expect((await screen()).match(/S1 \[speech 2/g)).toHaveLength(1);
    expect((await home.svc('meeting', 'stop')).code).toBe(0);
    await shows(/^The meeting is over\.\nleft with 0$/m);
  });
});
