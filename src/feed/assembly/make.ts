// Compiles what is in this folder, into a module of TypeScript: a file of its own could be forgotten by
// whatever makes a program or a package of the sources. `npm run skim`.

import { writeFileSync } from 'node:fs'
import asc from 'assemblyscript/asc'

const [target = 'src/feed/skim-code.ts'] = process.argv.slice(2)
const options = '--runtime stub -O3 --noAssert --enable simd --outFile skim.wasm'.split(' ')
const { error, stderr } = await asc.main(['src/feed/assembly/skim.ts', ...options], {
  writeFile(_name, content) {
    const code = Buffer.from(content).toString('base64')
    const head = '// Made by `npm run skim` of what is in assembly/: do not edit.\n\n'
    writeFileSync(target, `${head}/** WebAssembly, in base64. */\nexport const SKIM_CODE =\n  '${code}'\n`)
  },
})
if (error !== null) {
  console.error(stderr.toString())
  process.exitCode = 1
}
