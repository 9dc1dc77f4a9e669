declare module 'mime-types' {
  /** The type of a path's ending or of an ending; false for an unknown one. */
  export function lookup(path: string): string | false;
  /** The character set that a type has by default; false for none. */
  export function charset(type: string): string | false;
}
