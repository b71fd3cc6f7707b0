/** The words and signs of a label selector. `in` and `notin` are words: their place says whether they are operators. */

export interface Token {
  kind: 'word' | '!' | '(' | ')' | ',' | 'comparison' | 'end';
  text: string;
}

const blank = /[ \t\r\n]/;
const sign = /[=!(),<>]/;

export function lex(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    while (at < text.length && blank.test(text[at]!)) at++;
    const char = text[at];
    // A NUL ends the text, as it does for the reference.
    if (char === undefined || char === '\0') break;
    if (sign.test(char)) {
      const length = (char === '=' || char === '!') && text[at + 1] === '=' ? 2 : 1;
      const literal = text.slice(at, at + length);
      tokens.push({kind: isPunctuation(literal) ? literal : 'comparison', text: literal});
      at += length;
      continue;
    }
    const start = at;
    while (at < text.length && text[at] !== '\0' && !sign.test(text[at]!) && !blank.test(text[at]!)) at++;
    tokens.push({kind: 'word', text: text.slice(start, at)});
    if (text[at] === '\0') at++;
  }
  tokens.push({kind: 'end', text: ''});
  return tokens;
}

const isPunctuation = (text: string): text is '!' | '(' | ')' | ',' => text === '!' || text === '(' || text === ')' || text === ',';
