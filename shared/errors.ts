/**
 * API errors. Each is a Status with a reason: callers and tests ask for the reason, clients and people grep for the text, so the
 * words are the reference's. Field errors of validation live in field-errors.ts.
 */

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: {resourceVersion?: string; continue?: string; remainingItemCount?: number};
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

export class StatusError extends Error {
  readonly status: Status;
  /** More response headers, by lower-case name: Allow, Retry-After, WWW-Authenticate. */
  readonly headers: Record<string, string>;

  constructor(status: Status, options: {cause?: unknown; headers?: Record<string, string>} = {}) {
    super(status.message ?? status.reason ?? 'unknown', {cause: options.cause});
    this.name = 'StatusError';
    this.status = status;
    this.headers = options.headers ?? {};
  }

  get reason(): string {
    return this.status.reason ?? '';
  }
}

export const isReason = (error: unknown, reason: string): error is StatusError => error instanceof StatusError && error.reason === reason;

/** What an error is about: the resource (or, for Invalid, the kind) and its group. */
export interface Subject {
  group: string;
  resource: string;
}

export const qualified = (subject: {group: string; resource: string}): string =>
  subject.group ? `${subject.resource}.${subject.group}` : subject.resource;

interface FailureOptions {
  details?: StatusDetails;
  cause?: unknown;
  headers?: Record<string, string>;
  metadata?: Status['metadata'];
}

/** The general form; prefer the named ones below. */
export function failure(code: number, reason: string, message: string, options: FailureOptions = {}): StatusError {
  // In the order in which the reference prints them.
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: options.metadata ?? {},
    status: 'Failure',
    message,
    ...(reason && {reason}),
    ...(options.details && {details: options.details}),
    code,
  };
  return new StatusError(status, {cause: options.cause, ...(options.headers && {headers: options.headers})});
}

const detailsOf = (subject: Subject, name: string): StatusDetails => {
  const details: StatusDetails = {};
  if (name) details.name = name;
  if (subject.group) details.group = subject.group;
  if (subject.resource) details.kind = subject.resource;
  return details;
};

export const notFound = (subject: Subject, name: string): StatusError =>
  failure(404, 'NotFound', `${qualified(subject)} ${JSON.stringify(name)} not found`, {details: detailsOf(subject, name)});

export const alreadyExists = (subject: Subject, name: string): StatusError =>
  failure(409, 'AlreadyExists', `${qualified(subject)} ${JSON.stringify(name)} already exists`, {details: detailsOf(subject, name)});

export const objectModified = 'the object has been modified; please apply your changes to the latest version and try again';

export const conflict = (subject: Subject, name: string, why: string, cause?: unknown): StatusError =>
  failure(409, 'Conflict', `Operation cannot be fulfilled on ${qualified(subject)} ${JSON.stringify(name)}: ${why}`, {
    details: detailsOf(subject, name),
    cause,
  });

export const forbidden = (subject: Subject, name: string, why: string): StatusError => {
  const about =
    !subject.resource && !name
      ? 'forbidden'
      : name
        ? `${qualified(subject)} ${JSON.stringify(name)} is forbidden`
        : `${qualified(subject)} is forbidden`;
  return failure(403, 'Forbidden', `${about}: ${why}`, {details: detailsOf(subject, name)});
};

export const badRequest = (message: string, cause?: unknown): StatusError => failure(400, 'BadRequest', message, {cause});

export const unauthorized = (message = 'Unauthorized'): StatusError => failure(401, 'Unauthorized', message);

/** `details.kind` is the resource, the words name it qualified. */
export const methodNotSupported = (subject: Subject, verb: string): StatusError =>
  failure(405, 'MethodNotAllowed', `${verb} is not supported on resources of kind "${qualified(subject)}"`, {
    details: detailsOf(subject, ''),
  });

export const gone = (message: string): StatusError => failure(410, 'Expired', message);

export const tooLarge = (message: string): StatusError => failure(413, 'RequestEntityTooLarge', message);

export const unsupportedMediaType = (message: string): StatusError => failure(415, 'UnsupportedMediaType', message);

export const notAcceptable = (message: string): StatusError => failure(406, 'NotAcceptable', message);

export const internalError = (cause: unknown): StatusError => {
  const text = cause instanceof Error ? cause.message : String(cause);
  return failure(500, 'InternalError', `Internal error occurred: ${text}`, {details: {causes: [{message: text}]}, cause});
};

export const serviceUnavailable = (message: string): StatusError => failure(503, 'ServiceUnavailable', message);

/** What was asked for did not answer in time. */
export const gatewayTimeout = (message: string): StatusError => failure(504, 'Timeout', message);

export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  failure(429, 'TooManyRequests', message, {details: {retryAfterSeconds}, headers: {'retry-after': String(retryAfterSeconds)}});

/** 504 for a resourceVersion that has not been reached yet. */
export const tooLargeResourceVersion = (requested: number | string, current: number | string): StatusError =>
  failure(504, 'Timeout', `Timeout: Too large resource version: ${requested}, current: ${current}`, {
    details: {causes: [{reason: 'ResourceVersionTooLarge', message: 'Too large resource version'}], retryAfterSeconds: 1},
    headers: {'retry-after': '1'},
  });

/** What the server says for a path or verb it has no better words for (apimachinery's generic server response). */
export function genericError(code: number, verb: string, subject: Subject, name: string, serverMessage = ''): StatusError {
  const generic: Record<number, [reason: string, message: string]> = {
    400: ['BadRequest', 'the server rejected our request for an unknown reason'],
    401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
    403: ['Forbidden', serverMessage],
    404: ['NotFound', 'the server could not find the requested resource'],
    405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
    422: ['Invalid', 'the server rejected our request due to an error in our request'],
    429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
    503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
    504: ['Timeout', 'the server was unable to return a response in the time allotted, but may still be processing the request'],
  };
  const [reason, message] = generic[code] ?? ['', `the server responded with the status code ${code} but did not return more information`];
  const about = subject.resource ? `${message} (${verb.toLowerCase()} ${qualified(subject)}${name ? ` ${name}` : ''})` : message;
  const details = detailsOf(subject, name);
  if (serverMessage) details.causes = [{reason: 'UnexpectedServerResponse', message: serverMessage}];
  return failure(code, reason, about, {details});
}
