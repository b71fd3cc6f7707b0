/**
 * Ends what a rehearsal has started even when the rehearsal itself is killed: a shell that is told of each process and, when its input
 * ends, kills those that are left. Stopped processes would otherwise stay for ever.
 */
import {type ChildProcess, spawn} from 'node:child_process';

const script = `
pids=" "
while read -r what pid; do
  case $what in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
`;

export class Reaper {
  readonly #shell: ChildProcess;

  constructor() {
    // Out of the group that a terminal's interrupt goes to.
    this.#shell = spawn('sh', ['-c', script], {stdio: ['pipe', 'ignore', 'ignore'], detached: true});
    this.#shell.stdin!.on('error', () => {});
    this.#shell.unref();
  }

  started(pid: number): void {
    this.#shell.stdin!.write(`+ ${pid}\n`);
  }

  ended(pid: number): void {
    this.#shell.stdin!.write(`- ${pid}\n`);
  }

  close(): void {
    this.#shell.stdin!.end();
  }
}
