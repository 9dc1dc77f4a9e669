import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** What a board may weigh at most, in kB (1,000 bytes) after gzip; fonts as they are. */
export const BUDGETS = {
  first: 130,
  styles: 12,
  fonts: 36,
  fiber: 50,
  settings: 125,
  day: 20,
  meeting: 85,
} as const;

/** Of each view, the files that it is loaded from, by their names without what names their content. */
const VIEWS = {
  /** What the Desk shows and the page does not begin with. */
  desk: ['HostNotices', 'Ribbon', 'Wake'],
  fiber: ['FiberSheet', 'Markdown'],
  settings: ['Settings', 'FileEditor'],
  day: ['Day'],
} as const;

export type BoardSizes = Record<keyof typeof BUDGETS, number>;

/**
 * What a built board weighs, in kB: the scripts of the Desk, the style sheets that the page begins with, the fonts of
 * the Desk, the scripts that each other view adds, and all scripts of the page of a meeting, which begins without a Desk.
 */
export function boardSizes(folder: string): BoardSizes {
  const assets = join(folder, 'assets');
  const files = readdirSync(assets);
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const named = (kind: string) =>
    [...page.matchAll(/assets\/([^"]+)"/g)].flatMap(([, file]) => (file?.endsWith(kind) ? [file] : []));
  const meeting = [
    ...readFileSync(join(folder, 'meeting.html'), 'utf8').matchAll(/assets\/([^"]+\.js)"/g),
  ].map(([, file]) => file ?? '');
  const scripts = (view: readonly string[]) =>
    view.map((name) => {
      const file = files.find((one) => one.startsWith(`${name}-`) && one.endsWith('.js'));
      if (file === undefined) throw new Error(`the board has no script ${name}`);
      return file;
    });
  const first = imported(assets, [...named('.js'), ...scripts(VIEWS.desk)]);
  const later = (view: readonly string[]) =>
    weigh(
      assets,
      [...imported(assets, scripts(view))].filter((file) => !first.has(file)),
    );
  const styles = named('.css');
  const fonts = styles.flatMap((file) =>
    [
      ...readFileSync(join(assets, file), 'latin1').matchAll(/url\([^)]*\/([^/)]+latin-wght[^)]*\.woff2)/g),
    ].map(([, font]) => font ?? ''),
  );
  return {
    first: weigh(assets, [...first]),
    styles: weigh(assets, styles),
    fonts: fonts.reduce((sum, font) => sum + readFileSync(join(assets, font)).length / 1_000, 0),
    fiber: later(VIEWS.fiber),
    settings: later(VIEWS.settings),
    day: later(VIEWS.day),
    meeting: weigh(assets, [...imported(assets, meeting)]),
  };
}

/** Scripts, and all that they import at once. */
function imported(assets: string, scripts: readonly string[]): Set<string> {
  const found = new Set(scripts);
  // A set is walked with what is added to it meanwhile.
  for (const script of found)
    for (const [, file] of readFileSync(join(assets, script), 'utf8').matchAll(
      /(?:import|from)"\.\/([^"]+\.js)"/g,
    ))
      if (file !== undefined) found.add(file);
  return found;
}

function weigh(assets: string, files: readonly string[]): number {
  return files.reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(assets, file)), { level: 9 }).length / 1_000,
    0,
  );
}
