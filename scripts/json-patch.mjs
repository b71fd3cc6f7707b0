/** As much of JSON patch as recorded cases use: add, replace, remove. */
export function applyJsonPatch(document, operations) {
  let root = structuredClone(document);
  for (const {op, path, value} of operations) {
    const keys = path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop();
    if (last === undefined) {
      root = structuredClone(value);
      continue;
    }
    let node = root;
    for (const key of keys) node = node[key] ??= {};
    if (op === 'remove') {
      if (Array.isArray(node)) node.splice(Number(last), 1);
      else delete node[last];
    } else if (Array.isArray(node) && op === 'add') {
      if (last === '-') node.push(structuredClone(value));
      else node.splice(Number(last), 0, structuredClone(value));
    } else node[last] = structuredClone(value);
  }
  return root;
}
