import { CodedError, isCoded } from '../base/errors.ts';
import { HARNESS_NAMES, type HarnessName, parseHarnessName } from './harness-name.ts';

/** Where a message goes: a session of one host, by the id that its program uses (WRK-8). */
export type SessionAddress = {
  /** The routing alias of the host. */
  host: string;
  harness: HarnessName;
  /** The id of the conversation. */
  native_id: string;
};

const NAME = '[A-Za-z0-9][A-Za-z0-9._-]*';
const ADDRESS = new RegExp(`^svc://(${NAME})/([^/]+)/(${NAME})$`);

/** True for a text that is meant as an address, valid or not. */
export function looksLikeAddress(text: string): boolean {
  return /^svc:\/\//i.test(text);
}

/**
 * Parses `svc://HOST/HARNESS/NATIVE_ID`; a registry spelling of the harness becomes its canonical name. Throws
 * `invalid_address`, or `unsupported_harness` if only the harness is unknown.
 */
export function parseAddress(text: string): SessionAddress {
  const [, host, spelling, native_id] = ADDRESS.exec(text) ?? [];
  if (host === undefined || spelling === undefined || native_id === undefined)
    throw new CodedError(
      'invalid_address',
      `${JSON.stringify(text)} is no address; write svc://HOST/HARNESS/SESSION_ID`,
    );
  const harness = parseHarnessName(spelling);
  if (harness === undefined)
    throw new CodedError(
      'unsupported_harness',
      `the address names the harness "${spelling}"; use one of ${HARNESS_NAMES.join(', ')}`,
    );
  return { host, harness, native_id };
}

/** The canonical text of an address; `parseAddress` reads it back. */
export function printAddress({ host, harness, native_id }: SessionAddress): string {
  return `svc://${host}/${harness}/${native_id}`;
}

/** The canonical text of an address; null for any other text. */
export function canonicalAddress(text: string): string | null {
  try {
    return printAddress(parseAddress(text));
  } catch (error) {
    if (!isCoded(error)) throw error;
    return null;
  }
}

/** The host in an address; undefined for any other text. */
export function hostIn(text: string): string | undefined {
  return ADDRESS.exec(text)?.[1];
}

/** The id of the conversation in an address; null for any other text. */
export function nativeIdOf(text: string): string | null {
  return ADDRESS.exec(text)?.[3] ?? null;
}
