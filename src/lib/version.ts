// The version of the program, as its package states it.

import manifest from '../../package.json' with { type: 'json' }

export const VERSION: string = manifest.version
