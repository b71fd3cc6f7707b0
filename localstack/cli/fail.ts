/** Errors that a person reads: one line, no stack. */
import {isStoreError} from '../../shared/storage/contract.ts';
import {CertificateError} from '../certificates.ts';

/** Ends the command with this one line on stderr and a non-zero exit. */
export class Refusal extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.name = 'Refusal';
    this.exitCode = exitCode;
  }
}

interface SystemError extends Error {
  code?: string;
  syscall?: string;
  address?: string;
  port?: number;
  path?: string;
}

const storeAdvice: Record<string, string> = {
  InUse: 'another process holds it; stop that one or name another folder with --data',
  NewerFormat: 'a newer release wrote it; use that release, or another folder with --data',
  Corrupt: 'it cannot be read; restore it from an export, or start anew with `clusterless reset`',
};

/** The line for an error that has a known cause; undefined for a bug, which deserves its stack. */
export function explain(error: unknown, data?: string): string | undefined {
  if (error instanceof Refusal || error instanceof CertificateError) return error.message;
  const about = data === undefined ? 'data folder' : `data folder ${data}`;
  if (isStoreError(error)) return `${about}: ${storeAdvice[error.code] ?? ''} (${error.message})`.replace(':  (', ': (');
  const {code, syscall, address, port, path} = error as SystemError;
  if (syscall === 'listen' || syscall === 'bind') {
    const where = `${address}:${port ?? 0}`;
    if (code === 'EADDRINUSE')
      return `cannot listen on ${where}: the port is in use; choose another with --listen, or a free one with --listen ${address}:0`;
    if (code === 'EACCES') return `cannot listen on ${where}: not permitted`;
    return `cannot listen on ${where}: ${code}`;
  }
  if (syscall === 'getaddrinfo') return `cannot listen: ${(error as Error).message}`;
  if (code && path !== undefined && ['EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'EROFS', 'ENOSPC', 'EEXIST', 'EISDIR'].includes(code)) {
    return `${path}: ${code} (${syscall ?? 'file system'})`;
  }
  return undefined;
}
