;; Marks the bytes that end a text or a value, 16 bytes in one step. ../byte-marks.ts fills the block and the tables,
;; calls `mark`, and copies the marks. `npm run kernel` assembles this file.
;;
;; A table of 16 bytes answers for one half of a byte. A byte is in a class if the entry for its lower half and the
;; entry for its upper half share a bit.
(module
  ;; Two pages: a block of 65,536 bytes with room to fill up its last word, two kinds of marks of 8,196 bytes, and
  ;; seven tables.
  (memory (export "memory") 2)
  (global (export "textMarks") i32 (i32.const 65568))
  (global (export "valueMarks") i32 (i32.const 73764))
  (global (export "tables") i32 (i32.const 81960))

  ;; mark marks this many bytes of the block. The result is not 0 if there might be a forbidden control character.
  (func (export "mark") (param $length i32) (result i32)
    (local $at i32)
    (local $low v128) (local $high v128) (local $found v128) (local $seen v128)
    (local $reversed v128) (local $half v128)
    (local $textLow v128) (local $textHigh v128) (local $valueLow v128) (local $valueHigh v128)
    (local $controls v128)
    (local.set $reversed (v128.load (i32.const 81960)))
    (local.set $half (v128.load (i32.const 81976)))
    (local.set $textLow (v128.load (i32.const 81992)))
    (local.set $textHigh (v128.load (i32.const 82008)))
    (local.set $valueLow (v128.load (i32.const 82024)))
    (local.set $valueHigh (v128.load (i32.const 82040)))
    (local.set $controls (v128.load (i32.const 82056)))
    (loop $next
      ;; Reverse the bytes, so that the first one becomes the highest bit, and split each into its halves. Processors
      ;; cannot shift single bytes; what comes from the next byte of a pair is cut off by $half.
      (local.set $low (v128.and
        (local.tee $high (i8x16.swizzle (v128.load (local.get $at)) (local.get $reversed)))
        (local.get $half)))
      (local.set $high (v128.and (i16x8.shr_u (local.get $high) (i32.const 4)) (local.get $half)))
      (local.set $found (v128.and
        (i8x16.swizzle (local.get $textLow) (local.get $low))
        (i8x16.swizzle (local.get $textHigh) (local.get $high))))
      (local.set $seen (v128.or (local.get $seen) (local.get $found)))
      ;; The marks of the first 16 bytes are the upper half of a word, which comes second in memory.
      (i32.store16 offset=65568
        (i32.xor (i32.shr_u (local.get $at) (i32.const 3)) (i32.const 2))
        (i8x16.bitmask (i8x16.ne (local.get $found) (v128.const i64x2 0 0))))
      (local.set $found (v128.and
        (i8x16.swizzle (local.get $valueLow) (local.get $low))
        (i8x16.swizzle (local.get $valueHigh) (local.get $high))))
      (i32.store16 offset=73764
        (i32.xor (i32.shr_u (local.get $at) (i32.const 3)) (i32.const 2))
        (i8x16.bitmask (i8x16.ne (local.get $found) (v128.const i64x2 0 0))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $length))))
    (v128.any_true (v128.and (local.get $seen) (local.get $controls)))))
