;; Products of float32 vectors, four lanes at a time. kernel-bytes.ts has what this assembles to.
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

  ;; Where a vector lies: `table` has the address of each block.
  (func $at
    (param $number i32) (param $table i32) (param $perBlock i32) (param $dimensions i32)
    (result i32)
    (i32.add
      (i32.load
        (i32.add (local.get $table)
          (i32.shl (i32.div_u (local.get $number) (local.get $perBlock)) (i32.const 2))))
      (i32.mul
        (i32.rem_u (local.get $number) (local.get $perBlock))
        (i32.shl (local.get $dimensions) (i32.const 2)))))

  ;; Four products at a time, for vectors that lie anywhere: what is waited for is the memory, and the
  ;; loads of four overlap.
  (func $four
    (param $query i32) (param $a i32) (param $b i32) (param $c i32) (param $d i32)
    (param $dimensions i32) (param $out i32)
    (local $end i32) (local $q v128) (local $x f32)
    (local $a0 v128) (local $a1 v128) (local $ra f32)
    (local $b0 v128) (local $b1 v128) (local $rb f32)
    (local $c0 v128) (local $c1 v128) (local $rc f32)
    (local $d0 v128) (local $d1 v128) (local $rd f32)
    ;; eight components each time
    (local.set $end
      (i32.add (local.get $query)
        (i32.shl (i32.and (local.get $dimensions) (i32.const -8)) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $query) (local.get $end)))
        (local.set $q (v128.load (local.get $query)))
        (local.set $a0 (f32x4.add (local.get $a0)
          (f32x4.mul (local.get $q) (v128.load (local.get $a)))))
        (local.set $b0 (f32x4.add (local.get $b0)
          (f32x4.mul (local.get $q) (v128.load (local.get $b)))))
        (local.set $c0 (f32x4.add (local.get $c0)
          (f32x4.mul (local.get $q) (v128.load (local.get $c)))))
        (local.set $d0 (f32x4.add (local.get $d0)
          (f32x4.mul (local.get $q) (v128.load (local.get $d)))))
        (local.set $q (v128.load offset=16 (local.get $query)))
        (local.set $a1 (f32x4.add (local.get $a1)
          (f32x4.mul (local.get $q) (v128.load offset=16 (local.get $a)))))
        (local.set $b1 (f32x4.add (local.get $b1)
          (f32x4.mul (local.get $q) (v128.load offset=16 (local.get $b)))))
        (local.set $c1 (f32x4.add (local.get $c1)
          (f32x4.mul (local.get $q) (v128.load offset=16 (local.get $c)))))
        (local.set $d1 (f32x4.add (local.get $d1)
          (f32x4.mul (local.get $q) (v128.load offset=16 (local.get $d)))))
        (local.set $query (i32.add (local.get $query) (i32.const 32)))
        (local.set $a (i32.add (local.get $a) (i32.const 32)))
        (local.set $b (i32.add (local.get $b) (i32.const 32)))
        (local.set $c (i32.add (local.get $c) (i32.const 32)))
        (local.set $d (i32.add (local.get $d) (i32.const 32)))
        (br $next)))
    (local.set $ra (call $lanes (f32x4.add (local.get $a0) (local.get $a1))))
    (local.set $rb (call $lanes (f32x4.add (local.get $b0) (local.get $b1))))
    (local.set $rc (call $lanes (f32x4.add (local.get $c0) (local.get $c1))))
    (local.set $rd (call $lanes (f32x4.add (local.get $d0) (local.get $d1))))
    ;; and what is left, one by one
    (local.set $end
      (i32.add (local.get $end)
        (i32.shl (i32.and (local.get $dimensions) (i32.const 7)) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $query) (local.get $end)))
        (local.set $x (f32.load (local.get $query)))
        (local.set $ra (f32.add (local.get $ra)
          (f32.mul (local.get $x) (f32.load (local.get $a)))))
        (local.set $rb (f32.add (local.get $rb)
          (f32.mul (local.get $x) (f32.load (local.get $b)))))
        (local.set $rc (f32.add (local.get $rc)
          (f32.mul (local.get $x) (f32.load (local.get $c)))))
        (local.set $rd (f32.add (local.get $rd)
          (f32.mul (local.get $x) (f32.load (local.get $d)))))
        (local.set $query (i32.add (local.get $query) (i32.const 4)))
        (local.set $a (i32.add (local.get $a) (i32.const 4)))
        (local.set $b (i32.add (local.get $b) (i32.const 4)))
        (local.set $c (i32.add (local.get $c) (i32.const 4)))
        (local.set $d (i32.add (local.get $d) (i32.const 4)))
        (br $next)))
    (f32.store (local.get $out) (local.get $ra))
    (f32.store offset=4 (local.get $out) (local.get $rb))
    (f32.store offset=8 (local.get $out) (local.get $rc))
    (f32.store offset=12 (local.get $out) (local.get $rd)))

  ;; The products of the query with the vectors whose `count` numbers lie at `numbers`. Reads and
  ;; writes up to three more than that: those numbers have to be of vectors too.
  (func (export "dotsAt")
    (param $query i32) (param $numbers i32) (param $count i32) (param $table i32)
    (param $perBlock i32) (param $dimensions i32) (param $out i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $out) (local.get $end)))
        (call $four
          (local.get $query)
          (call $at (i32.load (local.get $numbers))
            (local.get $table) (local.get $perBlock) (local.get $dimensions))
          (call $at (i32.load offset=4 (local.get $numbers))
            (local.get $table) (local.get $perBlock) (local.get $dimensions))
          (call $at (i32.load offset=8 (local.get $numbers))
            (local.get $table) (local.get $perBlock) (local.get $dimensions))
          (call $at (i32.load offset=12 (local.get $numbers))
            (local.get $table) (local.get $perBlock) (local.get $dimensions))
          (local.get $dimensions)
          (local.get $out))
        (local.set $numbers (i32.add (local.get $numbers) (i32.const 16)))
        (local.set $out (i32.add (local.get $out) (i32.const 16)))
        (br $next))))

  ;; 1 where one of the vectors whose `count` numbers lie at `numbers` has a product with that at
  ;; `vector` above `limit`.
  (func (export "anyAbove")
    (param $vector i32) (param $numbers i32) (param $count i32) (param $table i32)
    (param $perBlock i32) (param $dimensions i32) (param $limit f32) (result i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $numbers) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $numbers) (local.get $end)))
        (if
          (f32.gt
            (call $dot
              (local.get $vector)
              (call $at (i32.load (local.get $numbers))
                (local.get $table) (local.get $perBlock) (local.get $dimensions))
              (local.get $dimensions))
            (local.get $limit))
          (then (return (i32.const 1))))
        (local.set $numbers (i32.add (local.get $numbers) (i32.const 4)))
        (br $next)))
    (i32.const 0))

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
