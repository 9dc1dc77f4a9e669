import { freeBytes } from '../src/base/free-bytes.ts';
import { poolJobs } from '../src/contract/threads/pool.ts';
import { identifyStore } from '../src/fibers/identify-store.ts';
import { initProject } from '../src/fibers/init-project.ts';
import { readDocuments, sweepStore } from '../src/fibers/sweep.ts';
import { digestFile } from '../src/platform/file-digest.ts';
import { mayFollow, requireAnswer } from '../src/platform/foreign-paths.ts';
import { withBulk } from '../src/threads/bulk.ts';
import type { Handlers } from '../src/threads/calls.ts';
import { createPoolEntry, type NoteStep } from '../src/threads/pool-entry.ts';

const NOTHING = new Uint8Array(0);
const handlers = (noteStep: NoteStep): Handlers<typeof poolJobs> => ({
  ping: () => ({}),
  sweep_store({ root, ...options }, table) {
    const bytes = sweepStore(root, table ?? NOTHING, Date.now(), { ...options, onStep: noteStep });
    if (table !== null) freeBytes(table);
    return withBulk({}, bytes);
  },
  read_documents: ({ root, ...options }, paths) =>
    withBulk({}, readDocuments(root, paths ?? NOTHING, Date.now(), { ...options, onStep: noteStep })),
  identify_store: ({ root }) => ({ identity: identifyStore(root) }),
  async digest_file({ path, stamp }) {
    await requireAnswer(path);
    return digestFile(path, stamp);
  },
  // What a start has no use for is loaded by the first job that has.
  async check_attachments(_, body) {
    const { checkAttachments } = await import('../src/fibers/attachments/check-attachments.ts');
    const { checked, bytes } = checkAttachments(body ?? NOTHING);
    return withBulk(checked, bytes);
  },
  async check_message_files(_, body) {
    const { checkMessageFiles } = await import('../src/fibers/attachments/check-message-files.ts');
    const { checked, bytes } = checkMessageFiles(body ?? NOTHING);
    return withBulk(checked, bytes);
  },
  async store_attachments({ folder, of, files, dry_run }, bytes) {
    const { attachmentPlaces, storeAttachments } = await import(
      '../src/fibers/attachments/store-attachments.ts'
    );
    if (dry_run) return { files: attachmentPlaces(folder, of, files) };
    const { sweepAttachments } = await import('../src/fibers/attachments/sweep-attachments.ts');
    await requireAnswer(folder);
    const stored = storeAttachments({ folder, of, files, bytes: bytes ?? NOTHING });
    sweepAttachments(folder);
    return { files: stored };
  },
  async find_transcripts({ agents_file, sessions }) {
    const { loadRegistryFile } = await import('../src/harness/agents/registry.ts');
    const { findTranscripts } = await import('../src/harness/transcripts/find-transcripts.ts');
    await requireAnswer(agents_file);
    const { agents } = loadRegistryFile(agents_file);
    return { transcripts: await findTranscripts(agents, sessions, process.env) };
  },
  async find_bridge_urls({ files }) {
    const { HARNESSES } = await import('../src/harness/harnesses.ts');
    const urls: (string | null)[] = [];
    for (const { harness, path, seen, to } of files) {
      const { findLink } = HARNESSES[harness].transcripts;
      urls.push((await mayFollow(path)) === 'answers' ? (findLink?.(path, seen, to) ?? null) : null);
    }
    return { urls };
  },
  async read_spend({ cache_dir, sessions }) {
    const { readSpend } = await import('../src/harness/transcripts/session-spend.ts');
    return { spends: await readSpend(sessions, cache_dir) };
  },
  async read_moment({ path, harness, at, within_ms }) {
    const { readMoment } = await import('../src/harness/transcripts/moment.ts');
    await requireAnswer(path);
    return readMoment(path, harness, { at, within_ms });
  },
  async read_transcript_page({ path, harness, ...wish }) {
    const { readTranscriptPage } = await import('../src/harness/transcripts/transcript-page.ts');
    await requireAnswer(path);
    return readTranscriptPage(path, harness, wish);
  },
  async read_commit_patch(wanted) {
    const { showCommit } = await import('../src/ledgers/show-commit.ts');
    const { createRunner } = await import('../src/platform/process.ts');
    return showCommit(wanted, createRunner(), process.env);
  },
  async read_uncommitted(wanted) {
    const { readUncommitted } = await import('../src/ledgers/uncommitted.ts');
    const { createRunner } = await import('../src/platform/process.ts');
    return { work: await readUncommitted(wanted, createRunner(), process.env) };
  },
  async search({ catalogue, wish }, rows) {
    const { searchCatalogue } = await import('../src/fibers/search/search-catalogue.ts');
    return { reply: searchCatalogue(catalogue, wish, rows) };
  },
  async describe_api({ version }) {
    const { encodeApi } = await import('../src/routes/described-rows.ts');
    return withBulk({}, encodeApi(version));
  },
  init_store: ({ path, dry_run }) => initProject(path, dry_run),
});

/** Runs one job of the pool. */
export default createPoolEntry(poolJobs, handlers);
