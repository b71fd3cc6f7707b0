/** Flags of ours, beside those of the table: what the reference has no word for. */

export const ownFlags = [
  {
    name: 'pod-api',
    section: 'pods and the API server',
    type: 'string',
    default: 'auto',
    values: ['auto', 'service', 'direct', 'proxy'],
  },
  {
    name: 'pod-api-port',
    section: 'pods and the API server',
    type: 'int32',
    default: 0,
    range: [0, 65_535],
    zeroMeans: 'from 10270 to 11269, by --root-dir',
  },
  {name: 'tunnel', section: 'pods and the API server', type: 'string', default: 'auto', values: ['auto', 'off']},
];
