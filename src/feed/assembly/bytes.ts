// Bytes by their names, as in byte-classes.ts, which AssemblyScript cannot read.

export const AMPERSAND: u8 = 0x26
export const APOSTROPHE: u8 = 0x27
export const BANG: u8 = 0x21
export const CLOSE_BRACKET: u8 = 0x5d
export const EQUALS: u8 = 0x3d
export const GT: u8 = 0x3e
export const HASH: u8 = 0x23
export const LT: u8 = 0x3c
export const OPEN_BRACKET: u8 = 0x5b
export const QUOTE: u8 = 0x22
export const SEMICOLON: u8 = 0x3b
export const SLASH: u8 = 0x2f
export const SPACE: u8 = 0x20
