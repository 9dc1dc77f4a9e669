import { CodedError, isCoded } from '../base/errors.ts';
import { type DocumentPlace, type ParsedDocument, parseDocument } from './document.ts';

/** How a store parses documents. */
export type DocumentParser = {
  /** As `parseDocument`; throws `unreadYet` for a document that must be parsed in another thread first. */
  parse(bytes: Buffer, place: DocumentPlace): ParsedDocument;
  /** Parses the document in another thread; afterwards `parse` accepts it if it has not changed. */
  prepare(place: DocumentPlace): Promise<void>;
  /** Records that bytes with this digest were parsed here before they were written. */
  wrote(digest: string): void;
};

/** Parses every document in the calling thread. */
export const directParser: DocumentParser = {
  parse: parseDocument,
  async prepare() {},
  wrote() {},
};

/** The error of a changed document that the other thread has not parsed yet. */
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

/** Maximum parses in another thread per call, for a file that keeps changing. */
const MOST_ROUNDS = 5;

/** Runs `run`, and retries it after parsing a document in another thread whenever that is required. */
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
