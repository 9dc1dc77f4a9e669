import { CodedError, isCoded } from '../base/errors.ts';
import { type DocumentPlace, type ParsedDocument, parseDocument } from './document.ts';

/** How a store parses what it reads. */
export type DocumentParser = {
  /** As `parseDocument`; throws `unreadYet` for a document that must be parsed elsewhere first. */
  parse(bytes: Buffer, place: DocumentPlace): ParsedDocument;
  /** Has the document parsed elsewhere; after it `parse` takes the document if it has not changed meanwhile. */
  prepare(place: DocumentPlace): Promise<void>;
  /** Bytes of this digest were parsed here before they were written. */
  wrote(digest: string): void;
};

/** Parses everything where it is asked. */
export const directParser: DocumentParser = {
  parse: parseDocument,
  async prepare() {},
  wrote() {},
};

/** The error of a document that changed and was not parsed elsewhere yet. */
export function unreadYet(place: DocumentPlace): CodedError {
  return new CodedError(
    'store_unavailable',
    `${place.path} has changed and is being read; try again in a moment`,
    { details: { unread: place } },
  );
}

export function isUnreadYet(error: unknown): error is CodedError & { details: { unread: DocumentPlace } } {
  return isCoded(error, 'store_unavailable') && error.details.unread !== undefined;
}

/** How often a document is parsed elsewhere for one caller while its file keeps changing. */
const MOST_ROUNDS = 5;

/** Answers `run`, once more whenever a document must be parsed elsewhere before it. */
export async function whenParsed<T>(parser: DocumentParser, run: () => T | Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isUnreadYet(error) || round >= MOST_ROUNDS) throw error;
      await parser.prepare(error.details.unread);
    }
  }
}
