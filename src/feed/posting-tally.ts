// Counts the postings and ids of a feed, and finds ids that are missing or used twice. Its memory stays bounded for
// any number of postings.

import { countOf } from '../lib/units.ts'
import { short } from '../xml/fault.ts'
import { Entries, MOST_ENTRIES, NEW } from './entries.ts'
import { FIELDS } from './field-paths.ts'
import { PathCounts } from './path-counts.ts'
import { PlaceholderCounts } from './placeholders.ts'
import { type FeedContent, type FoundPaths, MAX_CAMPAIGN_IDS } from './port.ts'
import { type PostingValues, TITLE } from './posting-values.ts'

const ID = FIELDS.indexOf('id')
const CAMPAIGN = FIELDS.indexOf('externalCampaignId')
const REQUISITION = FIELDS.indexOf('requisitionId')
const MOST_EXAMPLES = 3
/** MOST_TEMPLATES is how many of the first postings are searched for placeholders of an unfilled template. */
const MOST_TEMPLATES = 100
/** OWN_PERCENT is how many percent of the postings must have an id of their own, else another path of ids is tried. */
const OWN_PERCENT = 90

export interface Tally extends Omit<FeedContent, 'root' | 'records'> {
  fields: FoundPaths
  /** Entries of the posting index; null if the feed has too many postings, or their content was not hashed. */
  index: Entries | null
}

export interface TallyOptions {
  /** True if `add` receives the CRC-32 of the content, which identifies postings without ids. The default is true. */
  hashesContent?: boolean
  /** True if the configuration names the path of the ids. */
  isIdConfigured?: boolean
  /** The number of entries that are stored for the index. The default is `MOST_ENTRIES`. */
  mostKept?: number | undefined
}

/** EACH_ONCE are the options for ids that are only counted. */
const EACH_ONCE = { keepsContent: false, keepsRepeated: false }

