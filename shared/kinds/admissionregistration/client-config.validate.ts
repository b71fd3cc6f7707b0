/** Where a webhook is: a URL, or a service of the cluster. Definitions of custom resources have the same for their conversion. */
import {type FieldError, invalid, required} from '../../field-errors.ts';
import type {Part} from '../common/loose.ts';
import {dns1123Subdomain, validPort} from '../common/names.ts';

const form = '; desired format: https://host[/path]';
const shape = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:([^/?#]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/;

export function validateUrl(url: string, path: string): FieldError[] {
  const parse = (problem: string) => [required(path, `url must be a valid URL: parse ${JSON.stringify(url)}: ${problem}${form}`)];
  if (/[\0-\x1f\x7f]/.test(url)) return parse('net/url: invalid control character in URL');
  if (url.startsWith(':')) return parse('missing protocol scheme');
  const [, scheme = '', user, host = '', query = '', fragment = ''] = shape.exec(url) ?? [];
  if (host.includes(' ')) return parse('invalid character " " in host name');
  const port = /:([^:\]]*)$/.exec(host);
  if (port && !/^\d*$/.test(port[1]!)) return parse(`invalid port ${JSON.stringify(port[0])} after host`);
  const errors: FieldError[] = [];
  if (scheme.toLowerCase() !== 'https') errors.push(invalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${form}`));
  if (!host) errors.push(invalid(path, host, `host must be specified${form}`));
  if (user !== undefined) errors.push(invalid(path, user, 'user information is not permitted in the URL'));
  if (fragment) errors.push(invalid(path, fragment, 'fragments are not permitted in the URL'));
  if (query) errors.push(invalid(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

export function validateService({namespace, name, path: url, port = 0}: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  // The reference has the two in each other's place; what is missing is told of the other.
  if (!namespace) errors.push(required(`${path}.name`));
  if (!name) errors.push(required(`${path}.namespace`));
  const portTexts = validPort(port);
  if (portTexts.length) errors.push(invalid(`${path}.port`, port, `port is not valid: ${portTexts.join(', ')}`));
  if (!url || url === '/') return errors;
  const wrong = (detail: string) => errors.push(invalid(`${path}.path`, url, detail));
  if (url === '//') {
    wrong('segment[0] may not be empty');
    return errors;
  }
  if (!url.startsWith('/')) wrong("must start with a '/'");
  const steps = url.slice(1).replace(/\/$/, '').split('/');
  for (const [index, step] of steps.entries()) {
    if (!step) wrong(`segment[${index}] may not be empty`);
    else for (const text of dns1123Subdomain(step)) wrong(`segment[${index}]: ${text}`);
  }
  return errors;
}
