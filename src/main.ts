#!/usr/bin/env -S MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=65536 node --disable-sigusr1 --max-semi-space-size=1
// The bin checks the runtime, runs the command line and sets the exit code. Its first line sets two flags of Node and
// two variables of glibc. --disable-sigusr1: the signal SIGUSR1 would open a debugger, which can read the key.
// --max-semi-space-size: a small young generation saves 12 MB of memory with a feed of 200 MB.
// MALLOC_MMAP_THRESHOLD_: with a fixed threshold glibc returns the memory that the checking thread frees, which saves
// 35 MB more. MALLOC_ARENA_MAX: threads that share arenas save a few MB with 1,000 feeds.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 24 || (major === 24 && minor < 11)) {
  console.error(`error: feedsyncd needs Node 24.11 or newer, but runs on ${process.versions.node}`)
  console.error(
    'try: /usr/bin/feedsyncd, which has its own Node; in a checkout: npm run -s feedsyncd --',
  )
  process.exitCode = 78
} else {
  // A single WebAssembly compiler for undici's HTTP parser saves 13 MB with a feed of 200 MB. Only commands that send
  // feeds use these flags, because Node then compiles its own modules again, which takes 15 ms. The compile cache
  // depends on the flags, so the flags are set before the cache is enabled.
  const isSender = process.argv.some((word) => ['run', 'upload', 'demo'].includes(word))
  if (isSender) {
    const { setFlagsFromString } = await import('node:v8')
    const flags = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']
    // V8 collects the heap when it has grown by a fifth instead of fourfold, so that a first start with many feeds needs
    // less memory.
    flags.push('--heap-growing-percent=20')
    for (const flag of flags) setFlagsFromString(flag)
    // By default Node has four threads for slow calls. A mount whose server is gone can keep some of them for ever.
    process.env.UV_THREADPOOL_SIZE ??= '16'
  }
  const { enableCompileCache } = await import('node:module')
  // The cache lies beside the program, because other users can write to a temporary folder.
  enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/feedsyncd`)
  const { runCli } = await import('./cli/program.ts')
  const { systemClock } = await import('./lib/clock.ts')
  const { isatty } = await import('node:tty')
  // The reader of a pipe can close it (`| head`). Commands that send feeds go on: the feeds matter more than the log.
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
    write: (bytes) => new Promise((done) => process.stdout.write(bytes, () => done())),
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
