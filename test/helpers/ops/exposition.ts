// A strict reader of Prometheus' text exposition format 0.0.4, written from its specification.

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"'
const SAMPLE = new RegExp(
  `^(${NAME})(\\{${LABEL}(?:,${LABEL})*\\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?|NaN|[+-]?Inf)$`,
)
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary|untyped)$`)
const HELP = new RegExp(`^# HELP (${NAME}) .+$`)

/** samplesOf returns every sample by name and labels. Throws for an invalid line, a duplicate or a missing TYPE. */
export function samplesOf(text: string): Map<string, number> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const samples = new Map<string, number>()
  const types = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (line === '' || HELP.test(line)) continue
    const type = TYPE.exec(line)
    if (type !== null) {
      const [, name = '', kind = ''] = type
      if (types.has(name)) throw new Error(`TYPE twice: ${name}`)
      types.set(name, kind)
      continue
    }
    const sample = SAMPLE.exec(line)
    if (sample === null) throw new Error(`not a sample: ${line}`)
    const [, name = '', labels = '', value] = sample
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')
    if (!types.has(family)) throw new Error(`no TYPE before ${line}`)
    if (types.get(family) === 'counter' && !name.endsWith('_total')) {
      throw new Error(`a counter without _total: ${name}`)
    }
    if (samples.has(name + labels)) throw new Error(`twice: ${line}`)
    samples.set(name + labels, Number(value))
  }
  return samples
}
