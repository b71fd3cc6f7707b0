/** Names of images: whether one is possible, what it stands for when it is short, and which registry it is at. */

const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const host = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\\[[0-9a-fA-F:]+\\])(?::[0-9]+)?';
const shape = new RegExp(
  `^(?:(${host})/)?(${component}(?:/${component})*)(?::([\\w][\\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
);
const defaultRegistry = 'docker.io';

export interface ImageName {
  /** As the runtime is asked for it: tagged, or by digest. */
  reference: string;
  registry: string;
  repository: string;
}

/** @throws Error in the reference's words */
export function parseImage(image: string): ImageName {
  const match = shape.exec(image);
  if (!match) {
    const words = shape.test(image.toLowerCase())
      ? 'invalid reference format: repository name must be lowercase'
      : 'invalid reference format';
    throw new Error(
      `Failed to apply default image tag ${JSON.stringify(image)}: couldn't parse image name ${JSON.stringify(image)}: ${words}`,
    );
  }
  const [, domain, path, tag, digest] = match;
  const isHost = domain !== undefined && (/[.:]/.test(domain) || domain === 'localhost' || domain !== domain.toLowerCase());
  const registry = isHost ? domain : defaultRegistry;
  const own = isHost || domain === undefined ? path! : `${domain}/${path}`;
  const repository = registry === defaultRegistry && !own.includes('/') ? `library/${own}` : own;
  return {reference: tag || digest ? image : `${image}:latest`, registry, repository};
}
