import { CodedError } from '../base/errors.ts';

/** For rows that take bytes: a page of another site can send text unasked, but not JSON. */
export function requireJson(content_type: string | undefined): void {
  if (content_type?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json') return;
  throw new CodedError(
    'unsupported_media_type',
    'The body must be sent with Content-Type: application/json.',
  );
}
