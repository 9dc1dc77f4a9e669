import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { go } from '../../lib/url.ts';
import { useOrigin } from '../origin.ts';
import styles from './Markdown.module.css';
import { renderMarkdown } from './render-markdown.ts';
import { type Resolve, sanitise } from './sanitise.ts';

/** A markdown text as a page. Links to fibers open their sheets. */
export default function Markdown({ text, resolve }: { text: string; resolve: Resolve }): ReactNode {
  const element = useRef<HTMLDivElement>(null);
  const [rendered, setRendered] = useState(false);
  const origin = useOrigin();
  const resolving = useRef(resolve);
  resolving.current = resolve;
  useEffect(() => {
    let current = true;
    const show = (html: string) => {
      if (!current) return;
      element.current?.replaceChildren(sanitise(html, (href) => resolving.current(href), origin));
      setRendered(true);
    };
    const html = renderMarkdown(text);
    if (typeof html === 'string') show(html);
    else void html.then(show);
    return () => {
      current = false;
    };
  }, [text, origin]);
  return (
    <>
      {!rendered && <p className={styles.rendering}>Setting a long text …</p>}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a link is followed with Enter by a click too. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only hears the clicks of its links. */}
      <div ref={element} className={styles.markdown} onClick={(event) => follow(event, origin)} />
    </>
  );
}

function follow(event: MouseEvent<HTMLElement>, origin: string | null): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const { fiber, here } = link.dataset;
  if (fiber === undefined && here === undefined) return;
  event.preventDefault();
  if (fiber !== undefined) go({ fiber, origin });
  else event.currentTarget.querySelector(`#${CSS.escape(here ?? '')}`)?.scrollIntoView({ block: 'start' });
}
