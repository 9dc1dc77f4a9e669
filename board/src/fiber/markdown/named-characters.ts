import DOMPurify from 'dompurify';

const NAME = /^[A-Za-z][A-Za-z0-9]*$/;

/** The character of a reference such as `&amp;`, by its name; false if there is none. Stands in for a library's own. */
export function decodeNamedCharacterReference(name: string): string | false {
  if (!NAME.test(name)) return false;
  const text = DOMPurify.sanitize(`&${name};`, { RETURN_DOM_FRAGMENT: true }).textContent;
  // A name that only begins with a shorter one, such as `&notit;`, keeps its semicolon.
  return text === `&${name};` || (text.endsWith(';') && name !== 'semi') ? false : text;
}
