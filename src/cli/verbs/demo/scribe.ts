/** What a launch message says of a meeting that the worker is the scribe of. */
export type DemoMeeting = { title: string; transcript: string };

/** Null for a message about no meeting, or about one whose transcript is not on this host. */
export function meetingIn(prompt: string): DemoMeeting | null {
  const title = /^A meeting is being recorded now: "(.*)"\.$/m.exec(prompt)?.[1];
  const transcript = /^Transcript: (\/.*) \(a line is added/m.exec(prompt)?.[1];
  return title === undefined || transcript === undefined ? null : { title, transcript };
}

/** What was said so far, and whether nothing more will be. */
export type Heard = { spoken: string[]; marks: string[]; ended: boolean };

export function readTranscript(text: string): Heard {
  const lines = text.split('\n').slice(0, -1);
  return {
    spoken: lines.filter((line) => line !== '' && !line.startsWith('#')),
    marks: lines.filter((line) => line.startsWith('# mark ')),
    ended: lines.some((line) => /^# (?:recorder )?ended /.test(line)),
  };
}

/** Spoken lines that are quoted. */
const QUOTED = 40;
const NOTES = /(^|\n)## Notes\n[\s\S]*?(?=\n## |$)/;

/** The body with its notes of a meeting: what was marked, and what was said. */
export function writeNotes(
  body: string,
  { title, transcript }: DemoMeeting,
  { spoken, marks }: Heard,
): string {
  const rest = body.replace(NOTES, '').trimEnd();
  const left =
    spoken.length > QUOTED ? [`(${spoken.length - QUOTED} earlier lines are in the transcript)`] : [];
  const quotes = spoken.slice(-QUOTED).map((line) => `> ${line}`);
  const marked = marks.map((line) => `- ${line.slice('# mark '.length)}`);
  return [
    rest,
    '',
    '## Notes',
    '',
    `${title}: ${spoken.length} ${spoken.length === 1 ? 'line' : 'lines'}, from ${transcript}`,
    ...(marked.length === 0 ? [] : ['', 'Marked:', '', ...marked]),
    '',
    ...left,
    ...quotes,
    '',
  ].join('\n');
}
