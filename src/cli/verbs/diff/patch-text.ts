import type { PatchFile, PatchHunk } from '../../../contract/http/commit-patch.ts';

/** Changes of files in the unified format; a remark says what is missing. */
export function patchText(files: readonly PatchFile[], truncated: boolean): string {
  return `${files.map(fileText).join('')}${truncated ? '(there is more than what is shown)\n' : ''}`;
}

function fileText({ path, old_path, change, binary, hunks }: PatchFile): string {
  const before = change === 'added' ? '/dev/null' : `a/${old_path ?? path}`;
  const after = change === 'deleted' ? '/dev/null' : `b/${path}`;
  const head = [`diff --git a/${old_path ?? path} b/${path}`];
  if (change === 'renamed') head.push(`rename from ${old_path}`, `rename to ${path}`);
  if (binary) head.push(`Binary files ${before} and ${after} differ`);
  else if (hunks.length > 0) head.push(`--- ${before}`, `+++ ${after}`);
  return [...head, ...hunks.flatMap(hunkLines)].map((line) => `${line}\n`).join('');
}

function hunkLines({ old_start, new_start, heading, lines }: PatchHunk): string[] {
  const counted = (signs: string) => lines.filter((line) => signs.includes(line[0] ?? ' ')).length;
  const head = `@@ -${old_start},${counted('- ')} +${new_start},${counted('+ ')} @@`;
  return [heading === '' ? head : `${head} ${heading}`, ...lines];
}
