/** Names of container images, as far as a default needs them: which tag is meant. */

const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const label = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const domain = `(?:${label}(?:\\.${label})*|\\[(?:[a-fA-F0-9:]+)\\])(?::[0-9]+)?`;
const reference = new RegExp(`^(?:${domain}/)?(${component}(?:/${component})*)(?::([\\w][\\w.-]{0,127}))?(?:@(.+))?$`);
const digest = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/;
const identifier = /^[a-f0-9]{64}$/;
const maxNameLength = 255;

/** `latest` where the name gives neither tag nor digest; empty for a digest alone, and for what is no name of an image. */
export function imageTag(image: string): string {
  // A name this long is none, and patterns must not be tried on it.
  if (image.length > 1024 || identifier.test(image)) return '';
  const slash = image.indexOf('/');
  const first = slash < 0 ? '' : image.slice(0, slash);
  const hasDomain = slash >= 0 && (/[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first);
  const full = hasDomain ? image : `docker.io/${slash < 0 ? 'library/' : ''}${image}`;
  const match = reference.exec(full);
  if (!match || full.slice(0, full.indexOf(match[1]!) + match[1]!.length).length > maxNameLength) return '';
  const [, , tag = '', hash] = match;
  if (hash !== undefined && !digest.test(hash)) return '';
  return tag || (hash === undefined ? 'latest' : '');
}
