// Arguments that several commands read the same way.

import { InvalidArgumentError } from 'commander'

export function versionId(text: string): number {
  if (!/^[1-9]\d*$/.test(text))
    throw new InvalidArgumentError('expected the id of a version, such as 12.')
  return Number(text)
}
