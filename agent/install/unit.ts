/** The agent's systemd unit as text. Pure. */

export interface UnitOptions {
  node: string;
  script: string;
  flags: readonly string[];
}

const flagsMark = '# flags: ';

/** Its pods outlive it (KillMode): an agent that is started again takes them over. */
export const unitText = ({node, script, flags}: UnitOptions): string => `[Unit]
Description=nodeagent, runs the pods of this node
After=network-online.target containerd.service crio.service
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
${flagsMark}${JSON.stringify(flags)}
ExecStart=${[node, script, ...flags].map(quoted).join(' ')}
Restart=always
RestartSec=2
KillMode=process
OOMScoreAdjust=-999
LimitNOFILE=1048576
TasksMax=infinity

[Install]
WantedBy=multi-user.target
`;

export function flagsOfUnit(text: string): string[] {
  const line = text.split('\n').find((each) => each.startsWith(flagsMark));
  return line === undefined ? [] : (JSON.parse(line.slice(flagsMark.length)) as string[]);
}

/** As systemd reads a word: its specifiers and variables are doubled to stand for themselves. */
function quoted(word: string): string {
  const literal = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./-]+$/.test(literal)
    ? literal
    : `"${literal.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
