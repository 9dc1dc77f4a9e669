import { CST } from 'yaml';
import { DOCUMENT_LIMITS } from '../contract/document-limits.ts';

/** Why a YAML text is not parsed, and the position of the cause. */
export type ScreenRefusal = { message: string; offset: number };

const COMPLEX_KEY = 'a key must be text, not a list, a map or an alias; write it such as "key: value"';

/**
 * Checks the tokens of a YAML text before the library builds anything from them, and refuses constructs that cost more
 * than linear time: keys that are collections, deep nesting, many aliases, many tokens.
 */
export class YamlScreen {
  #offset = 0;
  #line_start = 0;
  /** True if the line contains only space so far. */
  #fresh_line = true;
  /** The previous token was the lexer's scalar mark, so this one is the scalar's text. */
  #in_scalar = false;
  /** The last token that was neither space, comment, anchor nor tag. */
  #last = '';
  /** Columns at which the block collections around this token begin. */
  #columns: number[] = [];
  /** `[` and `{` of the flow collections around this token. */
  #flows: string[] = [];
  #counts = { tokens: 0, anchors: 0, aliases: 0, tags: 0 };

  /** Number of tokens seen. */
  get tokens(): number {
    return this.#counts.tokens;
  }

  get aliases(): number {
    return this.#counts.aliases;
  }

  /** Checks the next token of the lexer; returns the reason to stop, or null. */
  take(token: string): ScreenRefusal | null {
    const at = this.#offset;
    this.#counts.tokens += 1;
    if (this.#counts.tokens > DOCUMENT_LIMITS.yaml_tokens)
      return refusal(
        at,
        `the frontmatter has more than ${DOCUMENT_LIMITS.yaml_tokens} YAML tokens; shorten it`,
      );
    const message = this.#in_scalar ? null : this.#judge(token);
    if (this.#in_scalar) this.#in_scalar = false;
    if (token === CST.SCALAR) this.#in_scalar = true;
    else if (token !== CST.DOCUMENT && token !== CST.FLOW_END) this.#pass(token);
    return message === null ? null : refusal(at, message);
  }

  #pass(token: string): void {
    const newline = token.lastIndexOf('\n');
    if (newline !== -1) {
      this.#line_start = this.#offset + newline + 1;
      this.#fresh_line = newline === token.length - 1;
    }
    this.#offset += token.length;
  }

  #judge(token: string): string | null {
    const type = CST.tokenType(token);
    switch (type) {
      case 'newline':
      case 'space':
      case 'comment':
      case 'byte-order-mark':
      case 'doc-mode':
        return null;
      case 'directive-line':
        return 'a YAML directive ("%") is not allowed in frontmatter; remove the line';
      case 'anchor':
        this.#counts.anchors += 1;
        return over(this.#counts.anchors, DOCUMENT_LIMITS.anchors, 'anchors ("&")') ?? this.#nest();
      case 'tag':
        this.#counts.tags += 1;
        return over(this.#counts.tags, DOCUMENT_LIMITS.yaml_tags, 'YAML tags ("!")') ?? this.#nest();
      case 'explicit-key-ind':
        return COMPLEX_KEY;
      default:
        return this.#content(token, type);
    }
  }

  #content(token: string, type: CST.TokenType | null): string | null {
    const before = this.#last;
    const in_key = this.#flows.at(-1) === '{' && before !== ':';
    const message = this.#nest();
    this.#last = type === 'alias' ? '*' : token;
    if (message !== null) return message;
    switch (type) {
      case 'map-value-ind':
        return before === ']' || before === '}' || before === '*' ? COMPLEX_KEY : null;
      case 'alias':
        this.#counts.aliases += 1;
        return in_key ? COMPLEX_KEY : over(this.#counts.aliases, DOCUMENT_LIMITS.aliases, 'aliases ("*")');
      case 'flow-map-start':
      case 'flow-seq-start':
        this.#flows.push(token);
        return in_key ? COMPLEX_KEY : this.#tooDeep();
      case 'flow-map-end':
      case 'flow-seq-end':
        this.#flows.pop();
        return null;
      default:
        return null;
    }
  }

  /** Tracks the columns of block collections: one begins at the start of a line or an item. */
  #nest(): string | null {
    const begins = this.#fresh_line || this.#last === '-';
    this.#fresh_line = false;
    if (!begins || this.#flows.length > 0) return null;
    const column = this.#offset - this.#line_start;
    while (this.#columns.length > 0 && this.#columns.at(-1)! > column) this.#columns.pop();
    if (this.#columns.at(-1) !== column) this.#columns.push(column);
    return this.#tooDeep();
  }

  #tooDeep(): string | null {
    return this.#columns.length + this.#flows.length > DOCUMENT_LIMITS.depth
      ? `lists and maps are nested more than ${DOCUMENT_LIMITS.depth} deep; flatten them`
      : null;
  }
}

function over(count: number, most: number, what: string): string | null {
  return count > most ? `the frontmatter has more than ${most} ${what}; write the values out` : null;
}

function refusal(offset: number, message: string): ScreenRefusal {
  return { offset, message };
}
