/** Bytes in JSON, as Go reads and prints them. */

const shape = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const lineBreaks = /[\r\n]/g;
/** Last digits before the padding that leave no bits over. */
const exactEnd = /[AQgw]==$|[AEIMQUYcgkosw048]=$|[^=]$|^$/;

/** Without line breaks and stray bits; undefined for what is no base64 (see base64Fault). */
export function canonicalBase64(text: string): string | undefined {
  const clean = text.includes('\n') || text.includes('\r') ? text.replace(lineBreaks, '') : text;
  if (clean.length % 4 !== 0 || !shape.test(clean)) return undefined;
  return exactEnd.test(clean.slice(-4)) ? clean : Buffer.from(clean, 'base64').toString('base64');
}

/** Where Go's decoder stops: line breaks count, the padding ends the text. */
export function base64Fault(text: string): string {
  const corrupt = (at: number): string => `illegal base64 data at input byte ${at}`;
  let at = 0;
  for (;;) {
    let read = 0;
    const next = (): string | undefined => {
      while (text[at] === '\n' || text[at] === '\r') at++;
      return text[at++];
    };
    for (; read < 4; read++) {
      const char = next();
      if (char === undefined) return read === 0 ? '' : corrupt(at - 1 - read);
      if (/[A-Za-z0-9+/]/.test(char)) continue;
      if (char !== '=' || read < 2) return corrupt(byteOffset(text, at - 1));
      if (read === 2) {
        const second = next();
        if (second === undefined) return corrupt(at - 1);
        if (second !== '=') return corrupt(byteOffset(text, at - 1));
      }
      const trailing = next();
      return trailing === undefined ? '' : corrupt(byteOffset(text, at - 1));
    }
  }
}

const byteOffset = (text: string, at: number): number => Buffer.byteLength(text.slice(0, at));
