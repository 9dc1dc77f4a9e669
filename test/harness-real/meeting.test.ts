import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { capturedSchema } from '../../src/contract/http/capture.ts';
import { meetingAnswerSchema } from '../../src/contract/http/meeting.ts';
import { babble, joinedAudio, silence } from '../kit/made-audio.ts';
import { until } from '../kit/until.ts';
import { addClaudeRules } from './dialogs.ts';
import { AGENT_IDS, type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
let phone: WebSocket | undefined;
afterEach(async () => {
  phone?.terminate();
  phone = undefined;
  await daemon?.stop();
  daemon = undefined;
});

const FRAME_BYTES = 640;

/** A phone that sends some words, as fast as the daemon takes them. */
async function speak(one: RealDaemon): Promise<void> {
  const { listen } = JSON.parse(readFileSync(join(one.data_dir, 'daemon.json'), 'utf8'));
  const address = listen.find((entry: string) => !entry.startsWith('unix:'));
  const client = new WebSocket(`ws://${address}/api/v1/meeting/audio`);
  phone = client;
  await new Promise<void>((resolve, reject) => {
    client.on('message', (data) => {
      if (String(data).includes('"connected"')) resolve();
    });
    client.once('error', reject);
  });
  const sound = Buffer.from(joinedAudio(babble(2), silence(2), babble(1), silence(1)));
  for (let from = 0; from < sound.length; from += FRAME_BYTES) {
    client.send(sound.subarray(from, from + FRAME_BYTES));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('a meeting with a real claude as its scribe', () => {
  it('[SVC-4] [CAP-3] [MTR-5] [FIB-11] is followed while it grows, marked to it, and quoted in its fiber', async () => {
    daemon = await startRealDaemon('claude', {
      settings: { SVC_RECORDER_ENGINE: 'vad' },
      prepare: ({ home, project_dir }) => {
        const files = ['file-budget', 'follow-meeting', 'write-notes'];
        addClaudeRules(
          home,
          'allow',
          files.map((name) => join(project_dir, name)),
        );
        return undefined;
      },
    });
    const one = daemon;
    const { stub, project_dir, store } = one;
    await one.svc('setup', 'claude');
    const told = (member: string) =>
      `$(svc meeting status --json | sed -n 's/.*"${member}": "\\([^"]*\\)".*/\\1/p')`;
    const ended = join(project_dir, 'ended');
    // Files, since a command with a substitution asks for more than a rule may allow.
    const command = (name: string, lines: readonly string[]) => {
      const file = join(project_dir, name);
      writeFileSync(file, ['#!/bin/sh -e', ...lines, ''].join('\n'), { mode: 0o755 });
      return { shell: file };
    };
    stub.script({
      match: 'A meeting is being recorded now: "Budget 2027".',
      steps: [
        command('file-budget', [
          `echo ${told('transcript')} > transcript`,
          `svc fiber add Budget --slug budget --store ${store} --body notes`,
          `svc install budget --store ${store} --project-dir ${project_dir} --agent ${AGENT_IDS.claude}`,
          `svc claim budget --meeting ${told('launch')}`,
        ]),
        command('follow-meeting', [
          `while ! grep -q '^# ended' "$(cat transcript)"; do sleep 0.1; done`,
          `touch ${ended}`,
        ]),
        command('write-notes', ['svc fiber edit budget --body - < "$(cat transcript)"', 'svc handoff']),
        { text: 'too late' },
      ],
    });
    await one.release();
    const captured = capturedSchema.parse(
      JSON.parse(
        await one.svc(
          ...['meeting', 'start', 'Budget 2027', '--project-dir', project_dir],
          ...['--agent', AGENT_IDS.claude, '--json'],
        ),
      ),
    );
    const look = async () =>
      meetingAnswerSchema.parse(JSON.parse(await one.svc('meeting', 'status', '--json'))).meeting;
    await until('the fiber of the scribe', async () => (await look())?.fiber === 'budget', WITHIN_MS);
    expect((await one.row('budget')).svc?.runtime?.meeting).toBe(captured.meeting!.launch);
    await speak(one);
    await until('what was said', async () => ((await look())?.tail.length ?? 0) > 0, WITHIN_MS);
    const marked = await one.svcMayFail('meeting', 'mark', 'agreed on 2 %');
    expect(marked.out).toMatch(/^# mark \d\d:\d\d:\d\d agreed on 2 %\n$/);
    phone!.close();
    await once(phone!, 'close');
    await one.svc('meeting', 'stop');
    await until('the end', () => existsSync(ended), WITHIN_MS);
    const launch = await one.launch(0);
    expect(await one.endOf(launch)).toBe('handoff');
    const document = readFileSync((await one.row('budget')).path, 'utf8');
    expect(document).toMatch(/^\d\d:\d\d:\d\d-\d\d:\d\d:\d\d S1 \[speech 2\.\d s, not transcribed\]$/m);
    expect(document).toContain('agreed on 2 %');
    expect(document).toMatch(/^# ended \d\d:\d\d:\d\d$/m);
    const conversation = await one.transcriptOf(captured.session_uuid!);
    expect(conversation).toContain('agreed on 2 %');
    expect(conversation).toContain('from the recorder');
  });
});
