/** What a baseline server answers on one path; `body` is null for a bodiless status, a number for so many bytes. */
export type CannedAnswer = {
  path: string;
  status: string;
  headers: Record<string, string>;
  body: string | number | null;
};
