#!/usr/bin/env -S MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=65536 node --disable-sigusr1 --max-semi-space-size=1
// The bin: checks the runtime, runs the command line, sets the exit code. The flags: SIGUSR1 would open a debugger
// that can read the key; a small young generation saves 12 MB with a feed of 200 MB, and the fixed threshold 35 MB,
// because glibc then returns what the checking thread frees. Threads that share their arenas save some MB with 1,000 feeds.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 24 || (major === 24 && minor < 11)) {
  console.error(`error: feedsyncd needs Node 24.11 or newer, but runs on ${process.versions.node}`)
  console.error(
    'try: the Node of the package (/usr/bin/feedsyncd), or npm run -s feedsyncd -- in a checkout',
  )
  process.exitCode = 78
} else {
  // One compiler for WebAssembly (undici's HTTP parser) saves 13 MB with a feed of 200 MB. Only where feeds are sent:
  // with such flags Node compiles its own modules anew, 15 ms. Before the cache, which depends on the flags.
  const isSender = process.argv.some((word) => word === 'run' || word === 'upload')
  if (isSender) {
    const { setFlagsFromString } = await import('node:v8')
    const flags = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']
    // The heap is collected when it has grown by a fifth, not fourfold: a first start with many feeds needs less memory.
    flags.push('--heap-growing-percent=20')
    for (const flag of flags) setFlagsFromString(flag)
  }
  const { enableCompileCache } = await import('node:module')
  // Beside the program, because others can write to a temporary folder.
  enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/feedsyncd`)
  const { runCli } = await import('./cli/program.ts')
  const { systemClock } = await import('./lib/clock.ts')
  const { isatty } = await import('node:tty')
  // A reader that closes the pipe (`| head`) is no error. Feeds are sent also while their log cannot be written.
  const ignore = () => {}
  const endAtPipe = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(process.exitCode ?? 0)
  }
  for (const output of [process.stdout, process.stderr])
    output.on('error', isSender ? ignore : endAtPipe)
  await runCli(process.argv.slice(2), {
    env: process.env,
    clock: systemClock,
    out: (text) => process.stdout.write(`${text}\n`),
    err: (text) => process.stderr.write(`${text}\n`),
    log: process.stdout,
    process,
    terminal: process.stdout.isTTY === true,
    ask: isatty(0) ? async (question) => (await import('./cli/ask.ts')).ask(question) : null,
    exit: (code) => {
      process.exitCode = code
    },
  })
}
