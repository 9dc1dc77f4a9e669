/** What a baseline server answers on one path; `body` is null for a bodiless status. */
export type CannedAnswer = {
  path: string;
  status: string;
  headers: Record<string, string>;
  body: string | null;
};
