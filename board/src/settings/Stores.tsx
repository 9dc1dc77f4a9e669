import { type ReactNode, useState } from 'react';
import { AddProject } from '../forms/ProjectPicker.tsx';
import { post } from '../lib/api.ts';
import { askNow } from '../lib/board.ts';
import { useHostState } from '../lib/host-state.ts';
import { STATE_PATH } from '../lib/paths.ts';
import { readAgain, useRead } from '../lib/reads.ts';
import { toast } from '../lib/toasts.ts';
import { go } from '../lib/url.ts';
import type { CardState } from '../model/states.ts';
import type { FiberStores, ProjectsWritten, StoreOrigin, StoresWritten } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Glyph } from '../ui/Glyph.tsx';
import styles from './Settings.module.css';

type List = 'stores' | 'projects';
const ROUTES: Readonly<Record<List, string>> = { stores: '/fiber-stores', projects: '/projects' };

/** Writes a whole list as it was read; false when somebody else has changed it meanwhile, or it was refused. */
export async function writeList(list: List, paths: readonly string[], origin: StoreOrigin): Promise<boolean> {
  const expected_digest = list === 'stores' ? origin.stores_digest : origin.projects_digest;
  const answer = await post<StoresWritten | ProjectsWritten>(ROUTES[list], {
    [list]: paths,
    expected_digest,
  });
  readAgain('/fiber-stores');
  readAgain(STATE_PATH);
  askNow();
  if (answer.ok) {
    if (answer.value.note !== null) toast(answer.value.note);
    return true;
  }
  toast(
    answer.status === 409
      ? 'The list was changed meanwhile and nothing was written. It is shown as it is now: do it again if you still want it.'
      : answer.message,
    { tone: 'fault' },
  );
  return false;
}

/** The stores that are polled, and the folders that the forms offer. */
export function Stores(): ReactNode {
  const { value, refusal } = useRead<FiberStores>('/fiber-stores');
  const state = useHostState();
  const origin = value?.origins[value.host];
  return (
    <>
      <h2 className={styles.title}>Stores and projects</h2>
      {refusal !== null && (
        <p className={styles.about} role="alert">
          {refusal.message}
        </p>
      )}
      {origin !== undefined && (
        <>
          <PathList
            list="stores"
            name="Stores"
            about="Folders whose fibers are on the board, and whose workers this daemon starts."
            origin={origin}
            describe={(path) => {
              const found = state.value?.poll_health.stores.find(({ store }) => store === path);
              if (found === undefined) return { glyph: 'launching', text: null };
              if (found.error !== null) return { glyph: 'blocked', text: found.error };
              return { glyph: 'accepted', text: found.fibers === 1 ? '1 fiber' : `${found.fibers} fibers` };
            }}
          />
          <PathList
            list="projects"
            name="Projects"
            about="Folders that Stash and Capture offer beside the stores."
            origin={origin}
            describe={() => ({ glyph: 'draft', text: null })}
          />
          <div className={styles.buttons}>
            <Button onClick={() => go({ part: 'file-stores' })}>Edit stores.json</Button>
            <Button onClick={() => go({ part: 'file-projects' })}>Edit projects.json</Button>
          </div>
        </>
      )}
    </>
  );
}

type PathListProps = {
  list: List;
  name: string;
  about: string;
  origin: StoreOrigin;
  describe(path: string): { glyph: CardState; text: string | null };
};

function PathList({ list, name, about, origin, describe }: PathListProps): ReactNode {
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<string | null>(null);
  const paths = origin[list];
  return (
    <section className={styles.box} aria-label={name}>
      <h3>
        {name} <span>{paths.length}</span>
      </h3>
      <div className={styles.inside}>
        <p className={styles.about}>{about}</p>
      </div>
      {paths.map((path) => {
        const { glyph, text } = describe(path);
        return (
          <div key={path} className={styles.row} data-state={glyph}>
            <Glyph state={glyph} />
            <div>
              <b>{path}</b>
            </div>
            <p className={styles.small}>{text}</p>
            <Button tone="quiet" aria-label={`Remove ${path}`} onClick={() => setRemoving(path)}>
              Remove
            </Button>
          </div>
        );
      })}
      <div className={styles.row}>
        {adding ? (
          <AddProject
            host=""
            dialog={origin.native_folder_picker}
            name={list === 'stores' ? 'Folder of the store' : 'Folder of the project'}
            onDone={(path) => {
              setAdding(false);
              if (path !== null && list === 'stores' && !origin.stores.includes(path))
                void writeList('stores', [...origin.stores, path], origin);
            }}
          />
        ) : (
          <Button onClick={() => setAdding(true)}>
            {list === 'stores' ? 'Add a store' : 'Add a project'}
          </Button>
        )}
      </div>
      {removing !== null && (
        <Dialog title={`Remove ${removing}?`} onClose={() => setRemoving(null)}>
          <div className={styles.inside}>
            <p>
              {list === 'stores'
                ? 'Its fibers leave the board and nothing is started from it any more. Workers that run go on, but their documents are not updated when they end. No file is deleted.'
                : 'Stash and Capture do not offer it any more. No file is deleted.'}
            </p>
            <div className={styles.buttons}>
              <Button
                tone="fault"
                data-autofocus
                onClick={() => {
                  setRemoving(null);
                  const left = paths.filter((one) => one !== removing);
                  void writeList(list, left, origin);
                }}
              >
                Remove it
              </Button>
              <Button tone="quiet" onClick={() => setRemoving(null)}>
                Keep it
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </section>
  );
}
