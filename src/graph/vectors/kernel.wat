;; Products of vectors, in float32 and as codes of 8 bits, and walks along links between them.
;; kernel-bytes.ts has what this assembles to.
(module
  (import "lorekeep" "memory" (memory 1 65536))

  (func $lanes (param $sums v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $sums)) (f32x4.extract_lane 1 (local.get $sums)))
      (f32.add (f32x4.extract_lane 2 (local.get $sums)) (f32x4.extract_lane 3 (local.get $sums)))))

  ;; Four sums, or the latency of an addition would be what is measured.
  (func $dot (param $a i32) (param $b i32) (param $dimensions i32) (result f32)
    (local $end i32) (local $product f32)
    (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    ;; sixteen components each time
    (local.set $end
      (i32.add (local.get $a)
        (i32.shl (i32.and (local.get $dimensions) (i32.const -16)) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $a) (local.get $end)))
        (local.set $s0 (f32x4.add (local.get $s0)
          (f32x4.mul (v128.load (local.get $a)) (v128.load (local.get $b)))))
        (local.set $s1 (f32x4.add (local.get $s1)
          (f32x4.mul (v128.load offset=16 (local.get $a)) (v128.load offset=16 (local.get $b)))))
        (local.set $s2 (f32x4.add (local.get $s2)
          (f32x4.mul (v128.load offset=32 (local.get $a)) (v128.load offset=32 (local.get $b)))))
        (local.set $s3 (f32x4.add (local.get $s3)
          (f32x4.mul (v128.load offset=48 (local.get $a)) (v128.load offset=48 (local.get $b)))))
        (local.set $a (i32.add (local.get $a) (i32.const 64)))
        (local.set $b (i32.add (local.get $b) (i32.const 64)))
        (br $next)))
    (local.set $product
      (call $lanes
        (f32x4.add
          (f32x4.add (local.get $s0) (local.get $s1))
          (f32x4.add (local.get $s2) (local.get $s3)))))
    ;; and what is left, one by one
    (local.set $end
      (i32.add (local.get $end)
        (i32.shl (i32.and (local.get $dimensions) (i32.const 15)) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $a) (local.get $end)))
        (local.set $product (f32.add (local.get $product)
          (f32.mul (f32.load (local.get $a)) (f32.load (local.get $b)))))
        (local.set $a (i32.add (local.get $a) (i32.const 4)))
        (local.set $b (i32.add (local.get $b) (i32.const 4)))
        (br $next)))
    (local.get $product))

  ;; The products of the query with `count` vectors that lie one after the other.
  (func (export "dots")
    (param $query i32) (param $vectors i32) (param $count i32) (param $dimensions i32)
    (param $out i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $out) (local.get $end)))
        (f32.store (local.get $out)
          (call $dot (local.get $query) (local.get $vectors) (local.get $dimensions)))
        (local.set $vectors
          (i32.add (local.get $vectors) (i32.shl (local.get $dimensions) (i32.const 2))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br $next))))

  ;; Codes: numbers of 8 bits that stand for components, a multiple of 16 of them. Queries have 16 bits,
  ;; and such a size that no sum overflows. In front of the codes lie, from -12 on, what they are
  ;; multiplied by, the next vector that equals theirs, and the first row of links on higher levels.

  ;; Four products at a time, for vectors that lie anywhere: what is waited for is the memory, and the
  ;; loads of four overlap.
  (func $four
    (param $query i32) (param $a i32) (param $b i32) (param $c i32) (param $d i32)
    (param $codes i32) (param $factor f32) (result v128)
    (local $end i32) (local $q v128) (local $factors v128)
    (local $sa v128) (local $sb v128) (local $sc v128) (local $sd v128)
    (local.set $factors
      (v128.load32_lane offset=0 3 (i32.sub (local.get $d) (i32.const 12))
        (v128.load32_lane offset=0 2 (i32.sub (local.get $c) (i32.const 12))
          (v128.load32_lane offset=0 1 (i32.sub (local.get $b) (i32.const 12))
            (v128.load32_zero (i32.sub (local.get $a) (i32.const 12)))))))
    (local.set $end (i32.add (local.get $a) (local.get $codes)))
    (loop $next
      (local.set $q (v128.load (local.get $query)))
      (local.set $sa (i32x4.add (local.get $sa)
        (i32x4.dot_i16x8_s (local.get $q) (v128.load8x8_s (local.get $a)))))
      (local.set $sb (i32x4.add (local.get $sb)
        (i32x4.dot_i16x8_s (local.get $q) (v128.load8x8_s (local.get $b)))))
      (local.set $sc (i32x4.add (local.get $sc)
        (i32x4.dot_i16x8_s (local.get $q) (v128.load8x8_s (local.get $c)))))
      (local.set $sd (i32x4.add (local.get $sd)
        (i32x4.dot_i16x8_s (local.get $q) (v128.load8x8_s (local.get $d)))))
      (local.set $q (v128.load offset=16 (local.get $query)))
      (local.set $sa (i32x4.add (local.get $sa)
        (i32x4.dot_i16x8_s (local.get $q) (v128.load8x8_s offset=8 (local.get $a)))))
      (local.set $sb (i32x4.add (local.get $sb)
        (i32x4.dot_i16x8_s (local.get $q) (v128.load8x8_s offset=8 (local.get $b)))))
      (local.set $sc (i32x4.add (local.get $sc)
        (i32x4.dot_i16x8_s (local.get $q) (v128.load8x8_s offset=8 (local.get $c)))))
      (local.set $sd (i32x4.add (local.get $sd)
        (i32x4.dot_i16x8_s (local.get $q) (v128.load8x8_s offset=8 (local.get $d)))))
      (local.set $query (i32.add (local.get $query) (i32.const 32)))
      (local.set $a (i32.add (local.get $a) (i32.const 16)))
      (local.set $b (i32.add (local.get $b) (i32.const 16)))
      (local.set $c (i32.add (local.get $c) (i32.const 16)))
      (local.set $d (i32.add (local.get $d) (i32.const 16)))
      (br_if $next (i32.ne (local.get $a) (local.get $end))))
    ;; lanes 0 and 2, and 1 and 3, of a and b, then of c and d
    (local.set $sa
      (i32x4.add
        (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $sa) (local.get $sb))
        (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31
          (local.get $sa) (local.get $sb))))
    (local.set $sc
      (i32x4.add
        (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $sc) (local.get $sd))
        (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31
          (local.get $sc) (local.get $sd))))
    (f32x4.mul
      (f32x4.mul (local.get $factors) (f32x4.splat (local.get $factor)))
      (f32x4.convert_i32x4_s
        (i32x4.add
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $sa) (local.get $sc))
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31
            (local.get $sa) (local.get $sc))))))

  (func $codeDot (param $query i32) (param $a i32) (param $codes i32) (result i32)
    (local $end i32) (local $s0 v128) (local $s1 v128)
    (local.set $end (i32.add (local.get $a) (local.get $codes)))
    (loop $next
      (local.set $s0 (i32x4.add (local.get $s0)
        (i32x4.dot_i16x8_s (v128.load (local.get $query)) (v128.load8x8_s (local.get $a)))))
      (local.set $s1 (i32x4.add (local.get $s1)
        (i32x4.dot_i16x8_s
          (v128.load offset=16 (local.get $query)) (v128.load8x8_s offset=8 (local.get $a)))))
      (local.set $query (i32.add (local.get $query) (i32.const 32)))
      (local.set $a (i32.add (local.get $a) (i32.const 16)))
      (br_if $next (i32.ne (local.get $a) (local.get $end))))
    (local.set $s0 (i32x4.add (local.get $s0) (local.get $s1)))
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $s0)) (i32x4.extract_lane 1 (local.get $s0)))
      (i32.add (i32x4.extract_lane 2 (local.get $s0)) (i32x4.extract_lane 3 (local.get $s0)))))

  ;; What a walk has in hand lies in a frame, numbers of 32 bits:
  ;;    0 query       4 its factor   8 table     12 rows per block  16 bytes of a row
  ;;   20 codes from  24 codes      28 links     of rows: see vector-rows.ts
  ;;   32 table       36 rows per block  40 bytes of a row  44 links   of rows above level 0
  ;;   48 visits     52 beam        56 width     60 size   64 next   68 least score to be added
  ;;   72 numbers    76 how many were compared
  ;;   80 vectors    84 rows above level 0   what is not below these is damage, and passed over
  ;; The beam has pairs of a score and the number of a vector, best first; of those whose links were
  ;; followed it has the complement (~n). None before `next` waits for that.

  ;; Where the codes of a vector lie.
  (func $at (param $frame i32) (param $number i32) (result i32)
    (local $perBlock i32) (local $block i32)
    (local.set $perBlock (i32.load offset=12 (local.get $frame)))
    (local.set $block (i32.div_u (local.get $number) (local.get $perBlock)))
    (i32.add
      (i32.load offset=20 (local.get $frame))
      (i32.add
        (i32.load
          (i32.add
            (i32.load offset=8 (local.get $frame))
            (i32.shl (local.get $block) (i32.const 2))))
        (i32.mul
          (i32.sub (local.get $number) (i32.mul (local.get $block) (local.get $perBlock)))
          (i32.load offset=16 (local.get $frame))))))

  ;; Where the n-th row above level 0 lies.
  (func $aboveAt (param $frame i32) (param $row i32) (result i32)
    (local $perBlock i32)
    (local.set $perBlock (i32.load offset=36 (local.get $frame)))
    (i32.add
      (i32.load
        (i32.add
          (i32.load offset=32 (local.get $frame))
          (i32.shl (i32.div_u (local.get $row) (local.get $perBlock)) (i32.const 2))))
      (i32.mul
        (i32.rem_u (local.get $row) (local.get $perBlock))
        (i32.load offset=40 (local.get $frame)))))

  (func $add (param $frame i32) (param $score f32) (param $number i32)
    (local $beam i32) (local $at i32) (local $size i32) (local $place i32)
    (if (i32.eqz (f32.gt (local.get $score) (f32.load offset=68 (local.get $frame)))) (then (return)))
    (local.set $beam (i32.load offset=52 (local.get $frame)))
    (local.set $size (i32.load offset=60 (local.get $frame)))
    (if (i32.lt_u (local.get $size) (i32.load offset=56 (local.get $frame)))
      (then
        (local.set $size (i32.add (local.get $size) (i32.const 1)))
        (i32.store offset=60 (local.get $frame) (local.get $size))))
    (local.set $at
      (i32.add (local.get $beam)
        (i32.shl (i32.sub (local.get $size) (i32.const 1)) (i32.const 3))))
    ;; Halving finds the place sooner, and then the tail still has to move: for most, it is short.
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $at) (local.get $beam)))
        (br_if $done
          (i32.eqz
            (f32.lt
              (f32.load (i32.sub (local.get $at) (i32.const 8)))
              (local.get $score))))
        (i64.store (local.get $at) (i64.load (i32.sub (local.get $at) (i32.const 8))))
        (local.set $at (i32.sub (local.get $at) (i32.const 8)))
        (br $next)))
    (f32.store (local.get $at) (local.get $score))
    (i32.store offset=4 (local.get $at) (local.get $number))
    (local.set $place
      (i32.shr_u (i32.sub (local.get $at) (local.get $beam)) (i32.const 3)))
    (if (i32.lt_u (local.get $place) (i32.load offset=64 (local.get $frame)))
      (then (i32.store offset=64 (local.get $frame) (local.get $place))))
    (if (i32.eq (local.get $size) (i32.load offset=56 (local.get $frame)))
      (then
        (f32.store offset=68 (local.get $frame)
          (f32.load
            (i32.add (local.get $beam)
              (i32.shl (i32.sub (local.get $size) (i32.const 1)) (i32.const 3))))))))

  ;; Adds the vectors to the beam whose `count` numbers lie at `numbers`. There is room for three more.
  (func $compare (export "compare") (param $frame i32) (param $count i32)
    (local $numbers i32) (local $end i32) (local $scores v128)
    (local $query i32) (local $codes i32) (local $factor f32) (local $least f32)
    (if (i32.eqz (local.get $count)) (then (return)))
    (i32.store offset=76 (local.get $frame)
      (i32.add (i32.load offset=76 (local.get $frame)) (local.get $count)))
    (local.set $numbers (i32.load offset=72 (local.get $frame)))
    (local.set $query (i32.load (local.get $frame)))
    (local.set $factor (f32.load offset=4 (local.get $frame)))
    (local.set $codes (i32.load offset=24 (local.get $frame)))
    (local.set $end
      (i32.add (local.get $numbers) (i32.shl (local.get $count) (i32.const 2))))
    (i32.store (local.get $end) (i32.load (local.get $numbers)))
    (i32.store offset=4 (local.get $end) (i32.load (local.get $numbers)))
    (i32.store offset=8 (local.get $end) (i32.load (local.get $numbers)))
    (loop $next
      (local.set $scores
        (call $four
          (local.get $query)
          (call $at (local.get $frame) (i32.load (local.get $numbers)))
          (call $at (local.get $frame) (i32.load offset=4 (local.get $numbers)))
          (call $at (local.get $frame) (i32.load offset=8 (local.get $numbers)))
          (call $at (local.get $frame) (i32.load offset=12 (local.get $numbers)))
          (local.get $codes)
          (local.get $factor)))
      (local.set $least (f32.load offset=68 (local.get $frame)))
      (if (f32.gt (f32x4.extract_lane 0 (local.get $scores)) (local.get $least))
        (then
          (call $add (local.get $frame) (f32x4.extract_lane 0 (local.get $scores))
            (i32.load (local.get $numbers)))))
      (if
        (i32.and
          (f32.gt (f32x4.extract_lane 1 (local.get $scores)) (local.get $least))
          (i32.lt_u (i32.add (local.get $numbers) (i32.const 4)) (local.get $end)))
        (then
          (call $add (local.get $frame) (f32x4.extract_lane 1 (local.get $scores))
            (i32.load offset=4 (local.get $numbers)))))
      (if
        (i32.and
          (f32.gt (f32x4.extract_lane 2 (local.get $scores)) (local.get $least))
          (i32.lt_u (i32.add (local.get $numbers) (i32.const 8)) (local.get $end)))
        (then
          (call $add (local.get $frame) (f32x4.extract_lane 2 (local.get $scores))
            (i32.load offset=8 (local.get $numbers)))))
      (if
        (i32.and
          (f32.gt (f32x4.extract_lane 3 (local.get $scores)) (local.get $least))
          (i32.lt_u (i32.add (local.get $numbers) (i32.const 12)) (local.get $end)))
        (then
          (call $add (local.get $frame) (f32x4.extract_lane 3 (local.get $scores))
            (i32.load offset=12 (local.get $numbers)))))
      (local.set $numbers (i32.add (local.get $numbers) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $numbers) (local.get $end)))))

  ;; Follows the links of a level until all vectors in the beam were followed.
  (func (export "follow") (param $frame i32) (param $level i32)
    (local $at i32) (local $end i32) (local $beam i32) (local $number i32)
    (local $row i32) (local $rowEnd i32) (local $numbers i32) (local $fresh i32)
    (local $visits i32) (local $word i32) (local $bit i32)
    (local.set $beam (i32.load offset=52 (local.get $frame)))
    (local.set $visits (i32.load offset=48 (local.get $frame)))
    (local.set $numbers (i32.load offset=72 (local.get $frame)))
    (block $followed
      (loop $follow
        ;; the best one that was not followed
        (local.set $at
          (i32.add (local.get $beam)
            (i32.shl (i32.load offset=64 (local.get $frame)) (i32.const 3))))
        (local.set $end
          (i32.add (local.get $beam)
            (i32.shl (i32.load offset=60 (local.get $frame)) (i32.const 3))))
        (block $found
          (loop $look
            (br_if $followed (i32.ge_u (local.get $at) (local.get $end)))
            (local.set $number (i32.load offset=4 (local.get $at)))
            (br_if $found (i32.ge_s (local.get $number) (i32.const 0)))
            (local.set $at (i32.add (local.get $at) (i32.const 8)))
            (br $look)))
        (i32.store offset=4 (local.get $at) (i32.xor (local.get $number) (i32.const -1)))
        (i32.store offset=64 (local.get $frame)
          (i32.add
            (i32.shr_u (i32.sub (local.get $at) (local.get $beam)) (i32.const 3))
            (i32.const 1)))
        ;; its links
        (local.set $row (call $at (local.get $frame) (local.get $number)))
        (if (local.get $level)
          (then
            (local.set $row
              (i32.sub
                (i32.add
                  (i32.load (i32.sub (local.get $row) (i32.const 4)))
                  (local.get $level))
                (i32.const 1)))
            (br_if $follow
              (i32.ge_u (local.get $row) (i32.load offset=84 (local.get $frame))))
            (local.set $row (call $aboveAt (local.get $frame) (local.get $row)))
            (local.set $rowEnd
              (i32.add (local.get $row)
                (i32.mul (i32.load offset=44 (local.get $frame)) (i32.const 3)))))
          (else
            (local.set $row
              (i32.sub (local.get $row) (i32.load offset=20 (local.get $frame))))
            (local.set $rowEnd
              (i32.add (local.get $row)
                (i32.mul (i32.load offset=28 (local.get $frame)) (i32.const 3))))))
        (local.set $fresh (local.get $numbers))
        (block $read
          (loop $next
            (br_if $read (i32.eq (local.get $row) (local.get $rowEnd)))
            ;; three bytes
            (local.set $number
              (i32.shr_u
                (i32.load (i32.sub (local.get $row) (i32.const 1)))
                (i32.const 8)))
            (br_if $read (i32.eq (local.get $number) (i32.const 0xffffff)))
            (local.set $row (i32.add (local.get $row) (i32.const 3)))
            (br_if $next
              (i32.ge_u (local.get $number) (i32.load offset=80 (local.get $frame))))
            (local.set $at
              (i32.add (local.get $visits)
                (i32.shl (i32.shr_u (local.get $number) (i32.const 5)) (i32.const 2))))
            (local.set $word (i32.load (local.get $at)))
            (local.set $bit (i32.shl (i32.const 1) (local.get $number)))
            (br_if $next (i32.and (local.get $word) (local.get $bit)))
            (i32.store (local.get $at) (i32.or (local.get $word) (local.get $bit)))
            (i32.store (local.get $fresh) (local.get $number))
            (local.set $fresh (i32.add (local.get $fresh) (i32.const 4)))
            (br $next)))
        (call $compare (local.get $frame)
          (i32.shr_u (i32.sub (local.get $fresh) (local.get $numbers)) (i32.const 2)))
        (br $follow))))

  ;; Forgets what was met but for what is in the beam, cut to `width`, of which no links were followed.
  (func (export "restart") (param $frame i32) (param $visitBytes i32) (param $width i32)
    (local $at i32) (local $end i32) (local $number i32) (local $size i32)
    (memory.fill (i32.load offset=48 (local.get $frame)) (i32.const 0) (local.get $visitBytes))
    (i32.store offset=56 (local.get $frame) (local.get $width))
    (i32.store offset=64 (local.get $frame) (i32.const 0))
    (local.set $size (i32.load offset=60 (local.get $frame)))
    (if (i32.gt_u (local.get $size) (local.get $width))
      (then (local.set $size (local.get $width))))
    (i32.store offset=60 (local.get $frame) (local.get $size))
    (local.set $at (i32.load offset=52 (local.get $frame)))
    (local.set $end (i32.add (local.get $at) (i32.shl (local.get $size) (i32.const 3))))
    (f32.store offset=68 (local.get $frame) (f32.const -inf))
    (if (i32.eq (local.get $size) (local.get $width))
      (then
        (f32.store offset=68 (local.get $frame)
          (f32.load (i32.sub (local.get $end) (i32.const 8))))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $at) (local.get $end)))
        (local.set $number (i32.load offset=4 (local.get $at)))
        (if (i32.lt_s (local.get $number) (i32.const 0))
          (then
            (local.set $number (i32.xor (local.get $number) (i32.const -1)))
            (i32.store offset=4 (local.get $at) (local.get $number))))
        (call $visit (local.get $frame) (local.get $number))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next))))

  (func $visit (param $frame i32) (param $number i32)
    (local $at i32)
    (local.set $at
      (i32.add (i32.load offset=48 (local.get $frame))
        (i32.shl (i32.shr_u (local.get $number) (i32.const 5)) (i32.const 2))))
    (i32.store (local.get $at)
      (i32.or
        (i32.load (local.get $at))
        (i32.shl (i32.const 1) (local.get $number)))))

  ;; Puts a vector into the beam, to start from.
  (func (export "meet") (param $frame i32) (param $number i32)
    (call $visit (local.get $frame) (local.get $number))
    (i32.store (i32.load offset=72 (local.get $frame)) (local.get $number))
    (call $compare (local.get $frame) (i32.const 1)))

  ;; The codes of a vector as a query of 16 bits, at `out`. Returns what they are multiplied by.
  (func $widen (export "widen")
    (param $frame i32) (param $number i32) (param $out i32) (result f32)
    (local $at i32) (local $end i32) (local $factor f32)
    (local.set $at (call $at (local.get $frame) (local.get $number)))
    (local.set $factor (f32.load (i32.sub (local.get $at) (i32.const 12))))
    (local.set $end (i32.add (local.get $at) (i32.load offset=24 (local.get $frame))))
    (loop $next
      (v128.store (local.get $out) (v128.load8x8_s (local.get $at)))
      (v128.store offset=16 (local.get $out) (v128.load8x8_s offset=8 (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (local.set $out (i32.add (local.get $out) (i32.const 32)))
      (br_if $next (i32.ne (local.get $at) (local.get $end))))
    (local.get $factor))

  ;; Of `size` pairs as a beam has them, those to link to: the nearest, but none that is nearer to one
  ;; chosen before it than to the vector itself, for that one leads there (Malkov & Yashunin,
  ;; algorithm 4). Writes pairs to `out` and their addresses to `addresses`, needs room for a query at
  ;; `wide`, and returns how many it chose.
  (func (export "choose")
    (param $frame i32) (param $pairs i32) (param $size i32) (param $keep i32)
    (param $out i32) (param $addresses i32) (param $wide i32) (result i32)
    (local $end i32) (local $chosen i32) (local $number i32) (local $score f32) (local $factor f32)
    (local $at i32) (local $other i32) (local $codes i32) (local $last i32)
    (local.set $codes (i32.load offset=24 (local.get $frame)))
    (local.set $end (i32.add (local.get $pairs) (i32.shl (local.get $size) (i32.const 3))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $pairs) (local.get $end)))
        (br_if $done (i32.eq (local.get $chosen) (local.get $keep)))
        (local.set $score (f32.load (local.get $pairs)))
        (local.set $number (i32.load offset=4 (local.get $pairs)))
        (if (i32.lt_s (local.get $number) (i32.const 0))
          (then (local.set $number (i32.xor (local.get $number) (i32.const -1)))))
        (local.set $pairs (i32.add (local.get $pairs) (i32.const 8)))
        (local.set $factor (call $widen (local.get $frame) (local.get $number) (local.get $wide)))
        (local.set $at (local.get $addresses))
        (local.set $last
          (i32.add (local.get $at) (i32.shl (local.get $chosen) (i32.const 2))))
        (block $compared
          (loop $compare
            (br_if $compared (i32.eq (local.get $at) (local.get $last)))
            (local.set $other (i32.load (local.get $at)))
            (local.set $at (i32.add (local.get $at) (i32.const 4)))
            (br_if $next
              (f32.gt
                (f32.mul
                  (f32.mul (local.get $factor) (f32.load (i32.sub (local.get $other) (i32.const 12))))
                  (f32.convert_i32_s
                    (call $codeDot (local.get $wide) (local.get $other) (local.get $codes))))
                (local.get $score)))
            (br $compare)))
        (i32.store (local.get $last) (call $at (local.get $frame) (local.get $number)))
        (local.set $at
          (i32.add (local.get $out) (i32.shl (local.get $chosen) (i32.const 3))))
        (f32.store (local.get $at) (local.get $score))
        (i32.store offset=4 (local.get $at) (local.get $number))
        (local.set $chosen (i32.add (local.get $chosen) (i32.const 1)))
        (br $next)))
    (local.get $chosen))

  ;; The cosine of two vectors in float64, which does not overflow for components in float32. NaN
  ;; where either is all zeros.
  (func (export "cosine")
    (param $a i32) (param $b i32) (param $dimensions i32) (result f64)
    (local $end i32) (local $x v128) (local $y v128)
    (local $xy v128) (local $xx v128) (local $yy v128)
    (local $p f64) (local $q f64) (local $sxy f64) (local $sxx f64) (local $syy f64)
    (local.set $end
      (i32.add (local.get $a)
        (i32.shl (i32.and (local.get $dimensions) (i32.const -2)) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $a) (local.get $end)))
        (local.set $x (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $a))))
        (local.set $y (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $b))))
        (local.set $xy (f64x2.add (local.get $xy) (f64x2.mul (local.get $x) (local.get $y))))
        (local.set $xx (f64x2.add (local.get $xx) (f64x2.mul (local.get $x) (local.get $x))))
        (local.set $yy (f64x2.add (local.get $yy) (f64x2.mul (local.get $y) (local.get $y))))
        (local.set $a (i32.add (local.get $a) (i32.const 8)))
        (local.set $b (i32.add (local.get $b) (i32.const 8)))
        (br $next)))
    (local.set $sxy (f64.add
      (f64x2.extract_lane 0 (local.get $xy)) (f64x2.extract_lane 1 (local.get $xy))))
    (local.set $sxx (f64.add
      (f64x2.extract_lane 0 (local.get $xx)) (f64x2.extract_lane 1 (local.get $xx))))
    (local.set $syy (f64.add
      (f64x2.extract_lane 0 (local.get $yy)) (f64x2.extract_lane 1 (local.get $yy))))
    (if (i32.and (local.get $dimensions) (i32.const 1))
      (then
        (local.set $p (f64.promote_f32 (f32.load (local.get $a))))
        (local.set $q (f64.promote_f32 (f32.load (local.get $b))))
        (local.set $sxy (f64.add (local.get $sxy) (f64.mul (local.get $p) (local.get $q))))
        (local.set $sxx (f64.add (local.get $sxx) (f64.mul (local.get $p) (local.get $p))))
        (local.set $syy (f64.add (local.get $syy) (f64.mul (local.get $q) (local.get $q))))))
    (f64.div (local.get $sxy)
      (f64.mul (f64.sqrt (local.get $sxx)) (f64.sqrt (local.get $syy)))))
)
