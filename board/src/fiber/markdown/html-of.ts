import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** Markup of a markdown text. Raw HTML in it comes out as text, and links of other protocols come out empty. */
export function htmlOf(markdown: string): string {
  return micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()] });
}
