/** Whether a certificate signing request is well formed, and whether an update keeps to what its endpoint may change. */
import {X509Certificate} from 'node:crypto';
import {duplicate, type FieldError, fieldForbidden, goQuote, invalid, notSupported, required, tooLong} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {conditionStatuses} from '../common/conditions.ts';
import {sameJson} from '../common/equal.ts';
import {list, type Part} from '../common/loose.ts';
import {byteLength, dns1123Label, dns1123Subdomain} from '../common/names.ts';
import {pemBlocks, requestProblem} from './request.ts';

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const legacySigner = 'kubernetes.io/legacy-unknown';
const minExpirationSeconds = 600;
const decisions = ['Approved', 'Denied', 'Failed'];
const maxDomainBytes = 253;
/** A domain, a slash, a label, a dot, a subdomain. */
const maxSignerBytes = maxDomainBytes + 1 + 63 + 1 + 253;

export const validateCertificateSigningRequest = (object: KubeObject): FieldError[] => validate(object);

export function validateCertificateSigningRequestUpdate(object: KubeObject, old: KubeObject, subresource = ''): FieldError[] {
  const path = 'status.conditions';
  const errors = validate(object, old);
  const ofType = (from: KubeObject, type: string): Part[] => list(from.status?.conditions).filter((condition) => condition.type === type);
  for (const type of decisions)
    if (ofType(object, type).length < ofType(old, type).length)
      errors.push(fieldForbidden(path, `updates may not remove a condition of type "${type}"`));
  if (subresource !== 'approval')
    for (const type of ['Approved', 'Denied']) {
      const [now, before] = [ofType(object, type), ofType(old, type)];
      if (now.length > before.length) errors.push(fieldForbidden(path, `updates may not add a condition of type "${type}"`));
      else if (now.length === before.length && !sameJson(now, before))
        errors.push(fieldForbidden(path, `updates may not modify a condition of type "${type}"`));
    }
  const [certificate, before] = [object.status?.certificate ?? '', old.status?.certificate ?? ''];
  if (certificate === before) return errors;
  if (subresource !== 'status') errors.push(fieldForbidden('status.certificate', 'updates may not set certificate content'));
  else if (before) errors.push(fieldForbidden('status.certificate', 'updates may not modify existing certificate content'));
  return errors;
}

/** What an older server stored may stay. */
function validate({spec: given, status}: KubeObject, old?: KubeObject): FieldError[] {
  const spec = given ?? {};
  const errors: FieldError[] = [];
  const problem = requestProblem(atobSafe(spec.request));
  if (problem) errors.push(invalid('spec.request', spec.request, problem));
  const asked: string[] = list(spec.usages);
  const before: string[] = list(old?.spec?.usages);
  if (asked.length === 0) errors.push(required('spec.usages'));
  if (!before.some((usage) => !usages.includes(usage)))
    for (const [index, usage] of asked.entries())
      if (!usages.includes(usage)) errors.push(notSupported(`spec.usages[${index}]`, usage, usages));
  if (new Set(before).size === before.length)
    for (const [index, usage] of asked.entries()) if (asked.indexOf(usage) < index) errors.push(duplicate(`spec.usages[${index}]`, usage));
  if (spec.signerName === legacySigner && old?.spec?.signerName !== legacySigner)
    errors.push(invalid('spec.signerName', legacySigner, 'the legacy signerName is not allowed via this API version'));
  else errors.push(...signerName(spec.signerName ?? '', 'spec.signerName'));
  if (spec.expirationSeconds < minExpirationSeconds)
    errors.push(invalid('spec.expirationSeconds', spec.expirationSeconds, 'may not specify a duration less than 600 seconds (10 minutes)'));
  errors.push(...validateConditions(list(status?.conditions), list(old?.status?.conditions)));
  const certificate = status?.certificate ?? '';
  const isKept = old && (certificate === (old.status?.certificate ?? '') || certificateProblem(old.status?.certificate ?? ''));
  const wrong = isKept ? undefined : certificateProblem(certificate);
  return wrong ? [...errors, invalid('status.certificate', '<certificate data>', wrong)] : errors;
}

/** Bytes of the wire as Latin-1 text. */
function atobSafe(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('latin1');
}

export function signerName(name: string, path: string): FieldError[] {
  if (!name) return [required(path)];
  const [domain, rest, ...more] = name.split('/');
  if (domain === undefined || rest === undefined || more.length)
    return [invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  const errors = byteLength(domain) > maxDomainBytes ? [tooLong(path, maxDomainBytes)] : [];
  const labels = domain.split('.');
  // Only the first that is wrong is told.
  const wrong = labels.find((label) => dns1123Label(label).length > 0);
  if (wrong !== undefined)
    for (const text of dns1123Label(wrong)) errors.push(invalid(path, domain, `validating label ${goQuote(wrong)}: ${text}`));
  if (labels.length < 2) errors.push(invalid(path, domain, 'should be a domain with at least two segments separated by dots'));
  const wrongStep = rest.split('.').find((step) => dns1123Subdomain(step).length > 0);
  if (wrongStep !== undefined)
    for (const text of dns1123Subdomain(wrongStep)) errors.push(invalid(path, rest, `validating label ${goQuote(wrongStep)}: ${text}`));
  if (byteLength(name) > maxSignerBytes) errors.push(tooLong(path, maxSignerBytes));
  return errors;
}

function validateConditions(conditions: Part[], old: Part[]): FieldError[] {
  const path = 'status.conditions';
  const errors: FieldError[] = [];
  const has = (type: string): boolean => old.some((condition) => condition.type === type);
  const mayBeBoth = has('Approved') && has('Denied');
  const mayRepeat = new Set(old.map(({type}) => type)).size < old.length;
  const mayBeEmpty = old.some(({type}) => !type);
  const seen = new Set<string>();
  for (const [index, {type = '', status = ''}] of conditions.entries()) {
    const at = `${path}[${index}]`;
    if (!type && !mayBeEmpty) errors.push(required(`${at}.type`));
    const allowed = decisions.includes(type) ? ['True'] : conditionStatuses;
    if (!status) errors.push(required(`${at}.status`));
    else if (!allowed.includes(status)) errors.push(notSupported(`${at}.status`, status, allowed));
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined;
    if (opposite && seen.has(opposite) && !mayBeBoth)
      errors.push(invalid(path, type, 'Approved and Denied conditions are mutually exclusive'));
    if (seen.has(type) && !mayRepeat) errors.push(duplicate(`${at}.type`, type));
    seen.add(type);
  }
  return errors;
}

/** What is wrong with an issued certificate. */
function certificateProblem(base64: string): string | undefined {
  if (!base64) return undefined;
  const blocks = pemBlocks(atobSafe(base64));
  for (const {type, hasHeaders, bytes} of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${goQuote(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    try {
      new X509Certificate(bytes);
    } catch {
      return 'x509: malformed certificate';
    }
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}
