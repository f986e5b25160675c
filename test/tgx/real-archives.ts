// Archives that others have written. Their content is the same, and made up.

/**
 * By `tg-export-workspace` of TrustGraph 2.8, over an API of our own in place of a server, with the
 * tarfile of Python 3.11: names of more than 100 bytes and times with a fraction are in pax headers,
 * and the manifest is last.
 */
export const byPython = bytesOf(`
  H4sICK08A2sC/3JlYWwudGd4AO1d3W7bNhT2dZ6CUOFhA2qLpCQrMdqiXbt2QPcTYLkYtrQFYzG2FknUJDq2MfRyF3uPPcn2
  YBspyX9SUruxorjNOTAk65AUaZGfvsND6XggonN/aA5EEPCB9EVkevycjQPZ/S0VUasWwUp6tp3tlZT3mFDcIo6lMlk96jgt
  TCyXkhbCrQZknEqWqKa07qf8cYCQIWcxN/rIWI4C46HWX/CZVhcjItddsmCsM+uC6jBiYVb0haGO3x+8b4F8UjLI8R8nIoyl
  ydr05VmNyN8S/9gq4Z9aSgX4bxr/+ShYwz4zz67E/VR9JQD5zw3/UTrhSd03gM34L/M/dXsY8L8X+M9GxPotwIiERHqMGAD+
  T126Ztd8esym33Lm8eR26rgG9wv8Y8taftd6gilR9v8U8H/rQl0USj/kj4l75FiuTR2r6xwS+9A6AHDcA7mIxCTg3pCbr9vP
  rfYzO+Vtitu0p7ZfJ0JmB4ekTY9MmfhxwNNu9PtN+P8D+Cc9d4X/ewr/rm25DfN/IoT8UL5N6Z+oPBpJGfdNk0+7AxGaF//+
  nfInqKSNnyjbIGB+hP75E0k+lQZ6NE6ivkzU1RsmLB71l66D/qaB9AR14d4C/A/8v7/8T6lzBBi9X/xfeHlvTvM35n+nh0v8
  71AbA//fAf9zxeJRhf8D/5KnFa0csTBTX28KFGNKM/5WFbGhMj4Mmxpv385TJpNJd2J1RTI0qTIVzZ+//+6nwYiH7IEfST7k
  ST0NWK8Gm6qmxDvvpHlVATvjgWrZN7oQOjU8n5+evhpLfmqcRqfSeOrxLVuxv/gP/LOEJTNT/Yy29cwTA7WNReAPZt2QS7aD
  U3CT/8+t+P9Ubgf8f435/3xPe/X0+FXd3s87PXf5adNAp1FMex3sdjA5IbSPsfoUbkI/ygrrWYGZzRHmBWWQlTxeOZvCXcgj
  mWr9jxFKuFR1pnmaHmMek0yl/ZotMeQLDSolvaZxWWKsE0s3kTMxlsscQueYV5Up3z/crYKU89LpdXq6kmEk4qIqtX2TXxA2
  TBe/zVirxZjnz3PGLFEX6V3eKfnFUQ0b6yv3bu6pTcU4GfAa/K9b4X8g1K02kjvx/wfwrwyAMv6VAQr4b0Keq98vQp6kKGSz
  ApHIlzxM0cSXIzXlV5tEzpDHZmkX7OXP1/5fx/9gNI4u1J7sSv5b4N+ibgn/Tk/dEgD/zfN/1u19Uhf5P9enQ6TK/lXOX2fJ
  K5jwKvOkwotZ+2FZsk7870j+2/A/ccr4t6kN+G+c/wEOgP81+/9MiIvdDYCN/F/Bf49gCvi/o/m/7vSPNABYHCtSZtnz47F3
  XrICvl6ccEcT4LYnw4D/q/C/swGwmf+tqv0Pz/83Iu3jFy87pOui1n8ABsD/Av8xG/Kapv9bzP9pxf53wP93F/yvu72+6f+x
  OlvNs/+lcVIxA3TbwQioG/+7T/+38P/bZfxTC97/aUTyFe1sgR/5EWJoJMYpR2czJEccnWRL/F30Wj8WCN7/e+j/o034/4ld
  tf8B/3fB/7n/n9ZlANRG/at2CTj9G8V/E/5/q+r/B/w3zf8ABsD/Av9+WJ8DYDP/V/1/gP874f+s2z/aAZCVMuNoeCf0n9UO
  9H9b+G+A/3HF/rdcWP9vRP46/uEVoADwX8Z/HvehHgNgI/9X8N/DNsT/uAv+z7u9vhWA21z2L0KTAPHfMv4bWP+v+v8IPP/T
  iJzA0/33Wvbh/X/botX3/214/78JoYcUxUyOHleJIHupTTFAm75UHz5lYRxw/YasOtKBIi95MlO7QERaM6dn9dX31EaOmOwM
  BU87IuqwyFO7vdZmQUuOlsbuPQl/0ES3b+J/xy3xP3WJDfzftP2/fIl10eUmM3V3m7qzzXlXm75nXtHNe6U7HWPMj9ZmMdE4
  CKqTlpAlF56YNDlv2avHlfeD/3GV/ynwfzP8j4H/V/i/mOzem+BH+8D/2KYV/rfA/9eIPEDPUMZ6BwcnI45ejXkqkZ8ihi79
  1JciAa/AZy0hi/xz1ee1B/3/CP+ffthv3f+HHQLv/zdn/5+LJGQys4mH09xqzVXv1M0+1X8H0kckU09EcpHGbLBiyHYm6dxa
  1qHkV4oYl3bxJCGfxiKR3HuX15KtJxDSofSEHPWx3SfWL4tzyMLiLv5oID+rOpbJmBfxchakVagPipg+awmL8vMwXMvwO0r9
  Opsh2ClHXyAdnhR9Sb5aBvVZ/ceTTMHDWM7ykD5vikbMmU+f9rDQFbHzFrVfV1FxOdfq6iOrVF0f4UUQIfifBRAQEBAQEBAQ
  EBAQEBAQkJvK/2IJFRkAeAAA
`)

