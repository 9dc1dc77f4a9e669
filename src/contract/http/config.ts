import { z } from 'zod';
import { operatorFileIdSchema } from '../operator-files.ts';
import { oneLine } from './bounded.ts';
import { originFields } from './composite.ts';
import { dryRunField, noRehearsal } from './rehearsal.ts';

/** One operator file in `GET /config` (RPL-7, REC-2). */
export const configEntrySchema = z.object({
  id: operatorFileIdSchema,
  path: z.string(),
  exists: z.boolean(),
  /** Bytes; null where there is no file. */
  size: z.number().nullable(),
  /** Milliseconds since the Unix epoch; null where there is no file. */
  mtime: z.number().nullable(),
  /** The environment variable that, while set, overrides the file (for `host`: its id). */
  overridden_by: z.string().nullable(),
  /** The environment variable with the path of the file. */
  path_from: z.string().nullable(),
});
export type ConfigEntry = z.infer<typeof configEntrySchema>;
export const configListSchema = z.object({ host: z.string(), files: z.array(configEntrySchema) });

/** An operator file that is not valid; `error` says what to correct. */
export const operatorFileErrorSchema = z.object({
  file: operatorFileIdSchema,
  path: z.string(),
  error: z.string(),
});
export type OperatorFileError = z.infer<typeof operatorFileErrorSchema>;

/** `GET /config/:id` (REC-3). */
export const configFileSchema = configEntrySchema.extend({
  /** The whole file; empty if there is none. */
  text: z.string(),
  /** SHA-256 of `text` in UTF-8, in lower-case hex; send it back as `expected_digest`. */
  digest: z.string(),
  /** For the two path lists, the effective paths; null for other files and for an invalid list. */
  entries: z.array(z.string()).nullable(),
  /** The error of the current file; null if it is valid. */
  problem: z.string().nullable(),
});
export type ConfigFile = z.infer<typeof configFileSchema>;

/** `POST /config/:id` (WPL-16): the whole text of the file; a blank one removes it (OPF-6). */
export const writeConfigSchema = z.object({
  text: z.string(),
  expected_digest: z.string().optional(),
  dry_run: dryRunField,
  origin: z.string().optional(),
});

/** Whether a written file is in effect. */
const takenUp = {
  path: z.string(),
  digest: z.string(),
  /** False if the file had this content already. */
  changed: z.boolean(),
  overridden_by: z.string().nullable(),
  /** True if the change is in effect. */
  in_force: z.boolean(),
  /** One sentence on what is needed for it to take effect; null if it is in effect. */
  note: z.string().nullable(),
};
export const configWrittenSchema = z.object({
  id: operatorFileIdSchema,
  ...takenUp,
  /** The file was removed. */
  removed: z.boolean(),
  /** The change takes effect after a restart of the daemon. */
  restart_required: z.boolean(),
});
export type ConfigWritten = z.infer<typeof configWrittenSchema>;

/** The lists of one host in `GET /fiber-stores` (RPL-6, REC-8). */
export const storeOriginSchema = z.object({
  stores: z.array(z.string()),
  projects: z.array(z.string()),
  /** Of `stores.json` and `projects.json`, for `expected_digest`. */
  stores_digest: z.string(),
  projects_digest: z.string(),
  /** True only if a person is logged in at a macOS desktop. */
  browser_capable: z.boolean(),
  /** Whether `POST /choose-folder` can open a dialog. */
  native_folder_picker: z.boolean(),
});
export type StoreOrigin = z.infer<typeof storeOriginSchema>;
/** The lists of one host, and how old they are (REC-8). */
export const datedStoresSchema = storeOriginSchema.extend({
  /** `stale`: that host does not answer, or has told its lists long ago. */
  state: originFields.state.extract(['fresh', 'stale']),
  /** When it told them, in milliseconds since the Unix epoch; null of the host that answers the request. */
  last_ok_at: originFields.last_ok_at,
  /** Why it gave no good answer when it was last asked for its fibers; null if it did. */
  error: originFields.error,
});
export type DatedStores = z.infer<typeof datedStoresSchema>;
export const fiberStoresSchema = z.object({
  host: z.string(),
  origins: z.record(z.string(), datedStoresSchema),
});
/** What a host of any build tells of its own lists in such an answer. */
export const toldStoresSchema = fiberStoresSchema.extend({
  origins: z.record(z.string(), storeOriginSchema),
});
export type FiberStores = z.infer<typeof fiberStoresSchema>;

const listOptions = {
  expected_digest: z.string().optional(),
  dry_run: dryRunField,
  origin: z.string().optional(),
};
/** `POST /fiber-stores` (WPL-14): the whole list; an empty one removes the file. */
export const writeStoresSchema = z.object({ stores: z.array(z.string().trim().min(1)), ...listOptions });
export const storesWrittenSchema = z.object({ stores: z.array(z.string()), ...takenUp });
export type StoresWritten = z.infer<typeof storesWrittenSchema>;

/** `POST /projects` (WPL-15): one folder to make a store and append, or the whole list. */
export const writeProjectsSchema = z
  .object({
    path: z.string().trim().min(1).optional(),
    projects: z.array(z.string().trim().min(1)).optional(),
    ...listOptions,
  })
  .refine((request) => (request.path === undefined) !== (request.projects === undefined), {
    message: 'must have either a path or the whole list as projects',
  })
  .refine((request) => request.path === undefined || request.expected_digest === undefined, {
    message: 'goes with the whole list; one path is appended whatever the list says',
    path: ['expected_digest'],
  });
export type WriteProjects = z.infer<typeof writeProjectsSchema>;
export const projectsWrittenSchema = z.object({
  projects: z.array(z.string()),
  ...takenUp,
  /** The folder that was sent, made absolute; null for a whole list. */
  project: z.string().nullable(),
  /** True if that folder was not a store before. */
  initialised: z.boolean(),
});
export type ProjectsWritten = z.infer<typeof projectsWrittenSchema>;

/** Timeout of the dialog, in milliseconds (LIM-13). */
export const FOLDER_DIALOG_MS = 5 * 60_000;
/** `POST /choose-folder` (WPL-20). */
export const chooseFolderSchema = z.object({
  /** Shown in the dialog. */
  title: oneLine(z.string().trim().min(1).max(200)).optional(),
  origin: z.string().optional(),
  dry_run: noRehearsal,
});
export const folderChoiceSchema = z.union([
  z.object({ ok: z.literal(true), path: z.string() }),
  z.object({ ok: z.literal(false), cancelled: z.literal(true) }),
]);
export type FolderChoice = z.infer<typeof folderChoiceSchema>;
