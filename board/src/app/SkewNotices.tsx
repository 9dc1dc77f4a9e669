import { type ReactNode, useEffect } from 'react';
import { lookForUpdate } from '../lib/look-for-update.ts';
import { useSkew } from '../lib/skew.ts';
import type { Contact } from '../model/contact.ts';
import { Button } from '../ui/Button.tsx';
import { Banner } from './Banner.tsx';

/** That the page and its daemon are not of one build. */
export function SkewNotices({ contact }: { contact: Contact['kind'] }): ReactNode {
  const { updated, older } = useSkew();
  const answers = contact === 'live' || contact === 'polling';
  useEffect(() => {
    // A daemon that answers again may be another one.
    if (answers) void lookForUpdate();
  }, [answers]);
  return (
    <>
      {updated && (
        <Banner
          glyph="launching"
          title="The board was updated"
          action={
            <Button size="small" onClick={() => location.reload()}>
              Reload
            </Button>
          }
        >
          this page is of an earlier build
        </Banner>
      )}
      {older && (
        <Banner glyph="unknown" title="This daemon is older than the board">
          {'it does not know what was asked of it; once it is updated, `svc daemon restart`'}
        </Banner>
      )}
    </>
  );
}
