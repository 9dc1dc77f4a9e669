/** Frontmatter that no program of ours knows; it has to outlive every write. */
export const UNKNOWN_KEYS = '# a comment of a person\nx-team: { lead: ada, desks: [1, 2, 3] }\n';
