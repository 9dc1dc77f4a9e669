/** `[[id]]`, `[[id#heading]]`, `[[id|label]]`. */
const LINK = /\[\[([^[\]|#\n]+)((?:[#|][^[\]\n]*)?)\]\]/g;

/** True if a link in the text names the fiber or a descendant, by canonical id. */
export function nameLinks(text: string, id: string): boolean {
  return [...text.matchAll(LINK)].some(([, target]) => isWithin(target!.trim(), id));
}

/** The text with the links to a fiber and its descendants changed to the new id; headings and labels are kept. */
export function renameLinks(text: string, from: string, to: string): string {
  return text.replace(LINK, (link, target: string, rest: string) => {
    const named = target.trim();
    return isWithin(named, from) ? `[[${to}${named.slice(from.length)}${rest}]]` : link;
  });
}

function isWithin(named: string, id: string): boolean {
  return named === id || named.startsWith(`${id}/`);
}
