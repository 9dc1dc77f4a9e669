/** `[[id]]`, `[[id#heading]]`, `[[id|label]]`. */
const LINK = /\[\[([^[\]|#\n]+)((?:[#|][^[\]\n]*)?)\]\]/g;

/** True when some link in the text names a fiber or one below it, by canonical id. */
export function nameLinks(text: string, id: string): boolean {
  return [...text.matchAll(LINK)].some(([, target]) => isWithin(target!.trim(), id));
}

/** The text with every link to a fiber, or to one below it, naming its new id; headings and labels stay. */
export function renameLinks(text: string, from: string, to: string): string {
  return text.replace(LINK, (link, target: string, rest: string) => {
    const named = target.trim();
    return isWithin(named, from) ? `[[${to}${named.slice(from.length)}${rest}]]` : link;
  });
}

function isWithin(named: string, id: string): boolean {
  return named === id || named.startsWith(`${id}/`);
}
