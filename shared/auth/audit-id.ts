/** Every request has an id by which logs and clients name it: the client's own, as it is, or a new one. */
export const auditIdHeader = 'audit-id';

/** No bound but that on headers: the reference cuts nothing off either. */
export const auditIdOf = (headers: Readonly<Record<string, string | undefined>>): string => headers[auditIdHeader] || crypto.randomUUID();
