/** A row as another host tells it; `more` over what every row has. */
export function toldRow(id: string, more: object = {}): Record<string, unknown> {
  return {
    ...{ id, uid: null, leaf: id, store: '/s', path: `/s/.fibers/${id}.md` },
    ...{ name: id, status: 'open', tags: [], digest: `d-${id}` },
    ...more,
  };
}

/** The body of `GET /fibers?since=` with all rows. */
export function toldWhole(host: string, tag: string | null, rows: readonly object[], more: object = {}) {
  return { tag, whole: true, host, state: 'fresh', generated_at: 7, fibers: rows, ...more };
}

/** The same with what changed. */
export function toldDelta(
  host: string,
  tag: string,
  rows: readonly object[],
  removed: readonly string[] = [],
) {
  return { host, state: 'fresh', generated_at: 7, tag, removed, rows };
}
