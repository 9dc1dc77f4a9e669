import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { shellLine, shellWord } from '../base/shell-word.ts';
import type { MeetingMode } from '../contract/recorder.ts';
import { findExecutable } from '../platform/find-executable.ts';
import { packageRoot } from '../platform/package-root.ts';
import type { MeetingPaths, MeetingRecord } from './meeting-record.ts';

/** The name of a recorder that is looked for on PATH. */
const ON_PATH = 'svc-recorder';

/** The program that records meetings here. `name` names its folder on other hosts (CAP-4). */
export type RecorderProgram = { argv: string[]; name: string };

/** The program, or why there is none, with the fix. */
export type FoundRecorder = { program: RecorderProgram } | { unavailable: string };

/** The recorder that is configured, else the bundled one where it runs, else one on PATH. */
export async function findRecorder(options: {
  /** `SVC_RECORDER`: a path or a name. */
  configured: string | null;
  platform: NodeJS.Platform;
  path: string;
}): Promise<FoundRecorder> {
  const { configured, platform, path } = options;
  if (configured !== null) {
    const file = await findExecutable(configured, path);
    if (file !== null) return { program: { argv: [file], name: basename(file) } };
    return {
      unavailable: `SVC_RECORDER names ${configured}, which is not an executable program; correct it, or unset it`,
    };
  }
  if (platform === 'linux') {
    const launcher = join(packageRoot(), 'src', 'cli', 'launcher.mjs');
    return { program: { argv: [process.execPath, launcher, 'recorder'], name: 'svc' } };
  }
  const file = await findExecutable(ON_PATH, path);
  if (file !== null) return { program: { argv: [file], name: basename(file) } };
  return {
    unavailable: `no recorder is installed; put one on PATH as ${ON_PATH}, or name one in SVC_RECORDER (ops/recorder.md says what it must do)`,
  };
}

/** What a recorder can record here (RPL-16). */
export function modesOf(found: FoundRecorder, platform: NodeJS.Platform): MeetingMode[] {
  if ('unavailable' in found) return [];
  return platform === 'darwin' ? ['call', 'room', 'phone'] : ['phone'];
}

/** Where the transcript lies on the host that it is mirrored to. */
export function mirrorPath({ name }: RecorderProgram, meeting: string): string {
  return `~/.${name.replace(/^\.+/, '')}/meetings/${meeting}.txt`;
}

/** The arguments of a recorder, as `ops/recorder.md` states them. */
export function recorderArguments(
  { mode, launch, name, title, mirror }: MeetingRecord,
  { state, transcript, audio }: MeetingPaths,
): string[] {
  return [
    ...['--mode', mode, '--launch', launch, '--name', name, '--title', title],
    ...['--state', state, '--transcript', transcript, '--audio', audio],
    ...(mirror === null ? [] : ['--mirror', mirror.alias, '--mirror-path', mirror.path]),
  ];
}

/** What a recorder needs of the environment of the daemon; the rest is that of the multiplexer. */
const PASSED_ON = /^(?:SVC_.+|PATH|HOME|TZ|LANG|LC_.+|SSH_AUTH_SOCK|XDG_.+)$/;

/** A shell script that becomes the recorder, so that the first process of its session is the recorder itself. */
export function recorderScript(argv: readonly string[], log: string, env: NodeJS.ProcessEnv): string {
  const exports = Object.entries(env)
    .filter(([name, value]) => value !== undefined && PASSED_ON.test(name))
    .map(([name, value]) => `export ${name}=${shellWord(value!)}`)
    .sort();
  return [
    '#!/bin/sh',
    'umask 077',
    ...exports,
    `cd -- ${shellWord(homedir())} || cd /`,
    `exec ${shellLine(argv)} 2>>${shellWord(log)}`,
    '',
  ].join('\n');
}
