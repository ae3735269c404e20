// Names and reasons that an attacker, a broken export or another writing system could produce. They are always the
// same, so that a failure can be repeated.

const ATTACKS = [
  '<script>window.hit=1</script>',
  '"><img src=x onerror=window.hit=1>',
  "'><svg onload=window.hit=1>",
  '" onmouseover="window.hit=1" x="',
  '`$\u007bwindow.hit=1}`',
  'javascript:window.hit=1',
  'data:text/html,<script>window.hit=1</script>',
  '</title></style></script><script>window.hit=1</script>',
  '</bdi></a></th></tr></table><iframe srcdoc="<script>parent.hit=1</script>">',
  '<!--',
  ']]>',
  '&lt;script&gt;window.hit=1&lt;/script&gt;',
  '&#60;img src=x onerror=window.hit=1&#62;',
  '<base href="https://evil.example/">',
  '<link rel=stylesheet href=https://evil.example/x.css>',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">',
  '<form action=https://evil.example/><input name=find autofocus onfocus=window.hit=1>',
  '{{constructor.constructor("window.hit=1")()}}',
  '__proto__',
  'constructor',
  'a\nb\r\nc',
  'a\tb\u0000c\u0007\u001b[31mred\u001b[2J\u009b2J',
  '\u202egnp.xml',
  '\u2066\u2067\u2068abc\u2069',
  'a\u200bb\u200dc\u00adx\ufeff',
  'a\u2028b\u2029c',
  '\ud800lone\udc00',
  '\u{e0041}\u{e0042}tags',
  '\ufffd\ufffd\ufffd',
  'قائمة الوظائف.xml',
  'רשימת משרות.xml',
  '求人フィード株式会社.xml',
  '👩‍⚕️🏳️‍🌈👨‍👩‍👧‍👦.xml',
  `Z${'\u0335\u0336\u0321'.repeat(40)}algo`,
  '../../etc/passwd',
  '%00%2e%2e%2f?name=x&id=1#top',
  ' ',
  'x'.repeat(255),
  'wörter-ohne-trenner-'.repeat(12),
  '/'.repeat(200),
  "'; DROP TABLE versions; --",
  '=cmd|calc!A1',
  '$(reboot) `reboot` ; reboot | reboot',
  '-rf',
]

/** hostileNames returns `count` different names: first each name alone, then pairs with a number. */
export function hostileNames(count: number): string[] {
  return Array.from({ length: count }, (_, n) => {
    const own = ATTACKS[n % ATTACKS.length] ?? ''
    const other = ATTACKS[Math.floor(n / ATTACKS.length) % ATTACKS.length] ?? ''
    return n < ATTACKS.length ? own : `${own}${n}${other}`
  })
}