/**
 * The same unpacked and packed again by GNU tar 1.34, `tar --format=gnu -c .`: names begin with `./`,
 * long ones are in headers of GNU's own, there are directories, and the order is that of the disk.
 */
export const byTar = bytesOf(`
  H4sIAAAAAAACA+1dW2/bNhTOc34FocLDBsS6UJLVGEXQy9Y+NNsKLA/D5jagLcbWLImaRMcxhj7uYf9jv2T7YRtJ+SolsRNb
  stueg8CyKFFkcvidK3WiG0eVkynIc111FFQ83vLda7n4CLlHNdAo4yRF6ChljN9337rrnyjpRo/FV0HfOCT+W4I84H+t/O+x
  MKQ9HrDY2D//bQz43x//fXpFRiHXf8tYvCv+txznTv5buMh/120J/pvA/8rpj2OEND5JqNZG2mINaCeyfUgnsnm6HvK2axKO
  5M2yoziNSaS6fquJ84/HH4+APk38JymLEl6JGfBw+Y8dxwT5vw/+kzgb03Rnon8z+V/iv9PCFsj/2uV/vgZWZH++HlZFvxYz
  juQK0UDef3b4b+DX3d3CfwP820X8W+J2wP8h4N/o3mr33YivFph8nwH+IxIHVzTjOwb9A/Dfcov4x7brAf5rw/8VSyPCJdx5
  /yaHe950eU3TTLqDAuyqeczSYZaQnhIXGRulPdocZ3mXXJEsddGuHZxfojcJSzn1L/NRsIlbTctqYnxhnbZNp23Zv8yfwWnM
  s4WgyZ8qznk6oid52zBm45D6fTptlnIoF1pLF+b9Zz6tfOivqlE0v+2MTJM6GUVfoZepsGe+tr7RTmZXlz1e1UCFXJxo6uz9
  dBI+642i6VyfTtt4GiQhXcz+roGmf86VsdrILgzXRqZq+FihnNWN+d+sshDwI+K/LdsC/68e+b/g/9vGK7vxQizVBjYbuCU+
  5YJVJ0+tBj41auO/67jA/8Pj/1S86fHvD9f/Zb4v7P+WV+C/57RA/9dCzwacJ23DoDd6j0XG8N+/M3qGCq3JmfANQhLE6J8/
  Eac3XEPPRmncFro34/2UJIP2Qs221y2jM6Qfg+F9gPgPg25K0slB5P88F+T/vvgvoN2wXwj7Vnx2GRvqU6u8Kv9P8Lso/10L
  8n+1UOPdt6+blu6ho/9AGIL8vx3/EeVki/DQOvzbllvEv+fYgP/a4j+BL6My0qITTG9LlufRGB7kyX0VrzG9pmldWLhtmuJn
  GiQOYtWVJEkY9IjaPZL4V7PePFTdX84fKIzJWchEy1vk0vIJJzI28z7vRvrZ4iwhqehwmc8w7zILvFzOwtZ5HAqSUbvFfxCR
  PhVHa1v4b4B/u+z/Qf5nH/hXTG9bD4S/6mUkcb8A/J2AXk4rWZpVCf5qdED/rvGfZ/6VAKjc/ndK+HdB/9dCF4Mg5RPkk0mm
  AxoA/wv89wajeFiP/sde2f+H+O8+9L9i+oP1vwwJGypAXDAAXsnHIWtndoB0TxImXI3JHbaAmj/YAjvW/1X7/2ZJ/3sm7P/c
  B/5zpu9OAFTp9k+3pgLYq8F/MnP/t7T+N7D/3RL+TQ/8/1rouzCkMQqDa5qhIEYEDdgoo6g7QXxA0cWARDTT0VuZFgb/4Iu0
  //HWAuAR+T8M8b/a8Q9gAPyX8n+5t7WdCFiv/1ur+Mfi/hbgvw56JX5/FtE0QxGZoJRywXwUcBplaBzwgTAJOEQIv2z7f9vw
  3wbxP1zU/7YF+N+H/588Jv13p/f/Tjxtx9G/xeaEUjwggTTgY/CvG8/PWdw/D+JhRWOsw7+DrdL7H+KAzgH/e5H/cvN3JkR/
  A78WP/SGRElIdZb2xZl8P/iaphNxCMWqEYcZDsXXwBcffEB4s89o1mRxk8S+OBx0q9qtfrp9lAv4fxf/19r/TkH/26brgP6v
  hZ6gF0jp6+PjiwFFb0Y04yjIEEHXQRZwloLND/q/cv1vl/U/Bv0P+r9G/b+1lwv8f6z+dz2npP9bJuj/mv1/xXb10uec4QYx
  JLMNyWpjxmgj8I1boHRQbarowulKHCMehWE5bBGRdOizcZ37Fg7qdYVN8n/V7/93yvv/IP+3j/hfvv8PH9T2n7UvAMCmvyrx
  b9WQ/3fL+X8X8F8HreT/AA6A/9vz/1uZAOvw7xXrP2DhAUD8bx/6v7jBfgc5wKWnLRsCP8bT3QZZ2SRQVc/mFdSyOyanLiYz
  z2VRrYZ02WipdBuTd8yGyuupnWw3QEZp4fEL1ym/YcASbV66bdXAyQvFrYyize7fgw+xyfu/lev/8v5/bIP+r4X+evfDG9CC
  oP8l/qeVKA/j/79A/ae98f+RZf7ul//31P+Twd5C/UfsQfy3FipU+qNyO3ip/p/aHl5q5erlkLP7SgFOV5Ss+LfRQMLiOEOa
  g7UPH2ZXxuOxPrZVMBqbpmX8/P35T70BjciTQFglfZruZgKrw5iGGCn1r5pZPlRIujQUM8t3y3c0P6CdzpsRpx2tE3e49tyn
  G84CNA4QEBAQEBDQvul/JNKIUQB4AAA=
`)

function bytesOf(base64: string): Buffer {
  return Buffer.from(base64, 'base64')
}

/** Longer than a header has room for. */
export const longId = `https://example.org/a/very/long/document/id/${'that-goes-on-and-on/'.repeat(8)}é`
