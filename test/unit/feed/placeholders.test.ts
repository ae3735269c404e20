import { describe, expect, it } from 'vitest'
import { contentOf } from '../../helpers/feeds.ts'

const feed = (...jobs: [id: string, title: string][]) =>
  `<jobs>${jobs
    .map(
      ([id, title]) => `<job><id><![CDATA[${id}]]></id><title><![CDATA[${title}]]></title></job>`,
    )
    .join('')}</jobs>`
const placeholderOf = async (...jobs: [id: string, title: string][]) =>
  (await contentOf(feed(...jobs))).placeholder

describe('a template that nobody filled in', () => {
  it.each([
    '{$listing.Title}',
    '{{ job.title }}',
    '{{job.title|escape}} in {{ job.city }}',
    '<%= @job.title %>',
    '<?php echo $title ?>',
    ['$', '{job.title}'].join(''),
    '#{job.title}',
    '@{job.title}',
    '{% block title %}',
    '{job_title}',
    '%JOB_TITLE%',
    '[[job.title]]',
    '__TITLE__',
  ])('is known by the title %s', async (title) => {
    expect(await placeholderOf(['R-1', title])).toBe(title)
  })

  it.each(['{{ job.id }}', '{$listing.id}', '<%= id %>', 'https://ats.example/{{ id }}'])(
    'is known by the id %s',
    async (id) => {
      expect(await placeholderOf([id, 'Cook'])).toBe(id)
    },
  )

  it('is known by most of its ids or titles, not by a few', async () => {
    const filled: [string, string] = ['R-1', 'Cook']

    expect(await placeholderOf(filled, ['{{ id }}', 'Waiter'], ['{{ id }}', 'Nurse'])).toBe(
      '{{ id }}',
    )
    expect(await placeholderOf(filled, ['R-2', '{{ title }}'])).toBe(null)
  })

  it('is not seen in titles and ids that have brackets of their own', async () => {
    const titles = [
      'Developer {m/w/d}',
      'Cook (100 %)',
      'C# [Remote]',
      '5 % - 10 % raise',
      '<b>Cook</b>',
    ]
    const ids = ['{3F2504E0-4F89-11D3-9A0C-0305E82C3301}', '{A1}', '[12]', '%20', '__7__']

    for (const title of titles) expect(await placeholderOf(['R-1', title])).toBe(null)
    for (const id of ids) expect(await placeholderOf([id, 'Cook'])).toBe(null)
  })

  it('has an example of at most 40 characters in one line', async () => {
    expect(await placeholderOf(['R-1', `{{ job.${'x'.repeat(60)}\n}}`])).toBe(
      `{{ job.${'x'.repeat(33)}…`,
    )
  })
})
