/** Puts messages that came in parts together again, in whatever order and however often the parts came. */
import {ProtocolError} from './decode.ts';
import type {PartMessage} from './messages.ts';

/** What may lie here incomplete: beyond it the oldest are dropped, and asked for again by the gap that they leave. */
const maxHeldCharacters = 16 * 1024 * 1024;

interface Incomplete {
  texts: (string | undefined)[];
  missing: number;
  characters: number;
}

export class Assembler {
  readonly #incomplete = new Map<string, Incomplete>();
  #held = 0;

  /** The whole message, once its last part is there. @throws ProtocolError for parts that contradict themselves */
  add({of, part, parts, text}: PartMessage): string | undefined {
    if (part > parts) throw new ProtocolError(`part ${part} of ${parts}`);
    const key = `${parts} ${of}`;
    let message = this.#incomplete.get(key);
    if (!message) {
      message = {texts: new Array(parts).fill(undefined), missing: parts, characters: 0};
      this.#incomplete.set(key, message);
    }
    if (message.texts[part - 1] !== undefined) return undefined;
    message.texts[part - 1] = text;
    message.missing--;
    message.characters += text.length;
    this.#held += text.length;
    if (message.missing === 0) {
      this.#drop(key, message);
      return message.texts.join('');
    }
    for (const [oldest, dropped] of this.#incomplete) {
      if (this.#held <= maxHeldCharacters) break;
      this.#drop(oldest, dropped);
    }
    return undefined;
  }

  #drop(key: string, message: Incomplete): void {
    this.#incomplete.delete(key);
    this.#held -= message.characters;
  }
}
