/**
 * The limits of one document. The reader reports a document beyond them with an error that names the limit, and a write
 * that would exceed one is refused. Lengths of text are in UTF-16 code units.
 */
export const DOCUMENT_LIMITS = {
  /** Bytes of the whole file. */
  bytes: 16 * 1024 * 1024,
  /** Length of the frontmatter, without its fences. */
  frontmatter_chars: 256 * 1024,
  /** The same for writes of callers; the rest is reserved for keys that the daemon must be able to write. */
  written_frontmatter_chars: 240 * 1024,
  /** Tokens of the YAML text: each key, colon, value, space, comma and line end is one or two. */
  yaml_tokens: 20_000,
  /** The same for writes of callers. */
  written_yaml_tokens: 19_000,
  /** Nesting depth of maps and lists. */
  depth: 32,
  /** `&anchor`, `*alias` and `!tag` of YAML, each. */
  anchors: 100,
  aliases: 100,
  yaml_tags: 100,
  /** Keys and values, with every alias expanded. */
  values: 10_000,
} as const;

/** The limits of the fields of a document. */
export const FIELD_LIMITS = {
  name_chars: 500,
  outcome_chars: 32 * 1024,
  /** Any other text field, such as `due`, `svc.agent` or `svc.project_dir`. */
  text_chars: 4_096,
  tags: 1_000,
  tag_chars: 200,
  roles: 100,
  collaborators: 200,
  collaborator_chars: 200,
  /** Agents of `svc.on_limit`. */
  on_limit: 20,
} as const;

/** The limits of one write. */
export const WRITE_LIMITS = {
  /** Frontmatter paths in `set`. */
  set_keys: 200,
  /** Frontmatter paths in `unset`. */
  unset_keys: 200,
  /** Length of a frontmatter path such as `svc.agent`. */
  path_chars: 500,
  /** Length of an id, a store root, an agent name or another reference. */
  reference_chars: 4_096,
  /** Length of a body; the limit in bytes counts too. */
  body_chars: 16 * 1024 * 1024,
  /** Length of the prompt of a capture or of a message to a worker. */
  prompt_chars: 1024 * 1024,
} as const;
