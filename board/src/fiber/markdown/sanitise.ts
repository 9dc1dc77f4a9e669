import DOMPurify from 'dompurify';
import { pathAt } from '../../lib/paths.ts';
import { fileUrl, type Target, wikiParts } from '../../model/links.ts';

/** Headings of a body stand below those of the sheet. */
const DEEPER = 2;
const LOWEST = 6;
const NO_LINKS_IN = 'a, code, pre';

/** Where an address in a body leads. */
export type Resolve = (href: string) => Target;

/**
 * The nodes of some markup, without anything that runs, is styled inline or is loaded from elsewhere. Links lead where
 * `resolve` says; a link to a fiber has its id in `data-fiber`, one within the body in `data-here`. Fibers and files are
 * those of one host, of the one that answers for null.
 */
export function sanitise(html: string, resolve: Resolve, origin: string | null): DocumentFragment {
  const nodes = DOMPurify.sanitize(html, {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ['style', 'form', 'textarea', 'select', 'button', 'video', 'audio', 'dialog'],
    FORBID_ATTR: ['style', 'class', 'name', 'srcset', 'popover', 'popovertarget'],
    ALLOW_DATA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  linkWikiWords(nodes);
  for (const image of nodes.querySelectorAll('img')) mendImage(image, resolve, origin);
  for (const link of nodes.querySelectorAll('a')) mendLink(link, resolve, origin);
  for (const box of nodes.querySelectorAll('input')) box.replaceWith(checkmark(box));
  for (const heading of nodes.querySelectorAll('h1, h2, h3, h4, h5, h6')) sink(heading);
  for (const table of nodes.querySelectorAll('table')) wrap(table, 'Table');
  for (const block of nodes.querySelectorAll('pre')) makeScrollable(block, 'Code');
  return nodes;
}

function linkWikiWords(nodes: DocumentFragment): void {
  const texts: Text[] = [];
  const walker = document.createTreeWalker(nodes, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode as Text;
    if (text.data.includes('[[') && text.parentElement?.closest(NO_LINKS_IN) == null) texts.push(text);
  }
  for (const text of texts)
    text.replaceWith(
      ...wikiParts(text.data).map((part) => {
        if (typeof part === 'string') return part;
        const link = document.createElement('a');
        link.href = `?fiber=${encodeURIComponent(part.id)}`;
        link.textContent = part.label;
        return link;
      }),
    );
}

function mendLink(link: HTMLAnchorElement, resolve: Resolve, origin: string | null): void {
  const target = resolve(link.getAttribute('href') ?? '');
  switch (target.kind) {
    case 'fiber':
      link.href = pathAt(origin, `?fiber=${encodeURIComponent(target.id)}`);
      link.dataset.fiber = target.id;
      return;
    case 'here':
      link.dataset.here = target.id;
      return;
    case 'nothing':
      link.replaceWith(...link.childNodes);
      return;
    case 'file':
    case 'web':
      link.href = target.kind === 'file' ? fileUrl(target.path, origin) : target.url;
      link.target = '_blank';
      link.rel = 'noopener noreferrer';
  }
}

/** Pictures of the host are shown; one from elsewhere would be loaded from there, so that only a link is left of it. */
function mendImage(image: HTMLImageElement, resolve: Resolve, origin: string | null): void {
  const src = image.getAttribute('src') ?? '';
  const target = resolve(src);
  if (target.kind === 'file') {
    image.src = fileUrl(target.path, origin);
    image.loading = 'lazy';
    return;
  }
  const link = document.createElement('a');
  link.textContent = image.alt || src || 'picture';
  if (target.kind === 'web') link.href = target.url;
  image.replaceWith(link);
}

function checkmark(box: HTMLInputElement): HTMLElement {
  const mark = document.createElement('span');
  mark.setAttribute('role', 'img');
  mark.setAttribute('aria-label', box.checked ? 'Done:' : 'To do:');
  mark.dataset.task = box.checked ? 'done' : 'open';
  box.closest('li')?.setAttribute('data-task', '');
  return mark;
}

function sink(heading: Element): void {
  const level = Math.min(Number(heading.tagName.slice(1)) + DEEPER, LOWEST);
  const lower = document.createElement(`h${level}`);
  if (heading.id !== '') lower.id = heading.id;
  lower.append(...heading.childNodes);
  heading.replaceWith(lower);
}

function wrap(element: Element, name: string): void {
  const frame = document.createElement('div');
  element.replaceWith(frame);
  frame.append(element);
  makeScrollable(frame, name);
}

/** What is wider than the sheet is scrolled on its own, with the keys too. */
function makeScrollable(element: Element, name: string): void {
  element.setAttribute('tabindex', '0');
  element.setAttribute('role', 'group');
  element.setAttribute('aria-label', name);
}
