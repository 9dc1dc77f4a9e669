import { type ReactNode, useState } from 'react';
import {
  changeWords,
  lengthOf,
  MOST_LINES,
  numberedLines,
  openAtFirst,
  type PatchLine,
} from '../../model/patch.ts';
import type { PatchFile, PatchHunk } from '../../model/wire.ts';
import { Button } from '../../ui/Button.tsx';
import styles from './Patch.module.css';

/** Files line by line, those that fit open at first. */
export function PatchFiles({ files }: { files: readonly PatchFile[] }): ReactNode {
  const open = openAtFirst(files);
  return files.map((file, index) => (
    <FileView key={file.path} file={file} begins_open={open[index] === true} />
  ));
}

function FileView({ file, begins_open }: { file: PatchFile; begins_open: boolean }): ReactNode {
  const [open, setOpen] = useState(begins_open);
  const { path, additions, deletions, hunks } = file;
  const words = changeWords(file);
  const name = (
    <>
      <b>{path}</b>
      {words !== '' && <em>{words}</em>}
      {additions !== null && (
        <span>
          +{additions} −{deletions}
        </span>
      )}
    </>
  );
  if (hunks.length === 0)
    return (
      <p className={styles.file} data-file={path}>
        {name}
      </p>
    );
  return (
    <details
      className={styles.file}
      data-file={path}
      open={open}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{name}</summary>
      {open && <Hunks file={file} />}
    </details>
  );
}

function Hunks({ file }: { file: PatchFile }): ReactNode {
  const [all, setAll] = useState(false);
  const length = lengthOf(file);
  let left = all ? length : MOST_LINES;
  const shown = file.hunks.flatMap((hunk) => {
    const lines = numberedLines(hunk, left);
    left -= lines.length;
    return lines.length === 0 ? [] : [{ hunk, lines }];
  });
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys. */}
      <section className={styles.lines} tabIndex={0} aria-label={`Lines of ${file.path}`}>
        <table>
          {shown.map(({ hunk, lines }) => (
            <HunkView key={`${hunk.old_start} ${hunk.new_start}`} hunk={hunk} lines={lines} />
          ))}
        </table>
      </section>
      {!all && length > MOST_LINES && (
        <Button tone="quiet" onClick={() => setAll(true)}>
          {length - MOST_LINES} more lines of {file.path}
        </Button>
      )}
    </>
  );
}

function HunkView({ hunk, lines }: { hunk: PatchHunk; lines: readonly PatchLine[] }): ReactNode {
  return (
    <tbody>
      <tr className={styles.hunk}>
        <th colSpan={4} scope="rowgroup">
          Line {hunk.new_start || hunk.old_start}
          {hunk.heading !== '' && <code> {hunk.heading}</code>}
        </th>
      </tr>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line keeps no state.
        <tr key={index} data-kind={line.kind}>
          <td>{line.before}</td>
          <td>{line.after}</td>
          <td>{SIGNS[line.kind]}</td>
          <td>
            <Text line={line} />
          </td>
        </tr>
      ))}
    </tbody>
  );
}

const SIGNS = { added: '+', removed: '−', same: '', remark: '' } as const;

function Text({ line: { kind, text } }: { line: PatchLine }): ReactNode {
  if (kind === 'added') return <ins>{text}</ins>;
  return kind === 'removed' ? <del>{text}</del> : text;
}