export class PostingTally {
  #postings = 0
  #withoutId = 0
  /** #campaignIds gives each campaign id a number. #campaigns has, at this number, the id and its count. */
  readonly #campaignIds = new Entries({ ...EACH_ONCE, most: MAX_CAMPAIGN_IDS })
  readonly #campaigns: [id: string, postings: number][] = []
  readonly #requisitions = new Entries(EACH_ONCE)
  readonly #ids: Entries
  readonly #duplicates = new Set<string>()
  /** #repeated counts the postings that have the id of an earlier posting. */
  #repeated = 0
  readonly #fieldPaths = new PathCounts()
  readonly #placeholders = {
    ids: new PlaceholderCounts('ids'),
    titles: new PlaceholderCounts('titles'),
  }
  readonly #hashesContent: boolean
  readonly #isIdConfigured: boolean

  constructor({ hashesContent = true, isIdConfigured = false, mostKept }: TallyOptions = {}) {
    this.#hashesContent = hashesContent
    this.#isIdConfigured = isIdConfigured
    this.#ids = new Entries({ keepsContent: hashesContent, keepsRepeated: true, kept: mostKept })
  }

  /** add counts one posting; see `TakePosting`. */
  add(values: PostingValues, content: number): void {
    this.#postings++
    this.#fieldPaths.add(values)
    if (this.#postings <= MOST_TEMPLATES) this.#lookForPlaceholders(values)
    if (values.has(CAMPAIGN)) this.#countCampaign(values)
    if (values.has(REQUISITION)) this.#requisitions.add(values.hash(REQUISITION), 0)
    if (!values.has(ID)) {
      this.#withoutId++
      if (this.#hashesContent) this.#ids.addContent(content)
      return
    }
    const isRepeated = this.#ids.add(values.hash(ID), content) !== NEW
    if (!isRepeated) return
    this.#repeated++
    if (this.#duplicates.size < MOST_EXAMPLES) this.#duplicates.add(values.text(ID))
  }

  get postings(): number {
    return this.#postings
  }

  /** idPath is the path at which most postings have their id; null means that no posting has an id. */
  get idPath(): string | null {
    return this.#fieldPaths.of('id')
  }

  /**
   * sharedId returns the path of the ids if most postings share one id, so that it identifies none of them; else null.
   * It returns null for a configured path, too.
   */
  sharedId(): string | null {
    if (this.#isIdConfigured || this.idPath === null) return null
    return this.#ids.isShared(this.#postings) ? this.idPath : null
  }

  /** hasOwnIds returns true if nearly all postings have an id that no other posting has. */
  hasOwnIds(): boolean {
    const own = this.#postings - this.#withoutId - this.#repeated
    return own * 100 >= this.#postings * OWN_PERCENT
  }

  finish(): Tally {
    const shared = this.sharedId()
    const ids = shared !== null && this.#hashesContent ? this.#ids.byContent() : this.#ids
    const { leftOutIds, repeated } = ids
    const withoutId = shared === null ? this.#withoutId : this.#postings
    const areDuplicatesKnown = leftOutIds === 0 && (this.#hashesContent || withoutId === 0)
    const fields = this.#fieldPaths.all()
    return {
      postings: this.#postings,
      withoutId,
      duplicates: areDuplicatesKnown ? repeated : null,
      placeholder:
        this.#placeholders.ids.exampleIfMost() ?? this.#placeholders.titles.exampleIfMost(),
      externalCampaignIds: Object.fromEntries(this.#campaigns),
      requisitionIds: this.#requisitions.count,
      fields: shared === null ? fields : { ...fields, id: null },
      warnings: this.#warnings(shared),
      index: ids.isWhole && this.#hashesContent ? ids : null,
    }
  }

  #lookForPlaceholders(values: PostingValues): void {
    const { ids, titles } = this.#placeholders
    if (values.has(ID)) ids.add(values.text(ID))
    if (values.has(TITLE)) titles.add(values.text(TITLE))
  }

  #countCampaign(values: PostingValues): void {
    const leftOutBefore = this.#campaignIds.leftOut
    const number = this.#campaignIds.add(values.hash(CAMPAIGN), 0)
    const campaign = number === NEW ? undefined : this.#campaigns[number]
    const isLeftOut = this.#campaignIds.leftOut > leftOutBefore
    if (campaign !== undefined) campaign[1]++
    else if (!isLeftOut) this.#campaigns.push([values.text(CAMPAIGN), 1])
  }

  #warnings(shared: string | null): string[] {
    const warnings: string[] = []
    const { leftOut, leftOutIds } = this.#ids
    if (leftOut > 0) {
      const what = leftOutIds > 0 ? 'changes and duplicate ids' : 'changes'
      warnings.push(`more than ${countOf(MOST_ENTRIES)} postings; ${what} are not counted`)
    }
    if (shared !== null) {
      warnings.push(
        `no posting has its own id (${shared} is shared): name the id's path in fields.id`,
      )
    } else if (leftOutIds === 0 && this.#repeated > 0) {
      const examples = [...this.#duplicates].map((id) => `"${short(id, 40)}"`).join(', ')
      const such = examples === '' ? '' : `, such as ${examples}`
      warnings.push(`${countOf(this.#repeated, 'posting')} with the id of another posting${such}`)
    }
    if (shared === null && this.#withoutId > 0) {
      warnings.push(this.#withoutIdText())
    }
    if (this.#requisitions.leftOut > 0) {
      warnings.push(`more than ${countOf(MOST_ENTRIES)} requisition ids; the rest are not counted`)
    }
    if (this.#campaignIds.leftOut > 0) {
      const most = countOf(MAX_CAMPAIGN_IDS)
      warnings.push(`more than ${most} campaign ids; the rest are not counted`)
    }
    return warnings
  }

  #withoutIdText(): string {
    if (this.#withoutId < this.#postings)
      return `${countOf(this.#withoutId, 'posting')} without an id`
    if (Object.values(this.#fieldPaths.all()).some((path) => path !== null)) {
      return "no posting has an id; name the id's path in fields.id"
    }
    return 'no field was found, so the path of the postings might be wrong: name it in feeds.records'
  }
}
